--
-- One-call aggregates. Trusted.
--

CREATE AGGREGATE @extschema@.dp_logreg(label "any", features "any", epsilon float8) (
	SFUNC = dperm.dperm_logreg_step,
	STYPE = internal,
	FINALFUNC = dperm.dperm_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE @extschema@.dp_logreg("any", "any", float8) IS
	'train a differentially private logistic regression on the rows of each group';

CREATE AGGREGATE @extschema@.dp_logreg(label "any", features "any", epsilon float8, options jsonb) (
	SFUNC = dperm.dperm_logreg_step,
	STYPE = internal,
	FINALFUNC = dperm.dperm_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE @extschema@.dp_logreg("any", "any", float8, jsonb) IS
	'train a differentially private logistic regression on the rows of each group';

CREATE AGGREGATE @extschema@.dp_svm(label "any", features "any", epsilon float8) (
	SFUNC = dperm.dperm_svm_step,
	STYPE = internal,
	FINALFUNC = dperm.dperm_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE @extschema@.dp_svm("any", "any", float8) IS
	'train a differentially private support vector machine on the rows of each group';

CREATE AGGREGATE @extschema@.dp_svm(label "any", features "any", epsilon float8, options jsonb) (
	SFUNC = dperm.dperm_svm_step,
	STYPE = internal,
	FINALFUNC = dperm.dperm_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE @extschema@.dp_svm("any", "any", float8, jsonb) IS
	'train a differentially private support vector machine on the rows of each group';

CREATE AGGREGATE @extschema@.dp_linreg(label "any", features "any", epsilon float8) (
	SFUNC = dperm.dperm_linreg_step,
	STYPE = internal,
	FINALFUNC = dperm.dperm_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE @extschema@.dp_linreg("any", "any", float8) IS
	'train a differentially private linear regression on the rows of each group';

CREATE AGGREGATE @extschema@.dp_linreg(label "any", features "any", epsilon float8, options jsonb) (
	SFUNC = dperm.dperm_linreg_step,
	STYPE = internal,
	FINALFUNC = dperm.dperm_aggregate_final,
	FINALFUNC_MODIFY = SHAREABLE,
	PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE @extschema@.dp_linreg("any", "any", float8, jsonb) IS
	'train a differentially private linear regression on the rows of each group';
