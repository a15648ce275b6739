--
-- Passes over rows that are on other servers
--

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, "any", VARIADIC "any") RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step_any' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, "any", VARIADIC "any") IS
	'internal to training: transition function of dperm_moments_agg';

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, "any", record) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step_any_record' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, "any", record) IS
	'internal to training: transition function of dperm_moments_agg';

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, bytea) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step_row' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, bytea) IS
	'internal to training: transition function of dperm_moments_row_agg';

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, bytea, bigint, boolean) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step_person' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, bytea, bigint, boolean) IS
	'internal to training: transition function of dperm_moments_person_agg';

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, float8, bytea) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step_number_row' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, float8, bytea) IS
	'internal to training: transition function of dperm_moments_row_agg';

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, float8, bytea, bigint, boolean) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step_number_person' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, float8, bytea, bigint, boolean) IS
	'internal to training: transition function of dperm_moments_person_agg';

CREATE AGGREGATE dperm.dperm_moments_agg(request dperm.dperm_moments, label "any", VARIADIC columns "any") (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_agg(dperm.dperm_moments, "any", VARIADIC "any") IS
	'internal to training: one pass over the rows, with labels that are read as the request says';

CREATE AGGREGATE dperm.dperm_moments_agg(request dperm.dperm_moments, label "any", columns record) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_agg(dperm.dperm_moments, "any", record) IS
	'internal to training: one pass over the rows, with labels that are read as the request says';

CREATE AGGREGATE dperm.dperm_moments_row_agg(request dperm.dperm_moments, label boolean, columns bytea) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_row_agg(dperm.dperm_moments, boolean, bytea) IS
	'internal to training: one pass over rows in the form of dperm_row';

CREATE AGGREGATE dperm.dperm_moments_person_agg(request dperm.dperm_moments, label boolean, columns bytea, rows bigint, first boolean) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_person_agg(dperm.dperm_moments, boolean, bytea, bigint, boolean) IS
	'internal to training: one pass over the rows of persons, each with the number of labelled rows of its person';

CREATE AGGREGATE dperm.dperm_moments_row_agg(request dperm.dperm_moments, label float8, columns bytea) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_row_agg(dperm.dperm_moments, float8, bytea) IS
	'internal to training: one pass over rows in the form of dperm_row';

CREATE AGGREGATE dperm.dperm_moments_person_agg(request dperm.dperm_moments, label float8, columns bytea, rows bigint, first boolean) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_person_agg(dperm.dperm_moments, float8, bytea, bigint, boolean) IS
	'internal to training: one pass over the rows of persons, each with the number of labelled rows of its person';

CREATE AGGREGATE dperm.dperm_moments_sum(dperm.dperm_moments) (
	SFUNC = dperm.dperm_moments_combine,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_sum(dperm.dperm_moments) IS
	'internal to training: the results of a pass over several tables, combined';

CREATE FUNCTION dperm.dperm_row(VARIADIC columns "any") RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_row(VARIADIC "any") IS
	'internal to training: the columns of a row as bytes that any server can read';

CREATE FUNCTION dperm.dperm_row_plain(VARIADIC columns "any") RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_row_plain(VARIADIC "any") IS
	'internal to training: dperm_row for columns of numbers, texts and vectors';

CREATE FUNCTION dperm.dperm_sample(key bigint, every integer, VARIADIC columns "any") RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_sample(bigint, integer, VARIADIC "any") IS
	'internal to training: is a row in a sample, by a keyed hash of its contents?';
