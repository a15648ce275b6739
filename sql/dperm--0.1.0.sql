-- dperm: differentially private classifiers inside PostgreSQL.
-- This file is the whole SQL surface of the extension.

-- complain if script is sourced in psql rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION dperm" to load this file. \quit

--
-- dp_model: a trained model
--

CREATE TYPE dp_model;

CREATE FUNCTION dp_model_in(cstring) RETURNS dp_model
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_model_in(cstring) IS 'text input of dp_model: JSON';

CREATE FUNCTION dp_model_out(dp_model) RETURNS cstring
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_model_out(dp_model) IS 'text output of dp_model: JSON';

CREATE FUNCTION dp_model_recv(internal) RETURNS dp_model
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_model_recv(internal) IS 'binary input of dp_model';

CREATE FUNCTION dp_model_send(dp_model) RETURNS bytea
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_model_send(dp_model) IS 'binary output of dp_model';

CREATE TYPE dp_model (
	INPUT = dp_model_in,
	OUTPUT = dp_model_out,
	RECEIVE = dp_model_recv,
	SEND = dp_model_send,
	STORAGE = extended
);
COMMENT ON TYPE dp_model IS
	'a trained classifier: its weights, every public parameter of its training, and its privacy guarantee';

CREATE FUNCTION dp_model_to_jsonb(model dp_model) RETURNS jsonb
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_model_to_jsonb(dp_model) IS 'the model as jsonb: what the cast uses';

CREATE FUNCTION dp_model_from_jsonb(model jsonb) RETURNS dp_model
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_model_from_jsonb(jsonb) IS 'a model out of its jsonb: what the cast uses';

CREATE CAST (dp_model AS jsonb) WITH FUNCTION dp_model_to_jsonb(dp_model) AS ASSIGNMENT;
COMMENT ON CAST (dp_model AS jsonb) IS 'the model with all its parameters, exactly';

CREATE CAST (jsonb AS dp_model) WITH FUNCTION dp_model_from_jsonb(jsonb);
COMMENT ON CAST (jsonb AS dp_model) IS 'the way back; the guarantee is written anew from the parameters';

CREATE FUNCTION dp_weights(model dp_model) RETURNS float8[]
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_weights(dp_model) IS
	'the weights, one per feature; with an intercept, its weight comes last';

CREATE FUNCTION dp_coefficients(model dp_model,
	OUT "position" integer, OUT column_name text, OUT value text, OUT weight float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION dp_coefficients(dp_model) IS
	'the weights of a model with the column, and the category or element, that each belongs to';

CREATE FUNCTION dp_guarantee(model dp_model) RETURNS text
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_guarantee(dp_model) IS
	'what the model promises about the rows it was trained on, in one paragraph';

--
-- Prediction
--
-- The features are a row whose columns are found by name; for a model of one vector also an array:
-- float8[], float4[], numeric[], smallint[], integer[], bigint[], a domain over one of these, or an
-- untyped literal. Values that training would not have used are read as training reads them.

CREATE FUNCTION dp_predict(model dp_model, features "any") RETURNS boolean
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_predict(dp_model, "any") IS
	'the predicted class: true where dp_decision is positive';

CREATE FUNCTION dp_predict_prob(model dp_model, features "any") RETURNS float8
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_predict_prob(dp_model, "any") IS
	'the probability of the positive class, by a logistic regression';

CREATE FUNCTION dp_decision(model dp_model, features "any") RETURNS float8
	AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_decision(dp_model, "any") IS
	'the weighted sum of the features, scaled and clipped as in training';

CREATE FUNCTION dp_encode(model dp_model, features "any") RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_encode_model'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_encode(dp_model, "any") IS
	'the features as the model sees them: the vector that its weights are multiplied with';

CREATE FUNCTION dp_encode(domains jsonb, features "any") RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_encode_domains'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_encode(jsonb, "any") IS
	'a row of a table as a vector of length at most 1, by the domains of the listed columns';

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
	'internal to training: what is asked of one pass over the rows, and the sums it found; not private';

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

CREATE FUNCTION dp_text(value "any") RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_text("any") IS
	'internal to training: the output of a type as text';

CREATE FUNCTION dp_bounded(value anyelement, bytes integer) RETURNS anyelement
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_bounded(anyelement, integer) IS
	'internal to training: a value, or NULL if it is larger than that';

CREATE FUNCTION dp_label(value "any", positive text) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_label("any", text) IS
	'a label as training reads it: true, false, or NULL for no label';

--
-- Training
--

CREATE FUNCTION dp_logreg_train(
	source text,
	label text,
	features text,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'objective',
	analysis text DEFAULT 'sharp',
	positive text DEFAULT NULL,
	intercept boolean DEFAULT NULL,
	norm float8 DEFAULT NULL,
	dimension integer DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_logreg_train(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer,
	bigint) IS
	'train a differentially private logistic regression on the rows of a relation';

CREATE FUNCTION dp_logreg_train(
	source text,
	label text,
	features text[],
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'objective',
	analysis text DEFAULT 'sharp',
	positive text DEFAULT NULL,
	intercept boolean DEFAULT NULL,
	norm float8 DEFAULT NULL,
	dimension integer DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME', 'dp_logreg_train_array' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_logreg_train(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer,
	bigint) IS
	'train a differentially private logistic regression on the rows of a relation';

CREATE FUNCTION dp_svm_train(
	source text,
	label text,
	features text,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'objective',
	analysis text DEFAULT 'sharp',
	positive text DEFAULT NULL,
	intercept boolean DEFAULT NULL,
	norm float8 DEFAULT NULL,
	dimension integer DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL,
	loss text DEFAULT 'huber',
	h float8 DEFAULT 0.5
) RETURNS dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_svm_train(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer,
	bigint, text, float8) IS
	'train a differentially private support vector machine on the rows of a relation';

CREATE FUNCTION dp_svm_train(
	source text,
	label text,
	features text[],
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'objective',
	analysis text DEFAULT 'sharp',
	positive text DEFAULT NULL,
	intercept boolean DEFAULT NULL,
	norm float8 DEFAULT NULL,
	dimension integer DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL,
	loss text DEFAULT 'huber',
	h float8 DEFAULT 0.5
) RETURNS dp_model
	AS 'MODULE_PATHNAME', 'dp_svm_train_array' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_svm_train(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer,
	bigint, text, float8) IS
	'train a differentially private support vector machine on the rows of a relation';

--
-- Tuning
--

CREATE FUNCTION dp_portion(key bytea, portions integer, relation oid, place tid) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_portion_place' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_portion(bytea, integer, oid, tid) IS
	'the portion of a row, by a keyed hash of its place';

CREATE FUNCTION dp_portion(key bytea, portions integer, identity text) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_portion_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_portion(bytea, integer, text) IS
	'the portion of a row, by a keyed hash of what identifies it';

CREATE FUNCTION dp_logreg_tune(
	source text,
	label text,
	features text,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'objective',
	analysis text DEFAULT 'sharp',
	positive text DEFAULT NULL,
	intercept boolean DEFAULT NULL,
	norm float8 DEFAULT NULL,
	dimension integer DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL,
	candidates jsonb DEFAULT NULL,
	lambdas float8[] DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip',
	holdout text DEFAULT NULL,
	identity text DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME', 'dp_logreg_tune' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_logreg_tune(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, jsonb, float8[], text, text, text) IS
	'train a differentially private logistic regression with parameters that are chosen privately';

CREATE FUNCTION dp_logreg_tune(
	source text,
	label text,
	features text[],
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'objective',
	analysis text DEFAULT 'sharp',
	positive text DEFAULT NULL,
	intercept boolean DEFAULT NULL,
	norm float8 DEFAULT NULL,
	dimension integer DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL,
	candidates jsonb DEFAULT NULL,
	lambdas float8[] DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip',
	holdout text DEFAULT NULL,
	identity text DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME', 'dp_logreg_tune_array' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_logreg_tune(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, jsonb, float8[], text, text, text) IS
	'train a differentially private logistic regression with parameters that are chosen privately';

CREATE FUNCTION dp_svm_tune(
	source text,
	label text,
	features text,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'objective',
	analysis text DEFAULT 'sharp',
	positive text DEFAULT NULL,
	intercept boolean DEFAULT NULL,
	norm float8 DEFAULT NULL,
	dimension integer DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL,
	loss text DEFAULT 'huber',
	h float8 DEFAULT 0.5,
	candidates jsonb DEFAULT NULL,
	lambdas float8[] DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip',
	holdout text DEFAULT NULL,
	identity text DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME', 'dp_svm_tune' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_svm_tune(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, jsonb, float8[], text, text, text) IS
	'train a differentially private support vector machine with parameters that are chosen privately';

CREATE FUNCTION dp_svm_tune(
	source text,
	label text,
	features text[],
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'objective',
	analysis text DEFAULT 'sharp',
	positive text DEFAULT NULL,
	intercept boolean DEFAULT NULL,
	norm float8 DEFAULT NULL,
	dimension integer DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL,
	loss text DEFAULT 'huber',
	h float8 DEFAULT 0.5,
	candidates jsonb DEFAULT NULL,
	lambdas float8[] DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip',
	holdout text DEFAULT NULL,
	identity text DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME', 'dp_svm_tune_array' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_svm_tune(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, jsonb, float8[], text, text, text) IS
	'train a differentially private support vector machine with parameters that are chosen privately';

--
-- Evaluation
--

CREATE FUNCTION dp_evaluate(
	model dp_model,
	source text,
	label text,
	epsilon float8,
	positive text DEFAULT NULL,
	features text DEFAULT NULL,
	OUT metric text,
	OUT value float8,
	OUT low float8,
	OUT high float8,
	OUT private boolean
) RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 9;
COMMENT ON FUNCTION dp_evaluate(dp_model, text, text, float8, text, text) IS
	'how good a model is on the rows of a relation: private counts, and metrics with 95 percent intervals';

CREATE FUNCTION dp_bin(decision float8, bins integer) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_bin(float8, integer) IS
	'internal to dp_roc: which of some public bins a decision is in';

CREATE FUNCTION dp_roc(
	model dp_model,
	source text,
	label text,
	epsilon float8,
	positive text DEFAULT NULL,
	features text DEFAULT NULL,
	bins integer DEFAULT 50,
	OUT threshold float8,
	OUT true_positive_rate float8,
	OUT false_positive_rate float8,
	OUT auc float8
) RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 51;
COMMENT ON FUNCTION dp_roc(dp_model, text, text, float8, text, text, integer) IS
	'a private ROC curve and the area under it, from a histogram of decisions with public bins';

CREATE FUNCTION dp_cost(
	rows bigint,
	dimension integer,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'objective',
	analysis text DEFAULT 'sharp',
	loss text DEFAULT 'logistic',
	h float8 DEFAULT 0.5,
	OUT lambda_used float8,
	OUT lambda_effective float8,
	OUT epsilon_slack float8,
	OUT epsilon_noise float8,
	OUT epsilon_release float8,
	OUT noise_norm float8,
	OUT weight_bound float8,
	OUT noise_share float8,
	OUT rows_needed bigint
) RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_cost(bigint, integer, float8, float8, text, text, text, float8) IS
	'what a training would spend and with what noise, and how many rows it needs, without reading any';

--
-- One-call aggregates
--

CREATE FUNCTION dp_logreg_step(internal, "any", "any", float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_logreg_step(internal, "any", "any", float8) IS
	'internal to dp_logreg: transition function';

CREATE FUNCTION dp_logreg_step(internal, "any", "any", float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_logreg_step(internal, "any", "any", float8, float8) IS
	'internal to dp_logreg: transition function';

CREATE FUNCTION dp_logreg_step(internal, "any", "any", float8, float8, jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_logreg_step(internal, "any", "any", float8, float8, jsonb) IS
	'internal to dp_logreg: transition function';

CREATE FUNCTION dp_svm_step(internal, "any", "any", float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_svm_step(internal, "any", "any", float8) IS
	'internal to dp_svm: transition function';

CREATE FUNCTION dp_svm_step(internal, "any", "any", float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_svm_step(internal, "any", "any", float8, float8) IS
	'internal to dp_svm: transition function';

CREATE FUNCTION dp_svm_step(internal, "any", "any", float8, float8, jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_svm_step(internal, "any", "any", float8, float8, jsonb) IS
	'internal to dp_svm: transition function';

CREATE FUNCTION dp_fit_final(internal) RETURNS dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION dp_fit_final(internal) IS
	'internal to dp_logreg and dp_svm: train on the rows of the group';

CREATE AGGREGATE dp_logreg(label "any", features "any", epsilon float8) (
	SFUNC = dp_logreg_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_logreg("any", "any", float8) IS
	'train a differentially private logistic regression on the rows of each group';

CREATE AGGREGATE dp_logreg(label "any", features "any", epsilon float8, lambda float8) (
	SFUNC = dp_logreg_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_logreg("any", "any", float8, float8) IS
	'train a differentially private logistic regression on the rows of each group';

CREATE AGGREGATE dp_logreg(label "any", features "any", epsilon float8, lambda float8, options jsonb) (
	SFUNC = dp_logreg_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_logreg("any", "any", float8, float8, jsonb) IS
	'train a differentially private logistic regression on the rows of each group';

CREATE AGGREGATE dp_svm(label "any", features "any", epsilon float8) (
	SFUNC = dp_svm_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_svm("any", "any", float8) IS
	'train a differentially private support vector machine on the rows of each group';

CREATE AGGREGATE dp_svm(label "any", features "any", epsilon float8, lambda float8) (
	SFUNC = dp_svm_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_svm("any", "any", float8, float8) IS
	'train a differentially private support vector machine on the rows of each group';

CREATE AGGREGATE dp_svm(label "any", features "any", epsilon float8, lambda float8, options jsonb) (
	SFUNC = dp_svm_step,
	STYPE = internal,
	FINALFUNC = dp_fit_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_svm("any", "any", float8, float8, jsonb) IS
	'train a differentially private support vector machine on the rows of each group';

--
-- Domains
--
-- What is publicly known of the values of a column: bounds, a list of categories, the dimension
-- of a vector. It comes from the catalog alone, never from rows.

CREATE FUNCTION dp_domains(relation regclass)
	RETURNS TABLE (column_name name, column_type regtype, domain jsonb, origin text)
	AS 'MODULE_PATHNAME'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_domains(regclass) IS
	'the domain of each column that can be a feature, as CHECK constraints, enum labels and types declare it, in the form that domains takes; NULL where there is none';
