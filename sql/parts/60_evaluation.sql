--
-- Evaluation. Trusted.
--

CREATE FUNCTION @extschema@.dp_evaluate(
	model @extschema@.dp_model,
	relation text,
	epsilon float8,
	label text DEFAULT NULL,
	positive text DEFAULT NULL,
	features text DEFAULT NULL,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	purpose text DEFAULT NULL,
	OUT metric text,
	OUT value float8,
	OUT low float8,
	OUT high float8,
	OUT private boolean,
	OUT class text,
	OUT predicted text
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 9;
COMMENT ON FUNCTION @extschema@.dp_evaluate(@extschema@.dp_model, text, float8, text, text, text, text, text, text) IS
	'evaluate a model on the rows of a relation: private counts, and metrics with 95 percent intervals, of several classes by label and prediction; of linear regression, private errors';

CREATE FUNCTION @extschema@.dp_roc(
	model @extschema@.dp_model,
	relation text,
	epsilon float8,
	label text DEFAULT NULL,
	positive text DEFAULT NULL,
	features text DEFAULT NULL,
	bins integer DEFAULT NULL,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	purpose text DEFAULT NULL,
	class text DEFAULT NULL,
	OUT threshold float8,
	OUT true_positive_rate float8,
	OUT false_positive_rate float8,
	OUT auc float8,
	OUT auc_low float8,
	OUT auc_high float8,
	OUT private boolean
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 41;
COMMENT ON FUNCTION @extschema@.dp_roc(@extschema@.dp_model, text, float8, text, text, text, integer, text, text, text, text) IS
	'a private ROC curve and the area under it, with a 95 percent interval, from a histogram of decisions with public bins; of several classes, one against the others';

--
-- Cost
--

-- By the arguments of a training and the number of rows. It looks at the relation as a training does before it reads a row: it opens queries,
-- so it is not parallel safe.

CREATE FUNCTION @extschema@.dp_cost(
	relation text,
	label text,
	features anycompatible,
	epsilon float8,
	domains jsonb DEFAULT NULL,
	unit text DEFAULT NULL,
	neighbours text DEFAULT 'replace',
	positive text DEFAULT NULL,
	delta float8 DEFAULT 0,
	lambda float8 DEFAULT NULL,
	knots integer DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	prior @extschema@.dp_model DEFAULT NULL,
	options jsonb DEFAULT NULL,
	units bigint DEFAULT NULL,
	learner text DEFAULT 'logreg',
	OUT label jsonb,
	OUT features jsonb,
	OUT units bigint,
	OUT units_from text,
	OUT delta float8,
	OUT method text,
	OUT noise text,
	OUT knots integer,
	OUT noise_share float8,
	OUT verdict text,
	OUT units_needed bigint,
	OUT calls_left bigint,
	OUT with_delta jsonb,
	OUT budget text,
	OUT epsilon_charged numeric,
	OUT delta_charged numeric,
	OUT epsilon_left numeric,
	OUT epsilon_left_after numeric,
	OUT lambda_used float8,
	OUT lambda_effective float8,
	OUT epsilon_slack float8,
	OUT epsilon_noise float8,
	OUT epsilon_release float8,
	OUT noise_norm float8
) RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION @extschema@.dp_cost(text, text, anycompatible, float8, jsonb, text, text, text, float8, float8, integer, text, float8, @extschema@.dp_model, jsonb, bigint, text) IS
	'what a training would do, at no cost: its label and features, its noise and whether the model is likely to be useful, the number of rows or persons it needs and what it takes from the budget; from its arguments and the catalog, without reading any rows';
