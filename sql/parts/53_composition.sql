--
-- Composition. Plain.
--

-- of a model, or of a claim as jsonb
CREATE FUNCTION dperm.dperm_compose_step(internal, "any") RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_compose_step(internal, "any") IS 'internal to dp_compose: transition function';

CREATE FUNCTION dperm.dperm_compose_step(internal, "any", float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_compose_step(internal, "any", float8) IS 'internal to dp_compose: transition function';

CREATE FUNCTION dperm.dperm_compose_final(internal) RETURNS jsonb
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_compose_final(internal) IS 'internal to dp_compose: what the releases cost together';

CREATE AGGREGATE @extschema@.dp_compose(model @extschema@.dp_model) (
	SFUNC = dperm.dperm_compose_step,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = dperm.dperm_compose_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_compose(@extschema@.dp_model) IS
	'what several models cost together: the sums of their epsilons and deltas';

CREATE AGGREGATE @extschema@.dp_compose(model @extschema@.dp_model, delta float8) (
	SFUNC = dperm.dperm_compose_step,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = dperm.dperm_compose_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_compose(@extschema@.dp_model, float8) IS
	'what several models cost together: the least epsilon at a delta, by sums or by Renyi divergences';

CREATE AGGREGATE @extschema@.dp_compose(claim jsonb) (
	SFUNC = dperm.dperm_compose_step,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = dperm.dperm_compose_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_compose(jsonb) IS
	'what several releases cost together: the sums of their epsilons and deltas';

CREATE AGGREGATE @extschema@.dp_compose(claim jsonb, delta float8) (
	SFUNC = dperm.dperm_compose_step,
	STYPE = internal,
	SSPACE = 16384,
	FINALFUNC = dperm.dperm_compose_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_compose(jsonb, float8) IS
	'what several releases cost together: the least epsilon at a delta, by sums or by Renyi divergences';
