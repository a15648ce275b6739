--
-- Budgets. Trusted.
--
-- A function of this name in schema dperm does what a user calls here, as the
-- owner of the extension: its first argument is the role that calls.

CREATE FUNCTION @extschema@.dp_budget_create(
	budget text,
	epsilon float8,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace'
) RETURNS void
	AS 'MODULE_PATHNAME', 'dperm_administer' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_budget_create(text, float8, float8, text) IS
	'create a privacy budget, which belongs to the current user; a superuser grants EXECUTE on this function to those who own data';
REVOKE EXECUTE ON FUNCTION @extschema@.dp_budget_create(text, float8, float8, text) FROM PUBLIC;

CREATE FUNCTION @extschema@.dp_budget_alter(
	budget text,
	epsilon float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	owner name DEFAULT NULL,
	neighbours text DEFAULT NULL,
	add float8 DEFAULT NULL
) RETURNS void
	AS 'MODULE_PATHNAME', 'dperm_administer' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_budget_alter(text, float8, float8, name, text, float8) IS
	'raise or lower a privacy budget, add to its epsilon, or change its owner; before it is first charged, change its neighbours';

CREATE FUNCTION @extschema@.dp_budget_drop(budget text) RETURNS void
	AS 'MODULE_PATHNAME', 'dperm_administer' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_budget_drop(text) IS
	'drop a privacy budget that no protected relation charges; its ledger is kept';

CREATE FUNCTION @extschema@.dp_budget_prune(before timestamptz DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dperm_administer' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_budget_prune(timestamptz) IS
	'remove all privacy budgets that were never charged, have no protected relation and were created before a time, 30 days ago by default, with their ledgers; returns how many';
REVOKE EXECUTE ON FUNCTION @extschema@.dp_budget_prune(timestamptz) FROM PUBLIC;

CREATE FUNCTION @extschema@.dp_grant(
	budget text,
	role name,
	epsilon float8 DEFAULT NULL,
	delta float8 DEFAULT NULL,
	add float8 DEFAULT NULL
) RETURNS void
	AS 'MODULE_PATHNAME', 'dperm_administer' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_grant(text, name, float8, float8, float8) IS
	'allow a role to spend from a privacy budget, up to an epsilon and a delta; or change these limits, or add to the epsilon; those that are omitted stay';

CREATE FUNCTION @extschema@.dp_revoke(budget text, role name) RETURNS void
	AS 'MODULE_PATHNAME', 'dperm_administer' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_revoke(text, name) IS
	'revoke the right of a role to spend from a privacy budget; if it is granted again, what was spent counts';

CREATE FUNCTION @extschema@.dp_cancel(budget text, entry bigint) RETURNS void
	AS 'MODULE_PATHNAME', 'dperm_administer' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_cancel(text, bigint) IS
	'cancel a call on a protected relation by its entry in the ledger: for who paid, the owner of the budget and that of the relation; what was charged stays charged';

CREATE FUNCTION @extschema@.dp_release_drop(budget text, entry bigint) RETURNS void
	AS 'MODULE_PATHNAME', 'dperm_administer' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_release_drop(text, bigint) IS
	'delete a release that you have paid for from dp_releases; its entry in the ledger stays';

CREATE FUNCTION @extschema@.dp_budget_charge(
	budget text,
	epsilon float8,
	delta float8 DEFAULT 0,
	purpose text DEFAULT NULL
) RETURNS void
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION @extschema@.dp_budget_charge(text, float8, float8, text) IS
	'charge a privacy budget for a release made with other tools; it is never refunded, not even by ROLLBACK';

--
-- Views
--
-- Each finds what the caller may see by the roles of the caller, by index, before
-- it reads anything else. How many budgets and entries that are the planner cannot
-- know; it expects ten elements in an array, and looks each up by index. OFFSET 0
-- keeps all conditions of a query above the view: a security barrier lets
-- comparisons pass that raise no error, and EXPLAIN ANALYZE then shows what they
-- find in hidden rows.

CREATE FUNCTION dperm.dperm_own_roles() RETURNS regrole[]
	LANGUAGE sql STABLE PARALLEL SAFE
	RETURN ARRAY(SELECT r.oid::regrole FROM pg_roles r WHERE pg_has_role(r.oid, 'USAGE'));
COMMENT ON FUNCTION dperm.dperm_own_roles() IS
	'internal to dp_budgets: the roles whose rights the current user has';

CREATE VIEW dperm.dperm_seen_budgets AS
	SELECT u.id, u.owns, u.spends, u.reads
	FROM unnest(ARRAY(SELECT ROW (s.id, bool_or(s.owns), bool_or(s.spends), bool_or(s.reads))
		FROM (SELECT b.id, true AS owns, false AS spends, false AS reads FROM dperm.budgets b WHERE b.owner = ANY ((SELECT dperm.dperm_own_roles())::regrole[])
			UNION ALL SELECT g.budget_id, false, true, false FROM dperm.grants g WHERE g.grantee = ANY ((SELECT dperm.dperm_own_roles())::regrole[]) AND g.revoked IS NULL
			UNION ALL SELECT b.id, (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user), false, true
				FROM dperm.budgets b WHERE (SELECT pg_has_role('pg_read_all_stats', 'USAGE'))) s
		GROUP BY s.id)) u(id uuid, owns boolean, spends boolean, reads boolean);
COMMENT ON VIEW dperm.dperm_seen_budgets IS
	'internal to dp_budgets: budgets that the current user owns, may spend from, or sees as one who reads all statistics; superusers own all';

CREATE FUNCTION dperm.dperm_budget_left(epsilon numeric, delta numeric, renyi_order float8,
	spent_epsilon numeric, spent_delta numeric, spent_divergence numeric, spent_direct numeric, spent_tail numeric, is_delta boolean) RETURNS numeric
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION dperm.dperm_budget_left(numeric, numeric, float8, numeric, numeric, numeric, numeric, numeric, boolean) IS
	'internal to dp_budgets: the largest epsilon of a single release without delta that a budget or a grant still allows; or the largest delta of one of which only epsilon and delta are known';
CREATE FUNCTION dperm.dperm_budget_order(epsilon numeric, delta numeric) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION dperm.dperm_budget_order(numeric, numeric) IS
	'internal to dp_budget_create: the order of the divergence that a budget or a grant counts';

CREATE FUNCTION dperm.dperm_left(b dperm.budgets, g dperm.grants, is_delta boolean) RETURNS numeric
	LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN least(dperm.dperm_budget_left(($1).epsilon, ($1).delta, ($1).renyi_order, ($1).spent_epsilon, ($1).spent_delta, ($1).spent_divergence, ($1).spent_direct, ($1).spent_tail, $3),
		dperm.dperm_budget_left(($2).epsilon, coalesce(($2).delta, ($1).delta),
			CASE WHEN ($2).spent_epsilon > 0 THEN coalesce(($2).renyi_order, 0) ELSE dperm.dperm_budget_order(($2).epsilon, coalesce(($2).delta, ($1).delta)) END,
			($2).spent_epsilon, ($2).spent_delta, ($2).spent_divergence, ($2).spent_direct, ($2).spent_tail, $3));
COMMENT ON FUNCTION dperm.dperm_left(dperm.budgets, dperm.grants, boolean) IS
	'internal to dp_budgets: what is left of a budget to those who have a grant of it, or to its owner';

CREATE VIEW @extschema@.dp_grants WITH (security_barrier) AS
	SELECT b.budget, g.grantee_name::text::name AS role, g.epsilon AS epsilon_granted, CASE WHEN g.epsilon IS NOT NULL THEN g.delta END AS delta_granted,
		g.spent_epsilon AS epsilon_spent, g.spent_delta AS delta_spent, dperm.dperm_left(b, g, false) AS epsilon_left, dperm.dperm_left(b, g, true) AS delta_left
	FROM dperm.dperm_seen_budgets s
	JOIN dperm.budgets b ON b.id = s.id
	JOIN dperm.grants g ON g.budget_id = s.id
	WHERE b.dropped IS NULL AND g.revoked IS NULL AND (s.owns OR s.reads OR g.grantee = ANY ((SELECT dperm.dperm_own_roles())::regrole[]))
	OFFSET 0;
COMMENT ON VIEW @extschema@.dp_grants IS
	'grants of privacy budgets that you own, and grants that you may spend: what was granted, what was spent and what is left; all of them for members of pg_read_all_stats';

CREATE VIEW dperm.dperm_seen_accounts WITH (security_barrier) AS
	SELECT b.budget, b.owner_name::text::name AS owner, g.grantee_name::text::name AS granted_to, b.neighbours, b.unit, b.epsilon, b.delta,
		b.spent_epsilon AS epsilon_spent, b.spent_delta AS delta_spent,
		dperm.dperm_left(b, g, false) AS epsilon_left, b.since, b.dropped
	FROM dperm.dperm_seen_budgets s
	JOIN dperm.budgets b ON b.id = s.id
	LEFT JOIN dperm.grants g ON g.budget_id = s.id AND g.revoked IS NULL AND NOT s.owns AND g.grantee = ANY ((SELECT dperm.dperm_own_roles())::regrole[])
	OFFSET 0;
COMMENT ON VIEW dperm.dperm_seen_accounts IS
	'internal to dp_budgets and dp_report: what dp_budgets shows, also of budgets that were dropped';
CREATE VIEW @extschema@.dp_budgets WITH (security_barrier) AS
	SELECT a.budget, a.owner, a.granted_to, a.neighbours, a.unit, a.epsilon, a.delta, a.epsilon_spent, a.delta_spent, a.epsilon_left
	FROM dperm.dperm_seen_accounts a
	WHERE a.dropped IS NULL
	OFFSET 0;
COMMENT ON VIEW @extschema@.dp_budgets IS
	'privacy budgets that you own or may spend from, or all of them for members of pg_read_all_stats: their limits, what was spent, and epsilon_left, the largest epsilon of a single release without delta';

-- Who owns a budget, or owned it when it was dropped, and who reads all
-- statistics, sees every entry; others see their own, and of the charges of
-- others who may spend from the same budget the role, the time and the cost.
CREATE VIEW dperm.dperm_seen_entries AS
	SELECT e.*, b.owns, b.owns OR b.reads AS manages, e.actor = ANY ((SELECT dperm.dperm_own_roles())::regrole[]) AS acted
	FROM dperm.dperm_seen_budgets b JOIN dperm.ledger e ON e.budget_id = b.id
	WHERE b.owns OR b.reads OR e.act = 'charge' OR e.actor = ANY ((SELECT dperm.dperm_own_roles())::regrole[])
	UNION ALL SELECT e.*, false, false, true
	FROM unnest(ARRAY(SELECT ROW (e.budget_id, e.entry) FROM dperm.ledger e
		WHERE e.actor = ANY ((SELECT dperm.dperm_own_roles())::regrole[]) AND e.budget_id NOT IN (SELECT b.id FROM dperm.dperm_seen_budgets b))) u(budget_id uuid, entry bigint)
	JOIN dperm.ledger e ON e.budget_id = u.budget_id AND e.entry = u.entry;
COMMENT ON VIEW dperm.dperm_seen_entries IS
	'internal to dp_ledger: the entries that the current user sees, all of them or in part';

-- Whoever runs a call holds a lock of its entry, from before the charge is
-- committed until its release is. No SQL function takes locks of this kind.
CREATE VIEW dperm.dperm_running AS
	SELECT l.classid::bigint << 32 | l.objid::bigint AS key, l.pid
	FROM pg_locks l
	WHERE l.locktype = 'advisory' AND l.objsubid = 25713 AND l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());
COMMENT ON VIEW dperm.dperm_running IS
	'internal to dp_ledger and dp_cancel: the calls on protected relations that have been charged and still run, each as a hash of budget and entry, and its process';
CREATE FUNCTION dperm.dperm_running_key(budget_id uuid, entry bigint) RETURNS bigint
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN hashtextextended((budget_id::text || ' ' || entry::text) COLLATE "C", 0);
COMMENT ON FUNCTION dperm.dperm_running_key(uuid, bigint) IS 'internal to dp_ledger and dp_cancel: the key of the lock of an entry';
CREATE FUNCTION dperm.dperm_released(budget_id uuid, entry bigint) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm.dperm_released(uuid, bigint) IS
	'internal to dp_ledger: is there a release of an entry, or a reason for having none, by now?';

-- A call that is neither released nor running is lost. Both may change while a
-- query runs, whose snapshot does not see it. So the locks are read after the
-- snapshot was taken, once and only if there is such an entry; and what has been
-- released before that, but not before the snapshot, was running. A standby does
-- not know the locks.
CREATE VIEW @extschema@.dp_ledger WITH (security_barrier) AS
	SELECT e.budget, e.entry, e.at, e.act, e.role, w.function, w.relation, w.label, w.features, w.learner, w.parameters, w.purpose, w.neighbours, w.unit, e.epsilon, e.delta,
		CASE WHEN e.manages THEN e.epsilon_left WHEN e.acted THEN coalesce(e.grant_left, e.epsilon_left) END AS epsilon_left, w.details,
		CASE WHEN e.act <> 'charge' OR w.relation IS NULL THEN NULL
			WHEN k.entry IS NOT NULL THEN CASE WHEN k.failure IS NULL THEN 'kept' WHEN k.failure IN ('cancelled', 'deleted') THEN k.failure ELSE 'failed' END
			WHEN pg_is_in_recovery() THEN NULL
			WHEN dperm.dperm_running_key(e.budget_id, e.entry) = ANY (ARRAY(SELECT r.key FROM dperm.dperm_running r)) OR dperm.dperm_released(e.budget_id, e.entry) THEN 'running'
			ELSE 'lost' END AS release
	FROM dperm.dperm_seen_entries e
	LEFT JOIN LATERAL (SELECT e.function, e.relation, e.label, e.features, e.learner, e.parameters, e.purpose, e.neighbours, e.unit, e.details WHERE e.manages OR e.acted) w ON true
	LEFT JOIN dperm.releases k ON k.budget_id = e.budget_id AND k.entry = e.entry
	OFFSET 0;
COMMENT ON VIEW @extschema@.dp_ledger IS
	'what was spent from privacy budgets and how they were managed, in the order of entry: of budgets that you own, or all for members of pg_read_all_stats; your own entries, and role, time and cost of those of others who may spend from the same budget; release says what became of a call: running, kept, deleted, failed, cancelled or lost';

CREATE VIEW @extschema@.dp_releases WITH (security_barrier) AS
	SELECT e.budget, e.entry, k.at, k.payer_name::text::name AS role, e.function, e.relation, k.model, k.metrics, k.failure
	FROM dperm.dperm_seen_entries e
	JOIN dperm.releases k ON k.budget_id = e.budget_id AND k.entry = e.entry
	WHERE e.owns OR e.acted
	OFFSET 0;
COMMENT ON VIEW @extschema@.dp_releases IS
	'models and metrics that were released for entries of the ledger: those that you paid for, and those of budgets that you own; failure says why there is none';

GRANT SELECT ON @extschema@.dp_budgets, @extschema@.dp_grants, @extschema@.dp_ledger, @extschema@.dp_releases TO PUBLIC;
