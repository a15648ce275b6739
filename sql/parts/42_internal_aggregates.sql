--
-- The transition and final functions of dp_logreg, dp_svm and dp_linreg. Trusted.
--

CREATE FUNCTION dperm.dperm_logreg_step(internal, "any", "any", float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'dperm_aggregate_step' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dperm.dperm_logreg_step(internal, "any", "any", float8) IS
	'internal to dp_logreg: transition function';

CREATE FUNCTION dperm.dperm_logreg_step(internal, "any", "any", float8, jsonb) RETURNS internal
	AS 'MODULE_PATHNAME', 'dperm_aggregate_step' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dperm.dperm_logreg_step(internal, "any", "any", float8, jsonb) IS
	'internal to dp_logreg: transition function';

CREATE FUNCTION dperm.dperm_svm_step(internal, "any", "any", float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'dperm_aggregate_step' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dperm.dperm_svm_step(internal, "any", "any", float8) IS
	'internal to dp_svm: transition function';

CREATE FUNCTION dperm.dperm_svm_step(internal, "any", "any", float8, jsonb) RETURNS internal
	AS 'MODULE_PATHNAME', 'dperm_aggregate_step' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dperm.dperm_svm_step(internal, "any", "any", float8, jsonb) IS
	'internal to dp_svm: transition function';

CREATE FUNCTION dperm.dperm_linreg_step(internal, "any", "any", float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'dperm_aggregate_step' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dperm.dperm_linreg_step(internal, "any", "any", float8) IS
	'internal to dp_linreg: transition function';

CREATE FUNCTION dperm.dperm_linreg_step(internal, "any", "any", float8, jsonb) RETURNS internal
	AS 'MODULE_PATHNAME', 'dperm_aggregate_step' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dperm.dperm_linreg_step(internal, "any", "any", float8, jsonb) IS
	'internal to dp_linreg: transition function';

CREATE FUNCTION dperm.dperm_aggregate_final(internal) RETURNS @extschema@.dp_model
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dperm.dperm_aggregate_final(internal) IS
	'internal to dp_logreg, dp_svm and dp_linreg: train on the rows of the group';
