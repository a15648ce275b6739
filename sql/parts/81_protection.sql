--
-- Protected relations
--

CREATE FUNCTION @extschema@.dp_protect(
	relation text,
	budget text,
	unit text DEFAULT NULL,
	columns text[] DEFAULT NULL,
	domains jsonb DEFAULT NULL
) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_protect(text, text, text, text[], jsonb) IS
	'protect a relation: analysts with a grant train on it without SELECT, and every call is charged to a budget; called again, change the arguments that are not NULL';

CREATE FUNCTION @extschema@.dp_unprotect(relation text) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_unprotect(text) IS
	'end the protection of a relation';

CREATE FUNCTION dperm.dperm_may_spend(budget text, relation regclass) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dperm.dperm_may_spend(text, regclass) IS
	'may the current user train on a protected relation that is charged to a budget?';

CREATE VIEW @extschema@.dp_protected WITH (security_barrier) AS
	SELECT r.relation, r.budget,
		(SELECT a.attname FROM dperm.dp_protected_columns c, pg_attribute a
			WHERE c.registered_by = r.id AND a.attrelid = r.relation AND a.attnum > 0
				AND c.relation = r.relation AND a.attnum = c.number AND NOT a.attisdropped AND c.is_unit LIMIT 1) AS unit,
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
	'protected relations that you may train on: the budget they are charged to, the unit (NULL for rows), the columns (NULL for all) and the registered domains';
GRANT SELECT ON @extschema@.dp_protected TO PUBLIC;
