--
-- Registry of protected relations
--
-- A column is registered by its number and by its name. place tells where the numbers are right: this cluster, this database,
-- this relation. Elsewhere, after a dump has been restored, the names are.

CREATE TYPE dp_relation_name;
CREATE FUNCTION dp_relation_name_in(cstring) RETURNS dp_relation_name
	AS 'MODULE_PATHNAME_debit' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_relation_name_in(cstring) IS 'internal to dp_protect: I/O of dp_relation_name';
CREATE FUNCTION dp_relation_name_out(dp_relation_name) RETURNS cstring
	AS 'MODULE_PATHNAME_debit' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_relation_name_out(dp_relation_name) IS 'internal to dp_protect: I/O of dp_relation_name';
CREATE TYPE dp_relation_name (INPUT = dp_relation_name_in, OUTPUT = dp_relation_name_out, INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = plain);
COMMENT ON TYPE dp_relation_name IS
	'internal to dp_protect: a relation, as regclass; or a name that no relation had when it was restored';
CREATE FUNCTION dp_relation_of(dp_relation_name) RETURNS regclass
	AS 'MODULE_PATHNAME_debit', 'dp_name_oid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_relation_of(dp_relation_name) IS 'internal to dp_protect: the relation';
CREATE FUNCTION dp_relation_pending(dp_relation_name) RETURNS text
	AS 'MODULE_PATHNAME_debit', 'dp_name_pending' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_relation_pending(dp_relation_name) IS 'internal to dp_protect: a name without a relation';

CREATE TABLE dp_protected_relations (
	relation_name dp_relation_name NOT NULL,
	relation regclass GENERATED ALWAYS AS (dp_relation_of(relation_name)) STORED,
	pending text COLLATE "C" GENERATED ALWAYS AS (dp_relation_pending(relation_name)) STORED,
	budget text,
	budget_id uuid,
	place text NOT NULL,
	persons boolean NOT NULL,
	all_columns boolean NOT NULL
);
COMMENT ON TABLE dp_protected_relations IS
	'internal to dp_protect: a row for each protected relation; without a budget, of one that is no longer protected, or that only relations which show its rows are; pending if it was restored before the relation';
CREATE INDEX dp_protected_relations_relation ON dp_protected_relations (relation);
CREATE INDEX dp_protected_relations_pending ON dp_protected_relations (pending) WHERE pending IS NOT NULL;
CREATE INDEX dp_protected_relations_budget_id ON dp_protected_relations (budget_id);

CREATE TABLE dp_protected_columns (
	relation_name dp_relation_name NOT NULL,
	relation regclass GENERATED ALWAYS AS (dp_relation_of(relation_name)) STORED,
	pending text COLLATE "C" GENERATED ALWAYS AS (dp_relation_pending(relation_name)) STORED,
	name name NOT NULL,
	number int2 NOT NULL,
	listed boolean NOT NULL,
	is_unit boolean NOT NULL,
	domain jsonb,
	kept_by text COLLATE "C"
);
COMMENT ON TABLE dp_protected_columns IS
	'internal to dp_protect: a row for each column of a protected relation that is listed, is the unit, or has a domain; with kept_by, the unit that its rows have, or had, for this budget: is_unit, unless a materialized view of it is not made row by row';
CREATE INDEX dp_protected_columns_relation ON dp_protected_columns (relation);
CREATE INDEX dp_protected_columns_pending ON dp_protected_columns (pending) WHERE pending IS NOT NULL;
CREATE INDEX dp_protected_columns_kept_by ON dp_protected_columns (kept_by) WHERE kept_by IS NOT NULL;

-- Whatever default privileges have granted
DO $$
DECLARE
	held record;
BEGIN
	FOR held IN SELECT c.oid::pg_catalog.regclass AS object, CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END AS grantee
		FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
		WHERE c.relnamespace OPERATOR(pg_catalog.=) (SELECT e.extnamespace FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) 'dperm') AND a.grantee OPERATOR(pg_catalog.<>) c.relowner
			AND c.relname OPERATOR(pg_catalog.=) ANY (ARRAY['dp_protected_relations', 'dp_protected_columns']::pg_catalog.name[])
	LOOP
		EXECUTE pg_catalog.format('REVOKE ALL ON %s FROM %s', held.object, held.grantee);
	END LOOP;
END $$;

CREATE TRIGGER dp_table_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON dp_protected_relations
	FOR EACH STATEMENT EXECUTE FUNCTION dp_table_guard();
ALTER TABLE dp_protected_relations ENABLE ALWAYS TRIGGER dp_table_guard;
COMMENT ON TRIGGER dp_table_guard ON dp_protected_relations IS
	'internal to budgets: only the extension writes this table';
CREATE TRIGGER dp_table_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON dp_protected_columns
	FOR EACH STATEMENT EXECUTE FUNCTION dp_table_guard();
ALTER TABLE dp_protected_columns ENABLE ALWAYS TRIGGER dp_table_guard;
COMMENT ON TRIGGER dp_table_guard ON dp_protected_columns IS
	'internal to budgets: only the extension writes this table';
SELECT pg_catalog.pg_extension_config_dump('dp_protected_relations', '');
SELECT pg_catalog.pg_extension_config_dump('dp_protected_columns', '');

CREATE FUNCTION dp_registry_sync() RETURNS event_trigger
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_registry_sync() IS
	'internal to dp_protect: follow changes of protected relations';

CREATE EVENT TRIGGER dp_registry_drop ON sql_drop EXECUTE FUNCTION dp_registry_sync();
COMMENT ON EVENT TRIGGER dp_registry_drop IS
	'internal to dp_protect: remove what has been dropped from the registry of protected relations';

CREATE EVENT TRIGGER dp_registry_before ON ddl_command_start
	WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER TYPE')
	EXECUTE FUNCTION dp_registry_sync();
COMMENT ON EVENT TRIGGER dp_registry_before IS
	'internal to dp_protect: find restored columns by their names, before these change';

CREATE EVENT TRIGGER dp_registry_alter ON ddl_command_end
	WHEN TAG IN ('CREATE TABLE', 'CREATE FOREIGN TABLE', 'ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER TYPE')
	EXECUTE FUNCTION dp_registry_sync();
COMMENT ON EVENT TRIGGER dp_registry_alter IS
	'internal to dp_protect: follow renamed columns and new partitions in the registry of protected relations';

CREATE EVENT TRIGGER dp_registry_create ON ddl_command_end
	WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'CREATE VIEW', 'CREATE MATERIALIZED VIEW', 'CREATE FOREIGN TABLE')
	EXECUTE FUNCTION dp_registry_sync();
COMMENT ON EVENT TRIGGER dp_registry_create IS
	'internal to dp_protect: find registrations that were restored before their relations';
