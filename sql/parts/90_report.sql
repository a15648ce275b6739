--
-- Reports
--
-- The functions of users read views, with the rights of the caller, and those in
-- C write what these show. Bodies are parsed when the extension is created, so
-- that names cannot come to mean anything else.

CREATE FUNCTION dperm.dperm_report_model(model @extschema@.dp_model, title text, purpose text, curator text, ledger jsonb, evaluation jsonb) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_report_model(@extschema@.dp_model, text, text, text, jsonb, jsonb) IS
	'internal to dp_report: the page of a model';

CREATE FUNCTION dperm.dperm_report_model_data(model @extschema@.dp_model, title text, purpose text, curator text, ledger jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_report_model_data(@extschema@.dp_model, text, text, text, jsonb) IS
	'internal to dp_report_data: the record of a model';

CREATE FUNCTION dperm.dperm_report_budget(budget text, title text, purpose text, curator text, facts jsonb) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_report_budget(text, text, text, text, jsonb) IS
	'internal to dp_report: the page of a budget';

CREATE FUNCTION dperm.dperm_report_budget_data(budget text, title text, purpose text, curator text, facts jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_report_budget_data(text, text, text, text, jsonb) IS
	'internal to dp_report_data: the record of a budget';

CREATE FUNCTION dperm.dperm_report_ledger(model @extschema@.dp_model) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT jsonb_agg(to_jsonb(r) ORDER BY r.at)
	FROM (SELECT l.entry, l.at, l.act, l.role, l.function, l.relation, l.label, l.features, l.parameters, l.purpose, l.neighbours, l.unit, l.epsilon, l.delta, l.release,
			k.model::text AS model, k.metrics, l.budget = m.budget AND l.entry = m.entry AS own
		FROM (SELECT e.ledger ->> 'budget' AS budget, (e.ledger ->> 'entry')::bigint AS entry FROM (SELECT $1::jsonb -> 'ledger' AS ledger) e) m, @extschema@.dp_ledger l
			LEFT JOIN @extschema@.dp_releases k ON k.budget = l.budget AND k.entry = l.entry
		WHERE l.budget = m.budget AND l.entry = m.entry
			OR l.details = CASE WHEN m.budget IS NOT NULL THEN format('model: entry %s of budget %I', m.entry, m.budget) END) r;
END;
COMMENT ON FUNCTION dperm.dperm_report_ledger(@extschema@.dp_model) IS
	'internal to dp_report: what dp_ledger shows the caller of the entry that a model names, and of evaluations of a model that names it';

-- The largest limits under which anything was charged, or could be now: what all releases of a budget guarantee. Whoever sees the budget sees them. Lines about a dropped owner have no limits.
CREATE VIEW dperm.dperm_report_limits WITH (security_barrier) AS
	SELECT a.budget, a.since, a.entry AS last, l.epsilon, l.delta
	FROM dperm.dperm_seen_budgets s
	JOIN dperm.budgets a ON a.id = s.id
	CROSS JOIN LATERAL (SELECT min(e.entry) AS entry FROM dperm.ledger e WHERE e.budget = a.budget AND e.budget_id = a.id AND e.act = 'charge') charge
	CROSS JOIN LATERAL (SELECT max(e.entry) AS entry FROM dperm.ledger e
		WHERE e.budget = a.budget AND e.budget_id = a.id AND e.act = ANY ('{create,alter}') AND e.epsilon IS NOT NULL
			AND (charge.entry IS NULL OR e.entry < charge.entry)) first
	CROSS JOIN LATERAL (SELECT max(e.epsilon) AS epsilon, max(e.delta) AS delta FROM dperm.ledger e
		WHERE e.budget = a.budget AND e.budget_id = a.id AND e.act = ANY ('{create,alter}') AND e.entry >= coalesce(first.entry, 0)) l
	OFFSET 0;
COMMENT ON VIEW dperm.dperm_report_limits IS
	'internal to dp_report: the largest limits of budgets that you own or may spend from, since their first charge, and the entry of the ledger that created them';

CREATE FUNCTION dperm.dperm_report_facts(budget text) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
	WITH limits AS MATERIALIZED (
		SELECT s.since, s.last, s.epsilon, s.delta FROM dperm.dperm_report_limits s WHERE s.budget = $1 ORDER BY s.since DESC LIMIT 1),
	entries AS MATERIALIZED (
		SELECT l.entry, l.at, l.act, l.role, l.function, l.relation, l.purpose, l.epsilon, l.delta, l.release
		FROM @extschema@.dp_ledger l
		WHERE l.budget = $1 AND l.entry >= coalesce((SELECT m.since FROM limits m), 0) AND l.entry <= coalesce((SELECT m.last FROM limits m), l.entry)),
	charges AS (SELECT e.* FROM entries e WHERE e.act = 'charge')
	SELECT jsonb_build_object(
		'budgets', (SELECT jsonb_agg(to_jsonb(b) ORDER BY b.epsilon_left DESC) FROM dperm.dperm_seen_accounts b, limits m WHERE b.budget = $1 AND b.since = m.since),
		'grants', (SELECT jsonb_agg(to_jsonb(g) ORDER BY g.role::text COLLATE "C") FROM @extschema@.dp_grants g WHERE g.budget = $1),
		'protected', (SELECT jsonb_agg(to_jsonb(p) ORDER BY p.relation::text COLLATE "C") FROM @extschema@.dp_protected p WHERE p.budget = $1),
		'spenders', (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.epsilon DESC, s.role)
			FROM (SELECT c.role, count(*) AS charges, sum(c.epsilon) AS epsilon, sum(c.delta) AS delta, min(c.at) AS first, max(c.at) AS last
				FROM charges c GROUP BY c.role) s),
		'entries', (SELECT jsonb_agg(to_jsonb(n) ORDER BY n.entry DESC) FROM (SELECT e.* FROM entries e ORDER BY e.entry DESC LIMIT 100) n),
		'largest', (SELECT to_jsonb(m) FROM limits m),
		'count', (SELECT count(*) FROM entries e),
		'since', (SELECT min(e.at) FROM entries e),
		'first', (SELECT min(c.at) FROM charges c),
		'last', (SELECT max(c.at) FROM charges c),
		'times', (SELECT jsonb_agg(date_part('epoch', c.at) ORDER BY c.at, c.entry) FROM charges c),
		'amounts', (SELECT jsonb_agg(c.epsilon ORDER BY c.at, c.entry) FROM charges c));
END;
COMMENT ON FUNCTION dperm.dperm_report_facts(text) IS
	'internal to dp_report: what dp_budgets, dp_grants, dp_protected and dp_ledger show the caller of a budget, and its largest limits';

CREATE FUNCTION @extschema@.dp_report(model @extschema@.dp_model, evaluation jsonb DEFAULT NULL, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL UNSAFE
	RETURN dperm.dperm_report_model($1, $3, $4, $5, dperm.dperm_report_ledger($1), $2);
COMMENT ON FUNCTION @extschema@.dp_report(@extschema@.dp_model, jsonb, text, text, text) IS
	'a report on a model as one HTML page: what was released, the guarantee, pictures of its columns, an evaluation, and its ledger entry';

CREATE FUNCTION @extschema@.dp_report(budget text, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS text
	LANGUAGE sql STABLE PARALLEL UNSAFE
	RETURN dperm.dperm_report_budget($1, $2, $3, $4, dperm.dperm_report_facts($1));
COMMENT ON FUNCTION @extschema@.dp_report(text, text, text, text) IS
	'a report on a privacy budget as one HTML page: its balance, who spent what and when, and grants, as far as you may see them';

CREATE FUNCTION @extschema@.dp_report_data(model @extschema@.dp_model, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE
	RETURN dperm.dperm_report_model_data($1, $2, $3, $4, dperm.dperm_report_ledger($1));
COMMENT ON FUNCTION @extschema@.dp_report_data(@extschema@.dp_model, text, text, text) IS
	'a record of a model with the fields of the OpenDP Deployments Registry';

CREATE FUNCTION @extschema@.dp_report_data(budget text, title text DEFAULT NULL, purpose text DEFAULT NULL, curator text DEFAULT NULL) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE
	RETURN dperm.dperm_report_budget_data($1, $2, $3, $4, dperm.dperm_report_facts($1));
COMMENT ON FUNCTION @extschema@.dp_report_data(text, text, text, text) IS
	'a record of a privacy budget with the fields of the OpenDP Deployments Registry';
