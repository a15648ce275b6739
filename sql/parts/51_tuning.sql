--
-- Tuning. Trusted.
--

CREATE FUNCTION @extschema@.dp_logreg_tune(
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
	purpose text DEFAULT NULL,
	options jsonb DEFAULT NULL,
	candidates jsonb DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip'
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_logreg_tune(text, text, anycompatible, float8, jsonb, text, text, text, float8, float8, integer, text, float8, @extschema@.dp_model, text, jsonb, jsonb, text) IS
	'train a differentially private logistic regression with privately chosen parameters';

CREATE FUNCTION @extschema@.dp_svm_tune(
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
	purpose text DEFAULT NULL,
	options jsonb DEFAULT NULL,
	candidates jsonb DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip'
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_svm_tune(text, text, anycompatible, float8, jsonb, text, text, text, float8, float8, integer, text, float8, @extschema@.dp_model, text, jsonb, jsonb, text) IS
	'train a differentially private support vector machine with privately chosen parameters';

CREATE FUNCTION @extschema@.dp_linreg_tune(
	relation text,
	label text,
	features anycompatible,
	epsilon float8,
	domains jsonb DEFAULT NULL,
	unit text DEFAULT NULL,
	neighbours text DEFAULT 'replace',
	delta float8 DEFAULT 0,
	lambda float8 DEFAULT NULL,
	knots integer DEFAULT NULL,
	kernel text DEFAULT NULL,
	gamma float8 DEFAULT NULL,
	prior @extschema@.dp_model DEFAULT NULL,
	purpose text DEFAULT NULL,
	options jsonb DEFAULT NULL,
	candidates jsonb DEFAULT NULL,
	selection text DEFAULT 'permute_and_flip'
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_linreg_tune(text, text, anycompatible, float8, jsonb, text, text, float8, float8, integer, text, float8, @extschema@.dp_model, text, jsonb, jsonb, text) IS
	'train a differentially private linear regression with privately chosen parameters';
