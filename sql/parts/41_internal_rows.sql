--
-- Rows and labels, as the queries of training read them
--

CREATE FUNCTION dperm_text(value "any") RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm_text("any") IS
	'internal to training: the text form of a value, or NULL if the value is too large';

CREATE FUNCTION dperm_bounded(value anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm_bounded(anyelement) IS
	'internal to training: a value, or NULL if it is too large';

CREATE FUNCTION dperm_label(value "any", positive text) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm_label("any", text) IS
	'internal to training: a label as true or false, or NULL for no label';

CREATE FUNCTION dperm_label_number(value "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm_label_number("any") IS
	'internal to training: a label as a number of double precision, or NULL for no label';

CREATE FUNCTION dperm_portion(key bytea, portions integer, relation oid, place tid) RETURNS integer
	AS 'MODULE_PATHNAME', 'dperm_portion_place' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm_portion(bytea, integer, oid, tid) IS
	'internal to tuning: the portion of a row, by a keyed hash of its physical location';

CREATE FUNCTION dperm_portion(key bytea, portions integer, identity text) RETURNS integer
	AS 'MODULE_PATHNAME', 'dperm_portion_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm_portion(bytea, integer, text) IS
	'internal to tuning: the portion of a row, by a keyed hash of its identity';
