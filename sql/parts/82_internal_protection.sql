--
-- dp_protect and dp_unprotect: what they write. Trusted.
--
-- They hold the lock on the relation's object (protection.c), so its registration
-- does not change here.

CREATE FUNCTION dperm.dperm_row_sources(relation oid) RETURNS oid[]
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm.dperm_row_sources(oid) IS 'internal to dp_grant: the relations that share rows with a relation';

-- Whoever reads the rows needs no model, and is not charged.
CREATE FUNCTION dperm.dperm_warn_readers(relations oid[], roles oid[]) RETURNS boolean
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	found record;
	warned boolean := false;
BEGIN
	FOR found IN
		SELECT r.role, c.relname, w.whole
		FROM pg_class c, (SELECT 'public'::name AS role, NULL::oid AS id WHERE roles IS NULL
			UNION ALL SELECT a.rolname, a.oid FROM pg_roles a WHERE a.oid = ANY (roles)) r,
			LATERAL (SELECT CASE WHEN r.id IS NULL THEN has_table_privilege('public', c.oid, 'SELECT') ELSE has_table_privilege(r.id, c.oid, 'SELECT') END AS whole) w
		WHERE c.oid = ANY (relations) AND c.oid >= 16384 AND (r.id IS NULL OR NOT pg_has_role(r.id, c.relowner, 'USAGE'))
			AND (w.whole OR CASE WHEN r.id IS NULL THEN has_any_column_privilege('public', c.oid, 'SELECT') ELSE has_any_column_privilege(r.id, c.oid, 'SELECT') END)
		ORDER BY r.id, array_position(relations, c.oid)
	LOOP
		warned := true;
		RAISE WARNING '% can read % "%"', CASE WHEN roles IS NULL THEN 'everybody' ELSE format('role "%s"', found.role) END,
				CASE WHEN found.whole THEN 'relation' ELSE 'columns of relation' END, found.relname
			USING HINT = 'Revoke SELECT: whoever reads the rows needs no model, and is not charged.';
	END LOOP;
	RETURN warned;
END $$;
COMMENT ON FUNCTION dperm.dperm_warn_readers(oid[], oid[]) IS
	'internal to dp_protect and dp_grant: warn if roles without the rights of the owner, or everybody if roles are NULL, can read some of the relations';

-- What has been spent is about the persons of the unit then. dp_unprotect, or
-- DROP TABLE, in between makes no difference.
CREATE FUNCTION dperm.dperm_check_unit(account dperm.budgets, relation oid, unit name) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	counts text := CASE WHEN $3 IS NULL THEN 'row' ELSE 'person' END;
	charged boolean := account.spent_epsilon > 0;
	named record;
	former dperm.protected;
BEGIN
	IF account.unit <> counts AND (charged OR EXISTS (SELECT FROM dperm.protected p JOIN pg_class c ON c.oid = p.relation
			WHERE p.budget_id = account.id AND p.ended IS NULL AND p.here = dperm.dperm_here() AND p.relation <> $2)) THEN
		RAISE EXCEPTION 'budget "%" counts %s, not %s', account.budget, account.unit, counts
			USING ERRCODE = 'invalid_parameter_value', HINT = format('%s, or %s.',
				CASE WHEN $3 IS NULL THEN 'Specify unit, the column that identifies persons' ELSE 'Protect the relation without a unit, after dp_unprotect if it has one' END,
				CASE WHEN charged THEN 'create another budget' ELSE 'call dp_unprotect for the other relations of the budget, as nothing has been charged yet' END);
	END IF;
	UPDATE dperm.budgets b SET unit = counts WHERE b.id = account.id AND b.unit IS DISTINCT FROM counts;
	IF NOT charged THEN
		DELETE FROM dperm.protected p WHERE p.budget_id = account.id AND p.ended < now();
		RETURN;
	END IF;
	SELECT n.nspname, c.relname INTO named FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $2;
	SELECT * INTO former FROM dperm.protected p
	WHERE p.budget_id = account.id AND (p.relation = $2 AND p.here = dperm.dperm_here() OR (p.schema, p.name) = (named.nspname, named.relname))
	ORDER BY p.relation = $2 AND p.here = dperm.dperm_here() DESC, p.ended DESC LIMIT 1;
	IF former.unit IS NOT NULL AND former.relation = $2 THEN
		former.unit := coalesce((SELECT a.attname FROM pg_attribute a WHERE a.attrelid = $2 AND a.attnum = former.unit_number AND NOT a.attisdropped), '');
	END IF;
	IF former.id IS NOT NULL AND former.unit IS DISTINCT FROM $3 THEN
		RAISE EXCEPTION 'relation "%" has another unit in budget "%"', named.relname, account.budget
			USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Specify that unit, or create another budget.',
			DETAIL = CASE WHEN former.unit IS NULL THEN 'Its unit is a row.' WHEN former.unit = '' THEN 'Its unit is a column that has been dropped.' ELSE format('Its unit is column "%s".', former.unit) END;
	END IF;
END $$;
COMMENT ON FUNCTION dperm.dperm_check_unit(dperm.budgets, oid, name) IS
	'internal to dp_protect: set the unit of a budget, or raise an error: a budget is an account of rows or of persons, and keeps the unit of each table that it was charged for';

CREATE FUNCTION dperm.dperm_waits(registration dperm.protected) RETURNS boolean
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	RETURN ($1).here <> dperm.dperm_here() OR NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = ($1).relation);
COMMENT ON FUNCTION dperm.dperm_waits(dperm.protected) IS
	'internal to dp_protect: is a registration bound to no relation? It closes the relation that has its name';

-- That of its OID; or one that is not bound, and has its name: that of its owner first.
CREATE FUNCTION dperm.dperm_registration(relation oid) RETURNS dperm.protected
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
	RETURN (SELECT p FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			JOIN dperm.protected p ON p.ended IS NULL AND (p.relation = c.oid OR p.name = c.relname)
		WHERE c.oid = $1 AND CASE WHEN dperm.dperm_waits(p) THEN (p.schema, p.name) = (n.nspname, c.relname) ELSE p.relation = c.oid END
		ORDER BY dperm.dperm_waits(p), dperm.dperm_role_of(p.owner_name) = c.relowner DESC NULLS LAST LIMIT 1);
COMMENT ON FUNCTION dperm.dperm_registration(oid) IS 'internal to dp_protect: the registration of a relation, as protection.c finds it';

-- An offered view of a table whose registration is another row now is moved to it,
-- unless it belongs to a former owner.
CREATE FUNCTION dperm.dperm_register(caller oid, relation oid, budget_id uuid, view_of uuid, unit name, columns name[], domains jsonb) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	this text := dperm.dperm_here();
	former uuid := (SELECT p.id FROM dperm.protected p WHERE p.relation = $2 AND p.here = this AND p.ended IS NULL);
	made uuid := (SELECT p.id FROM dperm.protected p WHERE p.relation = $2 AND p.here = this AND (p.budget_id = $3 OR p.view_of IS NOT NULL)
		ORDER BY p.ended DESC NULLS FIRST LIMIT 1);
	owner dperm.dperm_role_name := (SELECT dperm.dperm_role(c.relowner) FROM pg_class c WHERE c.oid = $2);
BEGIN
	-- what was restored for a relation of this name, if the caller may decide about it
	DELETE FROM dperm.protected p USING pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.oid = $2 AND (p.schema, p.name) = (n.nspname, c.relname) AND p.ended IS NULL
		AND dperm.dperm_waits(p) AND pg_has_role(caller, dperm.dperm_role_of(p.owner_name), 'USAGE');
	UPDATE dperm.protected p SET ended = clock_timestamp(), ended_by = pg_get_userbyid(caller) WHERE p.id = former AND p.id IS DISTINCT FROM made;
	DELETE FROM dperm.protected_columns k WHERE k.protected IN (former, made);
	IF made IS NULL THEN
		INSERT INTO dperm.protected AS p (schema, name, owner_name, budget_id, view_of, unit, all_columns)
		SELECT n.nspname, c.relname, owner, $3, $4, $5, columns IS NULL
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $2
		RETURNING p.id INTO made;
		IF NOT EXISTS (SELECT FROM dperm.protected p WHERE p.id = made AND p.relation = $2) THEN
			RAISE EXCEPTION 'the registration of relation "%" has changed', $2::regclass USING ERRCODE = 'serialization_failure', HINT = 'Try again.';
		END IF;
	ELSE
		UPDATE dperm.protected p SET schema = n.nspname, name = c.relname, owner_name = owner, view_of = $4, unit = $5,
			unit_number = dperm.dperm_column_number($2, $5), all_columns = columns IS NULL, ended = NULL, ended_by = NULL
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $2 AND p.id = made;
	END IF;
	INSERT INTO dperm.protected_columns (protected, name, listed, domain)
	SELECT made, k.name, coalesce(k.name = ANY (columns), false), domains -> k.name::text
	FROM (SELECT unnest(columns) UNION SELECT d.name::name FROM jsonb_object_keys(domains) d(name)) k(name);
	UPDATE dperm.protected p SET view_of = made WHERE p.view_of = former AND former <> made AND dperm.dperm_role_of(p.owner_name) = dperm.dperm_role_of(owner);
END $$;
COMMENT ON FUNCTION dperm.dperm_register(oid, oid, uuid, uuid, name, name[], jsonb) IS
	'internal to dp_protect: write the registration of a table or a view; that of a table with another budget ends';

CREATE FUNCTION dperm.dperm_check_columns(relation oid, unit name, columns name[]) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	named text := (SELECT c.relname FROM pg_class c WHERE c.oid = $1);
	wrong record;
BEGIN
	IF unit IS NULL AND EXISTS (SELECT FROM pg_class c WHERE c.oid = $1 AND c.relkind = 'm') THEN
		RAISE EXCEPTION 'a materialized view needs a unit'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Its rows may be made of several rows of a person: specify the column that identifies persons, unit => ''column''.';
	ELSIF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = $1 AND a.attname = unit AND a.attgenerated = 'v') THEN
		RAISE EXCEPTION 'column "%" of table "%" cannot be the unit: it is a virtual generated column', unit, named
			USING ERRCODE = 'feature_not_supported', HINT = 'Use a stored column.';
	END IF;
	SELECT n.name, n.argument, count(*) AS times INTO wrong
	FROM (SELECT 'unit' AS argument, unit AS name, 0 AS at WHERE unit IS NOT NULL UNION ALL SELECT 'columns', c.name, c.at FROM unnest(columns) WITH ORDINALITY c(name, at)) n
	GROUP BY n.name, n.argument HAVING count(*) > 1 OR dperm.dperm_column_number($1, n.name) = 0 ORDER BY min(n.at) LIMIT 1;
	IF wrong.times > 1 THEN
		RAISE EXCEPTION 'column "%" appears twice in columns', wrong.name USING ERRCODE = 'duplicate_column';
	ELSIF FOUND THEN
		RAISE EXCEPTION 'column "%" of relation "%" does not exist', wrong.name, named
			USING ERRCODE = 'undefined_column', HINT = format('Names in %s are case-sensitive and are not quoted.', wrong.argument);
	END IF;
END $$;
COMMENT ON FUNCTION dperm.dperm_check_columns(oid, name, name[]) IS 'internal to dp_protect: raise an error for a unit or columns that a table cannot have';

CREATE FUNCTION dperm.dperm_shown(view oid, relation oid, budget text, unit text, columns text[]) RETURNS dperm.protected
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	shown dperm.protected;
	of record;
BEGIN
	SELECT v.relname AS view, c.relname INTO of FROM pg_class v, pg_class c WHERE v.oid = $1 AND c.oid = $2;
	SELECT p.* INTO shown FROM dperm.protected p JOIN pg_class c ON c.oid = p.relation
	WHERE p.relation = $2 AND p.here = dperm.dperm_here() AND p.ended IS NULL AND c.relowner = dperm.dperm_role_of(p.owner_name);
	IF shown.id IS NULL THEN
		RAISE EXCEPTION 'table "%" of view "%" is not protected', of.relname, of.view
			USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Protect its table first; then dp_protect(''view'') offers the view.';
	ELSIF columns IS NOT NULL OR unit <> coalesce(shown.unit, '') OR budget <> (SELECT b.budget FROM dperm.budgets b WHERE b.id = shown.budget_id) THEN
		RAISE EXCEPTION 'a view has the budget and the unit of its table "%", and the columns that it shows', of.relname
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Omit budget, unit and columns. A column that is closed in the table stays closed.';
	END IF;
	RETURN shown;
END $$;
COMMENT ON FUNCTION dperm.dperm_shown(oid, oid, text, text, text[]) IS 'internal to dp_protect: the registration of the table of a view, or an error';

-- What C checks before: the table or the definition of the view, the type of the
-- unit, and domains (src/entry/protect.c). Arguments that are NULL are as in the
-- former registration, and so are domains of columns that are not named; null removes one.
CREATE FUNCTION dperm.dperm_protect(caller oid, relation oid, budget text, unit text, columns text[], domains jsonb, view_of oid) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	target record;
	former dperm.protected;
	shown dperm.protected;
	old dperm.budgets;
	account dperm.budgets;
	shared oid[] := dperm.dperm_row_sources($2);
	other record;
	dropped boolean;
BEGIN
	PERFORM dperm.dperm_bind();
	SELECT c.relname, c.relkind, c.relowner, c.relpersistence, format('%I.%I', n.nspname, c.relname) AS named INTO target
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $2;
	SELECT p.* INTO former FROM dperm.dperm_registration($2) p
	WHERE NOT dperm.dperm_waits(p) OR target.relowner = dperm.dperm_role_of(p.owner_name) AND (target.relkind = 'v') = (p.view_of IS NOT NULL);
	IF $2 < 16384 OR target.relpersistence = 't' THEN
		RAISE EXCEPTION 'cannot protect % relation "%"', CASE WHEN $2 < 16384 THEN 'system' ELSE 'temporary' END, target.relname USING ERRCODE = 'feature_not_supported';
	ELSIF columns = '{}' THEN
		RAISE EXCEPTION 'columns must name at least one column' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF view_of IS NOT NULL THEN
		shown := dperm.dperm_shown($2, view_of, budget, unit, columns);
		budget := (SELECT b.budget FROM dperm.budgets b WHERE b.id = shown.budget_id);
		unit := shown.unit;
		dropped := unit = '';
	ELSE
		SELECT * INTO old FROM dperm.budgets b WHERE b.id = former.budget_id AND b.budget <> $3;
		budget := coalesce(budget, (SELECT b.budget FROM dperm.budgets b WHERE b.id = former.budget_id));
		dropped := unit IS NULL AND former.unit = '';
		unit := coalesce(unit, former.unit);
		IF NOT former.all_columns THEN
			columns := coalesce(columns, ARRAY(SELECT k.name FROM dperm.protected_columns k WHERE k.protected = former.id AND k.listed AND dperm.dperm_column_number($2, k.name) > 0 ORDER BY k.number));
		END IF;
	END IF;
	IF dropped THEN
		RAISE EXCEPTION 'the unit of relation "%" has been dropped', target.relname
			USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Protect the table with another unit, in another budget if this one has been charged.';
	ELSIF view_of IS NULL THEN
		PERFORM dperm.dperm_check_columns($2, unit, columns);
	END IF;
	domains := (SELECT jsonb_object_agg(d.name, d.domain) FROM (
			SELECT g.key AS name, g.value AS domain FROM jsonb_each(domains) g
			UNION ALL SELECT k.name::text, k.domain FROM dperm.protected_columns k
			WHERE k.protected = former.id AND k.domain IS NOT NULL AND (columns IS NULL OR k.name = ANY (columns)) AND dperm.dperm_column_number($2, k.name) > 0
				AND (domains ? k.name::text) IS NOT TRUE) d
		WHERE d.domain <> 'null');
	IF octet_length(domains::text) > 1048576 THEN
		RAISE EXCEPTION 'domains must have at most 1048576 bytes as text'
			USING ERRCODE = 'program_limit_exceeded', HINT = 'Declare long lists of categories in the catalog, with an enum or a CHECK constraint.';
	END IF;
	SELECT d.name INTO other FROM jsonb_object_keys(domains) d(name) WHERE d.name <> ALL (columns) LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'column "%" in domains is not listed in columns', other.name
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Add it to columns, or remove it from domains.';
	END IF;
	-- two budgets are locked in the order of their names
	IF old.budget < budget THEN
		PERFORM FROM dperm.budgets b WHERE b.id = old.id FOR UPDATE;
	END IF;
	account := dperm.dperm_own_budget(caller, budget);
	PERFORM FROM dperm.budgets b WHERE b.id = old.id FOR UPDATE;
	IF view_of IS NULL THEN
		PERFORM dperm.dperm_check_unit(account, $2, unit);
		PERFORM dperm.dperm_register(caller, $2, account.id, NULL, unit, columns, domains);
	ELSE
		PERFORM dperm.dperm_register(caller, $2, NULL, shown.id, NULL, NULL, domains);
	END IF;
	IF old.id IS NOT NULL THEN
		PERFORM dperm.dperm_note(caller, old, 'unprotect', target.named);
		SELECT string_agg(quote_ident(g.grantee_name::text), ', ' ORDER BY g.grantee_name::text COLLATE "C") AS roles INTO other FROM dperm.grants g
		WHERE g.budget_id = old.id AND g.revoked IS NULL AND pg_has_role(caller, old.owner, 'USAGE')
			AND NOT EXISTS (SELECT FROM dperm.grants h WHERE h.budget_id = account.id AND h.grantee = g.grantee AND h.revoked IS NULL);
		IF other.roles IS NOT NULL THEN
			RAISE NOTICE 'roles that have a grant of budget "%" and none of "%" cannot train on % any more: %', old.budget, account.budget, target.named, left(other.roles, 1000)
				USING HINT = 'Grants stay with their budget. Use dp_grant for the other one.';
		END IF;
	END IF;
	PERFORM dperm.dperm_note(caller, account, 'protect', target.named, format('unit: %s; columns: %s; domains: %s', coalesce(quote_ident(unit), 'row'),
		CASE WHEN columns IS NULL THEN 'all' ELSE coalesce((SELECT string_agg(quote_ident(n.name), ', ' ORDER BY n.at) FROM unnest(columns) WITH ORDINALITY n(name, at)), 'none') END, coalesce(domains::text, 'as declared')));
	IF NOT dperm.dperm_warn_readers(shared, NULL) THEN
		PERFORM dperm.dperm_warn_readers(shared, ARRAY(SELECT g.grantee::oid FROM dperm.grants g WHERE g.budget_id = account.id AND g.revoked IS NULL));
	END IF;
	IF target.relkind = 'm' THEN
		RAISE WARNING 'each row of materialized view "%" must be computed from rows of one unit', target.relname
			USING DETAIL = 'dperm does not check how its rows were made.';
		FOR other IN SELECT c.relname, b.budget FROM dperm.protected p JOIN pg_class c ON c.oid = p.relation JOIN dperm.budgets b ON b.id = p.budget_id
			WHERE p.relation = ANY (shared) AND p.here = dperm.dperm_here() AND p.ended IS NULL AND b.id <> account.id ORDER BY 1
		LOOP
			RAISE WARNING 'materialized view "%" reads "%", which charges another budget: "%"', target.relname, other.relname, other.budget
				USING DETAIL = 'The same people have two budgets, which add up.', HINT = 'Protect both with the same budget.';
		END LOOP;
	END IF;
END $$;
COMMENT ON FUNCTION dperm.dperm_protect(oid, oid, text, text, text[], jsonb, oid) IS 'internal to dp_protect: register a table, or offer a view of a table';

-- The registration of a table stays, so that its budget keeps the unit, and so
-- that this transaction cannot train uncharged.
CREATE FUNCTION dperm.dperm_unprotect(caller oid, relation oid) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	ended dperm.protected;
	account dperm.budgets;
	shown record;
	views text;
BEGIN
	PERFORM dperm.dperm_bind();
	ended := dperm.dperm_registration($2);
	-- what was restored for a relation of this name is ended by who has the rights of its owner
	IF ended.id IS NULL THEN
		RAISE EXCEPTION 'relation "%" is not protected', (SELECT c.relname FROM pg_class c WHERE c.oid = $2) USING ERRCODE = 'undefined_object';
	ELSIF dperm.dperm_waits(ended) AND pg_has_role(caller, dperm.dperm_role_of(ended.owner_name), 'USAGE') IS NOT TRUE THEN
		RAISE EXCEPTION 'relation "%" has the name of a protected relation of another role', ended.name
			USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'That relation has not been restored.', HINT = 'Rename yours, or protect it with dp_protect.';
	END IF;
	SELECT * INTO account FROM dperm.budgets b
	WHERE b.id = coalesce(ended.budget_id, (SELECT t.budget_id FROM dperm.protected t WHERE t.id = ended.view_of)) FOR UPDATE;
	FOR shown IN WITH gone AS (DELETE FROM dperm.protected p WHERE p.view_of = ended.id OR p.id = ended.id AND p.view_of IS NOT NULL
		RETURNING p.id, p.name, format('%I.%I', p.schema, p.name) AS named) SELECT * FROM gone ORDER BY gone.named
	LOOP
		PERFORM dperm.dperm_note(caller, account, 'unprotect', shown.named);
		views := concat_ws(', ', views, CASE WHEN shown.id <> ended.id THEN format('"%s"', shown.name) END);
	END LOOP;
	IF views <> '' THEN
		RAISE NOTICE 'views of table "%" are no longer offered: %', ended.name, left(views, 1000);
	END IF;
	IF ended.view_of IS NULL THEN
		UPDATE dperm.protected p SET ended = clock_timestamp(), ended_by = pg_get_userbyid(caller) WHERE p.id = ended.id;
		DELETE FROM dperm.protected_columns k WHERE k.protected = ended.id;
		PERFORM dperm.dperm_note(caller, account, 'unprotect', format('%I.%I', ended.schema, ended.name));
	END IF;
END $$;
COMMENT ON FUNCTION dperm.dperm_unprotect(oid, oid) IS 'internal to dp_unprotect';
