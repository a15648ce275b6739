--
-- Tuning
--

CREATE FUNCTION @extschema@.dp_logreg_tune(
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
	knots integer DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL,
	candidates jsonb DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip',
	identity text DEFAULT NULL,
	noise text DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	prior @extschema@.dp_model DEFAULT NULL,
	purpose text DEFAULT NULL,
	classes text[] DEFAULT NULL
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_logreg_tune(text, text, anycompatible, float8, float8, text, text, text, boolean, float8, integer, jsonb, integer, text, float8, integer, bigint, jsonb, text, text, text, float8, text, text, @extschema@.dp_model, text, text[]) IS
	'train a differentially private logistic regression with privately chosen parameters';

CREATE FUNCTION @extschema@.dp_svm_tune(
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
	knots integer DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL,
	loss text DEFAULT 'huber',
	h float8 DEFAULT 0.5,
	candidates jsonb DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip',
	identity text DEFAULT NULL,
	noise text DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	prior @extschema@.dp_model DEFAULT NULL,
	purpose text DEFAULT NULL
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_svm_tune(text, text, anycompatible, float8, float8, text, text, text, boolean, float8, integer, jsonb, integer, text, float8, integer, bigint, text, float8, jsonb, text, text, text, float8, text, text, @extschema@.dp_model, text) IS
	'train a differentially private support vector machine with privately chosen parameters';

CREATE FUNCTION @extschema@.dp_linreg_tune(
	source text,
	label text,
	features anycompatible,
	epsilon float8,
	lambda float8 DEFAULT NULL,
	method text DEFAULT 'auto',
	analysis text DEFAULT 'sharp',
	bounds float8[] DEFAULT NULL,
	intercept boolean DEFAULT NULL,
	norm float8 DEFAULT NULL,
	dimension integer DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	knots integer DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	kernel_features integer DEFAULT NULL,
	kernel_seed bigint DEFAULT NULL,
	h float8 DEFAULT 0.25,
	candidates jsonb DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip',
	identity text DEFAULT NULL,
	noise text DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	prior @extschema@.dp_model DEFAULT NULL,
	purpose text DEFAULT NULL
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_linreg_tune(text, text, anycompatible, float8, float8, text, text, float8[], boolean, float8, integer, jsonb, integer, text, float8, integer, bigint, float8, jsonb, text, text, text, float8, text, text, @extschema@.dp_model, text) IS
	'train a differentially private linear regression with privately chosen parameters';
