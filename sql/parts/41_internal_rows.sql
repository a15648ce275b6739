--
-- dperm_load_agg: rows into shared memory, where they are read. Trusted.
--

CREATE FUNCTION dperm.dperm_bounded(value anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_bounded(anyelement) IS
	'internal to training: a value, or NULL if it is too large';

CREATE FUNCTION dperm.dperm_load_step(internal, bytea, "any", VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_load_step(internal, bytea, "any", VARIADIC "any") IS
	'internal to training: transition function of dperm_load_agg';

CREATE FUNCTION dperm.dperm_load_step(internal, bytea, "any", record) RETURNS internal
	AS 'MODULE_PATHNAME', 'dperm_load_step_record' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dperm.dperm_load_step(internal, bytea, "any", record) IS
	'internal to training: transition function of dperm_load_agg';

CREATE FUNCTION dperm.dperm_load_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_load_combine(internal, internal) IS
	'internal to training: combine function of dperm_load_agg';

CREATE FUNCTION dperm.dperm_load_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_load_serialize(internal) IS
	'internal to training: serialisation function of dperm_load_agg';

CREATE FUNCTION dperm.dperm_load_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_load_deserialize(bytea, internal) IS
	'internal to training: deserialisation function of dperm_load_agg';

CREATE FUNCTION dperm.dperm_load_final(internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_load_final(internal) IS
	'internal to training: final function of dperm_load_agg';

CREATE AGGREGATE dperm.dperm_load_agg(key bytea, label "any", VARIADIC columns "any") (
	SFUNC = dperm.dperm_load_step,
	STYPE = internal,
	COMBINEFUNC = dperm.dperm_load_combine,
	SERIALFUNC = dperm.dperm_load_serialize,
	DESERIALFUNC = dperm.dperm_load_deserialize,
	FINALFUNC = dperm.dperm_load_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_load_agg(bytea, "any", VARIADIC "any") IS
	'internal to training: rows into shared memory, by the processes that read them';

CREATE AGGREGATE dperm.dperm_load_agg(key bytea, label "any", columns record) (
	SFUNC = dperm.dperm_load_step,
	STYPE = internal,
	COMBINEFUNC = dperm.dperm_load_combine,
	SERIALFUNC = dperm.dperm_load_serialize,
	DESERIALFUNC = dperm.dperm_load_deserialize,
	FINALFUNC = dperm.dperm_load_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dperm.dperm_load_agg(bytea, "any", record) IS
	'internal to training: rows into shared memory, by the processes that read them';
