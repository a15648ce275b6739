--
-- dp_logreg, dp_svm and dp_linreg: aggregates in every place where SQL allows one; their
-- parameters belong to the group; their memory is bounded
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE DOMAIN vec3 AS float8[] CHECK (cardinality(VALUE) = 3);
CREATE TABLE visits AS
  SELECT i AS id, i % 4 AS region, sin(i * i) > 0 AS sick, (sin(i * i) > 0)::int AS grade,
         CASE WHEN sin(i * i) > 0 THEN 'yes' ELSE 'no' END AS answer,
         ARRAY[sin(i), cos(3 * i), 0.3 * sin(i * i)]::vec3 AS x
  FROM generate_series(1, 400) i;

CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN cardinality(dp_weights(a)) = cardinality(dp_weights(b)) THEN
    (SELECT sqrt(sum((v - w) ^ 2)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)) END
$$;
CREATE FUNCTION weights(model dp_model) RETURNS numeric[] LANGUAGE sql AS $$
  SELECT array_agg(round(w::numeric, 6) ORDER BY k) FROM unnest(dp_weights(model)) WITH ORDINALITY u(w, k)
$$;
-- The model that the table function trains on the same rows
CREATE VIEW one_region AS SELECT * FROM visits WHERE region = current_setting('test.region')::int;
CREATE FUNCTION trained(region int) RETURNS dp_model LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('test.region', region::text, false);
  RETURN dp_logreg_train('one_region', 'sick', 'x', 'Infinity', lambda => 0.01);
END $$;

-- One model a group, whatever the plan
SELECT region, weights(dp_logreg(sick, x, 'Infinity', '{"lambda": 0.01}')) FROM visits GROUP BY region ORDER BY region;
SELECT region, count(*), distance(dp_logreg(sick, x, 'Infinity', '{"lambda": 0.01}'), trained(region)) < 1e-9 AS as_by_train
  FROM visits GROUP BY region ORDER BY region;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT region, dp_logreg(sick, x, 1) FROM visits GROUP BY region;
SELECT region, distance(dp_logreg(sick, x, 'Infinity', '{"lambda": 0.01}'), trained(region)) < 1e-9 AS sorted
  FROM visits GROUP BY region ORDER BY region;
SET enable_hashagg = on;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT region, dp_logreg(sick, x, 1) FROM visits GROUP BY region;
SELECT region, distance(dp_logreg(sick, x, 'Infinity', '{"lambda": 0.01}'), trained(region)) < 1e-9 AS hashed
  FROM visits GROUP BY region ORDER BY region;
RESET enable_sort;

-- With and without options
SELECT distance(dp_logreg(sick, x, 'Infinity'), dp_logreg(sick, x, 'Infinity', jsonb_build_object('lambda', 1.0 / 400))) = 0 AS lambda_is_one_nth,
       distance(dp_logreg(sick, x, 'Infinity', NULL), dp_logreg(sick, x, 'Infinity')) = 0 AS null_options,
       distance(dp_logreg(sick, x, 'Infinity', '{}'), dp_logreg(sick, x, 'Infinity')) = 0 AS no_options
  FROM visits;
SELECT m -> 'loss' AS loss, m -> 'h' AS h, m -> 'rows' AS rows, m -> 'epsilon' AS epsilon, m -> 'lambda' AS lambda,
       m -> 'method' AS method, m -> 'analysis' AS analysis, m -> 'private' AS private
  FROM (SELECT dp_logreg(sick, x, 2)::jsonb FROM visits
        UNION ALL SELECT dp_logreg(sick, x, 2, '{"lambda": 0.5}')::jsonb FROM visits
        UNION ALL SELECT dp_svm(sick, x, 2)::jsonb FROM visits
        UNION ALL SELECT dp_svm(sick, x, 2, '{"lambda": 0.5}')::jsonb FROM visits
        UNION ALL SELECT dp_svm(sick, x, 'Infinity', '{"lambda": 0.5, "method": "output", "loss": "smooth_hinge", "h": 0.1}')::jsonb FROM visits) s(m)
  ORDER BY 1, m -> 'lambda';

-- Each option does what the argument of the same name does
CREATE VIEW undeclared AS SELECT sick, x || '{}'::float8[] AS x FROM visits;
SELECT distance(dp_logreg(grade, x, 'Infinity', '{"lambda": 0.1, "positive": "0"}'),
                dp_logreg_train('visits', 'grade', 'x', 'Infinity', lambda => 0.1, positive => '0')) < 1e-9 AS positive,
       distance(dp_logreg(answer, x, 'Infinity', '{"lambda": 0.1, "positive": "yes"}'),
                dp_logreg_train('visits', 'sick', 'x', 'Infinity', lambda => 0.1)) < 1e-9 AS positive_text,
       distance(dp_logreg(sick, x, 'Infinity', '{"lambda": 0.1, "intercept": false}'),
                dp_logreg_train('visits', 'sick', 'x', 'Infinity', lambda => 0.1, options => '{"intercept": false}')) < 1e-9 AS intercept,
       distance(dp_logreg(sick, x, 'Infinity', '{"lambda": 0.1, "norm": 5}'),
                dp_logreg_train('visits', 'sick', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"norm": 5}}')) < 1e-9 AS norm,
       distance(dp_logreg(sick, x, 'Infinity', '{"lambda": 0.1, "dimension": 4}'),
                dp_logreg_train('undeclared', 'sick', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 4}}')) < 1e-9 AS dimension,
       distance(dp_svm(sick, x, 'Infinity', '{"lambda": 0.1, "h": 0.2, "norm": 2}'),
                dp_svm_train('visits', 'sick', 'x', 'Infinity', lambda => 0.1, options => '{"h": 0.2}', domains => '{"x": {"norm": 2}}')) < 1e-9 AS h,
       distance(dp_svm(sick, x, 'Infinity', '{"lambda": 0.1, "loss": "smooth_hinge"}'),
                dp_svm_train('visits', 'sick', 'x', 'Infinity', lambda => 0.1, options => '{"loss": "smooth_hinge"}')) < 1e-9 AS loss
  FROM visits;
SELECT m ->> 'method' AS method, m ->> 'analysis' AS analysis, m ->> 'dimension' AS dimension, m #>> '{features,0,dimension}' AS length
  FROM (SELECT dp_logreg(sick, x, 1, '{"lambda": 0.1, "method": "output", "analysis": "paper"}')::jsonb FROM visits
        UNION ALL SELECT dp_logreg(sick, x, 1, '{"lambda": 0.1, "dimension": 3}')::jsonb FROM visits) s(m) ORDER BY 1;

-- Options that do not exist
SELECT outcomes('dp_logreg(sick, x, 1, ?) FROM visits', $$
  '{"intercpt": false}' | '{"loss": "huber"}' | '{"epsilon": 100}' | '{"": 1}' | '[]' | '"method"'
  'null' | '{"method": 1}' | '{"method": ["output"]}'
  '{"method": {"output": {"a": 1}}, "norm": 2}' | '{"method": null}' | '{"analysis": "none"}'
  '{"intercept": "false"}' | '{"norm": "1"}' | '{"norm": 0}' | '{"norm": 1e400}'
  '{"dimension": 2.5}' | '{"dimension": 1e400}' | '{"lambda": -1}' | '{"lambda": "0.1"}' | 0.1 $$);
SELECT outcomes('dp_logreg(?) FROM visits',
  $$ grade, x, 1, '{"positive": 1}' | answer, x, 1 $$);
SELECT outcomes('dp_svm(sick, x, 1, ?) FROM visits',
  $$ '{"loss": "logistic"}' | '{"h": 2}' | '{"intercpt": false}' $$);

-- Parameters belong to the group
SELECT outcomes('dp_logreg(sick, x, ?) FROM visits', $$
  CASE WHEN id = 400 THEN 2 ELSE 1 END | CASE WHEN id < 400 THEN 1 END
  1, jsonb_build_object('lambda', id)
  1, CASE WHEN id < 400 THEN '{"norm": 1}' ELSE '{"norm": 2}' END::jsonb
  1, CASE WHEN id < 400 THEN '{"norm": 1}'::jsonb END $$);
SELECT outcomes('region, dp_logreg(sick, x, ?) FROM visits GROUP BY region', $$
  region + 1 | 1, jsonb_build_object('lambda', region + 1) $$);

-- No window: each frame would be one more release
SELECT outcomes('? FROM visits', $$
  dp_logreg(sick, x, 1) OVER () | dp_svm(sick, x, 1) OVER (PARTITION BY region)
  dp_svm(sick, x, 1) OVER (ORDER BY id ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) $$);

-- FILTER, HAVING, ORDER BY
SELECT distance(dp_logreg(sick, x, 'Infinity', '{"lambda": 0.01}') FILTER (WHERE region = 1), trained(1)) < 1e-9 AS filter,
       dp_logreg(sick, x, 1) FILTER (WHERE region > 9) IS NULL AS filter_nothing,
       distance(dp_logreg(sick, x, 'Infinity', '{"lambda": 0.01}' ORDER BY id DESC) FILTER (WHERE region = 1), trained(1)) < 1e-9 AS ordered
  FROM visits;
-- not DISTINCT: how many rows are left would depend on what they hold
SELECT outcomes('?', $$
  dp_logreg(DISTINCT sick, x, 1) FROM visits
  dp_svm(DISTINCT sick, x, 1, '{"lambda": 0.1}') FILTER (WHERE region = 1) FROM visits
  region, dp_logreg(DISTINCT sick, x, 1, '{"lambda": 0.1}') FROM visits GROUP BY region $$);
SELECT region FROM visits GROUP BY region
  HAVING dp_predict(dp_logreg(sick, x, 'Infinity'), '{0,0,1}') AND count(dp_weights(NULL::dp_model)) = 0 ORDER BY region;

-- Empty input and empty groups
SELECT dp_logreg(sick, x, 1) IS NULL AS nothing FROM visits WHERE false;
SELECT dp_logreg(sick, x, -1) IS NULL AS nothing FROM visits WHERE false;
SELECT region, dp_logreg(sick, x, 1) AS nothing FROM visits WHERE false GROUP BY region;

-- Subqueries, CTEs, LATERAL, scoring in the same query
WITH models AS MATERIALIZED (SELECT region, dp_logreg(sick, x, 'Infinity', '{"lambda": 0.001}') AS model FROM visits GROUP BY region)
SELECT region, sum((dp_predict(model, x) = sick)::int) AS right FROM visits JOIN models USING (region)
GROUP BY region ORDER BY region;
SELECT r, distance(m, trained(r)) < 1e-9 AS lateral_model
  FROM generate_series(0, 3) r, LATERAL (SELECT dp_logreg(sick, x, 'Infinity', '{"lambda": 0.01}') AS m FROM visits WHERE region = r) s;
SELECT r, distance((SELECT dp_logreg(sick, v.x, 'Infinity', '{"lambda": 0.01}') FROM visits v WHERE region = r), trained(r)) < 1e-9 AS scalar
  FROM generate_series(0, 3) r;

-- Vectors of each type
CREATE VIEW counts AS SELECT sick, ARRAY[id % 5, id % 3]::float8[] AS x FROM visits;
SELECT bool_and(distance(m, dp_logreg_train('counts', 'sick', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"norm": 9}}')) < 1e-9) AS all_types, count(*)
  FROM (SELECT dp_logreg(sick, x, 'Infinity', '{"lambda": 0.1, "norm": 9}') AS m FROM counts
        UNION ALL SELECT dp_logreg(sick, x::float4[], 'Infinity', '{"lambda": 0.1, "norm": 9}') FROM counts
        UNION ALL SELECT dp_logreg(sick, x::numeric[], 'Infinity', '{"lambda": 0.1, "norm": 9}') FROM counts
        UNION ALL SELECT dp_logreg(sick, x::int2[], 'Infinity', '{"lambda": 0.1, "norm": 9}') FROM counts
        UNION ALL SELECT dp_logreg(sick, x::int4[], 'Infinity', '{"lambda": 0.1, "norm": 9}') FROM counts
        UNION ALL SELECT dp_logreg(sick, x::int8[], 'Infinity', '{"lambda": 0.1, "norm": 9}') FROM counts) s;

-- The number of elements is declared: rows with {2,3} and {3,3} elements must
-- not release 3 and 4 weights
SELECT outcomes('?', $$
  dp_logreg(true, x, 1) FROM (VALUES ('{1,2}'::float8[]), ('{1,2,3}')) v(x)
  dp_svm(true, x, 1, '{"norm": 2}') FROM (VALUES ('{1,2,3}'::int[]), ('{1,2,3}')) v(x) $$);
SELECT cardinality(dp_weights(dp_logreg(true, x, 1, '{"dimension": 3}'))) AS weights FROM (VALUES ('{1,2}'::float8[]), ('{1,2}')) v(x);
-- or follows from the expression, whatever the rows hold
CREATE DOMAIN longer AS vec3 CHECK (VALUE[1] < 2);
CREATE DOMAIN whole_numbers AS int[] CHECK (array_length(VALUE, 1) = 2);
CREATE DOMAIN of_two_lengths AS float8[] CHECK (cardinality(VALUE) IN (2, 3));
SELECT outcomes($$ dp_logreg(sick, ?, 1)::jsonb #>> '{features,0,dimension}' FROM visits v $$, $$
  x | x::float8[] | x::float4[] | x::numeric[] | x::longer | ARRAY[grade, id]
  ARRAY[grade, NULL, id]::numeric[] | ARRAY[id, 2]::whole_numbers | ARRAY[ARRAY[id, 1], ARRAY[2, 3]]
  x || 1::float8 | dp_encode('{"id": [0, 400], "sick": null, "answer": ["yes", "no"]}'::jsonb, v)
  CASE WHEN sick THEN ARRAY[1, 2] ELSE ARRAY[1, 2, 3] END | NULL::float8[] | '{1,2,3,4}'::float4[]
  '{{1,2},{3,4}}'::float8[] | x::float8[]::of_two_lengths | ARRAY(SELECT grade) $$);
SELECT outcomes($$ dp_logreg(sick, ?)::jsonb #>> '{features,0,dimension}' FROM visits v $$,
  $$ x, 1, '{"dimension": 2}' | x || 1::float8, 1, '{"dimension": 4}' $$);
-- or from a parameter, in a custom plan and in a generic one
PREPARE encoded(jsonb) AS SELECT dp_logreg(sick, dp_encode($1, v), 1)::jsonb #> '{features,0,dimension}' AS length FROM visits v;
SET plan_cache_mode = force_generic_plan;
EXECUTE encoded('{"id": [0, 400], "grade": [0, 1]}');
SET plan_cache_mode = force_custom_plan;
EXECUTE encoded('{"id": [0, 400]}');
RESET plan_cache_mode;
DEALLOCATE encoded;
-- another function of that name is not ours
CREATE SCHEMA other;
CREATE FUNCTION other.dp_encode(jsonb, visits) RETURNS float8[] LANGUAGE sql STABLE AS 'SELECT CASE WHEN $2.sick THEN ARRAY[1.0] ELSE ARRAY[1.0, 2] END::float8[]';
SELECT outcomes('dp_logreg(sick, ?, 1) FROM visits v',
  $$ other.dp_encode('{"id": [0, 400]}', v) $$);
DROP SCHEMA other CASCADE;
DROP DOMAIN longer, whole_numbers, of_two_lengths;

-- A model of one row, and with noise: finite and new each time
SELECT dp_logreg(true, ARRAY[1], 1) IS NOT NULL AS one_row;
SELECT count(DISTINCT m::text) AS different, bool_and(m::text !~ 'NaN|Infinity') AS finite
  FROM generate_series(1, 5) i, LATERAL (SELECT dp_svm(sick, x, 0.1) AS m FROM visits WHERE i > 0) s;
-- the same call twice in one query is one release
SELECT dp_weights(dp_logreg(sick, x, 1)) = dp_weights(dp_logreg(sick, x, 1)) AS one_release FROM visits;

-- Memory: the limit depends on the number of rows and elements, never on what
-- they hold
SET dperm.cache_memory = 0;
SELECT dp_logreg(true, NULL::float8[], 'Infinity', '{"lambda": 1, "dimension": 127}')::jsonb -> 'rows' AS fits FROM generate_series(1, 49152);
SELECT dp_logreg(true, NULL::float8[], 'Infinity', '{"lambda": 1, "dimension": 127}')::jsonb -> 'rows' AS fits_not FROM generate_series(1, 49153);
\echo :LAST_ERROR_SQLSTATE
SELECT dp_svm(false, array_fill(i::float8, ARRAY[127]), 'Infinity', '{"lambda": 1, "dimension": 127}')::jsonb -> 'rows' AS fits_not FROM generate_series(1, 49153) i;
SET dperm.cache_memory = '56MB';
SELECT dp_svm(false, array_fill(i::float8, ARRAY[127]), 'Infinity', '{"lambda": 1, "dimension": 127}')::jsonb -> 'rows' AS fits FROM generate_series(1, 49153) i;
-- each group has its own
SELECT g, dp_logreg(true, NULL::float8[], 'Infinity', '{"lambda": 1, "dimension": 127}')::jsonb -> 'rows' AS rows
  FROM generate_series(1, 80000) i, LATERAL (SELECT i % 4 AS g) s GROUP BY g ORDER BY g;
RESET dperm.cache_memory;

DROP VIEW one_region, counts;
DROP VIEW undeclared;
DROP TABLE visits;
DROP FUNCTION distance, weights, trained;
DROP DOMAIN vec3;
