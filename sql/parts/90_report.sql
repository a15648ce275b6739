--
-- Reports
--
-- The functions of users read views, with the rights of the caller, and those in
-- C write what these show. Bodies are parsed when the extension is created, so
-- that names cannot come to mean anything else.

CREATE FUNCTION dperm_report_entry(model dp_model, OUT budget text, OUT entry bigint) RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm_report_entry(dp_model) IS
	'internal to dp_report: the budget and the entry of its ledger that a model names';

CREATE FUNCTION dperm_report_model(model dp_model, title text, purpose text, curator text, ledger jsonb, evaluation jsonb) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm_report_model(dp_model, text, text, text, jsonb, jsonb) IS
	'internal to dp_report: the page of a model';

CREATE FUNCTION dperm_report_model_data(model dp_model, title text, purpose text, curator text, ledger jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm_report_model_data(dp_model, text, text, text, jsonb) IS
	'internal to dp_report_data: the record of a model';

CREATE FUNCTION dperm_report_budget(budget text, title text, purpose text, curator text, facts jsonb) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm_report_budget(text, text, text, text, jsonb) IS
	'internal to dp_report: the page of a budget';

CREATE FUNCTION dperm_report_budget_data(budget text, title text, purpose text, curator text, facts jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm_report_budget_data(text, text, text, text, jsonb) IS
	'internal to dp_report_data: the record of a budget';

CREATE FUNCTION dperm_report_ledger(model dp_model) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
	SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(r) ORDER BY r.at)
	FROM (SELECT l.entry, l.at, l.act, l.role, l.function, l.relation, l.label, l.features, l.parameters, l.purpose, l.neighbours, l.unit, l.epsilon, l.delta, l.release,
			l.model::pg_catalog.text AS model, l.metrics, l.budget OPERATOR(pg_catalog.=) m.budget AND l.entry OPERATOR(pg_catalog.=) m.entry AS own
		FROM dperm_report_entry($1) m, dp_ledger l
		WHERE l.budget OPERATOR(pg_catalog.=) m.budget AND l.entry OPERATOR(pg_catalog.=) m.entry
			OR l.details OPERATOR(pg_catalog.=) CASE WHEN m.budget IS NOT NULL THEN pg_catalog.format('model: entry %s of budget %I', m.entry, m.budget) END) r;
END;
COMMENT ON FUNCTION dperm_report_ledger(dp_model) IS
	'internal to dp_report: what dp_ledger shows the caller of the entry that a model names, and of evaluations of a model that names it';

-- The largest limits under which anything was charged, or could be now: what all releases of a budget guarantee. Whoever sees the budget sees them. Lines about a dropped owner have no limits.
CREATE VIEW dperm_report_limits WITH (security_barrier) AS
	SELECT a.budget, a.since, l.epsilon, l.delta
	FROM dp_budget_accounts a
	CROSS JOIN LATERAL (SELECT pg_catalog.min(e.entry) AS entry FROM dp_ledger_entries e WHERE e.budget OPERATOR(pg_catalog.=) a.budget AND e.budget_id OPERATOR(pg_catalog.=) a.id AND e.act OPERATOR(pg_catalog.=) 'charge') charge
	CROSS JOIN LATERAL (SELECT pg_catalog.max(e.entry) AS entry FROM dp_ledger_entries e
		WHERE e.budget OPERATOR(pg_catalog.=) a.budget AND e.budget_id OPERATOR(pg_catalog.=) a.id AND e.act OPERATOR(pg_catalog.=) ANY ('{create,alter}') AND e.epsilon IS NOT NULL
			AND (charge.entry IS NULL OR e.entry OPERATOR(pg_catalog.<) charge.entry)) first
	CROSS JOIN LATERAL (SELECT pg_catalog.max(e.epsilon) AS epsilon, pg_catalog.max(e.delta) AS delta FROM dp_ledger_entries e
		WHERE e.budget OPERATOR(pg_catalog.=) a.budget AND e.budget_id OPERATOR(pg_catalog.=) a.id AND e.act OPERATOR(pg_catalog.=) ANY ('{create,alter}') AND e.entry OPERATOR(pg_catalog.>=) coalesce(first.entry, 0)) l
	WHERE pg_catalog.pg_has_role(a.owner, 'USAGE')
		OR EXISTS (SELECT FROM dp_budget_grants g WHERE g.budget_id OPERATOR(pg_catalog.=) a.id AND pg_catalog.pg_has_role(g.grantee, 'USAGE'))
	OFFSET 0;
COMMENT ON VIEW dperm_report_limits IS
	'internal to dp_report: the largest limits of budgets that you own or may spend from, since their first charge, and the entry of the ledger that created them';
GRANT SELECT ON dperm_report_limits TO PUBLIC;

CREATE FUNCTION dperm_report_facts(budget text) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
	WITH limits AS MATERIALIZED (
		SELECT pg_catalog.count(*) AS budgets, pg_catalog.min(s.since) AS since, pg_catalog.max(s.epsilon) AS epsilon, pg_catalog.max(s.delta) AS delta FROM dperm_report_limits s WHERE s.budget OPERATOR(pg_catalog.=) $1),
	entries AS MATERIALIZED (
		SELECT l.entry, l.at, l.act, l.role, l.function, l.relation, l.purpose, l.epsilon, l.delta, l.release
		FROM dp_ledger l
		WHERE l.budget OPERATOR(pg_catalog.=) $1 AND l.entry OPERATOR(pg_catalog.>=) coalesce((SELECT m.since FROM limits m), 0)),
	charges AS (SELECT e.* FROM entries e WHERE e.act OPERATOR(pg_catalog.=) 'charge')
	SELECT pg_catalog.jsonb_build_object(
		'budgets', (SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(b) ORDER BY b.epsilon_left DESC) FROM dp_budgets b WHERE b.budget OPERATOR(pg_catalog.=) $1),
		'grants', (SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(g) ORDER BY g.role::pg_catalog.text COLLATE pg_catalog."C") FROM dp_grants g WHERE g.budget OPERATOR(pg_catalog.=) $1),
		'protected', (SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(p) ORDER BY p.relation::pg_catalog.text COLLATE pg_catalog."C") FROM dp_protected p WHERE p.budget OPERATOR(pg_catalog.=) $1),
		'spenders', (SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(s) ORDER BY s.epsilon DESC, s.role)
			FROM (SELECT c.role, pg_catalog.count(*) AS charges, pg_catalog.sum(c.epsilon) AS epsilon, pg_catalog.sum(c.delta) AS delta, pg_catalog.min(c.at) AS first, pg_catalog.max(c.at) AS last
				FROM charges c GROUP BY c.role) s),
		'entries', (SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(n) ORDER BY n.entry DESC) FROM (SELECT e.* FROM entries e ORDER BY e.entry DESC LIMIT 100) n),
		'largest', (SELECT pg_catalog.to_jsonb(m) FROM limits m),
		'count', (SELECT pg_catalog.count(*) FROM entries e),
		'since', (SELECT pg_catalog.min(e.at) FROM entries e),
		'first', (SELECT pg_catalog.min(c.at) FROM charges c),
		'last', (SELECT pg_catalog.max(c.at) FROM charges c),
		'times', (SELECT pg_catalog.jsonb_agg(pg_catalog.date_part('epoch', c.at) ORDER BY c.at, c.entry) FROM charges c),
		'amounts', (SELECT pg_catalog.jsonb_agg(c.epsilon ORDER BY c.at, c.entry) FROM charges c));
END;
COMMENT ON FUNCTION dperm_report_facts(text) IS
	'internal to dp_report: what dp_budgets, dp_grants, dp_protected and dp_ledger show the caller of a budget, and its largest limits';

CREATE FUNCTION dp_report(model dp_model, evaluation jsonb DEFAULT NULL, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL RESTRICTED
	RETURN dperm_report_model($1, $3, $4, $5, dperm_report_ledger($1), $2);
COMMENT ON FUNCTION dp_report(dp_model, jsonb, text, text, text) IS
	'a report on a model as one HTML page: what was released, the guarantee, pictures of its columns, an evaluation, and its ledger entry';

CREATE FUNCTION dp_report(budget text, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL UNSAFE
	RETURN dperm_report_budget($1, $2, $3, $4, dperm_report_facts($1));
COMMENT ON FUNCTION dp_report(text, text, text, text) IS
	'a report on a privacy budget as one HTML page: its balance, who spent what and when, and grants, as far as you may see them';

CREATE FUNCTION dp_report_data(model dp_model, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL RESTRICTED
	RETURN dperm_report_model_data($1, $2, $3, $4, dperm_report_ledger($1));
COMMENT ON FUNCTION dp_report_data(dp_model, text, text, text) IS
	'a record of a model with the fields of the OpenDP Deployments Registry';

CREATE FUNCTION dp_report_data(budget text, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE
	RETURN dperm_report_budget_data($1, $2, $3, $4, dperm_report_facts($1));
COMMENT ON FUNCTION dp_report_data(text, text, text, text) IS
	'a record of a privacy budget with the fields of the OpenDP Deployments Registry';
