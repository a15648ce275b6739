--
-- Accounts behind dp_budgets and dp_ledger
--
-- Amounts are exact decimals, so the accounts are exactly the sums of the
-- ledger.

-- A dump contains the names of roles and relations, and is restored table by
-- table. dperm_role_name and dperm_relation_name accept any name, so that a
-- missing one does not prevent other rows from being restored; for the same
-- reason, only what no user can choose is unique. A budget is identified by a
-- random number: one of the same name that is created before a restored one, or
-- in place of it, is a different budget.
--
-- Each table whose rows are updated or deleted has a key, also of random
-- numbers: without one, a publication for all tables would make these commands
-- fail. REPLICA IDENTITY FULL is no alternative: PostgreSQL 18 rejects it for
-- generated columns.

CREATE TYPE dperm.dperm_role_name;
CREATE FUNCTION dperm.dperm_role_name_in(cstring) RETURNS dperm.dperm_role_name
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_role_name_in(cstring) IS 'internal to budgets: I/O of dperm_role_name';
CREATE FUNCTION dperm.dperm_role_name_out(dperm.dperm_role_name) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_role_name_out(dperm.dperm_role_name) IS 'internal to budgets: I/O of dperm_role_name';
CREATE TYPE dperm.dperm_role_name (INPUT = dperm.dperm_role_name_in, OUTPUT = dperm.dperm_role_name_out, INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = plain);
COMMENT ON TYPE dperm.dperm_role_name IS
	'internal to budgets: a role, like regrole; or a name that no role had when it was restored, which refers to no role';
CREATE FUNCTION dperm.dperm_role_of(dperm.dperm_role_name) RETURNS regrole
	AS 'MODULE_PATHNAME', 'dperm_name_oid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_role_of(dperm.dperm_role_name) IS 'internal to budgets: the role';

CREATE TABLE dperm.dp_budget_accounts (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	budget text COLLATE "C" NOT NULL,
	created timestamptz NOT NULL DEFAULT clock_timestamp(),
	owner_name dperm.dperm_role_name NOT NULL,
	owner regrole GENERATED ALWAYS AS (dperm.dperm_role_of(owner_name)) STORED,
	epsilon numeric NOT NULL,
	delta numeric NOT NULL,
	renyi_order float8 NOT NULL,
	neighbours text NOT NULL,
	unit text,
	since bigint NOT NULL,
	spent_epsilon numeric NOT NULL DEFAULT 0,
	spent_delta numeric NOT NULL DEFAULT 0,
	spent_divergence numeric NOT NULL DEFAULT 0,
	spent_direct numeric NOT NULL DEFAULT 0,
	spent_tail numeric NOT NULL DEFAULT 0
);
COMMENT ON TABLE dperm.dp_budget_accounts IS
	'internal to dp_budgets: a row for each budget; a name refers to the oldest budget of that name; since is the number of the dp_ledger entry that created it';
CREATE INDEX dp_budget_accounts_budget ON dperm.dp_budget_accounts (budget);

CREATE TABLE dperm.dp_budget_grants (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	budget_id uuid NOT NULL,
	budget text COLLATE "C" NOT NULL,
	grantee_name dperm.dperm_role_name NOT NULL,
	grantee regrole GENERATED ALWAYS AS (dperm.dperm_role_of(grantee_name)) STORED,
	epsilon numeric,
	delta numeric,
	spent_epsilon numeric NOT NULL DEFAULT 0,
	spent_delta numeric NOT NULL DEFAULT 0
);
COMMENT ON TABLE dperm.dp_budget_grants IS
	'internal to dp_grant: a row for each role that may spend from a budget; if epsilon or delta is NULL, only the budget is the limit';
CREATE INDEX dp_budget_grants_budget_id ON dperm.dp_budget_grants (budget_id);

CREATE TABLE dperm.dp_ledger_entries (
	budget_id uuid NOT NULL,
	budget text COLLATE "C" NOT NULL,
	entry bigint NOT NULL,
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	act text NOT NULL,
	actor_name dperm.dperm_role_name,
	actor regrole GENERATED ALWAYS AS (dperm.dperm_role_of(actor_name)) STORED,
	role name NOT NULL,
	function text,
	relation text,
	label text,
	features text[],
	learner text,
	parameters jsonb,
	purpose text,
	neighbours text,
	unit text,
	epsilon numeric,
	delta numeric,
	divergence numeric,
	direct numeric,
	tail numeric,
	epsilon_left numeric,
	grant_left numeric,
	details text
);
COMMENT ON TABLE dperm.dp_ledger_entries IS
	'internal to dp_ledger: what was spent from budgets and how they were managed; the entries of a budget are numbered without gaps';
CREATE INDEX dp_ledger_entries_entry ON dperm.dp_ledger_entries (budget, entry);

CREATE TABLE dperm.dp_ledger_releases (
	budget_id uuid NOT NULL,
	budget text COLLATE "C" NOT NULL,
	entry bigint NOT NULL,
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	payer_name dperm.dperm_role_name,
	payer regrole GENERATED ALWAYS AS (dperm.dperm_role_of(payer_name)) STORED,
	model @extschema@.dp_model,
	metrics jsonb,
	failure text
);
COMMENT ON TABLE dperm.dp_ledger_releases IS
	'internal to dp_ledger: what was released for an entry, or why nothing was; rows are only ever added';
CREATE INDEX dp_ledger_releases_entry ON dperm.dp_ledger_releases (budget_id, entry);

-- Grants of dropped roles are not dumped: in another cluster, their OIDs may be
-- those of other roles.
SELECT pg_extension_config_dump('dperm.dp_budget_accounts', '');
SELECT pg_extension_config_dump('dperm.dp_budget_grants', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = grantee)');
SELECT pg_extension_config_dump('dperm.dp_ledger_entries', '');
SELECT pg_extension_config_dump('dperm.dp_ledger_releases', '');

CREATE FUNCTION dperm.dperm_owners_sync() RETURNS event_trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm.dperm_owners_sync() IS
	'internal to budgets: budgets of dropped roles are given to the owner of the extension';

CREATE EVENT TRIGGER dperm_owners_drop ON ddl_command_start WHEN TAG IN ('DROP OWNED') EXECUTE FUNCTION dperm.dperm_owners_sync();
ALTER EVENT TRIGGER dperm_owners_drop DISABLE;
COMMENT ON EVENT TRIGGER dperm_owners_drop IS
	'internal to budgets: budgets of dropped roles are given to the owner of the extension';

CREATE FUNCTION dperm.dperm_budget_left(epsilon numeric, delta numeric, renyi_order float8,
	spent_epsilon numeric, spent_delta numeric, spent_divergence numeric, spent_direct numeric, spent_tail numeric) RETURNS numeric
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION dperm.dperm_budget_left(numeric, numeric, float8, numeric, numeric, numeric, numeric, numeric) IS
	'internal to dp_budgets: the largest epsilon of a single release without delta that a budget still allows';
