--
-- Registry of protected relations. Trusted.
--
-- A relation is registered by its OID and a column by its number, so that they
-- can be renamed. Files take them along: a template, pg_upgrade, a standby. A dump
-- has them as well, but there they are not valid: "here" is the key of the
-- database that they belong to, which no dump contains. What is inserted is bound
-- anew, by the names of schema, relation and owner. What cannot be bound refers to
-- nothing, and a relation that has its name is closed. owner_name is the owner who
-- called dp_protect: a relation that has another owner by now is closed until that
-- one protects it.
--
-- A view has no budget, unit or list of columns of its own, but the registration
-- of its table. That of a table whose protection has ended stays, because its
-- budget keeps the unit that it was charged for.

CREATE TABLE dperm.protected (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	relation oid NOT NULL DEFAULT 0,
	here text COLLATE "C" NOT NULL DEFAULT '',
	schema name NOT NULL,
	name name NOT NULL,
	owner_name dperm.dperm_role_name NOT NULL,
	budget_id uuid,
	view_of uuid,
	unit name,
	unit_number int2 NOT NULL DEFAULT 0,
	all_columns boolean NOT NULL,
	ended timestamptz,
	ended_by name,
	CHECK ((budget_id IS NULL) <> (view_of IS NULL)),
	CHECK (view_of IS NULL OR unit IS NULL AND all_columns AND ended IS NULL),
	CHECK ((ended IS NULL) = (ended_by IS NULL))
);
COMMENT ON TABLE dperm.protected IS
	'internal to dp_protect: a row for each protected table, and for each view that is offered of one; also for a table whose protection has ended, when and by whom; relation and the numbers of columns are valid in the database that here names';
CREATE INDEX protected_relation ON dperm.protected (relation);
CREATE UNIQUE INDEX protected_once ON dperm.protected (relation, here) WHERE ended IS NULL AND relation <> 0;
CREATE INDEX protected_name ON dperm.protected (name);
CREATE INDEX protected_here ON dperm.protected (here);
CREATE INDEX protected_budget_id ON dperm.protected (budget_id);
CREATE INDEX protected_view_of ON dperm.protected (view_of);

CREATE TABLE dperm.protected_columns (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	protected uuid NOT NULL,
	name name NOT NULL,
	number int2 NOT NULL DEFAULT 0,
	here text COLLATE "C" NOT NULL DEFAULT '',
	listed boolean NOT NULL,
	domain jsonb,
	UNIQUE (protected, name) DEFERRABLE,
	CHECK (listed OR domain IS NOT NULL)
);
COMMENT ON TABLE dperm.protected_columns IS
	'internal to dp_protect: a row for each column of a protected relation that is listed or has a domain';
CREATE INDEX protected_columns_protected ON dperm.protected_columns (protected);
CREATE INDEX protected_columns_here ON dperm.protected_columns (here);

SELECT pg_extension_config_dump('dperm.protected', '');
SELECT pg_extension_config_dump('dperm.protected_columns', '');

CREATE TABLE dperm.origin (id oid PRIMARY KEY, key text NOT NULL);
COMMENT ON TABLE dperm.origin IS 'internal to dp_protect: the key of this database, which is not dumped';
INSERT INTO dperm.origin VALUES (1, gen_random_uuid());
CREATE FUNCTION dperm.dperm_here() RETURNS text
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	RETURN (SELECT o.key FROM dperm.origin o WHERE o.id = 1);
COMMENT ON FUNCTION dperm.dperm_here() IS 'internal to dp_protect: the key of this database';

CREATE FUNCTION dperm.dperm_column_number(relation oid, name name) RETURNS int2
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	RETURN coalesce((SELECT a.attnum FROM pg_attribute a WHERE a.attrelid = $1 AND a.attname = $2 AND a.attnum > 0 AND NOT a.attisdropped), 0);
COMMENT ON FUNCTION dperm.dperm_column_number(oid, name) IS 'internal to dp_protect: a column by name; 0 if there is none';

-- A registration belongs to a relation of the role that owned it. Otherwise,
-- others could have their relations charged to a budget. One of several that have
-- not ended is bound.
CREATE FUNCTION dperm.dperm_bind() RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	this text := dperm.dperm_here();
BEGIN
	WITH found AS MATERIALIZED (SELECT p.id, p.ended, c.oid AS relation
		FROM dperm.protected p JOIN pg_namespace n ON n.nspname = p.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.name
		WHERE (p.here < this OR p.here > this) AND c.relowner = dperm.dperm_role_of(p.owner_name)
			AND CASE WHEN p.view_of IS NULL THEN c.relkind IN ('r', 'p', 'm', 'f') ELSE c.relkind = 'v' END
			AND (p.ended IS NOT NULL OR NOT EXISTS (SELECT FROM dperm.protected o WHERE o.relation = c.oid AND o.here = this AND o.ended IS NULL))
		FOR UPDATE OF p SKIP LOCKED),
	bound AS (UPDATE dperm.protected p SET relation = f.relation, here = this, unit_number = dperm.dperm_column_number(f.relation, p.unit)
		FROM (SELECT DISTINCT ON (f.relation, f.ended) f.* FROM found f ORDER BY f.relation, f.ended, f.id) f WHERE p.id = f.id
		RETURNING p.id, p.relation)
	UPDATE dperm.protected_columns k SET number = dperm.dperm_column_number(b.relation, k.name), here = this FROM bound b WHERE k.protected = b.id;
	UPDATE dperm.protected_columns k SET number = dperm.dperm_column_number(p.relation, k.name), here = this FROM dperm.protected p
	WHERE p.id = k.protected AND p.here = this
		AND k.id IN (SELECT c.id FROM dperm.protected_columns c WHERE c.here < this OR c.here > this FOR UPDATE SKIP LOCKED);
END $$;
COMMENT ON FUNCTION dperm.dperm_bind() IS
	'internal to dp_protect: bind what has come from a dump to relations, by name and owner; one that is not ended to each, and none that another session is binding';

-- pg_restore -j fills both tables at once, and nothing else may follow that binds:
-- whoever inserts what comes from a dump waits for the other, and so sees its rows.
-- A plan that was made for a few rows is used for many, too, so it looks up each
-- row by index.
CREATE FUNCTION dperm.dperm_bind_inserted() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
	IF EXISTS (SELECT FROM inserted i WHERE i.here > '') THEN
		LOCK TABLE dperm.origin IN SHARE UPDATE EXCLUSIVE MODE;
	END IF;
	IF TG_TABLE_NAME = 'protected' THEN
		UPDATE dperm.protected p SET relation = 0, here = '' WHERE p.id = ANY (ARRAY(SELECT i.id FROM inserted i));
	ELSE
		UPDATE dperm.protected_columns k SET here = '' WHERE k.id = ANY (ARRAY(SELECT i.id FROM inserted i));
	END IF;
	PERFORM dperm.dperm_bind();
	RETURN NULL;
END $$;
COMMENT ON FUNCTION dperm.dperm_bind_inserted() IS 'internal to dp_protect: no OID and no number of a column is taken from a dump';

CREATE TRIGGER dperm_bind_inserted AFTER INSERT ON dperm.protected REFERENCING NEW TABLE AS inserted
	FOR EACH STATEMENT EXECUTE FUNCTION dperm.dperm_bind_inserted();
ALTER TABLE dperm.protected ENABLE ALWAYS TRIGGER dperm_bind_inserted;
CREATE TRIGGER dperm_bind_inserted AFTER INSERT ON dperm.protected_columns REFERENCING NEW TABLE AS inserted
	FOR EACH STATEMENT EXECUTE FUNCTION dperm.dperm_bind_inserted();
ALTER TABLE dperm.protected_columns ENABLE ALWAYS TRIGGER dperm_bind_inserted;

CREATE FUNCTION dperm.dperm_cascade() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF TG_TABLE_NAME = 'budgets' THEN
		DELETE FROM dperm.grants g USING deleted d WHERE g.budget_id = d.id;
		DELETE FROM dperm.releases k USING deleted d WHERE k.budget_id = d.id;
		DELETE FROM dperm.ledger e USING deleted d WHERE e.budget_id = d.id;
		DELETE FROM dperm.protected p USING deleted d WHERE p.budget_id = d.id;
	ELSIF EXISTS (SELECT FROM deleted) THEN
		DELETE FROM dperm.protected_columns k USING deleted d WHERE k.protected = d.id;
		DELETE FROM dperm.protected v USING deleted d WHERE v.view_of = d.id;
	END IF;
	RETURN NULL;
END $$;
COMMENT ON FUNCTION dperm.dperm_cascade() IS 'internal to budgets: delete what belongs to a budget, a protected table or a view';
CREATE TRIGGER dperm_cascade AFTER DELETE ON dperm.budgets REFERENCING OLD TABLE AS deleted
	FOR EACH STATEMENT EXECUTE FUNCTION dperm.dperm_cascade();
ALTER TABLE dperm.budgets ENABLE ALWAYS TRIGGER dperm_cascade;
CREATE TRIGGER dperm_cascade AFTER DELETE ON dperm.protected REFERENCING OLD TABLE AS deleted
	FOR EACH STATEMENT EXECUTE FUNCTION dperm.dperm_cascade();
ALTER TABLE dperm.protected ENABLE ALWAYS TRIGGER dperm_cascade;

--
-- What happens to protected relations
--
-- Whoever runs a command need not know of them, so these functions have the
-- rights of the owner of the extension, look at nothing but the relations of the
-- command, and need no library.

-- Names are followed for dumps; a unit that was dropped has none, so that a column
-- that gets its name is not taken for it. A relation whose names were not followed
-- is closed (protection.c).
CREATE FUNCTION dperm.dperm_follow(registrations uuid[]) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF $1 <> '{}' THEN
		UPDATE dperm.protected p SET schema = n.nspname, name = c.relname, unit = CASE WHEN p.unit IS NOT NULL THEN coalesce(a.attname, '') END
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, dperm.protected q
			LEFT JOIN pg_attribute a ON a.attrelid = q.relation AND a.attnum = q.unit_number AND NOT a.attisdropped
		WHERE p.id = ANY ($1) AND q.id = p.id AND c.oid = p.relation
			AND ((p.schema, p.name) <> (n.nspname, c.relname) OR p.unit <> coalesce(a.attname, ''));
		DELETE FROM dperm.protected_columns k USING dperm.protected p
		WHERE p.id = ANY ($1) AND k.protected = p.id AND k.here = p.here
			AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = p.relation AND a.attnum = k.number AND NOT a.attisdropped);
		UPDATE dperm.protected_columns k SET name = a.attname FROM dperm.protected p, pg_attribute a
		WHERE p.id = ANY ($1) AND k.protected = p.id AND k.here = p.here AND a.attrelid = p.relation AND a.attnum = k.number AND a.attname <> k.name;
	END IF;
END $$;
COMMENT ON FUNCTION dperm.dperm_follow(uuid[]) IS 'internal to dp_protect: write down what protected relations and their columns are called now';

-- A dropped table keeps its registration, with its name: the budget keeps the
-- unit for a table of this name.
CREATE FUNCTION dperm.dperm_after_drop() RETURNS event_trigger
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	gone uuid[] := ARRAY(SELECT p.id FROM pg_event_trigger_dropped_objects() e JOIN dperm.protected p ON p.relation = e.objid
		WHERE e.classid = 'pg_class'::regclass AND e.objsubid = 0 AND p.here = dperm.dperm_here());
BEGIN
	PERFORM dperm.dperm_follow(ARRAY(SELECT p.id FROM pg_event_trigger_dropped_objects() e JOIN dperm.protected p ON p.relation = e.objid
		WHERE e.classid = 'pg_class'::regclass AND e.objsubid > 0 AND p.here = dperm.dperm_here()));
	IF gone <> '{}' THEN
		DELETE FROM dperm.protected p WHERE p.id = ANY (gone) AND p.view_of IS NOT NULL;
		DELETE FROM dperm.protected_columns k WHERE k.protected = ANY (gone);
		UPDATE dperm.protected p SET relation = 0, ended = coalesce(p.ended, clock_timestamp()), ended_by = coalesce(p.ended_by, nullif(current_setting('role'), 'none')::name, session_user)
		WHERE p.id = ANY (gone);
	END IF;
END $$;
COMMENT ON FUNCTION dperm.dperm_after_drop() IS 'internal to dp_protect: end the registrations of relations that are dropped';
CREATE EVENT TRIGGER dperm_after_drop ON sql_drop EXECUTE FUNCTION dperm.dperm_after_drop();
ALTER EVENT TRIGGER dperm_after_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER dperm_after_drop IS 'internal to dp_protect: end the registrations of relations that are dropped';

-- Nobody else creates triggers on our tables, or foreign keys to them, which GRANT
-- ALL includes the privileges for: triggers run with the rights of the owner of the
-- table, and so do those of a table that a foreign key with ON DELETE or ON UPDATE
-- leads to. What there is counts, not the command: PostgreSQL does not tell which
-- commands REFRESH MATERIALIZED VIEW runs.
CREATE FUNCTION dperm.dperm_after_command() RETURNS event_trigger
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	altered uuid[] := CASE WHEN TG_TAG LIKE 'CREATE %' THEN '{}'
		WHEN TG_TAG = 'ALTER SCHEMA' THEN ARRAY(SELECT p.id FROM pg_event_trigger_ddl_commands() e
			JOIN pg_depend d ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = e.objid AND d.classid = 'pg_class'::regclass
			JOIN dperm.protected p ON p.relation = d.objid WHERE p.here = dperm.dperm_here())
		WHEN TG_TAG = 'ALTER TYPE' THEN ARRAY(SELECT p.id FROM pg_event_trigger_ddl_commands() e
			JOIN pg_class c ON c.oid = e.objid AND e.classid = 'pg_class'::regclass
			JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid = c.reltype AND d.classid = 'pg_class'::regclass
			JOIN dperm.protected p ON p.relation = d.objid WHERE p.here = dperm.dperm_here())
		ELSE ARRAY(SELECT p.id FROM pg_event_trigger_ddl_commands() e
			JOIN dperm.protected p ON p.relation = e.objid WHERE e.classid = 'pg_class'::regclass AND p.here = dperm.dperm_here()) END;
	own oid[] := '{dperm.budgets,dperm.grants,dperm.ledger,dperm.releases,dperm.protected,dperm.protected_columns,dperm.origin}'::regclass[];
	places text[] := (SELECT ARRAY[least(min(p.here), (SELECT min(k.here) FROM dperm.protected_columns k)), greatest(max(p.here), (SELECT max(k.here) FROM dperm.protected_columns k))]
		FROM dperm.protected p);
BEGIN
	-- a relation may have come after its registration, or its columns at the same time
	IF places[1] <> places[2] OR places[1] <> dperm.dperm_here() THEN
		BEGIN
			PERFORM dperm.dperm_bind();
		EXCEPTION
			WHEN undefined_file OR serialization_failure OR unique_violation THEN NULL;
		END;
	END IF;
	PERFORM dperm.dperm_follow(altered);
	IF TG_TAG IN ('CREATE TRIGGER', 'CREATE TABLE', 'ALTER TABLE', 'CREATE SCHEMA') AND EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = ANY (own)
			AND CASE WHEN t.tgisinternal THEN t.tgconstrrelid <> 0
				ELSE (SELECT p.pronamespace FROM pg_proc p WHERE p.oid = t.tgfoid) <> 'dperm'::regnamespace END) THEN
		RAISE EXCEPTION 'tables of extension dperm have no triggers or foreign keys but its own'
			USING ERRCODE = 'insufficient_privilege', HINT = 'A superuser should revoke all privileges on tables of schema dperm.';
	ELSIF TG_TAG = 'ALTER TABLE' AND EXISTS (SELECT FROM pg_event_trigger_ddl_commands() e JOIN pg_trigger t ON t.tgrelid = e.objid
			WHERE e.objid = ANY (own) AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'D')) THEN -- ENABLE TRIGGER makes ordinary ones of them
		RAISE EXCEPTION 'triggers of extension dperm cannot be disabled'
			USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Restore without --disable-triggers, which tables of the extension do not need.';
	END IF;
END $$;
COMMENT ON FUNCTION dperm.dperm_after_command() IS
	'internal to dp_protect: follow the names of protected relations and their columns; and allow no trigger on the tables of the extension, and no foreign key to them, but its own';
CREATE EVENT TRIGGER dperm_after_command ON ddl_command_end
	WHEN TAG IN ('CREATE TRIGGER', 'CREATE TABLE', 'CREATE SCHEMA', 'CREATE VIEW', 'CREATE MATERIALIZED VIEW', 'ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER INDEX', 'ALTER SCHEMA', 'ALTER TYPE')
	EXECUTE FUNCTION dperm.dperm_after_command();
ALTER EVENT TRIGGER dperm_after_command ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER dperm_after_command IS
	'internal to dp_protect: follow names, and allow no trigger on the tables of the extension but its own';
