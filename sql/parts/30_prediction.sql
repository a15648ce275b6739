--
-- Prediction. Plain.
--
-- The features are a row whose columns are matched by name. A model of one vector also takes an array:
-- float8[], float4[], numeric[], smallint[], integer[], bigint[], a domain over one of these, or an
-- untyped literal. Values outside the domain are treated as in training. A row without a value in any
-- domain says nothing: predictions are NULL.

CREATE FUNCTION @extschema@.dp_predict(model @extschema@.dp_model, features "any") RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.dp_predict(@extschema@.dp_model, "any") IS
	'the predicted class of two: true where dp_decision is positive';

CREATE FUNCTION @extschema@.dp_predict_prob(model @extschema@.dp_model, features "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.dp_predict_prob(@extschema@.dp_model, "any") IS
	'the probability of the positive class; logistic regression of two classes only';

CREATE FUNCTION @extschema@.dp_predict_class(model @extschema@.dp_model, features "any") RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.dp_predict_class(@extschema@.dp_model, "any") IS
	'the name of the most probable class; of two classes, of the one that dp_predict says, if both have names';

CREATE FUNCTION @extschema@.dp_predict_probs(model @extschema@.dp_model, features "any",
	OUT class text, OUT probability float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION @extschema@.dp_predict_probs(@extschema@.dp_model, "any") IS
	'the classes and their probabilities, in the order of the model: of several classes, or of two that have names';

CREATE FUNCTION @extschema@.dp_predict_value(model @extschema@.dp_model, features "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.dp_predict_value(@extschema@.dp_model, "any") IS
	'the predicted number, within the bounds of the label; linear regression only';

CREATE FUNCTION @extschema@.dp_decision(model @extschema@.dp_model, features "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.dp_decision(@extschema@.dp_model, "any") IS
	'the weighted sum of the features, scaled and clipped as in training; of linear regression, from -1 to 1 between the bounds of the label; not for several classes';

-- STABLE: values are shown as the settings of the session print them
CREATE FUNCTION @extschema@.dp_explain(model @extschema@.dp_model, features "any", class text DEFAULT NULL,
	OUT column_name text, OUT value text, OUT score float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION @extschema@.dp_explain(@extschema@.dp_model, "any", text) IS
	'what each column adds to dp_decision, to the number that is predicted or to the score of one of several classes, the largest first; the intercept comes last';

CREATE FUNCTION @extschema@.dp_encode(model @extschema@.dp_model, features "any") RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dperm_encode_model' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.dp_encode(@extschema@.dp_model, "any") IS
	'the features as the model sees them: the vector that its weights are multiplied by';

CREATE FUNCTION @extschema@.dp_encode(domains jsonb, features "any") RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dperm_encode_domains' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.dp_encode(jsonb, "any") IS
	'a row of a table as a vector of norm at most 1, encoded with the domains of the listed columns';
