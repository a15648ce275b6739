--
-- dperm_moments: one pass over the rows
--

CREATE TYPE dperm.dperm_moments;

CREATE FUNCTION dperm.dperm_moments_in(cstring) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_moments_in(cstring) IS 'I/O';

CREATE FUNCTION dperm.dperm_moments_out(dperm.dperm_moments) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_moments_out(dperm.dperm_moments) IS 'I/O';

CREATE FUNCTION dperm.dperm_moments_recv(internal) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_moments_recv(internal) IS 'I/O';

CREATE FUNCTION dperm.dperm_moments_send(dperm.dperm_moments) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_moments_send(dperm.dperm_moments) IS 'I/O';

CREATE TYPE dperm.dperm_moments (
	INPUT = dperm.dperm_moments_in,
	OUTPUT = dperm.dperm_moments_out,
	RECEIVE = dperm.dperm_moments_recv,
	SEND = dperm.dperm_moments_send,
	ALIGNMENT = double,
	STORAGE = external
);
COMMENT ON TYPE dperm.dperm_moments IS
	'internal to training: the request for one pass over the rows, or the sums or counts that it computed; not private';

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, float8[]) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step_float8' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, float8[]) IS
	'internal to training: transition function of dperm_moments_agg';

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, float4[]) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step_float4' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, float4[]) IS
	'internal to training: transition function of dperm_moments_agg';

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, VARIADIC "any") RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, VARIADIC "any") IS
	'internal to training: transition function of dperm_moments_agg';

CREATE FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, record) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME', 'dperm_moments_step_record' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_moments_step(dperm.dperm_moments, dperm.dperm_moments, boolean, record) IS
	'internal to training: transition function of dperm_moments_agg';

CREATE FUNCTION dperm.dperm_moments_combine(dperm.dperm_moments, dperm.dperm_moments) RETURNS dperm.dperm_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_moments_combine(dperm.dperm_moments, dperm.dperm_moments) IS
	'internal to training: combine function of dperm_moments_agg';

CREATE AGGREGATE dperm.dperm_moments_vector_agg(request dperm.dperm_moments, label boolean, features float8[]) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_vector_agg(dperm.dperm_moments, boolean, float8[]) IS
	'internal to training: one pass over rows with one array';

CREATE AGGREGATE dperm.dperm_moments_vector_agg(request dperm.dperm_moments, label boolean, features float4[]) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_vector_agg(dperm.dperm_moments, boolean, float4[]) IS
	'internal to training: one pass over rows with one array';

CREATE AGGREGATE dperm.dperm_moments_agg(request dperm.dperm_moments, label boolean, VARIADIC columns "any") (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_agg(dperm.dperm_moments, boolean, VARIADIC "any") IS
	'internal to training: one pass over the rows';

CREATE AGGREGATE dperm.dperm_moments_agg(request dperm.dperm_moments, label boolean, columns record) (
	SFUNC = dperm.dperm_moments_step,
	STYPE = dperm.dperm_moments,
	COMBINEFUNC = dperm.dperm_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_moments_agg(dperm.dperm_moments, boolean, record) IS
	'internal to training: one pass over the rows';
