-- dperm 0.1.0 to 0.2.0. Afterwards all objects are those of a fresh 0.2.0: test/t/006_upgrade.pl compares them.

-- complain if script is sourced in psql rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION dperm UPDATE TO '0.2.0'" to load this file. \quit

-- The size above which a value is not read is a constant now.
DROP FUNCTION dp_bounded(anyelement, integer);
CREATE FUNCTION dp_bounded(value anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Evaluation counts in passes.
DROP FUNCTION dp_bin(float8, integer);

-- Rows that a server reads which calls aggregates without the types of their arguments.
CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, bytea) RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_row' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, bytea) IS
	'internal to training: transition function of dp_moments_row_agg';

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

CREATE AGGREGATE dp_moments_row_agg(request dp_moments, label boolean, columns bytea) (
	SFUNC = dp_moments_step,
	STYPE = dp_moments,
	COMBINEFUNC = dp_moments_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_moments_row_agg(dp_moments, boolean, bytea) IS
	'internal to training: one pass over rows that dp_row has made';

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, bytea, bigint, boolean) RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_person' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, boolean, bytea, bigint, boolean) IS
	'internal to training: transition function of dp_moments_person_agg';

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

-- Labels of any type, and identities of rows, without functions that other servers do not run.
CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, "any", VARIADIC "any") RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_any' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, "any", VARIADIC "any") IS
	'internal to training: transition function of dp_moments_agg';

CREATE FUNCTION dp_moments_step(dp_moments, dp_moments, "any", record) RETURNS dp_moments
	AS 'MODULE_PATHNAME', 'dp_moments_step_any_record' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION dp_moments_step(dp_moments, dp_moments, "any", record) IS
	'internal to training: transition function of dp_moments_agg';

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

CREATE FUNCTION dp_portion(key bytea, portions integer, identity bigint) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_portion_bigint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_portion(bytea, integer, bigint) IS
	'internal to tuning: the portion of a row, by a keyed hash of its identity';

CREATE FUNCTION dp_portion(key bytea, portions integer, identity uuid) RETURNS integer
	AS 'MODULE_PATHNAME', 'dp_portion_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_portion(bytea, integer, uuid) IS
	'internal to tuning: the portion of a row, by a keyed hash of its identity';

-- A group is trained once, in the leader, however often the plan asks for its model.
ALTER FUNCTION dp_logreg_step(internal, "any", "any", float8) PARALLEL RESTRICTED;
ALTER FUNCTION dp_logreg_step(internal, "any", "any", float8, float8) PARALLEL RESTRICTED;
ALTER FUNCTION dp_logreg_step(internal, "any", "any", float8, float8, jsonb) PARALLEL RESTRICTED;
ALTER FUNCTION dp_svm_step(internal, "any", "any", float8) PARALLEL RESTRICTED;
ALTER FUNCTION dp_svm_step(internal, "any", "any", float8, float8) PARALLEL RESTRICTED;
ALTER FUNCTION dp_svm_step(internal, "any", "any", float8, float8, jsonb) PARALLEL RESTRICTED;

-- In 0.2.0 the final function has a name of its own, and its old name only raises an error: see src/compat.c.
ALTER FUNCTION dp_fit_final(internal) RENAME TO dp_aggregate_final;
CREATE OR REPLACE FUNCTION dp_aggregate_final(internal) RETURNS dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE OR REPLACE AGGREGATE dp_logreg(label "any", features "any", epsilon float8) (
	SFUNC = dp_logreg_step,
	STYPE = internal,
	FINALFUNC = dp_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_logreg(label "any", features "any", epsilon float8, lambda float8) (
	SFUNC = dp_logreg_step,
	STYPE = internal,
	FINALFUNC = dp_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_logreg(label "any", features "any", epsilon float8, lambda float8, options jsonb) (
	SFUNC = dp_logreg_step,
	STYPE = internal,
	FINALFUNC = dp_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_svm(label "any", features "any", epsilon float8) (
	SFUNC = dp_svm_step,
	STYPE = internal,
	FINALFUNC = dp_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_svm(label "any", features "any", epsilon float8, lambda float8) (
	SFUNC = dp_svm_step,
	STYPE = internal,
	FINALFUNC = dp_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

CREATE OR REPLACE AGGREGATE dp_svm(label "any", features "any", epsilon float8, lambda float8, options jsonb) (
	SFUNC = dp_svm_step,
	STYPE = internal,
	FINALFUNC = dp_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);

-- One function takes a name or an array of names, where there were two.
CREATE FUNCTION dp_logreg_train(
	source text,
	label text,
	features anycompatible,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'auto',
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
	noise text DEFAULT NULL,
	slack float8 DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_logreg_train(text, text, anycompatible, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, float8, text, text) IS
	'train a differentially private logistic regression on the rows of a relation';

CREATE FUNCTION dp_svm_train(
	source text,
	label text,
	features anycompatible,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'auto',
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
	noise text DEFAULT NULL,
	slack float8 DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_svm_train(text, text, anycompatible, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, text, float8, float8, text, text) IS
	'train a differentially private support vector machine on the rows of a relation';

CREATE FUNCTION dp_logreg_tune(
	source text,
	label text,
	features anycompatible,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'auto',
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
	identity text DEFAULT NULL,
	noise text DEFAULT NULL,
	slack float8 DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_logreg_tune(text, text, anycompatible, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, jsonb, float8[], text, text, text, text, float8, float8, text, text) IS
	'train a differentially private logistic regression with privately chosen parameters';

CREATE FUNCTION dp_svm_tune(
	source text,
	label text,
	features anycompatible,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'auto',
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
	identity text DEFAULT NULL,
	noise text DEFAULT NULL,
	slack float8 DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL
) RETURNS dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION dp_svm_tune(text, text, anycompatible, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, jsonb, float8[], text, text, text, text, float8, float8, text, text) IS
	'train a differentially private support vector machine with privately chosen parameters';

-- It shows more, of the noise that a source needs too.
CREATE FUNCTION dp_cost(
	rows bigint,
	dimension integer,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'auto',
	analysis text DEFAULT 'sharp',
	loss text DEFAULT 'logistic',
	h float8 DEFAULT 0.5,
	slack float8 DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	OUT method text,
	OUT noise text,
	OUT delta float8,
	OUT neighbours text,
	OUT lambda_used float8,
	OUT lambda_effective float8,
	OUT epsilon_slack float8,
	OUT epsilon_noise float8,
	OUT epsilon_release float8,
	OUT noise_norm float8,
	OUT weight_error float8,
	OUT weight_bound float8,
	OUT noise_share float8,
	OUT rows_needed bigint
) RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_cost(bigint, integer, float8, float8, text, text, text, float8, float8, float8, text) IS
	'the privacy budget and the noise of a training, and the number of rows it needs, for any rows of a dimension';

CREATE FUNCTION dp_cost(
	source text,
	label text,
	features anycompatible,
	epsilon float8,
	rows bigint,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'auto',
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
	loss text DEFAULT 'logistic',
	h float8 DEFAULT 0.5,
	noise text DEFAULT NULL,
	slack float8 DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	OUT method text,
	OUT noise text,
	OUT delta float8,
	OUT neighbours text,
	OUT lambda_used float8,
	OUT lambda_effective float8,
	OUT epsilon_slack float8,
	OUT epsilon_noise float8,
	OUT epsilon_release float8,
	OUT noise_norm float8,
	OUT weight_error float8,
	OUT weight_bound float8,
	OUT noise_share float8,
	OUT rows_needed bigint,
	OUT budget text,
	OUT epsilon_charged numeric,
	OUT delta_charged numeric,
	OUT epsilon_left numeric,
	OUT epsilon_left_after numeric
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dp_cost_source' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000 ROWS 2;
COMMENT ON FUNCTION dp_cost(text, text, anycompatible, float8, bigint, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, text, float8, float8, text, text) IS
	'the privacy budget and the noise of a training, and the number of rows it needs, from its arguments and the catalog, without reading any rows';

-- The label and epsilon have defaults: a model knows its label.
CREATE FUNCTION dp_evaluate(
	model dp_model,
	source text,
	label text DEFAULT NULL,
	epsilon float8 DEFAULT NULL,
	positive text DEFAULT NULL,
	features text DEFAULT NULL,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	OUT metric text,
	OUT value float8,
	OUT low float8,
	OUT high float8,
	OUT private boolean
) RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 9;
COMMENT ON FUNCTION dp_evaluate(dp_model, text, text, float8, text, text, text, text) IS
	'evaluate a model on the rows of a relation: private counts, and metrics with 95 percent intervals';

CREATE FUNCTION dp_roc(
	model dp_model,
	source text,
	label text DEFAULT NULL,
	epsilon float8 DEFAULT NULL,
	positive text DEFAULT NULL,
	features text DEFAULT NULL,
	bins integer DEFAULT 50,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	OUT threshold float8,
	OUT true_positive_rate float8,
	OUT false_positive_rate float8,
	OUT auc float8
) RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 51;
COMMENT ON FUNCTION dp_roc(dp_model, text, text, float8, text, text, integer, text, text) IS
	'a private ROC curve and the area under it, from a histogram of decisions with public bins';

-- Whoever could call one of the two could train: both read '{a,b}' as an array. What was granted on either is granted on the
-- new one, what was granted on dp_cost on both that are now, and what was granted on dp_evaluate and dp_roc on those with more
-- arguments. A script of an extension records grants as those that the extension came with, which pg_dump leaves out; these
-- are the administrator's, so the record is removed. Where nothing was granted or revoked, nothing is done. Operators are
-- found in pg_catalog first, and their arguments are of exactly their types.
DO LANGUAGE plpgsql $$
DECLARE
	made record;
	held record;
BEGIN
	FOR made IN
		SELECT n.oid, n.oid::pg_catalog.regprocedure AS signature, n.proowner, pg_catalog.array_agg(o.oid) AS old
		FROM pg_catalog.pg_depend d
			JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'dperm'
			JOIN pg_catalog.pg_proc n ON n.oid = d.objid
			JOIN pg_catalog.pg_proc o ON o.proname = n.proname AND o.pronamespace = n.pronamespace
		WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
			AND d.deptype = 'e'
			AND (n.proname = 'dp_cost' AND n.pronargs > 8 AND o.pronargs = 8
				OR n.proname = 'dp_evaluate' AND n.pronargs = 8 AND o.pronargs = 6
				OR n.proname = 'dp_roc' AND n.pronargs = 9 AND o.pronargs = 7
				OR n.proname IN ('dp_logreg_train', 'dp_svm_train', 'dp_logreg_tune', 'dp_svm_tune')
				AND n.proargtypes[2] = 'pg_catalog.anycompatible'::pg_catalog.regtype::pg_catalog.oid
				AND o.proargtypes[2] IN ('pg_catalog.text'::pg_catalog.regtype::pg_catalog.oid, 'pg_catalog.text[]'::pg_catalog.regtype::pg_catalog.oid))
			AND EXISTS (SELECT FROM pg_catalog.pg_depend od WHERE od.classid = d.classid AND od.objid = o.oid
				AND od.refclassid = d.refclassid AND od.refobjid = d.refobjid AND od.deptype = 'e')
		GROUP BY n.oid
		HAVING pg_catalog.count(o.proacl) > 0
	LOOP
		FOR held IN
			SELECT DISTINCT CASE a.grantee WHEN '0'::pg_catalog.oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)::pg_catalog.text) END AS grantee
			FROM pg_catalog.pg_proc p, pg_catalog.aclexplode(COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
			WHERE p.oid = made.oid AND a.grantee <> p.proowner
		LOOP
			EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM %s', made.signature, held.grantee);
		END LOOP;
		FOR held IN
			SELECT CASE a.grantee WHEN '0'::pg_catalog.oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)::pg_catalog.text) END AS grantee,
				pg_catalog.bool_or(a.is_grantable) AS is_grantable
			FROM pg_catalog.pg_proc p, pg_catalog.aclexplode(COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
			WHERE p.oid = ANY (made.old) AND a.grantee <> made.proowner
			GROUP BY a.grantee
		LOOP
			EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO %s%s', made.signature, held.grantee,
				CASE WHEN held.is_grantable THEN ' WITH GRANT OPTION' END);
		END LOOP;
		DELETE FROM pg_catalog.pg_init_privs
			WHERE classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND objoid = made.oid;
		-- PostgreSQL 17 notes the roles in such a record
		DELETE FROM pg_catalog.pg_shdepend
			WHERE dbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
			AND classid = 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND objid = made.oid AND deptype = 'i';
	END LOOP;
END $$;

DROP FUNCTION dp_logreg_train(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint);
DROP FUNCTION dp_logreg_train(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint);
DROP FUNCTION dp_svm_train(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8);
DROP FUNCTION dp_svm_train(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8);
DROP FUNCTION dp_logreg_tune(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, jsonb, float8[], text, text, text);
DROP FUNCTION dp_logreg_tune(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, jsonb, float8[], text, text, text);
DROP FUNCTION dp_svm_tune(text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, jsonb, float8[], text, text, text);
DROP FUNCTION dp_svm_tune(text, text, text[], float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, jsonb, float8[], text, text, text);
DROP FUNCTION dp_cost(bigint, integer, float8, float8, text, text, text, float8);
DROP FUNCTION dp_evaluate(dp_model, text, text, float8, text, text);
DROP FUNCTION dp_roc(dp_model, text, text, float8, text, text, integer);

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
	'internal to training: the request for one pass over the rows, or the sums or counts that it computed; not private';
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
COMMENT ON FUNCTION dp_domains(regclass) IS
	'the domain of each column that can be a feature, as declared by CHECK constraints, enum labels and types; NULL if there is none';

