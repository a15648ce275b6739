--
-- Bins of dp_roc
--

CREATE FUNCTION dp_bin(decision float8, bins integer) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_bin(float8, integer) IS
	'internal to dp_roc: the bin that a decision falls into';
