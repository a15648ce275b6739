--
-- dp_model: a trained model. Plain.
--

CREATE TYPE @extschema@.dp_model;

CREATE FUNCTION dperm.dperm_model_in(cstring) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_model_in(cstring) IS 'text input of dp_model: JSON';

CREATE FUNCTION dperm.dperm_model_out(@extschema@.dp_model) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_model_out(@extschema@.dp_model) IS 'text output of dp_model: JSON';

CREATE FUNCTION dperm.dperm_model_recv(internal) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_model_recv(internal) IS 'binary input of dp_model';

CREATE FUNCTION dperm.dperm_model_send(@extschema@.dp_model) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dperm.dperm_model_send(@extschema@.dp_model) IS 'binary output of dp_model';

CREATE TYPE @extschema@.dp_model (
	INPUT = dperm.dperm_model_in,
	OUTPUT = dperm.dperm_model_out,
	RECEIVE = dperm.dperm_model_recv,
	SEND = dperm.dperm_model_send,
	STORAGE = extended
);
COMMENT ON TYPE @extschema@.dp_model IS
	'a trained model: its weights, every public parameter of its training, and its privacy guarantee';

CREATE CAST (@extschema@.dp_model AS jsonb) WITH INOUT AS ASSIGNMENT;
COMMENT ON CAST (@extschema@.dp_model AS jsonb) IS 'the complete model, without loss';

CREATE CAST (jsonb AS @extschema@.dp_model) WITH INOUT;
COMMENT ON CAST (jsonb AS @extschema@.dp_model) IS 'read a model; its guarantee is written anew from what it states';

CREATE FUNCTION @extschema@.dp_weights(model @extschema@.dp_model) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.dp_weights(@extschema@.dp_model) IS
	'the weights, one per feature; with an intercept, its weight comes last; of several classes, a row for each';

CREATE FUNCTION @extschema@.dp_coefficients(model @extschema@.dp_model, class text DEFAULT NULL,
	OUT rank integer, OUT column_name text, OUT value text, OUT weight float8,
	OUT noise float8, OUT noise_kind text, OUT stands_out boolean, OUT score float8, OUT score_noise float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION @extschema@.dp_coefficients(@extschema@.dp_model, text) IS
	'the weights of a model, or of one of several classes, each with its column, its category, knot or vector element, and the standard deviation of its noise';

CREATE FUNCTION @extschema@.dp_curve(model @extschema@.dp_model, column_name text, class text DEFAULT NULL,
	OUT value text, OUT score float8, OUT noise float8, OUT odds float8, OUT scaled float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION @extschema@.dp_curve(@extschema@.dp_model, text, text) IS
	'what a column of numbers or times, or an element such as x[3], adds to the decision of a model, to the number that it predicts or to the score of one of several classes, at its knots or at the ends of its line';

CREATE FUNCTION @extschema@.dp_guarantee(model @extschema@.dp_model) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.dp_guarantee(@extschema@.dp_model) IS
	'the privacy guarantee of a model, in one paragraph';
