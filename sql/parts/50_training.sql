--
-- Training. Trusted.
--
-- Arguments are looked up by name, so their order does not matter to the library.
-- The fifth is jsonb, so that a number there is an error. A new option is an
-- entry of the table in src/base/option_table.c, and a key of the argument
-- options. Comments list the types of the arguments, because a schema may
-- contain another function of the same name.
--
-- features is a column name or an array of column names. It is declared
-- anycompatible, so that one function accepts text, text[], varchar, name and
-- arrays of those; any other type is rejected when the function is called.
-- PostgreSQL resolves a literal, NULL and an untyped parameter to text, so no
-- call is ambiguous; '{a,b}' is then read as an array. With "any" instead, an
-- untyped parameter would be an error, and many drivers send no types.

CREATE FUNCTION @extschema@.dp_logreg_train(
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
	options jsonb DEFAULT NULL
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_logreg_train(text, text, anycompatible, float8, jsonb, text, text, text, float8, float8, integer, text, float8, @extschema@.dp_model, text, jsonb) IS
	'train a differentially private logistic regression, of two classes or several, on the rows of a relation';

CREATE FUNCTION @extschema@.dp_svm_train(
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
	options jsonb DEFAULT NULL
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_svm_train(text, text, anycompatible, float8, jsonb, text, text, text, float8, float8, integer, text, float8, @extschema@.dp_model, text, jsonb) IS
	'train a differentially private support vector machine on the rows of a relation';

CREATE FUNCTION @extschema@.dp_linreg_train(
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
	options jsonb DEFAULT NULL
) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.dp_linreg_train(text, text, anycompatible, float8, jsonb, text, text, float8, float8, integer, text, float8, @extschema@.dp_model, text, jsonb) IS
	'train a differentially private linear regression on the rows of a relation';
