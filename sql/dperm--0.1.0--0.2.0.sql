-- dperm 0.1.0 to 0.2.0. Afterwards all objects are those of a fresh 0.2.0: test/t/006_upgrade.pl compares them.

-- complain if script is sourced in psql rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION dperm UPDATE TO '0.2.0'" to load this file. \quit

-- The size above which a value is not read is a constant now.
DROP FUNCTION dp_bounded(anyelement, integer);
CREATE FUNCTION dp_bounded(value anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- A group is trained once, in the leader, however often the plan asks for its model.
ALTER FUNCTION dp_logreg_step(internal, "any", "any", float8) PARALLEL RESTRICTED;
ALTER FUNCTION dp_logreg_step(internal, "any", "any", float8, float8) PARALLEL RESTRICTED;
ALTER FUNCTION dp_logreg_step(internal, "any", "any", float8, float8, jsonb) PARALLEL RESTRICTED;
ALTER FUNCTION dp_svm_step(internal, "any", "any", float8) PARALLEL RESTRICTED;
ALTER FUNCTION dp_svm_step(internal, "any", "any", float8, float8) PARALLEL RESTRICTED;
ALTER FUNCTION dp_svm_step(internal, "any", "any", float8, float8, jsonb) PARALLEL RESTRICTED;
ALTER FUNCTION dp_fit_final(internal) PARALLEL RESTRICTED;

CREATE OR REPLACE AGGREGATE dp_logreg(label "any", features "any", epsilon float8) (
	SFUNC = dp_logreg_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_logreg(label "any", features "any", epsilon float8, lambda float8) (
	SFUNC = dp_logreg_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_logreg(label "any", features "any", epsilon float8, lambda float8, options jsonb) (
	SFUNC = dp_logreg_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_svm(label "any", features "any", epsilon float8) (
	SFUNC = dp_svm_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_svm(label "any", features "any", epsilon float8, lambda float8) (
	SFUNC = dp_svm_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_svm(label "any", features "any", epsilon float8, lambda float8, options jsonb) (
	SFUNC = dp_svm_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

-- Comments.
COMMENT ON FUNCTION dp_model_to_jsonb(dp_model) IS 'convert a model to jsonb; used by the cast';
COMMENT ON FUNCTION dp_model_from_jsonb(jsonb) IS 'convert jsonb to a model; used by the cast';
COMMENT ON CAST (dp_model AS jsonb) IS 'the complete model, without loss';
COMMENT ON CAST (jsonb AS dp_model) IS 'read a model; its guarantee is derived again from its parameters';
COMMENT ON FUNCTION dp_coefficients(dp_model) IS
	'the weights of a model, each with its column and its category or vector element';
COMMENT ON FUNCTION dp_guarantee(dp_model) IS
	'the privacy guarantee of a model, in one paragraph';
COMMENT ON FUNCTION dp_predict_prob(dp_model, "any") IS
	'the probability of the positive class; logistic regression only';
COMMENT ON FUNCTION dp_encode(dp_model, "any") IS
	'the features as the model sees them: the vector that its weights are multiplied by';
COMMENT ON FUNCTION dp_encode(jsonb, "any") IS
	'a row of a table as a vector of norm at most 1, encoded with the domains of the listed columns';
COMMENT ON TYPE dp_moments IS
	'internal to training: the request for one pass over the rows, or the sums that it computed; not private';
COMMENT ON FUNCTION dp_text("any") IS
	'internal to training: the text form of a value, or NULL if the value is too large';
COMMENT ON FUNCTION dp_bounded(anyelement) IS
	'internal to training: a value, or NULL if it is too large';
COMMENT ON FUNCTION dp_label("any", text) IS
	'internal to training: a label as true or false, or NULL for no label';
COMMENT ON FUNCTION dp_portion(bytea, integer, oid, tid) IS
	'internal to tuning: the portion of a row, by a keyed hash of its physical location';
COMMENT ON FUNCTION dp_portion(bytea, integer, text) IS
	'internal to tuning: the portion of a row, by a keyed hash of its identity';
COMMENT ON FUNCTION dp_logreg_tune(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, jsonb, float8[], text, text, text) IS
	'train a differentially private logistic regression with privately chosen parameters';
COMMENT ON FUNCTION dp_logreg_tune(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, jsonb, float8[], text, text, text) IS
	'train a differentially private logistic regression with privately chosen parameters';
COMMENT ON FUNCTION dp_svm_tune(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, jsonb, float8[], text, text, text) IS
	'train a differentially private support vector machine with privately chosen parameters';
COMMENT ON FUNCTION dp_svm_tune(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, jsonb, float8[], text, text, text) IS
	'train a differentially private support vector machine with privately chosen parameters';
COMMENT ON FUNCTION dp_evaluate(dp_model, text, text, float8, text, text) IS
	'evaluate a model on the rows of a relation: private counts, and metrics with 95 percent intervals';
COMMENT ON FUNCTION dp_bin(float8, integer) IS
	'internal to dp_roc: the bin that a decision falls into';
COMMENT ON FUNCTION dp_cost(bigint, integer, float8, float8, text, text, text, float8) IS
	'the privacy budget and the noise of a training, and the number of rows it needs, without reading any rows';
COMMENT ON FUNCTION dp_domains(regclass) IS
	'the domain of each column that can be a feature, as declared by CHECK constraints, enum labels and types; NULL if there is none';
