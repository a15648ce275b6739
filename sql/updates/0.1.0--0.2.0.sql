-- dperm 0.1.0 to 0.2.0. Afterwards all objects are those of a fresh 0.2.0: test/t/006_upgrade.pl compares them. A line that names a part of the install script
-- stands for the part: make puts it there.

-- complain if script is sourced in psql rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION dperm UPDATE TO '0.2.0'" to load this file. \quit

-- The size above which a value is not read is a constant now.
DROP FUNCTION dp_bounded(anyelement, integer);
CREATE FUNCTION dp_bounded(value anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Evaluation counts in passes.
DROP FUNCTION dp_bin(float8, integer);

-- Rows that are on other servers.
-- part 43_internal_elsewhere

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

-- Training and tuning: one function takes a name or an array of names, where there were two. dp_cost shows more, of the noise that a source needs too. For
-- evaluation the label and epsilon have defaults: a model knows its label.
-- part 50_training
-- part 51_tuning
-- part 60_evaluation

-- Whoever could call one of the two could train: both read '{a,b}' as an array. What was granted on either is granted on the
-- new one, what was granted on dp_cost on both that are now, and what was granted on dp_evaluate and dp_roc on those with more
-- arguments. A script of an extension records grants as those that the extension came with, which pg_dump leaves out; these
-- are the administrator's, so the record is removed. Where nothing was granted or revoked, nothing is done.
DO LANGUAGE plpgsql $$
DECLARE
	made record;
	held record;
BEGIN
	FOR made IN
		SELECT n.oid, n.oid::pg_catalog.regprocedure AS signature, n.proowner, pg_catalog.array_agg(o.oid) AS old
		FROM pg_catalog.pg_depend d
			JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname OPERATOR(pg_catalog.=) 'dperm'
			JOIN pg_catalog.pg_proc n ON n.oid OPERATOR(pg_catalog.=) d.objid
			JOIN pg_catalog.pg_proc o ON o.proname OPERATOR(pg_catalog.=) n.proname AND o.pronamespace OPERATOR(pg_catalog.=) n.pronamespace
		WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
			AND d.deptype OPERATOR(pg_catalog.=) 'e'
			AND (n.proname OPERATOR(pg_catalog.=) 'dp_cost' AND n.pronargs OPERATOR(pg_catalog.>) 8 AND o.pronargs OPERATOR(pg_catalog.=) 8
				OR n.proname OPERATOR(pg_catalog.=) 'dp_evaluate' AND n.pronargs OPERATOR(pg_catalog.=) 8 AND o.pronargs OPERATOR(pg_catalog.=) 6
				OR n.proname OPERATOR(pg_catalog.=) 'dp_roc' AND n.pronargs OPERATOR(pg_catalog.=) 9 AND o.pronargs OPERATOR(pg_catalog.=) 7
				OR n.proname OPERATOR(pg_catalog.=) ANY (ARRAY['dp_logreg_train', 'dp_svm_train', 'dp_logreg_tune', 'dp_svm_tune']::pg_catalog.name[])
				AND n.proargtypes[2] OPERATOR(pg_catalog.=) 'pg_catalog.anycompatible'::pg_catalog.regtype::pg_catalog.oid
				AND o.proargtypes[2] OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.text'::pg_catalog.regtype::pg_catalog.oid, 'pg_catalog.text[]'::pg_catalog.regtype::pg_catalog.oid]))
			AND EXISTS (SELECT FROM pg_catalog.pg_depend od WHERE od.classid OPERATOR(pg_catalog.=) d.classid AND od.objid OPERATOR(pg_catalog.=) o.oid
				AND od.refclassid OPERATOR(pg_catalog.=) d.refclassid AND od.refobjid OPERATOR(pg_catalog.=) d.refobjid AND od.deptype OPERATOR(pg_catalog.=) 'e')
		GROUP BY n.oid
		HAVING pg_catalog.count(o.proacl) OPERATOR(pg_catalog.>) 0
	LOOP
		FOR held IN
			SELECT DISTINCT CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)::pg_catalog.text) END AS grantee
			FROM pg_catalog.pg_proc p, pg_catalog.aclexplode(COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
			WHERE p.oid OPERATOR(pg_catalog.=) made.oid AND a.grantee OPERATOR(pg_catalog.<>) p.proowner
		LOOP
			EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM %s', made.signature, held.grantee);
		END LOOP;
		FOR held IN
			SELECT CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)::pg_catalog.text) END AS grantee,
				pg_catalog.bool_or(a.is_grantable) AS is_grantable
			FROM pg_catalog.pg_proc p, pg_catalog.aclexplode(COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
			WHERE p.oid OPERATOR(pg_catalog.=) ANY (made.old) AND a.grantee OPERATOR(pg_catalog.<>) made.proowner
			GROUP BY a.grantee
		LOOP
			EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO %s%s', made.signature, held.grantee,
				CASE WHEN held.is_grantable THEN ' WITH GRANT OPTION' END);
		END LOOP;
		DELETE FROM pg_catalog.pg_init_privs
			WHERE classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND objoid OPERATOR(pg_catalog.=) made.oid;
		-- PostgreSQL 17 notes the roles in such a record
		DELETE FROM pg_catalog.pg_shdepend
			WHERE dbid OPERATOR(pg_catalog.=) (SELECT oid FROM pg_catalog.pg_database WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
			AND classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND objid OPERATOR(pg_catalog.=) made.oid AND deptype OPERATOR(pg_catalog.=) 'i';
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

-- What is new as a whole.
-- part 53_composition
-- part 70_internal_budgets
-- part 71_budgets
-- part 80_internal_registry
-- part 81_protection
