--
-- Budgets
--

CREATE FUNCTION @extschema@.dp_budget_create(
	budget text,
	epsilon float8,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace'
) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_budget_create(text, float8, float8, text) IS
	'create a privacy budget, which belongs to the current user';

CREATE FUNCTION @extschema@.dp_budget_alter(
	budget text,
	epsilon float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	owner name DEFAULT NULL,
	neighbours text DEFAULT NULL
) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_budget_alter(text, float8, float8, name, text) IS
	'raise or lower a privacy budget, or change its owner; before it is first charged, change its neighbours';

CREATE FUNCTION @extschema@.dp_budget_drop(budget text) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_budget_drop(text) IS
	'drop a privacy budget that no protected relation charges; its ledger is kept';

CREATE FUNCTION @extschema@.dp_grant(
	budget text,
	role name,
	epsilon float8 DEFAULT NULL,
	delta float8 DEFAULT NULL
) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_grant(text, name, float8, float8) IS
	'allow a role to spend from a privacy budget, up to an epsilon and a delta, or change these limits; those that are omitted stay';

CREATE FUNCTION @extschema@.dp_revoke(budget text, role name) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_revoke(text, name) IS
	'revoke the right of a role to spend from a privacy budget';

CREATE FUNCTION @extschema@.dp_budget_charge(
	budget text,
	epsilon float8,
	delta float8 DEFAULT 0,
	purpose text DEFAULT NULL
) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION @extschema@.dp_budget_charge(text, float8, float8, text) IS
	'charge a privacy budget for a release made with other tools; it is never refunded, not even by ROLLBACK';

-- OFFSET 0 keeps all conditions of a query above the view. A security barrier lets comparisons pass that raise no error, and EXPLAIN ANALYZE then shows what they find in hidden rows.
CREATE VIEW @extschema@.dp_grants WITH (security_barrier) AS
	SELECT a.budget, g.grantee AS role, g.epsilon AS epsilon_granted, g.delta AS delta_granted, g.spent_epsilon AS epsilon_spent, g.spent_delta AS delta_spent,
		CASE WHEN g.epsilon < g.spent_epsilon THEN 0
			ELSE least(dperm.dperm_budget_left(a.epsilon, a.delta, a.renyi_order, a.spent_epsilon, a.spent_delta, a.spent_divergence, a.spent_direct, a.spent_tail),
				g.epsilon - g.spent_epsilon) END AS epsilon_left,
		CASE WHEN g.delta < g.spent_delta THEN 0 ELSE g.delta - g.spent_delta END AS delta_left
	FROM dperm.dp_budget_accounts a, LATERAL (SELECT r.grantee, min(r.epsilon) AS epsilon, min(r.delta) AS delta, sum(r.spent_epsilon) AS spent_epsilon, sum(r.spent_delta) AS spent_delta
		FROM dperm.dp_budget_grants r WHERE r.budget_id = a.id GROUP BY r.grantee) g
	WHERE pg_has_role(a.owner, 'USAGE') OR pg_has_role(g.grantee, 'USAGE')
	OFFSET 0;
COMMENT ON VIEW @extschema@.dp_grants IS
	'grants of privacy budgets that you own, and grants that you may spend: what was granted, what was spent and what is left';

CREATE VIEW @extschema@.dp_budgets WITH (security_barrier) AS
	SELECT a.budget, a.owner, g.grantee AS granted_to, a.neighbours, a.unit, a.epsilon, a.delta,
		a.spent_epsilon AS epsilon_spent, a.spent_delta AS delta_spent,
		CASE WHEN g.epsilon < g.spent_epsilon THEN 0
			ELSE least(dperm.dperm_budget_left(a.epsilon, a.delta, a.renyi_order, a.spent_epsilon, a.spent_delta, a.spent_divergence, a.spent_direct, a.spent_tail),
				g.epsilon - g.spent_epsilon) END AS epsilon_left
	FROM dperm.dp_budget_accounts a
	LEFT JOIN LATERAL (SELECT r.grantee, min(r.epsilon) AS epsilon, min(r.delta) AS delta, sum(r.spent_epsilon) AS spent_epsilon, sum(r.spent_delta) AS spent_delta
		FROM dperm.dp_budget_grants r WHERE r.budget_id = a.id GROUP BY r.grantee) g ON NOT pg_has_role(a.owner, 'USAGE') AND pg_has_role(g.grantee, 'USAGE')
	WHERE pg_has_role(a.owner, 'USAGE') OR g.grantee IS NOT NULL
	OFFSET 0;
COMMENT ON VIEW @extschema@.dp_budgets IS
	'privacy budgets that you own or may spend from: their limits, what was spent, and epsilon_left, the largest epsilon of a single release without delta';

-- Who owns a budget, and who reads all statistics, sees every entry; others see their own, and of the charges of others who may spend from the same budget the role, the time and the cost.
CREATE VIEW @extschema@.dp_ledger WITH (security_barrier) AS
	SELECT e.budget, e.entry, e.at, e.act, e.role, w.function, w.relation, w.label, w.features, w.learner, w.parameters, w.purpose, w.neighbours, w.unit, e.epsilon, e.delta,
		CASE WHEN s.manages THEN e.epsilon_left WHEN s.acted THEN coalesce(e.grant_left, e.epsilon_left) END AS epsilon_left, w.details,
		CASE WHEN e.act <> 'charge' OR w.relation IS NULL THEN NULL WHEN r.entry IS NULL THEN 'not kept' ELSE coalesce(r.failure, 'kept') END AS release,
		r.model, r.metrics
	FROM dperm.dp_ledger_entries e
	CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM dperm.dp_budget_accounts a WHERE a.id = e.budget_id AND pg_has_role(a.owner, 'USAGE')) AS owns) o
	CROSS JOIN LATERAL (SELECT o.owns OR pg_has_role('pg_read_all_stats', 'USAGE') AS manages, pg_has_role(e.actor, 'USAGE') AS acted) s
	LEFT JOIN LATERAL (SELECT e.function, e.relation, e.label, e.features, e.learner, e.parameters, e.purpose, e.neighbours, e.unit, e.details WHERE s.manages OR s.acted) w ON true
	LEFT JOIN LATERAL (SELECT k.entry, k.failure, CASE WHEN p.may_read THEN k.model END AS model, CASE WHEN p.may_read THEN k.metrics END AS metrics
		FROM dperm.dp_ledger_releases k, LATERAL (SELECT pg_has_role(k.payer, 'USAGE') OR o.owns AS may_read) p
		WHERE k.budget_id = e.budget_id AND k.entry = e.entry ORDER BY k.at LIMIT 1) r ON true
	WHERE s.manages OR s.acted
		OR e.act = 'charge' AND EXISTS (SELECT FROM dperm.dp_budget_grants g WHERE g.budget_id = e.budget_id AND pg_has_role(g.grantee, 'USAGE'))
	OFFSET 0;
COMMENT ON VIEW @extschema@.dp_ledger IS
	'what was spent from privacy budgets and how they were managed, in the order of entry: of budgets that you own, or all for members of pg_read_all_stats; your own entries, and role, time and cost of those of others who may spend from the same budget';

GRANT SELECT ON @extschema@.dp_budgets, @extschema@.dp_grants, @extschema@.dp_ledger TO PUBLIC;
