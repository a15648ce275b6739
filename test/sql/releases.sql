--
-- One model for each of disjoint groups, with parameters that do not depend on
-- rows; groups that are scanned again release other models
--
\set ECHO none
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE TABLE visits AS SELECT i AS id, i % 2 AS region, i % 4 AS ward, sin(i * i) > 0 AS ill, ARRAY[sin(i), cos(i)] AS x FROM generate_series(1, 200) i;
CREATE TABLE twice AS SELECT i % 2 AS region, i FROM generate_series(1, 200) i;
ANALYZE visits, twice;
CREATE FUNCTION nodes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  result text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    result := result || coalesce(substring(line FROM '(?:->  |^)(\w[\w ]*?)(?: on .*| using .*)?$') || ', ', '');
  END LOOP;
  RETURN rtrim(result, ', ');
END $$;
\set ECHO all

-- A plan that scans groups again releases other models; a materialized CTE is
-- computed once in any plan
SET enable_sort = off;
SET enable_material = off;
\set query 'SELECT t.i, (SELECT m FROM (SELECT region, dp_svm(ill, x, 1, \'{"lambda": 0.1, "dimension": 2}\')::text AS m FROM visits GROUP BY region OFFSET 0) s WHERE s.region = t.region) FROM twice t'
SELECT nodes(:'query');
SELECT count(*) AS rows, count(DISTINCT m) AS models FROM (:query) r;
SET enable_sort = on;
SET enable_hashagg = off;
SELECT nodes(:'query');
SELECT count(*) AS rows, count(DISTINCT m) AS models FROM (:query) r;
WITH s AS MATERIALIZED (SELECT region, dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}')::text AS m FROM visits GROUP BY region)
SELECT region, count(*) AS rows, count(DISTINCT m) AS models FROM twice t JOIN s USING (region) GROUP BY region ORDER BY region;
RESET enable_material;
RESET enable_hashagg;
-- with groups that have no model in between
SELECT count(*) AS groups, count(m) AS models, count(DISTINCT m) AS different FROM
  (SELECT ward, dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}') FILTER (WHERE ward % 2 = 1)::text AS m FROM visits GROUP BY ward) s;
-- from other rows: each is a call of its own
SELECT count(*) AS calls, count(DISTINCT m) AS models FROM generate_series(1, 10) i,
  LATERAL (SELECT dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}')::text AS m FROM visits WHERE id > i) s;
SELECT count(*) AS calls, count(DISTINCT m) AS models FROM (SELECT (SELECT dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}')::text FROM visits v WHERE v.region = t.region) AS m FROM twice t) s;

-- The same call twice in a query is one release; another call is another
SELECT dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}')::text = dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}')::text AS same,
       dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}')::text = dp_logreg(ill, x, 1, '{"lambda": 0.2, "dimension": 2}')::text AS other
  FROM visits HAVING dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}') IS NOT NULL;
SELECT count(DISTINCT m::text) FROM (WITH s AS (SELECT dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}') AS m FROM visits) SELECT m FROM s UNION ALL SELECT m FROM s) t;

-- Workers scan, the leader trains: each process with a subquery of its own
-- would make a model of its own
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 1;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 3;
SET parallel_leader_participation = off;
RESET enable_sort;
CREATE TABLE many AS SELECT i % 2 AS region, repeat('x', 500) AS filler FROM generate_series(1, 20000) i;
ALTER TABLE many SET (parallel_workers = 3);
ALTER TABLE visits SET (parallel_workers = 0);
ANALYZE many;
SELECT region, count(DISTINCT m) AS models, sum(n) AS rows FROM (SELECT region, m, count(*) AS n FROM many JOIN
  (SELECT region, dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}')::text AS m FROM visits GROUP BY region) s USING (region) GROUP BY region, m) t
  GROUP BY region ORDER BY region;
RESET parallel_leader_participation;
SELECT proname, proparallel, aggfinalmodify FROM pg_proc p LEFT JOIN pg_aggregate a ON a.aggfnoid = p.oid
  WHERE proname ~ '^dp(erm)?_((logreg|svm)(_step)?|aggregate_final)$' GROUP BY 1, 2, 3 ORDER BY 1;
RESET max_parallel_workers_per_gather;

-- Groups that overlap are refused, in sorted, hashed and mixed plans
\set one 'dp_logreg(ill, x, 1, \'{"lambda": 0.1, "dimension": 2}\')'
SELECT region, :one FROM visits GROUP BY ROLLUP (region);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY terse
SET enable_hashagg = off;
SELECT nodes($$ SELECT region, ward, dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}') FROM visits GROUP BY ROLLUP (region, ward) $$);
SELECT region, ward, :one FROM visits GROUP BY ROLLUP (region, ward);
SELECT region, ward, :one FROM visits GROUP BY GROUPING SETS ((region), (ward));
SELECT region, ward, :one FROM visits GROUP BY CUBE (region, ward);
SELECT region, :one FROM visits GROUP BY GROUPING SETS ((region), (region));
SELECT :one FROM visits GROUP BY GROUPING SETS ((), ());
SET enable_hashagg = on;
SET enable_sort = off;
SELECT nodes($$ SELECT region, ward, dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}') FROM visits GROUP BY GROUPING SETS ((region), (ward)) $$);
SELECT region, ward, :one FROM visits GROUP BY GROUPING SETS ((region), (ward));
SELECT region, ward, dp_svm(ill, x, 1) FROM visits GROUP BY GROUPING SETS ((region), (ward));
SELECT nodes($$ SELECT region, ward, dp_logreg(ill, x, 1, '{"lambda": 0.1, "dimension": 2}') FROM visits GROUP BY GROUPING SETS ((region), (ward), ()) $$);
SELECT region, ward, :one FROM visits GROUP BY GROUPING SETS ((region), (ward), ());
SELECT region, ward, :one FROM visits GROUP BY CUBE (region, ward);
\set VERBOSITY default
-- but not one that divides the rows
SELECT region, :one::jsonb -> 'rows' AS rows FROM visits GROUP BY GROUPING SETS ((region)) ORDER BY region;
SET enable_hashagg = off;
SET enable_sort = on;
SELECT region, :one::jsonb -> 'rows' AS rows FROM visits GROUP BY GROUPING SETS ((region)) ORDER BY region;
RESET enable_hashagg;
SELECT :one::jsonb -> 'rows' AS rows FROM visits GROUP BY ();
SELECT region, ward, :one::jsonb -> 'rows' AS rows FROM visits GROUP BY region, GROUPING SETS ((ward)) ORDER BY 1, 2;
SELECT region, :one::jsonb -> 'rows' AS rows FROM visits GROUP BY DISTINCT GROUPING SETS ((region), (region)) ORDER BY 1;
-- nor where other aggregates are grouped so
SELECT count(*), count(m) FROM (SELECT region, count(*) FROM visits GROUP BY ROLLUP (region)) a, (SELECT :one AS m FROM visits) b;

-- A node for each partition
CREATE TABLE parted (LIKE visits) PARTITION BY LIST (region);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
INSERT INTO parted SELECT * FROM visits;
SET enable_partitionwise_aggregate = on;
SELECT region, :one::jsonb -> 'rows' AS rows FROM parted GROUP BY region ORDER BY region;
RESET enable_partitionwise_aggregate;
DROP TABLE parted;
-- Parameters are not computed from rows: an error, or the number of weights,
-- would reveal what a row holds
SELECT dp_logreg(ill, x, 1 + (id = 1 AND ill)::int, '{"lambda": 0.1, "dimension": 2}') FROM visits;
SELECT dp_logreg(ill, x, 1, jsonb_build_object('lambda', id, 'dimension', 2)) FROM visits;
SELECT dp_logreg(ill, x, 1, jsonb_build_object('lambda', 0.1, 'dimension', cardinality(x))) FROM visits;
SELECT dp_svm(ill, x, (SELECT 1.0 + v.id)) FROM visits v;
-- nor by a function that returns something else for each row
SELECT dp_svm(ill, x, 1 + random(), '{"dimension": 2}') FROM visits;
-- nor from what rows are grouped by
SELECT r, dp_logreg(ill, x, 1 + r, '{"lambda": 0.1, "dimension": 2}')::jsonb -> 'epsilon' AS epsilon FROM (SELECT region * 2 AS r, ill, x FROM visits) s GROUP BY r ORDER BY r;
\set VERBOSITY default

-- No window, whoever makes the aggregate
SELECT dp_logreg(ill, x, 1) OVER () FROM visits;
\echo :LAST_ERROR_SQLSTATE
CREATE AGGREGATE mine("any", "any", float8, jsonb) (SFUNC = dperm.dperm_logreg_step, STYPE = internal, FINALFUNC = dperm.dperm_aggregate_final);
SELECT mine(ill, x, 1, '{"lambda": 0.1, "dimension": 2}') OVER (ORDER BY id) FROM visits;
\echo :LAST_ERROR_SQLSTATE
SELECT mine(ill, x, 1, '{"lambda": 0.1, "dimension": 2}') FILTER (WHERE false) OVER () FROM visits;
DROP AGGREGATE mine("any", "any", float8, jsonb);

DROP TABLE visits, twice, many;
DROP FUNCTION nodes;
