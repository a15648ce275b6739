--
-- Evaluation: private counts and metrics, and a private ROC curve, against
-- counts by hand
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
SET extra_float_digits = 0;

CREATE DOMAIN vec2 AS float8[] CHECK (cardinality(VALUE) = 2);
CREATE TABLE patients (id integer, sick boolean, answer text, sign integer, x vec2, age integer CHECK (age BETWEEN 0 AND 100), kind text, score float4[]);
INSERT INTO patients
  SELECT i, y, CASE WHEN y THEN 'yes' WHEN NOT y THEN 'no' END, CASE WHEN y THEN 1 WHEN NOT y THEN -1 END,
         ARRAY[sin(i * 3), cos(i * 5)], (i * 37) % 101, (ARRAY['a', 'b', 'c'])[1 + i % 3], ARRAY[sin(i * 3), cos(i * 5)]
  FROM (SELECT i, CASE WHEN i % 10 > 0 THEN sin(i * 3) + 0.7 * sin(i * 11) > 0.2 END AS y FROM generate_series(1, 600) i) s;
CREATE TABLE models AS
  SELECT 'columns' AS name, dp_logreg_train('patients', 'sick', '{x,age,kind}', 'Infinity', lambda => 0.001, knots => 1,
    domains => '{"x": {"dimension": 2, "norm": 1.5}, "kind": ["a", "b"]}') AS m
  UNION ALL SELECT 'vector', dp_svm_train('patients', 'sick', 'x', 'Infinity', lambda => 0.001)
  UNION ALL SELECT 'private', dp_logreg_train('patients', 'sick', 'x', 1)
  UNION ALL SELECT 'kernel', dp_logreg_train('patients', 'sick', '{x,age}', 'Infinity', lambda => 0.001, domains => '{"x": {"dimension": 2}}', kernel => 'gaussian', options => '{"kernel_features": 20}')
  UNION ALL SELECT 'array', (SELECT dp_logreg(sick, x, 'Infinity', '{"lambda": 0.001}') FROM patients);

-- By hand; a row without a label is in no cell
CREATE FUNCTION by_hand(model dp_model) RETURNS TABLE (metric text, value float8) LANGUAGE sql AS $$
  WITH c AS (SELECT count(*) FILTER (WHERE sick AND p) AS tp, count(*) FILTER (WHERE NOT sick AND p) AS fp,
                    count(*) FILTER (WHERE sick AND NOT p) AS fn, count(*) FILTER (WHERE NOT sick AND NOT p) AS tn
             FROM (SELECT sick, dp_predict(model, patients) AS p FROM patients WHERE sick IS NOT NULL) s)
  SELECT v.* FROM c, LATERAL (VALUES ('true positives', tp::float8), ('false positives', fp), ('false negatives', fn), ('true negatives', tn),
    ('accuracy', (tp + tn)::float8 / (tp + fp + fn + tn)), ('error', (fp + fn)::float8 / (tp + fp + fn + tn)), ('precision', tp::float8 / (tp + fp)),
    ('recall', tp::float8 / (tp + fn)), ('f1', 2 * tp::float8 / (2 * tp + fp + fn))) v
$$;
SELECT * FROM dp_evaluate((SELECT m FROM models WHERE name = 'columns'), 'patients', 'Infinity', 'sick');
SELECT name, count(*) AS metrics, bool_and(e.value = h.value) AS by_hand, bool_and(e.low <= e.value AND e.value <= e.high) AS inside,
       bool_and((e.low = e.high) = (e.metric LIKE '%tives')) AS counts_are_exact, bool_or(e.private) AS private,
       sum(e.value) FILTER (WHERE e.metric LIKE '%tives') AS labelled, max(e.value) FILTER (WHERE e.metric = 'accuracy') > 0.6 AS better_than_chance
FROM models, dp_evaluate(m, 'patients', 'Infinity', 'sick') e JOIN by_hand(m) h USING (metric)
WHERE name IN ('columns', 'vector', 'kernel') GROUP BY name ORDER BY name;
-- a model remembers its label, and the value that means yes
SELECT bool_and(a.value = b.value) AS label, bool_and(a.value = c.value) AS positive, bool_and(a.value = d.value) AS other_positive
FROM models, dp_evaluate(m, 'patients', 'Infinity', 'sick') a, dp_evaluate(m, 'patients', epsilon => 'Infinity') b,
  dp_evaluate(dp_logreg_train('patients', 'answer', '{x,age,kind}', 'Infinity', lambda => 0.001, knots => 1, positive => 'yes', domains => '{"x": {"dimension": 2, "norm": 1.5}, "kind": ["a", "b"]}'), 'patients', epsilon => 'Infinity') c,
  dp_evaluate(m, 'patients', 'Infinity', 'answer', 'yes') d
WHERE name = 'columns' AND a.metric = b.metric AND b.metric = c.metric AND c.metric = d.metric;
SELECT count(*) AS points, bool_and(a.auc = b.auc) AS same FROM models, dp_roc(m, 'patients', 'Infinity', 'sick', bins => 5) a JOIN dp_roc(m, 'patients', epsilon => 'Infinity', bins => 5) b USING (threshold) WHERE name = 'columns';
SELECT m::jsonb -> 'label' AS label, m::jsonb -> 'positive' AS positive FROM models WHERE name IN ('columns', 'array') ORDER BY name DESC;
-- other labels mean the same
SELECT bool_and(a.value = b.value AND a.value = c.value) AS same
FROM models, dp_evaluate(m, 'patients', 'Infinity', 'sick') a, dp_evaluate(m, 'patients', 'Infinity', 'answer', positive => 'yes') b, dp_evaluate(m, 'patients', 'Infinity', 'sign') c
WHERE name = 'columns' AND a.metric = b.metric AND b.metric = c.metric;
SELECT a.metric, a.value = b.value AS swapped
FROM models, dp_evaluate(m, 'patients', 'Infinity', 'answer', positive => 'yes') a, dp_evaluate(m, 'patients', 'Infinity', 'answer', positive => 'no') b
WHERE name = 'columns' AND (a.metric, b.metric) IN (('true positives', 'false positives'), ('false negatives', 'true negatives'), ('accuracy', 'error')) ORDER BY 1;
-- who names the label of the training means its positive value, unless they say otherwise
CREATE TABLE reversed AS SELECT dp_logreg_train('patients', 'sick', '{age}', 'Infinity', lambda => 0.001, positive => 'false') AS trained,
  dp_logreg_train('patients', 'answer', '{age}', 'Infinity', lambda => 0.001, positive => 'no') AS text,
  (SELECT dp_logreg(sick, ARRAY[age / 120.0], 'Infinity', '{"lambda": 0.001, "positive": "false"}') FROM patients) AS aggregated;
SELECT a.value = b.value AS named, a.value = c.value AS otherwise, a.value = d.value AS another, a.value = e.value AS text
FROM reversed, dp_evaluate(trained, 'patients', epsilon => 'Infinity') a, dp_evaluate(trained, 'patients', 'Infinity', 'sick') b,
  dp_evaluate(trained, 'patients', 'Infinity', 'sick', positive => 'true') c, dp_evaluate(trained, 'patients', 'Infinity', 'sign', positive => '1') d,
  dp_evaluate(text, 'patients', 'Infinity', 'answer') e
WHERE a.metric = 'accuracy' AND b.metric = 'accuracy' AND c.metric = 'error' AND d.metric = 'error' AND e.metric = 'accuracy';
-- what that value is in another column is not guessed
SELECT count(*) FROM reversed, dp_evaluate(trained, 'patients', 'Infinity', 'sign');
SELECT count(*) FROM reversed, dp_roc(text, 'patients', 'Infinity', 'sick');
CREATE VIEW seen_array AS SELECT sick, ARRAY[age / 120.0]::float8[] AS "array" FROM patients;
SELECT a.value = b.value AS aggregated
FROM reversed, dp_evaluate(aggregated, 'seen_array', 'Infinity', 'sick', features => 'array') a, dp_evaluate(aggregated, 'seen_array', 'Infinity', 'sick', features => 'array', positive => 'false') b
WHERE a.metric = 'accuracy' AND b.metric = 'accuracy';
SELECT max(a.auc) = max(b.auc) AS curve FROM reversed, dp_roc(trained, 'patients', epsilon => 'Infinity') a, dp_roc(trained, 'patients', 'Infinity', 'sick') b;
DROP VIEW seen_array;
DROP TABLE reversed;
-- more columns than a function has arguments, one of them by its output, and
-- numbers that are categories
DO $$ BEGIN EXECUTE (SELECT format('CREATE TABLE wide AS SELECT i, sick, kind, id %% 4 AS k, %s FROM patients, generate_series(1, 2) i', string_agg(format('sin(id * %s + i) AS c%s', c, c), ', ')) FROM generate_series(1, 110) c); END $$;
CREATE TABLE wide_model AS SELECT dp_logreg_train('wide', 'sick', ARRAY['kind', 'k'] || (SELECT array_agg('c' || c) FROM generate_series(1, 110) c), 'Infinity', lambda => 0.001,
  domains => (SELECT jsonb_object_agg('c' || c, '[-1, 1]'::jsonb) FROM generate_series(1, 110) c) || '{"kind": ["a", "b"], "k": {"categories": [0, 3]}}') AS m;
SELECT metric, value = by_hand AS same FROM wide_model, dp_evaluate(m, 'wide', epsilon => 'Infinity'), LATERAL (SELECT ARRAY[count(*) FILTER (WHERE sick AND p), count(*) FILTER (WHERE NOT sick AND p),
  count(*) FILTER (WHERE sick AND NOT p), count(*) FILTER (WHERE NOT sick AND NOT p)] AS cells FROM (SELECT sick, dp_predict(m, w) AS p FROM wide w) s) h,
  LATERAL (SELECT cells[array_position(ARRAY['true positives', 'false positives', 'false negatives', 'true negatives'], metric)] AS by_hand) c WHERE by_hand IS NOT NULL;
DROP TABLE wide, wide_model;
-- a view, a partitioned table, and the same columns in another order and of
-- other types
CREATE VIEW seen AS SELECT age, x, kind, sick FROM patients WHERE id <= 300;
CREATE TABLE parts (LIKE patients) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (200);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (200) TO (1000);
INSERT INTO parts SELECT * FROM patients;
CREATE MATERIALIZED VIEW retyped AS SELECT kind::varchar AS kind, age::numeric AS age, score AS x, sick FROM patients;
SELECT source, sum(value) FILTER (WHERE metric LIKE '%tives') AS labelled, max(value) FILTER (WHERE metric = 'accuracy') = max(accuracy) AS as_rows_say
FROM models, (VALUES ('seen'), ('parts'), ('retyped'), ('patients')) v(source), dp_evaluate(m, source, 'Infinity', 'sick') e,
  LATERAL (SELECT avg((dp_predict(m, p) = sick)::int)::float8 AS accuracy FROM patients p WHERE sick IS NOT NULL AND (source <> 'seen' OR id <= 300)) a
WHERE name = 'columns' GROUP BY 1 ORDER BY 1;
-- features of any name
CREATE TABLE odd AS SELECT sick AS s, x[1] AS r, x[2] AS label, age AS t, age AS y, age AS "P" FROM patients;
SELECT sum(value) AS labelled, max((SELECT sum((dp_predict(m, odd) = s)::int) FROM odd)) = sum(value) FILTER (WHERE metric LIKE 'true%') AS as_rows_say
FROM (SELECT dp_logreg_train('odd', 's', '{r,label,t,y,P}', 'Infinity', domains => '{"r": [-1, 1], "label": [-1, 1], "t": [0, 100], "y": [0, 100], "P": [0, 100]}') AS m OFFSET 0) s,
  dp_evaluate(m, 'odd', 'Infinity', 's') WHERE metric LIKE '%tives';
-- no rows, and rows without labels: nothing is known
CREATE TABLE nobody (sick boolean, x float8[]);
SELECT e.* FROM models, dp_evaluate(m, 'nobody', 'Infinity', 'sick') e WHERE name = 'vector';
INSERT INTO nobody SELECT NULL, x FROM patients;
SELECT sum(value) AS nothing FROM models, dp_evaluate(m, 'nobody', 'Infinity', 'sick') WHERE name = 'vector';
SELECT count(*) AS metrics, bool_and(value IS NOT NULL) AS counts_at_least FROM models, dp_evaluate(m, 'nobody', 1, 'sick') WHERE name = 'vector' AND metric LIKE '%tives';

--
-- With privacy
--
SELECT count(*) AS metrics, bool_and(private) AS private, bool_and(value = round(value)) FILTER (WHERE metric LIKE '%tives') AS integers,
       bool_and(low < value AND value < high) FILTER (WHERE metric LIKE '%tives') AS inside,
       string_agg(DISTINCT (high - low)::text, ' ') FILTER (WHERE metric LIKE '%tives') AS widths,
       bool_and(low >= 0 AND high <= 1 AND low <= value AND value <= high) FILTER (WHERE metric NOT LIKE '%tives') AS shares
FROM models, dp_evaluate(m, 'patients', 1, 'sick') WHERE name = 'private';
-- near the true value, on both sides of it, and different each time
SELECT metric, count(DISTINCT value) > 3 AS differ, bool_or(value > truth) AS above, bool_or(value < truth) AS below, max(abs(value - truth)) < 80 AS near,
       avg((low <= truth AND truth <= high)::int) > 0.75 AS covered
FROM (SELECT e.metric, e.value, e.low, e.high, h.value AS truth FROM models, generate_series(1, 60) i, dp_evaluate(m, 'patients', 1 + 0 * i, 'sick') e JOIN by_hand(m) h USING (metric)
      WHERE name = 'columns' AND metric LIKE '%tives' OFFSET 0) s GROUP BY 1 ORDER BY 1;
-- the smaller epsilon, the wider the intervals; negative counts are shown as
-- they are
SELECT string_agg((high - low)::text, ' ' ORDER BY epsilon) AS widths
FROM models, (VALUES (0.01), (0.1), (1.0), (2.5), (10), (100)) v(epsilon), dp_evaluate(m, 'patients', epsilon::float8, 'sick') WHERE name = 'columns' AND metric = 'true positives';
SELECT min(value) < 0 AS below_zero FROM models, generate_series(1, 20) i, dp_evaluate(m, 'nobody', 0.1 + 0 * i, 'sick') WHERE name = 'vector' AND metric LIKE '%tives';

--
-- Hostile rows raise nothing, and count as training reads them
--
CREATE TABLE hostile AS SELECT i % 2 = 0 AS sick, CASE i % 12 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NaN,1}' WHEN 3 THEN '{Infinity,-Infinity}' WHEN 4 THEN '{NULL,1}'
  WHEN 5 THEN '{{1,2},{3,4}}' WHEN 6 THEN '{1,2,3}' WHEN 7 THEN '{1e308,-1e308}' WHEN 8 THEN '{5e-324,0}' WHEN 9 THEN '[5:6]={1,2}' ELSE '{0.5,0.1}' END::float8[] AS x,
  (ARRAY[NULL, 'NaN', 'Infinity', '-Infinity', '1e308', '-5e-324', '17'])[1 + i % 7]::float8 AS age, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN repeat('x', 100000) ELSE 'a' END AS kind
  FROM generate_series(1, 420) i;
SELECT name, labelled, right_ones = (SELECT count(*) FROM hostile h WHERE coalesce(dp_predict(m, h), (SELECT sum(v * w) > 0 FROM unnest(dp_encode(m, h), dp_weights(m)) u (v, w))) = sick) AS as_rows_say
FROM models, LATERAL (SELECT sum(value) AS labelled, sum(value) FILTER (WHERE metric LIKE 'true%') AS right_ones FROM dp_evaluate(m, 'hostile', 'Infinity', 'sick') WHERE metric LIKE '%tives') e
WHERE name <> 'array' ORDER BY name;
SELECT name, count(*) AS points, max(true_positive_rate) AS top FROM models, dp_roc(m, 'hostile', 'Infinity', 'sick') WHERE name <> 'array' GROUP BY name ORDER BY name;
-- nor do models that were not trained: weights as large, as small and as many
-- as possible
CREATE TABLE crafted AS
  SELECT w, (m::jsonb || jsonb_build_object('weights', w::jsonb))::dp_model AS m FROM models, (VALUES ('[1.7e308, 1.7e308, 1.7e308]'), ('[1.7e308, -1.7e308, -1.7e308]'),
    ('[5e-324, 0, 0]'), ('[5e-324, -5e-324, 0]'), ('[1e-310, 1e-320, 0]'), ('[0, 0, 0]'), ('[0, 0, 5e-324]')) v(w) WHERE name = 'vector';
SELECT w, (SELECT sum(value) FROM dp_evaluate(m, 'hostile', 'Infinity', 'sick') WHERE metric LIKE '%tives') AS labelled,
       (SELECT count(*) FROM dp_roc(m, 'hostile', 'Infinity', 'sick')) AS points, (SELECT count(*) FROM dp_roc(m, 'patients', 1, 'sick', bins => 3)) AS of_patients
FROM crafted ORDER BY w COLLATE "C";
DROP TABLE crafted;

--
-- ROC
--
CREATE FUNCTION roc(name text, epsilon float8, bins integer) RETURNS TABLE (n bigint, threshold float8, tpr float8, fpr float8, auc float8, low float8, high float8, private boolean) LANGUAGE sql AS $$
  SELECT row_number() OVER (), r.* FROM models, dp_roc(m, 'patients', epsilon, 'sick', bins => bins) r WHERE models.name = roc.name
$$;
SELECT count(*) AS points, array_agg(threshold ORDER BY n) = array_agg(threshold ORDER BY threshold DESC) AS strictest_first, bool_and(tpr BETWEEN 0 AND 1 AND fpr BETWEEN 0 AND 1) AS shares,
       array_agg(tpr ORDER BY n) = array_agg(tpr ORDER BY tpr) AND array_agg(fpr ORDER BY n) = array_agg(fpr ORDER BY fpr) AS monotone,
       min(tpr) = 0 AND min(fpr) = 0 AND max(tpr) = 1 AND max(fpr) = 1 AS ends, count(DISTINCT auc) AS areas, bool_or(private) AS private
FROM roc('columns', 'Infinity', 50);
SELECT count(*) AS points, array_agg(threshold ORDER BY n) = array_agg(threshold ORDER BY threshold DESC) AS strictest_first, bool_and(tpr BETWEEN 0 AND 1 AND fpr BETWEEN 0 AND 1) AS shares,
       array_agg(tpr ORDER BY n) = array_agg(tpr ORDER BY tpr) AND array_agg(fpr ORDER BY n) = array_agg(fpr ORDER BY fpr) AS monotone,
       min(tpr) = 0 AND min(fpr) = 0 AND max(tpr) = 1 AND max(fpr) = 1 AS ends, count(DISTINCT auc) AS areas, bool_and(auc BETWEEN 0 AND 1) AS an_area, bool_and(private) AS private
FROM roc('columns', 1, 50);
SELECT count(*) AS points, min(threshold), max(threshold) FROM roc('columns', 'Infinity', 2);
-- each point is the share of rows whose decision is above the threshold
SELECT count(*) AS points, bool_and(abs(tpr - t) < 1e-9 AND abs(fpr - f) < 1e-9) AS by_hand
FROM roc('columns', 'Infinity', 40) r, LATERAL (SELECT avg((d > threshold)::int) FILTER (WHERE sick)::float8 AS t, avg((d > threshold)::int) FILTER (WHERE NOT sick)::float8 AS f
  FROM (SELECT sick, dp_decision(m, p) AS d FROM patients p, models WHERE name = 'columns') s) h;
-- and at 0 it is what dp_evaluate says
SELECT tpr = (SELECT value FROM dp_evaluate(m, 'patients', 'Infinity', 'sick') WHERE metric = 'recall') AS recall
FROM models, roc('columns', 'Infinity', 50) WHERE name = 'columns' AND abs(threshold) < 1e-9;
-- the area: that of all pairs of a sick and a healthy row, but for pairs in one
-- bin
WITH d AS (SELECT name, sick, dp_decision(m, p) AS d, floor((atan(dp_decision(m, p)) / pi() + 0.5) * 200) AS bin FROM patients p, models WHERE name IN ('columns', 'vector', 'kernel') AND sick IS NOT NULL),
     pairs AS (SELECT name, avg(CASE WHEN a.d > b.d THEN 1 WHEN a.d = b.d THEN 0.5 ELSE 0 END)::float8 AS area, avg((a.bin = b.bin)::int)::float8 AS ties
               FROM d a JOIN d b USING (name) WHERE a.sick AND NOT b.sick GROUP BY name)
SELECT name, abs(auc - area) <= ties / 2 + 1e-9 AS within_bins, ties < 0.15 AS few_ties, auc > 0.65 AS better_than_chance
FROM pairs, LATERAL (SELECT DISTINCT auc FROM roc(name, 'Infinity', 200)) r ORDER BY name;
-- with noise, near it and different each time
SELECT count(DISTINCT auc) > 10 AS differ, abs(avg(auc) - max(truth)) < 0.1 AS near
FROM (SELECT auc, truth FROM generate_series(1, 20) i, LATERAL (SELECT auc FROM roc('columns', 5 + 0 * i, 10) WHERE n = 1) r, LATERAL (SELECT auc AS truth FROM roc('columns', 'Infinity', 10) WHERE n = 1) t OFFSET 0) s;
-- the interval contains the area of these bins most of the time, even without
-- noise, where it is about the population; less noise makes it narrower
SELECT epsilon, bool_and(low <= auc AND auc <= high AND low >= 0 AND high <= 1) AS inside, avg((low <= truth AND truth <= high)::int) > 0.75 AS covered, count(DISTINCT high - low) > 10 AS differ, max(high - low) > 0.03 AS wide
FROM (VALUES (1.0), (5), ('Infinity')) v(epsilon), LATERAL (SELECT r.* FROM generate_series(1, 20) i, roc('columns', epsilon::float8 + 0 * i, 10) r WHERE r.n = 1 OFFSET 0) a, LATERAL (SELECT auc AS truth FROM roc('columns', 'Infinity', 10) t WHERE t.n = 1) t GROUP BY 1 ORDER BY 1;
SELECT string_agg(round((high - low)::numeric, 3)::text, ' ' ORDER BY epsilon) = string_agg(round((high - low)::numeric, 3)::text, ' ' ORDER BY high - low DESC) AS narrower FROM (VALUES (0.5), (3), ('Infinity')) v(epsilon), roc('columns', epsilon::float8, 10) WHERE n = 1;
-- bins by epsilon and the number of rows or persons, which is public: of the
-- table, where a view is protected
SELECT epsilon, neighbours, count(*) - 1 AS bins FROM models, (VALUES (0.1), (1.0), (10), ('Infinity')) v(epsilon), unnest('{replace,remove}'::text[]) neighbours, dp_roc(m, 'patients', epsilon::float8, 'sick', neighbours => neighbours) WHERE name = 'vector' GROUP BY 1, 2 ORDER BY 1, 2 DESC;
CREATE TABLE visits AS SELECT id % 50 AS person, id, sick, x::float8[] AS x FROM patients;
CREATE VIEW few AS SELECT * FROM visits WHERE id <= 20;
SELECT source, unit, (SELECT count(*) - 1 FROM models, dp_roc(m, source, 1, 'sick', unit => unit) WHERE name = 'vector') AS bins FROM (VALUES ('visits', NULL), ('visits', 'person'), ('few', NULL), ('few', 'person')) v(source, unit);
SELECT dp_budget_create('evaluate_rows', 100), dp_budget_create('evaluate_persons', 100);
SET client_min_messages = error;
SELECT dp_protect('visits', 'evaluate_rows', domains => '{"x": {"dimension": 2}}'), dp_protect('few', 'evaluate_rows', domains => '{"x": {"dimension": 2}}');
SELECT source, (SELECT count(*) - 1 FROM models, dp_roc(m, source, 1, 'sick') WHERE name = 'vector') AS bins FROM (VALUES ('visits'), ('few')) v(source);
SELECT dp_unprotect('few'), dp_unprotect('visits');
SELECT dp_protect('visits', 'evaluate_persons', unit => 'person', domains => '{"x": {"dimension": 2}}'), dp_protect('few', 'evaluate_persons', unit => 'person', domains => '{"x": {"dimension": 2}}');
SELECT source, (SELECT count(*) - 1 FROM models, dp_roc(m, source, 1, 'sick') WHERE name = 'vector') AS bins FROM (VALUES ('visits'), ('few')) v(source);
SELECT dp_unprotect('few'), dp_unprotect('visits');
-- a notice if the model was trained on these rows, even by a call that is
-- charged; none for rows that were left out, and none where the model names no
-- such relation
CREATE VIEW training AS SELECT * FROM visits WHERE id % 5 > 0;
CREATE VIEW test AS SELECT * FROM visits WHERE id % 5 = 0;
CREATE TABLE trained AS SELECT source, dp_logreg_train(source, 'sick', 'x', 1, domains => '{"x": {"dimension": 2}}') AS m FROM unnest('{visits,training}'::text[]) source;
SELECT m::jsonb -> 'source' AS source FROM trained;
SET client_min_messages = notice;
CREATE FUNCTION told(model dp_model, relation text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% on %', model::jsonb ->> 'source', relation; PERFORM dp_evaluate(model, relation, epsilon => 1); END $$;
SELECT count(told(m, relation)) FROM trained, unnest('{visits,training,test,patients}'::text[]) relation;
SELECT count(told((m::jsonb || jsonb_build_object('source', says))::dp_model, 'visits')) FROM trained, unnest('{visits,a.b.c,".","public.\"",public.no,pg_catalog.pg_class,PUBLIC.visits}'::text[]) says WHERE source = 'visits';
SELECT dp_protect('visits', 'evaluate_rows', domains => '{"x": {"dimension": 2}}'), dp_protect('test', 'evaluate_rows');
SELECT count(told(m, relation)) FROM trained, unnest('{visits,test}'::text[]) relation WHERE source = 'training';
SELECT dp_unprotect('test'), dp_unprotect('visits');
DROP FUNCTION told;
DROP TABLE trained;
SET client_min_messages = warning;
SELECT dp_budget_drop('evaluate_rows'), dp_budget_drop('evaluate_persons');
DROP TABLE visits CASCADE;
-- one class, or none
CREATE TABLE all_sick AS SELECT true AS sick, x FROM patients;
SELECT r.* FROM models, dp_roc(m, 'all_sick', 'Infinity', 'sick', bins => 2) r WHERE name = 'vector';
SELECT r.* FROM models, dp_roc(m, 'nobody', 'Infinity', 'sick', bins => 2) r WHERE name = 'vector';

--
-- A model of arrays names no column
--
CREATE FUNCTION evaluated(model text, arguments text) RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(E'\n  hint: ', result, nullif(hint, ''))
  FROM outcome(format('SELECT value FROM models, dp_evaluate(m, %s) WHERE name = %L AND metric = ''accuracy''', arguments, model))
$$;
CREATE FUNCTION curve(model text, arguments text) RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(E'\n  hint: ', result, nullif(hint, ''))
  FROM outcome(format('SELECT count(*) FROM models, dp_roc(m, %s) WHERE name = %L', arguments, model))
$$;
\pset tuples_only on
SELECT evaluated('array', $$ 'patients', 'Infinity', 'sick' $$);
SELECT evaluated('array', $$ 'patients', 'Infinity', 'sick', features => 'x' $$)
     = (SELECT avg((dp_predict(m, x) = sick)::int)::float8 FROM models, patients WHERE name = 'array' AND sick IS NOT NULL)::text;
SELECT evaluated('array', $$ 'patients', 'Infinity', 'sick', features => 'score' $$) = evaluated('array', $$ 'patients', 'Infinity', 'sick', features => 'x' $$);
SELECT evaluated('vector', $$ 'patients', 'Infinity', 'sick', features => 'score' $$) = evaluated('vector', $$ 'patients', 'Infinity', 'sick' $$);
SELECT curve('array', $$ 'patients', 1, 'sick', features => 'x' $$);
SELECT curve('array', $$ 'patients', 1, 'sick' $$);

-- Arguments
CREATE TABLE mistyped (sick boolean, x text, age integer, kind text);
SELECT outcomes($$ value FROM models, dp_evaluate(m, ?) WHERE name = 'columns' AND metric = 'accuracy' $$, $$
  'patients', 'Infinity', 'sick', features => 'x' | 'nobody', 1, 'sick' | 'patients', 1, 'age'
  'mistyped', 1, 'sick' $$);
SELECT outcomes($$ value FROM models, dp_evaluate(m, ?) WHERE name = 'array' AND metric = 'accuracy' $$, $$
  'patients', 'Infinity', 'sick', features => 'y' | 'patients', 'Infinity', 'sick', features => ''
  'patients', 'Infinity', 'sick', features => 'age'
  'patients', 'Infinity', 'sick', features => 'sick' | 'patients', 1, NULL, features => 'x' $$);
SELECT outcomes($$ value FROM models, dp_evaluate(m, ?) WHERE name = 'vector' AND metric = 'accuracy' $$, $$
  'patients', 0, 'sick' | 'patients', -1, 'sick' | 'patients', 'NaN', 'sick'
  'patients', 1e-9, 'sick' | 'patients', 1e9, 'sick' | 'patients', NULL, 'sick' | NULL, 1, 'sick'
  'nowhere', 1, 'sick' | 'patients', 1, 'ill' | 'patients', 1, 'x' | 'patients', 1, 'answer' $$);
SELECT outcomes('count(*) FROM dp_evaluate(NULL, ?)', $$ 'patients', 1, 'sick' $$);
SELECT outcomes($$ count(*) FROM models, dp_roc(m, ?) WHERE name = 'vector' $$, $$
  'patients', 1, 'sick', bins => 1 | 'patients', 1, 'sick', bins => 0
  'patients', 1, 'sick', bins => 1001 | 'patients', 1, 'sick', bins => NULL
  'patients', 1, 'sick', bins => 1000 | 'patients', 0, 'sick'
  'patients', 1, 'answer', positive => 'yes' $$);

-- Privileges
DROP ROLE IF EXISTS dperm_judge;
CREATE ROLE dperm_judge;
GRANT SELECT ON models TO dperm_judge;
SET ROLE dperm_judge;
SELECT evaluated('vector', $$ 'patients', 1, 'sick' $$);
SELECT curve('vector', $$ 'patients', 1, 'sick' $$);
RESET ROLE;
GRANT SELECT (sick, x) ON patients TO dperm_judge;
SET ROLE dperm_judge;
SELECT evaluated('vector', $$ 'patients', 500, 'sick' $$) ~ '^[01]';
SELECT curve('vector', $$ 'patients', 1, 'sick' $$);
SELECT split_part(evaluated('columns', $$ 'patients', 1, 'sick' $$), E'\n', 1);
RESET ROLE;
DROP OWNED BY dperm_judge;
DROP ROLE dperm_judge;
\pset tuples_only off

-- Models of the largest dimension: an intercept, or a kernel, is that of the model
CREATE TABLE widest AS SELECT array_fill(i / 50.0::float8, ARRAY[5000]) AS x, i % 2 = 0 AS y FROM generate_series(1, 50) i;
SELECT count(*) FROM dp_logreg_train('widest', 'y', 'x', 1, options => '{"intercept": false}', domains => '{"x": {"dimension": 5000}}') m, dp_evaluate(m, 'widest', epsilon => 1);
SELECT count(*) FROM dp_logreg_train('widest', 'y', 'x', 1, kernel => 'gaussian', options => '{"kernel_features": 10}', domains => '{"x": {"dimension": 5000}}') m, dp_evaluate(m, 'widest', epsilon => 1);
DROP TABLE widest;

DROP VIEW seen;
DROP MATERIALIZED VIEW retyped;
DROP TABLE patients, models, parts, odd, nobody, hostile, all_sick, mistyped;
DROP DOMAIN vec2;
DROP FUNCTION by_hand, roc, evaluated, curve;
RESET extra_float_digits;
