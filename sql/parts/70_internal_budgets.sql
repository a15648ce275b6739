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

CREATE TYPE dperm_role_name;
CREATE FUNCTION dperm_role_name_in(cstring) RETURNS dperm_role_name
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm_role_name_in(cstring) IS 'internal to budgets: I/O of dperm_role_name';
CREATE FUNCTION dperm_role_name_out(dperm_role_name) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm_role_name_out(dperm_role_name) IS 'internal to budgets: I/O of dperm_role_name';
CREATE TYPE dperm_role_name (INPUT = dperm_role_name_in, OUTPUT = dperm_role_name_out, INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = plain);
COMMENT ON TYPE dperm_role_name IS
	'internal to budgets: a role, like regrole; or a name that no role had when it was restored, which refers to no role';
CREATE FUNCTION dperm_role_of(dperm_role_name) RETURNS regrole
	AS 'MODULE_PATHNAME', 'dperm_name_oid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm_role_of(dperm_role_name) IS 'internal to budgets: the role';

CREATE TABLE dp_budget_accounts (
	id uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
	budget text COLLATE "C" NOT NULL,
	created timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	owner_name dperm_role_name NOT NULL,
	owner regrole GENERATED ALWAYS AS (dperm_role_of(owner_name)) STORED,
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
COMMENT ON TABLE dp_budget_accounts IS
	'internal to dp_budgets: a row for each budget; a name refers to the oldest budget of that name; since is the number of the dp_ledger entry that created it';
CREATE INDEX dp_budget_accounts_budget ON dp_budget_accounts (budget);

CREATE TABLE dp_budget_grants (
	id uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
	budget_id uuid NOT NULL,
	budget text COLLATE "C" NOT NULL,
	grantee_name dperm_role_name NOT NULL,
	grantee regrole GENERATED ALWAYS AS (dperm_role_of(grantee_name)) STORED,
	epsilon numeric,
	delta numeric,
	spent_epsilon numeric NOT NULL DEFAULT 0,
	spent_delta numeric NOT NULL DEFAULT 0
);
COMMENT ON TABLE dp_budget_grants IS
	'internal to dp_grant: a row for each role that may spend from a budget; if epsilon or delta is NULL, only the budget is the limit';
CREATE INDEX dp_budget_grants_budget_id ON dp_budget_grants (budget_id);

CREATE TABLE dp_ledger_entries (
	budget_id uuid NOT NULL,
	budget text COLLATE "C" NOT NULL,
	entry bigint NOT NULL,
	at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	act text NOT NULL,
	actor_name dperm_role_name,
	actor regrole GENERATED ALWAYS AS (dperm_role_of(actor_name)) STORED,
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
COMMENT ON TABLE dp_ledger_entries IS
	'internal to dp_ledger: what was spent from budgets and how they were managed; the entries of a budget are numbered without gaps';
CREATE INDEX dp_ledger_entries_entry ON dp_ledger_entries (budget, entry);

CREATE TABLE dp_ledger_releases (
	budget_id uuid NOT NULL,
	budget text COLLATE "C" NOT NULL,
	entry bigint NOT NULL,
	at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	payer_name dperm_role_name,
	payer regrole GENERATED ALWAYS AS (dperm_role_of(payer_name)) STORED,
	model dp_model,
	metrics jsonb,
	failure text
);
COMMENT ON TABLE dp_ledger_releases IS
	'internal to dp_ledger: what was released for an entry, or why nothing was; rows are only ever added';
CREATE INDEX dp_ledger_releases_entry ON dp_ledger_releases (budget_id, entry);

-- Revoke what default privileges have granted
DO $$
DECLARE
	held record;
BEGIN
	FOR held IN SELECT c.oid::pg_catalog.regclass AS object, CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END AS grantee
		FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
		WHERE c.relnamespace OPERATOR(pg_catalog.=) (SELECT e.extnamespace FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) 'dperm') AND a.grantee OPERATOR(pg_catalog.<>) c.relowner
			AND c.relname OPERATOR(pg_catalog.=) ANY (ARRAY['dp_budget_accounts', 'dp_budget_grants', 'dp_ledger_entries', 'dp_ledger_releases']::pg_catalog.name[])
	LOOP
		EXECUTE pg_catalog.format('REVOKE ALL ON %s FROM %s', held.object, held.grantee);
	END LOOP;
END $$;

-- Grants of dropped roles are not dumped: in another cluster, their OIDs may be
-- those of other roles.
SELECT pg_catalog.pg_extension_config_dump('dp_budget_accounts', '');
SELECT pg_catalog.pg_extension_config_dump('dp_budget_grants', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) grantee)');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger_entries', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger_releases', '');

CREATE FUNCTION dperm_ledger_guard() RETURNS trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm_ledger_guard() IS
	'internal to dp_ledger: entries are only ever added';
REVOKE EXECUTE ON FUNCTION dperm_ledger_guard() FROM PUBLIC;

CREATE TRIGGER dperm_ledger_guard BEFORE UPDATE OR DELETE OR TRUNCATE ON dp_ledger_entries
	FOR EACH STATEMENT EXECUTE FUNCTION dperm_ledger_guard();
ALTER TABLE dp_ledger_entries ENABLE ALWAYS TRIGGER dperm_ledger_guard;
COMMENT ON TRIGGER dperm_ledger_guard ON dp_ledger_entries IS
	'internal to dp_ledger: entries are only ever added';
CREATE TRIGGER dperm_ledger_guard BEFORE UPDATE OR DELETE OR TRUNCATE ON dp_ledger_releases
	FOR EACH STATEMENT EXECUTE FUNCTION dperm_ledger_guard();
ALTER TABLE dp_ledger_releases ENABLE ALWAYS TRIGGER dperm_ledger_guard;
COMMENT ON TRIGGER dperm_ledger_guard ON dp_ledger_releases IS
	'internal to dp_ledger: releases are only ever added';

CREATE FUNCTION dperm_table_guard() RETURNS trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm_table_guard() IS
	'internal to budgets: only the extension writes its tables, whatever privileges other roles have';
REVOKE EXECUTE ON FUNCTION dperm_table_guard() FROM PUBLIC;

CREATE TRIGGER dperm_table_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON dp_budget_accounts
	FOR EACH STATEMENT EXECUTE FUNCTION dperm_table_guard();
ALTER TABLE dp_budget_accounts ENABLE ALWAYS TRIGGER dperm_table_guard;
COMMENT ON TRIGGER dperm_table_guard ON dp_budget_accounts IS
	'internal to budgets: only the extension writes this table';
CREATE TRIGGER dperm_table_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON dp_budget_grants
	FOR EACH STATEMENT EXECUTE FUNCTION dperm_table_guard();
ALTER TABLE dp_budget_grants ENABLE ALWAYS TRIGGER dperm_table_guard;
COMMENT ON TRIGGER dperm_table_guard ON dp_budget_grants IS
	'internal to budgets: only the extension writes this table';
CREATE TRIGGER dperm_table_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON dp_ledger_entries
	FOR EACH STATEMENT EXECUTE FUNCTION dperm_table_guard();
ALTER TABLE dp_ledger_entries ENABLE ALWAYS TRIGGER dperm_table_guard;
COMMENT ON TRIGGER dperm_table_guard ON dp_ledger_entries IS
	'internal to budgets: only the extension writes this table';
CREATE TRIGGER dperm_table_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON dp_ledger_releases
	FOR EACH STATEMENT EXECUTE FUNCTION dperm_table_guard();
ALTER TABLE dp_ledger_releases ENABLE ALWAYS TRIGGER dperm_table_guard;
COMMENT ON TRIGGER dperm_table_guard ON dp_ledger_releases IS
	'internal to budgets: only the extension writes this table';

CREATE FUNCTION dperm_replica_guard() RETURNS trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm_replica_guard() IS
	'internal to budgets: logical replication does not write the tables of the extension';
REVOKE EXECUTE ON FUNCTION dperm_replica_guard() FROM PUBLIC;

CREATE TRIGGER dperm_replica_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_budget_accounts
	FOR EACH ROW EXECUTE FUNCTION dperm_replica_guard();
ALTER TABLE dp_budget_accounts ENABLE ALWAYS TRIGGER dperm_replica_guard;
COMMENT ON TRIGGER dperm_replica_guard ON dp_budget_accounts IS
	'internal to budgets: logical replication does not write this table';
CREATE TRIGGER dperm_replica_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_budget_grants
	FOR EACH ROW EXECUTE FUNCTION dperm_replica_guard();
ALTER TABLE dp_budget_grants ENABLE ALWAYS TRIGGER dperm_replica_guard;
COMMENT ON TRIGGER dperm_replica_guard ON dp_budget_grants IS
	'internal to budgets: logical replication does not write this table';
CREATE TRIGGER dperm_replica_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_ledger_entries
	FOR EACH ROW EXECUTE FUNCTION dperm_replica_guard();
ALTER TABLE dp_ledger_entries ENABLE ALWAYS TRIGGER dperm_replica_guard;
COMMENT ON TRIGGER dperm_replica_guard ON dp_ledger_entries IS
	'internal to budgets: logical replication does not write this table';
CREATE TRIGGER dperm_replica_guard BEFORE INSERT OR UPDATE OR DELETE ON dp_ledger_releases
	FOR EACH ROW EXECUTE FUNCTION dperm_replica_guard();
ALTER TABLE dp_ledger_releases ENABLE ALWAYS TRIGGER dperm_replica_guard;
COMMENT ON TRIGGER dperm_replica_guard ON dp_ledger_releases IS
	'internal to budgets: logical replication does not write this table';

CREATE FUNCTION dperm_owners_sync() RETURNS event_trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm_owners_sync() IS
	'internal to budgets: budgets of dropped roles are given to the owner of the extension';

CREATE EVENT TRIGGER dperm_owners_drop ON ddl_command_start WHEN TAG IN ('DROP OWNED') EXECUTE FUNCTION dperm_owners_sync();
ALTER EVENT TRIGGER dperm_owners_drop DISABLE;
COMMENT ON EVENT TRIGGER dperm_owners_drop IS
	'internal to budgets: budgets of dropped roles are given to the owner of the extension';

CREATE FUNCTION dperm_budget_left(epsilon numeric, delta numeric, renyi_order float8,
	spent_epsilon numeric, spent_delta numeric, spent_divergence numeric, spent_direct numeric, spent_tail numeric) RETURNS numeric
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION dperm_budget_left(numeric, numeric, float8, numeric, numeric, numeric, numeric, numeric) IS
	'internal to dp_budgets: the largest epsilon of a single release without delta that a budget still allows';
