--
-- Passes over rows that are on other servers: a request, or a state, is a bytea. Trusted.
-- dperm_label and dperm_row are declared as immutable, since foreign servers are
-- sent nothing else.
--

CREATE FUNCTION dperm.dperm_moments_step(bytea, bytea, float8, bytea) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(bytea, bytea, float8, bytea) IS
	'internal to training: transition function of dperm_moments_agg';

CREATE FUNCTION dperm.dperm_moments_step(bytea, bytea, float8, bytea, bigint, boolean) RETURNS bytea
	AS 'MODULE_PATHNAME', 'dperm_moments_step_person' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(bytea, bytea, float8, bytea, bigint, boolean) IS
	'internal to training: transition function of dperm_moments_person_agg';

CREATE FUNCTION dperm.dperm_moments_combine(bytea, bytea) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_moments_combine(bytea, bytea) IS
	'internal to training: combine function of dperm_moments_agg and dperm_moments_person_agg';

CREATE AGGREGATE dperm.dperm_moments_agg(request bytea, label float8, columns bytea) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = bytea,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_agg(bytea, float8, bytea) IS
	'internal to training: one pass over rows in the form of dperm_row; its result is not private';

CREATE AGGREGATE dperm.dperm_moments_person_agg(request bytea, label float8, columns bytea, rows bigint, first boolean) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = bytea,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_person_agg(bytea, float8, bytea, bigint, boolean) IS
	'internal to training: one pass over the rows of persons, each with the number of labelled rows of its person; its result is not private';

CREATE FUNCTION dperm.dperm_label(value "any", domain bytea) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_label("any", bytea) IS
	'internal to training: a label as training has it, or NULL for no label';

CREATE FUNCTION dperm.dperm_row(form bytea, VARIADIC columns "any") RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_row(bytea, VARIADIC "any") IS
	'internal to training: the columns of a row as bytes that any server can read';

CREATE FUNCTION dperm.dperm_sample(key bigint, every integer, VARIADIC columns "any") RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_sample(bigint, integer, VARIADIC "any") IS
	'internal to training: is a row in a sample, by a keyed hash of its contents?';
