--
-- Passes over rows that are on other servers
--

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, "any", VARIADIC "any") RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_any' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, "any", VARIADIC "any") IS
	'internal to training: transition function of dp_moments_agg';

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, "any", record) RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_any_record' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, "any", record) IS
	'internal to training: transition function of dp_moments_agg';

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, bytea) RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_row' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, bytea) IS
	'internal to training: transition function of dp_moments_row_agg';

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, bytea, bigint, boolean) RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_person' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, bytea, bigint, boolean) IS
	'internal to training: transition function of dp_moments_person_agg';

CREATE AGGREGATE dp_moments_agg(request dp_moments, label "any", VARIADIC columns "any") (
	SFUNC = dp_moments_step,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_agg(dp_moments, "any", VARIADIC "any") IS
	'internal to training: one pass over the rows, with labels that are read as the request says';

CREATE AGGREGATE dp_moments_agg(request dp_moments, label "any", columns record) (
	SFUNC = dp_moments_step,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_agg(dp_moments, "any", record) IS
	'internal to training: one pass over the rows, with labels that are read as the request says';

CREATE AGGREGATE dp_moments_row_agg(request dp_moments, label boolean, columns bytea) (
	SFUNC = dp_moments_step,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_row_agg(dp_moments, boolean, bytea) IS
	'internal to training: one pass over rows that dp_row has made';

CREATE AGGREGATE dp_moments_person_agg(request dp_moments, label boolean, columns bytea, rows bigint, first boolean) (
	SFUNC = dp_moments_step,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_person_agg(dp_moments, boolean, bytea, bigint, boolean) IS
	'internal to training: one pass over the rows of persons, each with the number of rows with a label that its person has';

CREATE AGGREGATE dp_moments_sum(dp_moments) (
	SFUNC = dp_moments_combine,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_sum(dp_moments) IS
	'internal to training: the results of a pass over several tables, combined';

CREATE FUNCTION dp_row(VARIADIC columns "any") RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_row(VARIADIC "any") IS
	'internal to training: the columns of a row as bytes that any server can read';

CREATE FUNCTION dp_row_plain(VARIADIC columns "any") RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_row_plain(VARIADIC "any") IS
	'internal to training: dp_row for columns of numbers, texts and vectors';

CREATE FUNCTION dp_sample(key bytea, every integer, VARIADIC columns "any") RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_sample(bytea, integer, VARIADIC "any") IS
	'internal to training: is a row in a sample, by a keyed hash of what it holds?';

CREATE FUNCTION dp_portion(key bytea, portions integer, identity bigint) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_portion_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_portion(bytea, integer, bigint) IS
	'internal to tuning: the portion of a row, by a keyed hash of its identity';

CREATE FUNCTION dp_portion(key bytea, portions integer, identity uuid) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_portion_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_portion(bytea, integer, uuid) IS
	'internal to tuning: the portion of a row, by a keyed hash of its identity';
