--
-- dp_moments: one pass over the rows
--

CREATE TYPE dp_moments;

CREATE FUNCTION dp_moments_in(cstring) RETURNS dp_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_moments_in(cstring) IS 'I/O';

CREATE FUNCTION dp_moments_out(dp_moments) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_moments_out(dp_moments) IS 'I/O';

CREATE FUNCTION dp_moments_recv(internal) RETURNS dp_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_moments_recv(internal) IS 'I/O';

CREATE FUNCTION dp_moments_send(dp_moments) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_moments_send(dp_moments) IS 'I/O';

CREATE TYPE dp_moments (
	INPUT = dp_moments_in,
	OUTPUT = dp_moments_out,
	RECEIVE = dp_moments_recv,
	SEND = dp_moments_send,
	ALIGNMENT = double,
	STORAGE = external
);
COMMENT ON TYPE dp_moments IS
	'internal to training: the request for one pass over the rows, or the sums or counts that it computed; not private';

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, float8[]) RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_float8' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, float8[]) IS
	'internal to training: transition function of dp_moments_agg';

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, float4[]) RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_float4' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, float4[]) IS
	'internal to training: transition function of dp_moments_agg';

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, VARIADIC "any") RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, VARIADIC "any") IS
	'internal to training: transition function of dp_moments_agg';

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, record) RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_record' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, record) IS
	'internal to training: transition function of dp_moments_agg';

CREATE FUNCTION dp_moments_combine(dp_moments, dp_moments) RETURNS dp_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_moments_combine(dp_moments, dp_moments) IS
	'internal to training: combine function of dp_moments_agg';

CREATE AGGREGATE dp_moments_vector_agg(request dp_moments, label boolean, features float8[]) (
	SFUNC = dp_moments_step,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_vector_agg(dp_moments, boolean, float8[]) IS
	'internal to training: one pass over rows with one array';

CREATE AGGREGATE dp_moments_vector_agg(request dp_moments, label boolean, features float4[]) (
	SFUNC = dp_moments_step,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_vector_agg(dp_moments, boolean, float4[]) IS
	'internal to training: one pass over rows with one array';

CREATE AGGREGATE dp_moments_agg(request dp_moments, label boolean, VARIADIC columns "any") (
	SFUNC = dp_moments_step,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_agg(dp_moments, boolean, VARIADIC "any") IS
	'internal to training: one pass over the rows';

CREATE AGGREGATE dp_moments_agg(request dp_moments, label boolean, columns record) (
	SFUNC = dp_moments_step,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_agg(dp_moments, boolean, record) IS
	'internal to training: one pass over the rows';
