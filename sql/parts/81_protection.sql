--
-- Protected relations
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
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_unprotect(text) IS
	'end the protection of a table, and of its views; or the offer of a view';

CREATE FUNCTION dperm.dperm_may_spend(budget text, relation regclass) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm.dperm_may_spend(text, regclass) IS
	'may the current user train on a protected relation that is charged to a budget?';

CREATE VIEW @extschema@.dp_protected WITH (security_barrier) AS
	SELECT r.relation, r.budget,
		(SELECT a.attname FROM dperm.dp_protected_columns c, pg_attribute a
			WHERE c.registered_by = coalesce(r.view_of, r.id) AND c.is_unit
				AND a.attrelid = c.relation AND a.attnum > 0 AND a.attnum = c.number AND NOT a.attisdropped LIMIT 1) AS unit,
		CASE WHEN NOT r.all_columns THEN ARRAY(SELECT a.attname FROM dperm.dp_protected_columns c, pg_attribute a
			WHERE c.registered_by = r.id AND a.attrelid = r.relation AND a.attnum > 0
				AND c.relation = r.relation AND a.attnum = c.number AND NOT a.attisdropped AND c.listed ORDER BY a.attnum) END AS columns,
		(SELECT jsonb_object_agg(a.attname, c.domain) FROM dperm.dp_protected_columns c, pg_attribute a
			WHERE c.registered_by = r.id AND a.attrelid = r.relation AND a.attnum > 0
				AND c.relation = r.relation AND a.attnum = c.number AND NOT a.attisdropped AND c.domain IS NOT NULL) AS domains
	FROM dperm.dp_protected_relations r
	WHERE r.budget IS NOT NULL AND r.pending IS NULL AND dperm.dperm_may_spend(r.budget, r.relation)
	OFFSET 0;
COMMENT ON VIEW @extschema@.dp_protected IS
	'protected tables and offered views that you may train on: the budget they are charged to, the unit (NULL for rows), the columns (NULL for all that are shown) and the registered domains';
GRANT SELECT ON @extschema@.dp_protected TO PUBLIC;
