--
-- Registry of protected relations
--
-- A relation is registered by its OID and a column by its number, so that they
-- can be renamed. A dump contains their names and that of the owner: a restored
-- registration applies only to a relation of the same name and owner.
-- owner_name is the owner of the relation who called dp_protect. If the
-- relation gets another owner, it cannot be used until that owner protects it.

CREATE TYPE dperm.dperm_relation_name;
CREATE FUNCTION dperm.dperm_relation_name_in(cstring) RETURNS dperm.dperm_relation_name
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_relation_name_in(cstring) IS 'internal to dp_protect: I/O of dperm_relation_name';
CREATE FUNCTION dperm.dperm_relation_name_out(dperm.dperm_relation_name) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_relation_name_out(dperm.dperm_relation_name) IS 'internal to dp_protect: I/O of dperm_relation_name';
CREATE TYPE dperm.dperm_relation_name (INPUT = dperm.dperm_relation_name_in, OUTPUT = dperm.dperm_relation_name_out, INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = plain);
COMMENT ON TYPE dperm.dperm_relation_name IS
	'internal to dp_protect: a relation, like regclass; or a name that no relation of its owner had when it was restored';
CREATE FUNCTION dperm.dperm_relation_of(dperm.dperm_relation_name) RETURNS regclass
	AS 'MODULE_PATHNAME', 'dperm_name_oid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_relation_of(dperm.dperm_relation_name) IS 'internal to dp_protect: the relation';
CREATE FUNCTION dperm.dperm_relation_pending(dperm.dperm_relation_name) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_relation_pending(dperm.dperm_relation_name) IS 'internal to dp_protect: a name without a relation';

CREATE TYPE dperm.dperm_column_name;
CREATE FUNCTION dperm.dperm_column_name_in(cstring) RETURNS dperm.dperm_column_name
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_column_name_in(cstring) IS 'internal to dp_protect: I/O of dperm_column_name';
CREATE FUNCTION dperm.dperm_column_name_out(dperm.dperm_column_name) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_column_name_out(dperm.dperm_column_name) IS 'internal to dp_protect: I/O of dperm_column_name';
CREATE TYPE dperm.dperm_column_name (INPUT = dperm.dperm_column_name_in, OUTPUT = dperm.dperm_column_name_out, INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = plain);
COMMENT ON TYPE dperm.dperm_column_name IS
	'internal to dp_protect: a column of a relation, stored as OID and number and dumped by name; or a name whose relation did not exist, or had another owner, when it was restored';
CREATE FUNCTION dperm.dperm_column_relation(dperm.dperm_column_name) RETURNS regclass
	AS 'MODULE_PATHNAME', 'dperm_name_oid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_column_relation(dperm.dperm_column_name) IS 'internal to dp_protect: the relation of a column';
CREATE FUNCTION dperm.dperm_column_number(dperm.dperm_column_name) RETURNS int2
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_column_number(dperm.dperm_column_name) IS 'internal to dp_protect: the number of a column, 0 if its relation does not have it';
CREATE FUNCTION dperm.dperm_column_pending(dperm.dperm_column_name) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_column_pending(dperm.dperm_column_name) IS 'internal to dp_protect: the name of a relation that does not exist';

CREATE TABLE dperm.dp_protected_relations (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	relation_name dperm.dperm_relation_name NOT NULL,
	relation regclass GENERATED ALWAYS AS (dperm.dperm_relation_of(relation_name)) STORED,
	pending text COLLATE "C" GENERATED ALWAYS AS (dperm.dperm_relation_pending(relation_name)) STORED,
	owner_name dperm.dperm_role_name NOT NULL,
	owner regrole GENERATED ALWAYS AS (dperm.dperm_role_of(owner_name)) STORED,
	budget text,
	budget_id uuid,
	view_of uuid,
	persons boolean NOT NULL,
	unit name,
	all_columns boolean NOT NULL,
	ended timestamptz,
	ended_by name,
	dropped_name text COLLATE "C"
);
COMMENT ON TABLE dperm.dp_protected_relations IS
	'internal to dp_protect: a row for each protected table, and for each view that is offered of one, with the id of its row; without a budget, for one whose protection has ended, when and by whom; pending if it was restored before the relation; owner is the owner of the relation when it was protected; unit is the name of its column, which the budget keeps for a table of this dropped_name';
CREATE INDEX dp_protected_relations_relation ON dperm.dp_protected_relations (relation);
CREATE INDEX dp_protected_relations_pending ON dperm.dp_protected_relations (pending) WHERE pending IS NOT NULL;
CREATE INDEX dp_protected_relations_budget_id ON dperm.dp_protected_relations (budget_id);

CREATE TABLE dperm.dp_protected_columns (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	column_name dperm.dperm_column_name NOT NULL,
	relation regclass GENERATED ALWAYS AS (dperm.dperm_column_relation(column_name)) STORED,
	number int2 GENERATED ALWAYS AS (dperm.dperm_column_number(column_name)) STORED,
	pending text COLLATE "C" GENERATED ALWAYS AS (dperm.dperm_column_pending(column_name)) STORED,
	listed boolean NOT NULL,
	is_unit boolean NOT NULL,
	domain jsonb,
	registered_by uuid NOT NULL
);
COMMENT ON TABLE dperm.dp_protected_columns IS
	'internal to dp_protect: a row for each column of a protected relation that is listed, is the unit, or has a domain; registered_by is the id of its registration';
CREATE INDEX dp_protected_columns_relation ON dperm.dp_protected_columns (relation);
CREATE INDEX dp_protected_columns_pending ON dperm.dp_protected_columns (pending) WHERE pending IS NOT NULL;
CREATE INDEX dp_protected_columns_registered_by ON dperm.dp_protected_columns (registered_by);

-- A relation that was dropped by a transaction that did not see its registration
-- has no name.
SELECT pg_extension_config_dump('dperm.dp_protected_relations',
	'WHERE pending IS NOT NULL OR budget IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_class AS p WHERE p.oid = relation)');
SELECT pg_extension_config_dump('dperm.dp_protected_columns',
	'WHERE pending IS NOT NULL OR EXISTS (SELECT FROM pg_catalog.pg_class AS p WHERE p.oid = relation)');

CREATE FUNCTION dperm.dperm_registry_sync() RETURNS event_trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm.dperm_registry_sync() IS
	'internal to dp_protect: track changes of protected relations';

-- Disabled until there is a budget or a protected relation (dperm_follow_commands):
-- before that, no command depends on the library.
CREATE EVENT TRIGGER dperm_registry_drop ON sql_drop EXECUTE FUNCTION dperm.dperm_registry_sync();
ALTER EVENT TRIGGER dperm_registry_drop DISABLE;
COMMENT ON EVENT TRIGGER dperm_registry_drop IS
	'internal to dp_protect: end the registrations of relations that are dropped';

CREATE EVENT TRIGGER dperm_registry_alter ON ddl_command_end
	WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'CREATE SCHEMA', 'IMPORT FOREIGN SCHEMA', 'CREATE VIEW', 'CREATE MATERIALIZED VIEW', 'CREATE FOREIGN TABLE', 'ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE')
	EXECUTE FUNCTION dperm.dperm_registry_sync();
ALTER EVENT TRIGGER dperm_registry_alter DISABLE;
COMMENT ON EVENT TRIGGER dperm_registry_alter IS
	'internal to dp_protect: follow units that are renamed, and resolve registrations that were restored before their relations';
