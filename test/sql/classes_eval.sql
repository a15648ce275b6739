--
-- Several classes: predictions against the weights, evaluations against counts
-- by hand
--
\pset format unaligned
\pset footer off
\set ECHO none
SET client_min_messages = warning;
SET extra_float_digits = -7;
CREATE SCHEMA judged;
SET search_path = judged, public;
CREATE TABLE visits (id int, person int, age int CHECK (age BETWEEN 0 AND 100), unit text CHECK (unit IN ('A', 'B', 'C')), x float8[], place text);
INSERT INTO visits SELECT i, i % 97, i % 101, (ARRAY['A', 'B', 'C'])[1 + i % 3], ARRAY[sin(i), cos(i)],
    (ARRAY['home', 'ward', 'icu', 'moon'])[1 + floor(greatest(0, least(3.5, (i % 101) / 40.0 + i % 3 * 0.3 + sin(i * i))))::int]
  FROM generate_series(1, 1500) i;
UPDATE visits SET place = NULL WHERE id % 50 = 7;
-- moon is no class: such rows are in no cell
CREATE TABLE models AS SELECT 'columns' AS name, dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.001, domains => '{"place": ["home", "ward", "icu"]}') AS m;
INSERT INTO models SELECT 'array', dp_logreg_train('visits', 'place', 'x', 'Infinity', lambda => 0.001, domains => '{"place": ["home", "ward", "icu"], "x": {"dimension": 2}}');
INSERT INTO models SELECT 'kernel', dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.001, domains => '{"place": ["home", "ward", "icu"]}', kernel => 'gaussian', options => '{"kernel_features": 20}');
INSERT INTO models SELECT 'persons', dp_logreg_train('visits', 'place', '{age,unit}', 20, domains => '{"place": ["icu", "home", "ward"]}', unit => 'person');
INSERT INTO models SELECT 'two', dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.001, positive => 'icu');
INSERT INTO models SELECT 'number', dp_linreg_train('visits', 'age', '{unit}', 'Infinity');

-- The lines of a plan
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query; END $$;

-- Softmax by hand, from the encoded row and the weights
CREATE FUNCTION probabilities(model dp_model, encoded float8[]) RETURNS TABLE (class text, probability float8, k bigint) LANGUAGE sql AS $$
  WITH outputs AS (SELECT c, k, (SELECT sum(v * w) FROM unnest(encoded, (SELECT array_agg(u ORDER BY o) FROM unnest((dp_weights(model))[k:k]) WITH ORDINALITY e(u, o))) e(v, w)) AS z
    FROM jsonb_array_elements_text(model::jsonb->'classes') WITH ORDINALITY e(c, k))
  SELECT c, exp(z) / sum(exp(z)) OVER (), k FROM outputs $$;

-- The matrix by hand; persons count as one
CREATE FUNCTION cells(model dp_model, by_person boolean) RETURNS TABLE (class text, predicted text, value float8) LANGUAGE sql AS $$
  WITH rows AS (SELECT place, dp_predict_class(model, v) AS p, count(*) OVER (PARTITION BY CASE WHEN by_person THEN person ELSE id END) AS many FROM visits v WHERE place IN ('home', 'ward', 'icu'))
  SELECT a, b, coalesce(sum(floor(1048576.0 / many) / 1048576), 0)::float8
  FROM jsonb_array_elements_text(model::jsonb->'classes') a CROSS JOIN jsonb_array_elements_text(model::jsonb->'classes') b LEFT JOIN rows ON a = place AND b = p GROUP BY 1, 2 $$;
CREATE FUNCTION metrics(model dp_model, by_person boolean) RETURNS TABLE (metric text, value float8, class text, predicted text) LANGUAGE sql AS $$
  WITH c AS MATERIALIZED (SELECT * FROM cells(model, by_person)),
  s AS (SELECT class, (SELECT value FROM c WHERE class = a.class AND predicted = a.class) AS hit, (SELECT sum(value) FROM c WHERE class = a.class) AS labelled,
      (SELECT sum(value) FROM c WHERE predicted = a.class) AS decided FROM (SELECT DISTINCT class FROM c) a)
  SELECT 'count', value, class, predicted FROM c UNION ALL SELECT 'accuracy', (SELECT sum(hit) FROM s) / sum(value), NULL, NULL FROM c
  UNION ALL SELECT 'error', 1 - (SELECT sum(hit) FROM s) / sum(value), NULL, NULL FROM c UNION ALL SELECT 'macro f1', avg(2 * hit / (labelled + decided)), NULL, NULL FROM s
  UNION ALL SELECT 'precision', hit / nullif(decided, 0), class, NULL FROM s UNION ALL SELECT 'recall', hit / labelled, class, NULL FROM s UNION ALL SELECT 'f1', 2 * hit / (labelled + decided), class, NULL FROM s $$;
\set ECHO all

-- Probabilities are those of the weights, and the class is the most probable
SELECT name, count(*) AS rows, bool_and(gap < 1e-12) AS by_hand, bool_and(abs(total - 1) < 1e-12) AS one, bool_and(class = best) AS best
FROM models, visits v, LATERAL (SELECT dp_predict_class(m, v) AS class, dp_encode(m, v) AS e OFFSET 0) c,
  LATERAL (SELECT max(abs(p.probability - h.probability)) AS gap, sum(p.probability) AS total, (array_agg(class ORDER BY p.probability DESC))[1] AS best
    FROM dp_predict_probs(m, v) p JOIN probabilities(m, e) h USING (class)) s
WHERE name NOT IN ('two', 'number') AND id <= 200 GROUP BY name ORDER BY name;
SELECT count(*) AS rows, bool_and(dp_predict_class(m, x) = dp_predict_class(m, v)) AS same FROM models, visits v WHERE name = 'array';
SELECT dp_predict_class(m, '{0.5,0.5}') AS literal, (SELECT count(*) FROM dp_predict_probs(m, '{0.5,0.5}')) AS classes FROM models WHERE name = 'array';
-- in the order of the model
SELECT string_agg(p.class, ' ') AS classes FROM models, dp_predict_probs(m, (SELECT v FROM visits v WHERE id = 1)) p WHERE name = 'persons';
-- a row that says nothing
SELECT name, dp_predict_class(m, r) IS NULL AS silent, (SELECT count(*) FROM dp_predict_probs(m, r)) AS rows, dp_predict_class(m, NULL::visits) IS NULL AS none
FROM models, (SELECT NULL::int AS age, 'Z' AS unit, NULL::float8[] AS x) r WHERE name IN ('columns', 'kernel', 'array') ORDER BY name;
SELECT dp_predict_class(m, r) AS partly FROM models, (SELECT 100 AS age, NULL AS unit) r WHERE name = 'columns';
-- ties go to the first class, and nothing overflows
SELECT w, dp_predict_class(odd, '{1,0}') AS class, ARRAY(SELECT round(probability::numeric, 9) FROM dp_predict_probs(odd, '{1,0}')) AS probabilities
FROM models, (VALUES ('[[0,0,0],[0,0,0],[0,0,0]]'), ('[[-1,0,0],[2,0,0],[2,0,0]]'), ('[[-1e308,0,0],[1e308,0,0],[1e300,0,0]]'), ('[[-1e4,0,0],[-1e4,0,0],[-2e4,0,0]]')) v(w),
  LATERAL (SELECT jsonb_set(m::jsonb, '{weights}', w::jsonb)::dp_model AS odd OFFSET 0) o WHERE name = 'array' ORDER BY w COLLATE "C";
-- in parallel
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SELECT bool_or(line LIKE '%Parallel Seq Scan on visits%') AS parallel FROM plan($$ SELECT count(*) FROM visits v WHERE dp_predict_class((SELECT m FROM models WHERE name = 'columns'), v) = 'icu' $$) line;
CREATE TABLE counted AS SELECT count(*) FROM visits v WHERE dp_predict_class((SELECT m FROM models WHERE name = 'columns'), v) = 'icu';
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
SELECT count = (SELECT count(*) FROM visits v WHERE dp_predict_class((SELECT m FROM models WHERE name = 'columns'), v) = 'icu') AS same FROM counted;

-- Each kind of model has its functions
SELECT name, outcomes($$ ?(m, v) FROM models, visits v WHERE v.id = 1 AND name = $$ || quote_literal(name), 'dp_predict | dp_predict_prob | dp_predict_class | dp_predict_probs | dp_predict_value | dp_decision')
FROM models WHERE name IN ('columns', 'two', 'number') ORDER BY name;

-- What a column adds to the score of a class: of two classes, the difference is
-- the logarithm of the ratio of their probabilities
SELECT name, bool_and(abs((SELECT sum(score) FROM dp_explain(m, v, 'icu')) - (SELECT sum(score) FROM dp_explain(m, v, 'ward')) - (SELECT ln(max(probability) FILTER (WHERE class = 'icu') / max(probability) FILTER (WHERE class = 'ward')) FROM dp_predict_probs(m, v))) < 1e-12) AS adds_up
FROM models, visits v WHERE name IN ('columns', 'array', 'persons') AND id <= 100 GROUP BY name ORDER BY name;
SELECT name, bool_and(c.weight = (dp_weights(m))[k][c.rank]) AS weights, count(*) AS coefficients, bool_and((c.noise > 0) = (name = 'persons')) AS noise
FROM models, jsonb_array_elements_text(m::jsonb->'classes') WITH ORDINALITY e(class, k), dp_coefficients(m, class) c WHERE name IN ('columns', 'kernel', 'persons') GROUP BY name ORDER BY name;
SELECT count(*) AS knots, bool_and(abs(score - (SELECT score FROM dp_explain(m, r, 'icu') WHERE column_name = 'age')) < 1e-12) AS score, bool_or(odds IS NOT NULL) AS odds
FROM models, dp_curve(m, 'age', class => 'icu') c, LATERAL (SELECT c.scaled AS age, 'A' AS unit) r WHERE name = 'columns';
SELECT outcomes($$ ? FROM models, visits v WHERE v.id = 1 AND name = 'columns' $$, $$
  dp_explain(m, v) | dp_explain(m, v, 'moon') | dp_coefficients(m) | dp_coefficients(m, 'moon') | dp_curve(m, 'age') | dp_curve(m, 'age', 'moon') $$);
SELECT outcomes($$ ? FROM models, visits v WHERE v.id = 1 AND name = 'two' $$, $$ dp_explain(m, v, 'icu') | dp_coefficients(m, 'icu') | dp_curve(m, 'age', 'icu') $$);

-- Evaluation: the matrix and all metrics by hand, whether rows are read in a
-- pass or once
SELECT name, unit, count(*) AS metrics, bool_and(e.value IS NOT DISTINCT FROM h.value OR abs(e.value - h.value) < 1e-9) AS by_hand, bool_and(e.value IS NULL OR e.value BETWEEN e.low AND e.high) AS inside,
  bool_and((e.low = e.high) = (e.metric = 'count')) AS exact, bool_or(e.private) AS private, round(sum(e.value) FILTER (WHERE e.metric = 'count')) AS labelled
FROM models, (VALUES (NULL), ('person')) u(unit), LATERAL (SELECT * FROM dp_evaluate(m, 'visits', epsilon => 'Infinity', unit => unit) OFFSET 0) e
  JOIN LATERAL metrics(m, unit IS NOT NULL) h ON h.metric = e.metric AND h.class IS NOT DISTINCT FROM e.class AND h.predicted IS NOT DISTINCT FROM e.predicted
WHERE name NOT IN ('two', 'number') GROUP BY name, unit ORDER BY name, unit;
SELECT metric, class, predicted FROM models, dp_evaluate(m, 'visits', epsilon => 1) WHERE name = 'persons';
-- nobody
CREATE VIEW nobody AS SELECT * FROM visits WHERE id < 0;
SELECT metric, value, low, high, class, predicted FROM models, dp_evaluate(m, 'nobody', epsilon => 'Infinity') WHERE name = 'columns' AND metric <> 'count' AND (class IS NULL OR class = 'icu');
-- another label, and classes that no row has
CREATE VIEW coded AS SELECT age, unit, CASE place WHEN 'home' THEN 1 WHEN 'icu' THEN 3 END AS code FROM visits;
SELECT sum(value) = (SELECT count(*) FROM coded WHERE code IS NOT NULL) AS labelled, sum(value) FILTER (WHERE class = '2') AS none
FROM dp_evaluate(dp_logreg_train('coded', 'code', '{age,unit}', 100, domains => '{"age": [0, 100], "unit": ["A", "B", "C"], "code": {"categories": ["1", "2", "3"]}}'), 'coded', epsilon => 'Infinity') WHERE metric = 'count';

-- The noise: intervals of counts are those of two classes, and half as wide if
-- a row is removed
SELECT DISTINCT epsilon, neighbours, (e.high - e.low) / 2 AS reach, (SELECT max(t.high - t.low) / 2 FROM models, dp_evaluate(m, 'visits', epsilon => epsilon, neighbours => neighbours) t WHERE name = 'two' AND metric = 'true positives') AS of_two, e.private
FROM models, (VALUES (0.2), (1.0)) v(epsilon), unnest('{replace,remove}'::text[]) neighbours, dp_evaluate(m, 'visits', epsilon => epsilon, neighbours => neighbours) e WHERE name = 'columns' AND metric = 'count' ORDER BY 1, 2 DESC;
-- how often they hold the exact value, of 1400 and more each
SELECT e.metric = 'count' AS count, avg((h.value BETWEEN e.low AND e.high)::int) > 0.93 AS held, bool_or(e.value <> h.value) AS noisy
FROM models, generate_series(1, 160) i, dp_evaluate(m, 'visits', epsilon => 0.5 + 0 * i) e JOIN metrics((SELECT m FROM models WHERE name = 'columns'), false) h
  ON h.metric = e.metric AND h.class IS NOT DISTINCT FROM e.class AND h.predicted IS NOT DISTINCT FROM e.predicted WHERE name = 'columns' GROUP BY 1 ORDER BY 1;

-- ROC: one class against the others, by the logarithm of its odds
SELECT chosen, unit, count(*) AS points, bool_and(abs(true_positive_rate - tpr) < 1e-9 AND abs(false_positive_rate - fpr) < 1e-9) AS by_hand, max(auc) BETWEEN max(auc_low) AND max(auc_high) AS inside, max(auc) > 0.5 AS better_than_chance
FROM models, unnest('{icu,home}'::text[]) chosen, (VALUES (NULL), ('person')) u(unit), LATERAL (SELECT * FROM dp_roc(m, 'visits', epsilon => 'Infinity', bins => 20, class => chosen, unit => unit) OFFSET 0) r,
  LATERAL (SELECT coalesce(sum(w) FILTER (WHERE y AND z >= threshold), 0) / sum(w) FILTER (WHERE y) AS tpr, coalesce(sum(w) FILTER (WHERE NOT y AND z >= threshold), 0) / sum(w) FILTER (WHERE NOT y) AS fpr
    FROM (SELECT place = chosen AS y, ln(p.probability / (1 - p.probability)) AS z, floor(1048576.0 / count(*) OVER (PARTITION BY CASE WHEN u.unit IS NULL THEN id ELSE person END)) AS w
      FROM visits v, dp_predict_probs(m, v) p WHERE p.class = chosen AND place IN ('home', 'ward', 'icu')) s) h
WHERE name = 'columns' GROUP BY chosen, unit ORDER BY chosen, unit;
SELECT outcomes($$ count(*) FROM models, ? WHERE name = 'columns' $$, $$
  dp_roc(m, 'visits', epsilon => 1) | dp_roc(m, 'visits', epsilon => 1, class => 'moon') | dp_roc(m, 'visits', epsilon => 1, class => 'icu', positive => 'icu') | dp_evaluate(m, 'visits', epsilon => 1, positive => 'icu') $$);
SELECT outcomes($$ count(*) FROM models, dp_roc(m, 'visits', epsilon => 1, class => 'icu') WHERE name = ? $$, $$ 'two' | 'number' $$);
-- the largest matrix
CREATE VIEW many AS SELECT id % 103 AS code, id % 2 = 0 AS flag FROM visits;
SELECT classes, outcomes(format($$ count(*), sum(value) FILTER (WHERE metric = 'count') FROM dp_evaluate(dp_logreg_train('many', 'code', 'flag', 'Infinity', lambda => 0.1, domains => jsonb_build_object('code', jsonb_build_object('categories', ARRAY(SELECT i::text FROM generate_series(1, %s) i)))), ?) $$, classes), $$ 'many', epsilon => 'Infinity' $$)
FROM unnest('{100,101}'::int[]) classes;

-- Protected: the same, charged once
\set ECHO none
CREATE ROLE dperm_judge;
GRANT USAGE ON SCHEMA judged TO dperm_judge;
GRANT SELECT ON models TO dperm_judge;
GRANT EXECUTE ON FUNCTION outcomes TO dperm_judge;
\set ECHO all
SELECT dp_budget_create('judged', 100), dp_protect('visits', 'judged', domains => '{"place": ["home", "ward", "icu", "moon"]}');
SELECT dp_grant('judged', 'dperm_judge');
SET ROLE dperm_judge;
SELECT count(*) AS metrics, bool_and(private) AS private, sum(value) FILTER (WHERE metric = 'count') BETWEEN 1000 AND 1600 AS counted FROM models, dp_evaluate(m, 'visits', epsilon => 2) WHERE name = 'columns';
SELECT count(*) AS points, max(auc) > 0.5 AS useful FROM models, dp_roc(m, 'visits', epsilon => 2, class => 'icu', bins => 10) WHERE name = 'columns';
SELECT l.function, l.epsilon, jsonb_array_length(metrics) AS rows, metrics->0->>'metric' AS first, metrics->0->>'class' AS class FROM dp_ledger l JOIN dp_releases USING (budget, entry) WHERE act = 'charge' ORDER BY entry;
RESET ROLE;
-- In a report: labels in rows, predictions in columns
SELECT page ~ 'home</th><td>5</td><td>12</td></tr>\s*<tr><th scope="row">ward</th><td>34</td><td>6</td></tr>' AS matrix
FROM (SELECT dp_report(m, evaluation => '[{"metric": "precision", "class": "home", "value": 1}, {"metric": "precision", "class": "ward", "value": 1}]'
  || (SELECT jsonb_agg(jsonb_build_object('metric', 'count', 'class', c, 'predicted', p, 'value', n)) FROM (VALUES ('home', 'home', 5), ('home', 'ward', 12), ('ward', 'home', 34), ('ward', 'ward', 6)) v(c, p, n))) AS page
  FROM models WHERE name = 'columns') s;
-- and names that nobody can execute
SELECT page ~ 'Class home' AS class, page ~ 'one of 3 classes: &#34;home&#34;' AS label, page ~ '<th scope="col">ward</th>' AS matrix, page ~ 'recall of icu' AS metric
FROM (SELECT dp_report(m, evaluation => (SELECT jsonb_agg(e) FROM dp_evaluate(m, 'visits', epsilon => 10) e)) AS page FROM models WHERE name = 'columns') s;
SELECT page ~ '<script' AS executed, page ~ '&#60;script' AS escaped
FROM (SELECT dp_report(replace(m::text, '"icu"', '"<script>"')::dp_model, evaluation => '[{"metric": "count", "class": "<script>", "predicted": "<script>", "value": 1}, {"metric": "precision", "class": "<script>", "value": 1}]') AS page FROM models WHERE name = 'columns') s;
\set ECHO none
SELECT dp_unprotect('visits'), dp_budget_drop('judged');
SET client_min_messages = error;
DROP SCHEMA judged CASCADE;
DROP OWNED BY dperm_judge;
DROP ROLE dperm_judge;
