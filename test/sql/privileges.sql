--
-- Privileges: training reads what its caller may read, through the same rules
-- as SELECT, and nothing that another user creates gets into its queries
--
\set ECHO none
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
DROP ROLE IF EXISTS dperm_analyst, dperm_owner;
CREATE ROLE dperm_analyst;
CREATE ROLE dperm_owner;
CREATE SCHEMA ward AUTHORIZATION dperm_owner;
CREATE SCHEMA closed AUTHORIZATION dperm_owner;
CREATE SCHEMA trap AUTHORIZATION dperm_analyst;
GRANT USAGE ON SCHEMA ward TO dperm_analyst;

SET ROLE dperm_owner;
CREATE TABLE ward.patients (sick boolean, answer text, x float8[] CHECK (cardinality(x) = 2), name text, doctor text);
INSERT INTO ward.patients
  SELECT i % 3 = 0, CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END, ARRAY[sin(i), cos(i)], 'p' || i,
         CASE WHEN i <= 10 THEN 'dperm_analyst' ELSE 'another' END
  FROM generate_series(1, 40) i;
CREATE VIEW ward.for_analysts AS SELECT sick, x FROM ward.patients;
CREATE VIEW ward.not_for_analysts AS SELECT sick, x FROM ward.patients;
GRANT SELECT ON ward.for_analysts TO dperm_analyst;
CREATE TABLE closed.patients AS SELECT * FROM ward.patients;
GRANT SELECT ON closed.patients TO dperm_analyst;
RESET ROLE;
\set ECHO all

SET ROLE dperm_analyst;
-- Nothing without SELECT
SELECT outcomes('?', $$
  dp_logreg_train('ward.patients', 'sick', 'x', 1)
  dp_svm_train('ward.not_for_analysts', 'sick', 'x', 1)
  dp_logreg_train('closed.patients', 'sick', 'x', 1)
  dp_logreg(sick, x, 1, '{"dimension": 2}') FROM ward.patients $$);
-- A view has its owner's rights
SELECT dp_logreg_train('ward.for_analysts', 'sick', 'x', 1)::jsonb -> 'rows' AS rows;
-- An ordinary role may use every function
SELECT dp_predict(m, '{1,0}') IS NOT NULL AS predict, dp_predict_prob(m, '{1,0}') IS NOT NULL AS prob, dp_decision(m, '{1,0}') IS NOT NULL AS decision,
       cardinality(dp_weights(m)) AS weights, dp_guarantee(m) IS NOT NULL AS guarantee, m::jsonb IS NOT NULL AS jsonb, dperm.dperm_label(true, decode(repeat('00', 26), 'hex')) = 1 AS label
  FROM (SELECT dp_logreg_train('ward.for_analysts', 'sick', 'x', 1) AS m OFFSET 0) s;
SELECT dp_svm(sick, x, 1, '{"dimension": 2}')::jsonb -> 'rows' AS rows FROM ward.for_analysts;
SET dperm.cache_memory = '1MB';
RESET dperm.cache_memory;
RESET ROLE;

-- Grants on columns: both are needed, and no more
GRANT SELECT (sick) ON ward.patients TO dperm_analyst;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1);
RESET ROLE;
REVOKE SELECT (sick) ON ward.patients FROM dperm_analyst;
GRANT SELECT (x) ON ward.patients TO dperm_analyst;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1);
SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1, domains => '{"x": {"dimension": 2}}');
RESET ROLE;
GRANT SELECT (sick, answer) ON ward.patients TO dperm_analyst;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1)::jsonb -> 'rows' AS rows,
       dp_logreg_train('ward.patients', 'answer', 'x', 1, positive => 'yes')::jsonb -> 'rows' AS other_label;
\set VERBOSITY terse
SELECT dp_logreg_train('ward.patients', 'name', 'x', 1, positive => 'p1');
\set VERBOSITY default
RESET ROLE;

-- Row security: only the rows that the role sees
ALTER TABLE ward.patients ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ward.patients TO dperm_analyst;
SET ROLE dperm_analyst;
SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1) IS NULL AS no_rows;
RESET ROLE;
CREATE POLICY own_patients ON ward.patients FOR SELECT TO dperm_analyst USING (doctor = current_user);
SET ROLE dperm_analyst;
SELECT count(*) FROM ward.patients;
SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1)::jsonb -> 'rows' AS rows,
       (SELECT dp_logreg(sick, x, 1, '{"dimension": 2}') FROM ward.patients)::jsonb -> 'rows' AS aggregate;
-- the view is its owner's, who sees all
SELECT dp_logreg_train('ward.for_analysts', 'sick', 'x', 1)::jsonb -> 'rows' AS view_rows;
SET row_security = off;
\set VERBOSITY terse
SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1);
\set VERBOSITY default
RESET row_security;
RESET ROLE;
SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1)::jsonb -> 'rows' AS superuser;
SET ROLE dperm_owner;
SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1)::jsonb -> 'rows' AS owner;
RESET ROLE;
ALTER TABLE ward.patients DISABLE ROW LEVEL SECURITY;

-- A function of the owner gives models to those who may not read the rows
SET ROLE dperm_owner;
CREATE FUNCTION ward.train() RETURNS dp_model LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT dp_logreg_train('ward.patients', 'sick', 'x', 1)
$$;
-- this one forgot its search_path
CREATE FUNCTION ward.train_anywhere() RETURNS dp_model LANGUAGE sql SECURITY DEFINER AS $$
  SELECT public.dp_logreg_train('ward.patients', 'answer', 'x', 1, positive => 'yes')
$$;
RESET ROLE;
REVOKE ALL ON ward.patients FROM dperm_analyst;
REVOKE SELECT (sick, answer, x) ON ward.patients FROM dperm_analyst;
SET ROLE dperm_analyst;
SELECT ward.train()::jsonb -> 'rows' AS definer;

-- Traps: objects of the caller that come first on the search_path, open to
-- everyone
\set ECHO none
GRANT USAGE ON SCHEMA trap TO PUBLIC;
SET search_path = trap, public, pg_catalog;
CREATE FUNCTION trap.sprung() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'sprung by %', current_user; END $$;
CREATE FUNCTION trap.array_length(float8[], integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT trap.sprung()::int';
CREATE FUNCTION trap.array_ndims(float8[]) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT trap.sprung()::int';
CREATE FUNCTION trap.equal(integer, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT trap.sprung()';
CREATE OPERATOR trap.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = trap.equal);
CREATE FUNCTION trap.dperm_label(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT trap.sprung()';
CREATE FUNCTION trap.dperm_load_step(bytea, bytea, boolean, float8[]) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS
  $$ BEGIN RAISE EXCEPTION 'sprung by %', current_user; END $$;
CREATE AGGREGATE trap.dperm_load_agg(bytea, boolean, float8[]) (SFUNC = trap.dperm_load_step, STYPE = bytea);
CREATE TABLE trap.w (w int);
CREATE TABLE trap.t (t int);
CREATE TABLE trap.patients (sick boolean, x float8[]);
CREATE DOMAIN trap.float8 AS text;
CREATE DOMAIN trap.bytea AS text;
CREATE DOMAIN trap.dp_model AS text;
\set ECHO all
SELECT ward.train_anywhere() IS NOT NULL AS not_sprung;
SELECT public.dp_logreg_train('ward.for_analysts', 'sick', 'x', 1::pg_catalog.float8) IS NOT NULL AS not_sprung;
SET search_path = public;
-- pg_temp is first without being named
CREATE TEMP TABLE w (w int);
CREATE TEMP TABLE patients (sick boolean, answer text, x float8[]);
SELECT ward.train_anywhere()::jsonb -> 'rows' AS right_table;
RESET search_path;
RESET ROLE;

-- Nor is a function that would match better than ours and is beside those that
-- users call: ours are in a schema where nobody creates anything
GRANT CREATE ON SCHEMA public TO dperm_analyst;
SET ROLE dperm_analyst;
CREATE FUNCTION public.dperm_label(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'sprung by %', current_user; END $$;
CREATE DOMAIN public.vec AS float8[] CHECK (cardinality(VALUE) = 2);
CREATE FUNCTION public.dperm_load_step(bytea, bytea, boolean, vec) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS
  $$ BEGIN RAISE EXCEPTION 'sprung by %', current_user; END $$;
CREATE AGGREGATE public.dperm_load_agg(bytea, boolean, vec) (SFUNC = public.dperm_load_step, STYPE = bytea);
CREATE FUNCTION dperm.dperm_label(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
RESET ROLE;
CREATE TABLE ward.with_domain AS SELECT sick, answer, x::vec AS x FROM ward.patients;
SELECT dp_logreg_train('ward.with_domain', 'sick', 'x', 1) IS NOT NULL AS not_sprung, dp_logreg_train('ward.with_domain', 'answer', 'x', 1, positive => 'yes') IS NOT NULL AS by_label;
DROP TABLE ward.with_domain;
DROP AGGREGATE public.dperm_load_agg(bytea, boolean, vec);
DROP FUNCTION public.dperm_load_step(bytea, bytea, boolean, vec), public.dperm_label(text, text);
DROP DOMAIN vec;
REVOKE CREATE ON SCHEMA public FROM dperm_analyst;

-- What is in schema dperm: no table can be read, and only functions that read
-- rows or write what users see can be called
SET ROLE dperm_analyst;
SELECT relname FROM pg_class WHERE relnamespace = 'dperm'::regnamespace AND has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') ORDER BY relname COLLATE "C";
SELECT has_schema_privilege('dperm', 'USAGE') AS usage, has_schema_privilege('dperm', 'CREATE') AS "create";
SELECT proname FROM pg_proc WHERE pronamespace = 'dperm'::regnamespace AND has_function_privilege(oid, 'EXECUTE') GROUP BY 1 ORDER BY proname COLLATE "C";
SELECT dperm.dperm_role_name_in('a');
RESET ROLE;

-- The models and the views of such a role, with and without parallel workers
CREATE TABLE ward.many AS SELECT (ARRAY['yes', 'no'])[1 + i % 2] AS answer, i % 3 = 0 AS sick, i % 90 AS age, i AS id, (ARRAY['a', 'b'])[1 + i % 2] AS ward, i::numeric AS cost
  FROM generate_series(1, 20000) i;
ALTER TABLE ward.many ADD PRIMARY KEY (id);
GRANT SELECT ON ward.many TO dperm_analyst;
SET ROLE dperm_analyst;
CREATE FUNCTION pg_temp.trained(cores int, memory text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  m dp_model;
  features text := '{"age": [0, 90], "ward": ["a", "b"]}';
BEGIN
  PERFORM set_config('max_parallel_workers_per_gather', cores::text, true), set_config('dperm.cache_memory', memory, true),
    set_config('min_parallel_table_scan_size', '0', true), set_config('parallel_setup_cost', '0', true);
  m := dp_logreg_train('ward.many', 'answer', '{age,ward}'::text[], 1, positive => 'yes', domains => features::jsonb);
  m := dp_logreg_train('ward.many', 'sick', '{age,ward}'::text[], 1, unit => 'id', domains => features::jsonb);
  m := dp_logreg_train('ward.many', 'ward', '{age}'::text[], 1, domains => '{"age": [0, 90], "ward": ["a", "b", "c"]}');
  m := dp_linreg_train('ward.many', 'cost', '{age,ward}'::text[], 1, domains => features::jsonb || '{"cost": [0, 20000]}');
  m := dp_logreg_tune('ward.many', 'sick', '{age,ward}'::text[], 1, domains => features::jsonb, candidates => '[{"lambda": 0.1}, {"lambda": 1}]');
  PERFORM dp_evaluate(m, 'ward.many', 1, 'sick'), dp_roc(m, 'ward.many', 1, 'sick'), dp_coefficients(m), dp_curve(m, 'age');
  PERFORM count(*) FILTER (WHERE dp_predict(m, r)), avg(dp_predict_prob(m, r)) FROM ward.many r;
  PERFORM dp_explain(m, r), dp_encode(m, r) FROM ward.many r LIMIT 1;
  PERFORM dp_svm(sick, ARRAY[age / 90.0::float8, 0.1], 1, '{"dimension": 2}') FROM ward.many;
  RETURN concat_ws(' ', m::text::dp_model IS NOT NULL, m::jsonb::dp_model IS NOT NULL, dp_guarantee(m) IS NOT NULL, dp_report(m) IS NOT NULL, dp_report_data(m) IS NOT NULL,
    (SELECT dp_compose(m) IS NOT NULL), (SELECT dp_compose('{"epsilon": 1}'::jsonb) IS NOT NULL));
END $$;
SELECT cores, memory, pg_temp.trained(cores, memory) FROM (VALUES (0, '64MB'), (2, '64MB'), (0, '0'), (2, '0')) v (cores, memory);
SELECT dp_budget_create('of nobody', 1);
SELECT (SELECT count(*) FROM dp_budgets) AS budgets, (SELECT count(*) FROM dp_grants) AS grants, (SELECT count(*) FROM dp_ledger) AS entries, (SELECT count(*) FROM dp_protected) AS protected,
  dp_report('of nobody') IS NOT NULL AS report, dp_report_data('of nobody') IS NOT NULL AS data;
SELECT dp_budget_drop('of nobody');
RESET ROLE;
DROP TABLE ward.many;

-- EXECUTE can be taken away
REVOKE EXECUTE ON FUNCTION dp_logreg_train FROM PUBLIC;
SET ROLE dperm_analyst;
\set VERBOSITY terse
SELECT dp_logreg_train('ward.for_analysts', 'sick', 'x', 1);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY default
RESET ROLE;
GRANT EXECUTE ON FUNCTION dp_logreg_train TO PUBLIC;

DROP SCHEMA ward, closed, trap CASCADE;
DROP OWNED BY dperm_analyst, dperm_owner;
DROP ROLE dperm_analyst, dperm_owner;
