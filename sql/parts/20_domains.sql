--
-- Domains. Plain.
--
-- What is publicly known about the values of a column: bounds, a list of categories, the dimension
-- of a vector. It comes from the catalog and from registrations alone, never from rows.

CREATE FUNCTION @extschema@.dp_domains(relation text)
	RETURNS TABLE (column_name name, column_type regtype, domain jsonb, origin text, template jsonb)
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.dp_domains(text) IS
	'the domain of each column that can be a feature, as registered or as declared by CHECK constraints, enum labels and types; and what to fill in if there is none, or another that may suit the column better';
