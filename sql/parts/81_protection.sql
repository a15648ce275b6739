--
-- Protected relations. Trusted.
--

CREATE FUNCTION @extschema@.dp_protect(
	relation text,
	budget text DEFAULT NULL,
	unit text DEFAULT NULL,
	columns text[] DEFAULT NULL,
	domains jsonb DEFAULT NULL
) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_protect(text, text, text, text[], jsonb) IS
	'protect a table: analysts with a grant train on it without SELECT, and every call is charged to a budget; or offer a view of a protected table; called again, change the arguments that are not NULL';

CREATE FUNCTION @extschema@.dp_unprotect(relation text) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_unprotect(text) IS
	'end the protection of a table, and of its views; or the offer of a view';

CREATE VIEW @extschema@.dp_protected WITH (security_barrier) AS
	SELECT format('%I.%I', p.schema, p.name) AS relation, p.owner_name::text::name AS owner, b.budget, t.unit,
		CASE WHEN NOT p.all_columns THEN ARRAY(SELECT k.name FROM dperm.protected_columns k WHERE k.protected = p.id AND k.listed ORDER BY k.number) END AS columns,
		(SELECT jsonb_object_agg(k.name, k.domain) FROM dperm.protected_columns k WHERE k.protected = p.id AND k.domain IS NOT NULL) AS domains,
		CASE WHEN c.oid IS NULL THEN 'there is no relation of this name'
			WHEN c.relowner <> dperm.dperm_role_of(p.owner_name) THEN 'the relation has another owner'
			WHEN p.relation <> c.oid OR p.here <> (SELECT dperm.dperm_here()) THEN 'the relation has the name of one that was restored'
			WHEN t.unit = '' THEN 'the unit has been dropped'
			WHEN p.view_of IS NULL AND c.relkind = 'v' THEN 'the table has become a view'
			WHEN p.view_of IS NULL AND EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid) THEN 'the table has become a part of another one'
			WHEN (p.schema, p.name) <> (SELECT n.nspname, c.relname FROM pg_namespace n WHERE n.oid = c.relnamespace) THEN 'the relation was renamed unseen'
			WHEN EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND p.here = (SELECT dperm.dperm_here())
				AND (a.attnum = p.unit_number AND a.attname <> p.unit OR EXISTS (SELECT FROM dperm.protected_columns k WHERE k.protected = p.id AND k.number = a.attnum AND k.name <> a.attname)))
			THEN 'a column was renamed or dropped unseen' END AS closed
	FROM unnest(ARRAY(SELECT p.id FROM dperm.dperm_seen_budgets s JOIN dperm.protected t ON t.budget_id = s.id, LATERAL (SELECT t.id UNION ALL SELECT v.id FROM dperm.protected v WHERE v.view_of = t.id) p
			WHERE s.owns OR s.spends
		UNION SELECT p.id FROM unnest(ARRAY(SELECT d.objid FROM pg_shdepend d
				WHERE d.refclassid = 'pg_authid'::regclass AND d.refobjid = ANY ((SELECT dperm.dperm_own_roles())::oid[]) AND d.deptype = 'o' AND d.classid = 'pg_class'::regclass
					AND d.dbid = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database()))) d(objid)
			JOIN dperm.protected p ON p.relation = d.objid WHERE p.here = (SELECT dperm.dperm_here()))) s(id)
	JOIN dperm.protected p ON p.id = s.id
	JOIN dperm.protected t ON t.id = coalesce(p.view_of, p.id) AND t.ended IS NULL
	JOIN dperm.budgets b ON b.id = t.budget_id
	LEFT JOIN pg_class c ON c.oid = coalesce((SELECT r.oid FROM pg_class r WHERE r.oid = p.relation AND p.here = (SELECT dperm.dperm_here())),
		(SELECT r.oid FROM pg_namespace n JOIN pg_class r ON r.relnamespace = n.oid WHERE n.nspname = p.schema AND r.relname = p.name))
	OFFSET 0;
COMMENT ON VIEW @extschema@.dp_protected IS
	'protected tables and offered views that you may train on: the budget they are charged to, the unit (NULL for rows), the columns (NULL for all that are shown), the registered domains, and why a relation is closed, if it is';
GRANT SELECT ON @extschema@.dp_protected TO PUBLIC;
