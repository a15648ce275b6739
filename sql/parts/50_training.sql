--
-- Training
--
-- Arguments are looked up by name, so their order does not matter: a new option
-- is an argument here and in 51_tuning.sql, and an entry of the table in
-- src/base/option_table.c. Comments list the types of the arguments, because a
-- schema may contain another function of the same name.
--
-- features is a column name or an array of column names. It is declared
-- anycompatible, so that one function accepts text, text[], varchar, name and
-- arrays of those; any other type is rejected when the function is called.
-- PostgreSQL resolves a literal, NULL and an untyped parameter to text, so no
-- call is ambiguous; '{a,b}' is then read as an array. With "any" instead, an
-- untyped parameter would be an error, and many drivers send no types.

CREATE FUNCTION @extschema@.dp_logreg_train(
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
	noise text DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	prior @extschema@.dp_model DEFAULT NULL,
	purpose text DEFAULT NULL,
	classes text[] DEFAULT NULL
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_logreg_train(text, text, anycompatible, float8, float8, text, text, text, boolean, float8, integer, jsonb, integer, text, float8, integer, bigint, text, float8, text, text, @extschema@.dp_model, text, text[]) IS
	'train a differentially private logistic regression, of two classes or several, on the rows of a relation';

CREATE FUNCTION @extschema@.dp_svm_train(
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
	noise text DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	prior @extschema@.dp_model DEFAULT NULL,
	purpose text DEFAULT NULL
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_svm_train(text, text, anycompatible, float8, float8, text, text, text, boolean, float8, integer, jsonb, integer, text, float8, integer, bigint, text, float8, text, float8, text, text, @extschema@.dp_model, text) IS
	'train a differentially private support vector machine on the rows of a relation';

CREATE FUNCTION @extschema@.dp_linreg_train(
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
	noise text DEFAULT NULL,
	delta float8 DEFAULT 0,
	neighbours text DEFAULT 'replace',
	unit text DEFAULT NULL,
	prior @extschema@.dp_model DEFAULT NULL,
	purpose text DEFAULT NULL
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_linreg_train(text, text, anycompatible, float8, float8, text, text, float8[], boolean, float8, integer, jsonb, integer, text, float8, integer, bigint, float8, text, float8, text, text, @extschema@.dp_model, text) IS
	'train a differentially private linear regression on the rows of a relation';
