--
-- Budgets, grants and the ledger: tables of schema dperm. Trusted.
--
-- Amounts are exact decimals, so the accounts are exactly the sums of the
-- ledger.

-- A dump has the names of roles. dperm_role_name takes any name, so that a
-- missing role does not prevent other rows from being restored. A budget is
-- identified by a random number: another one that is created with the name of
-- one that was dropped is a different budget.
--
-- Each table whose rows are updated or deleted has a primary key: without one, a
-- publication for all tables would make these commands fail. REPLICA IDENTITY
-- FULL is no alternative: PostgreSQL 18 rejects it for generated columns.
--
-- There are no foreign keys: pg_restore -j restores the tables of an extension at
-- the same time, in any order, and foreign keys of an extension are there before
-- the data. A charge writes its rows without SQL (own_rows.c), for which no
-- trigger fires: what C writes refers to the row of the budget, which it has
-- locked. Triggers delete what belongs to a deleted row (dperm_cascade).

CREATE TYPE dperm.dperm_role_name;
CREATE FUNCTION dperm.dperm_role_name_in(cstring) RETURNS dperm.dperm_role_name
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_role_name_in(cstring) IS 'internal to budgets: I/O of dperm_role_name';
CREATE FUNCTION dperm.dperm_role_name_out(dperm.dperm_role_name) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_role_name_out(dperm.dperm_role_name) IS 'internal to budgets: I/O of dperm_role_name';
CREATE TYPE dperm.dperm_role_name (INPUT = dperm.dperm_role_name_in, OUTPUT = dperm.dperm_role_name_out, INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = plain);
COMMENT ON TYPE dperm.dperm_role_name IS
	'internal to budgets: a role, like regrole, and its name; a name that no role had when it was restored refers to no role, and is written, like that of a role that was dropped, with pg_dropped: before it';
CREATE FUNCTION dperm.dperm_role_of(dperm.dperm_role_name) RETURNS regrole
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_role_of(dperm.dperm_role_name) IS 'internal to budgets: the role';

CREATE TABLE dperm.budgets (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	budget text COLLATE "C" NOT NULL CHECK (budget <> ''),
	created timestamptz NOT NULL DEFAULT clock_timestamp(),
	dropped timestamptz,
	owner_name dperm.dperm_role_name NOT NULL,
	owner regrole GENERATED ALWAYS AS (dperm.dperm_role_of(owner_name)) STORED,
	epsilon numeric NOT NULL CHECK (epsilon > 0),
	delta numeric NOT NULL CHECK (delta >= 0 AND delta < 1),
	renyi_order float8 NOT NULL CHECK (renyi_order >= 0),
	neighbours text NOT NULL CHECK (neighbours IN ('replace', 'remove')),
	unit text CHECK (unit IN ('row', 'person')),
	since bigint NOT NULL CHECK (since > 0),
	entry bigint NOT NULL CHECK (entry >= since - 1),
	spent_epsilon numeric NOT NULL DEFAULT 0 CHECK (spent_epsilon >= 0),
	spent_delta numeric NOT NULL DEFAULT 0 CHECK (spent_delta >= 0),
	spent_divergence numeric NOT NULL DEFAULT 0 CHECK (spent_divergence >= 0),
	spent_direct numeric NOT NULL DEFAULT 0 CHECK (spent_direct >= 0),
	spent_tail numeric NOT NULL DEFAULT 0 CHECK (spent_tail >= 0)
);
COMMENT ON TABLE dperm.budgets IS
	'internal to dp_budgets: a row for each budget, also of those that were dropped; since and entry are the numbers of its first and last line in dp_ledger';
CREATE UNIQUE INDEX budgets_budget ON dperm.budgets (budget) WHERE dropped IS NULL;
CREATE INDEX budgets_since ON dperm.budgets (budget, since);
CREATE INDEX budgets_owner ON dperm.budgets (owner);

CREATE TABLE dperm.grants (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	budget_id uuid NOT NULL,
	grantee_name dperm.dperm_role_name NOT NULL,
	grantee regrole GENERATED ALWAYS AS (dperm.dperm_role_of(grantee_name)) STORED,
	revoked timestamptz,
	epsilon numeric CHECK (epsilon > 0),
	delta numeric CHECK (delta >= 0 AND delta < 1),
	renyi_order float8 CHECK (renyi_order > 1 AND renyi_order < 'Infinity'),
	spent_epsilon numeric NOT NULL DEFAULT 0 CHECK (spent_epsilon >= 0),
	spent_delta numeric NOT NULL DEFAULT 0 CHECK (spent_delta >= 0),
	spent_divergence numeric NOT NULL DEFAULT 0 CHECK (spent_divergence >= 0),
	spent_direct numeric NOT NULL DEFAULT 0 CHECK (spent_direct >= 0),
	spent_tail numeric NOT NULL DEFAULT 0 CHECK (spent_tail >= 0),
	kept integer NOT NULL DEFAULT 0 CHECK (kept >= 0),
	CHECK (CASE WHEN spent_epsilon > 0 THEN delta IS NOT NULL AND (delta > 0) = (renyi_order IS NOT NULL)
		ELSE renyi_order IS NULL AND (delta IS NULL OR epsilon IS NOT NULL) AND spent_delta + spent_divergence + spent_direct + spent_tail + kept = 0 END)
);
COMMENT ON TABLE dperm.grants IS
	'internal to dp_grant: a row for each role that may spend from a budget, or has spent from it until that was revoked; without epsilon, only the budget is the limit; the first charge fixes delta, if it is NULL as that of the budget, and renyi_order, NULL for sums alone; kept is how many releases it has paid for that are kept, or more';
CREATE INDEX grants_budget_id ON dperm.grants (budget_id);
CREATE UNIQUE INDEX grants_role ON dperm.grants (budget_id, grantee) WHERE grantee::oid <> 0;
CREATE INDEX grants_grantee ON dperm.grants (grantee);

CREATE TABLE dperm.ledger (
	budget_id uuid NOT NULL,
	budget text COLLATE "C" NOT NULL,
	entry bigint NOT NULL CHECK (entry > 0),
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	act text NOT NULL CHECK (act IN ('create', 'alter', 'drop', 'grant', 'revoke', 'protect', 'unprotect', 'charge')),
	actor_name dperm.dperm_role_name NOT NULL,
	actor regrole GENERATED ALWAYS AS (dperm.dperm_role_of(actor_name)) STORED,
	role name NOT NULL,
	function text,
	relation text,
	label text,
	features text[],
	learner text,
	parameters jsonb,
	purpose text,
	neighbours text CHECK (neighbours IN ('replace', 'remove')),
	unit text CHECK (unit IN ('row', 'person')),
	epsilon numeric CHECK (epsilon > 0),
	delta numeric CHECK (delta >= 0 AND delta < 1),
	divergence numeric CHECK (divergence >= 0),
	direct numeric CHECK (direct >= 0),
	tail numeric CHECK (tail >= 0),
	epsilon_left numeric CHECK (epsilon_left >= 0),
	grant_left numeric CHECK (grant_left >= 0),
	details text,
	PRIMARY KEY (budget, entry),
	UNIQUE (budget_id, entry),
	CHECK (act <> 'charge' OR epsilon IS NOT NULL AND delta IS NOT NULL AND epsilon_left IS NOT NULL)
);
COMMENT ON TABLE dperm.ledger IS
	'internal to dp_ledger: what was spent from budgets and how they were managed; the entries of a name are numbered without gaps';
CREATE INDEX ledger_actor ON dperm.ledger (actor);

CREATE TABLE dperm.releases (
	budget_id uuid NOT NULL,
	entry bigint NOT NULL,
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	payer_name dperm.dperm_role_name NOT NULL,
	payer regrole GENERATED ALWAYS AS (dperm.dperm_role_of(payer_name)) STORED,
	grant_id uuid,
	model @extschema@.dp_model,
	metrics jsonb,
	failure text,
	protected uuid,
	units bigint CHECK (units > 0),
	PRIMARY KEY (budget_id, entry)
);
CREATE INDEX releases_grant_id ON dperm.releases (grant_id);
CREATE INDEX releases_units ON dperm.releases (protected, at) WHERE units IS NOT NULL AND failure IS NULL;
COMMENT ON TABLE dperm.releases IS
	'internal to dp_releases: what was released for an entry of the ledger, or why nothing was; grant_id is the grant that paid, if any; protected is the registration of the table, and units is how many rows or persons the release is about, if it says so';

SELECT pg_extension_config_dump('dperm.budgets', '');
SELECT pg_extension_config_dump('dperm.grants', '');
SELECT pg_extension_config_dump('dperm.ledger', '');
SELECT pg_extension_config_dump('dperm.releases', '');
