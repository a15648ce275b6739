--
-- Labels that are numbers: how many days will a patient stay?
--
\pset format unaligned
\pset footer off
\set ECHO none
SET client_min_messages = warning;
CREATE SCHEMA stays;
SET search_path = stays, public;
CREATE DOMAIN day_count AS smallint CHECK (VALUE BETWEEN 0 AND 30);
CREATE TABLE stays (
	id int,
	person int,
	age int CHECK (age BETWEEN 0 AND 100),
	ward text CHECK (ward IN ('A', 'B', 'C')),
	x float8[],
	days float8 CHECK (days >= 0 AND days <= 30),
	free float8
);
INSERT INTO stays
  SELECT i, i % 97, i % 101, (ARRAY['A', 'B', 'C'])[1 + i % 3], ARRAY[sin(i), cos(i)],
    greatest(0, least(30, 2 + (i % 101) * 0.2 + i % 3 * 2 + 3 * sin(i * i))), NULL
  FROM generate_series(1, 2000) i;
-- labels that are missing, no number, and outside of their bounds
UPDATE stays SET days = NULL WHERE id % 50 = 7;
UPDATE stays SET free = CASE WHEN id % 50 = 8 THEN 'NaN' WHEN id % 50 = 9 THEN 'Infinity' WHEN id % 50 = 10 THEN -1e300 ELSE days END;

-- How far the weights of a model are from a minimum: the norm of the gradient
-- of its objective, from the encoded rows and the labels alone
CREATE FUNCTION gradient(model dp_model, label text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  m jsonb := model::jsonb;
  result float8;
BEGIN
  EXECUTE format($sql$
    WITH encoded AS (SELECT dp_encode($1, s) AS x, %s::float8 AS y FROM stays s),
    scaled AS (SELECT x, CASE WHEN y <> 'NaN' THEN 2 * (least(greatest(y, $3), $4) - $3) / ($4 - $3) - 1 END AS y FROM encoded),
    slopes AS (SELECT x, CASE WHEN y IS NULL THEN 0 ELSE tanh(((SELECT sum(v * w) FROM unnest(x, dp_weights($1)) u(v, w)) - y) / $2) END AS slope FROM scaled),
    sums AS (SELECT k, sum(slope * v) / count(*) AS g FROM slopes, unnest(x) WITH ORDINALITY e(v, k) GROUP BY k)
    SELECT sqrt(sum((g + $5 * (dp_weights($1))[k]) ^ 2)) FROM sums $sql$, label)
    INTO result USING model, (m->>'h')::float8, (m->'bounds'->>0)::float8, (m->'bounds'->>1)::float8, (m->>'lambda_effective')::float8;
  RETURN result;
END $$;
\set ECHO all

-- The first model, as a user trains it
SELECT m->>'kind' AS kind, m->>'loss' AS loss, m->>'h' AS h, m->>'label' AS label, m->'bounds' AS bounds, m->>'rows' AS rows
  FROM (SELECT dp_linreg_train('stays', 'days', '{age,ward}', 1)::jsonb AS m) s;
CREATE TABLE models AS SELECT 'columns' AS name, dp_linreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.001) AS model;
SELECT avg(abs(dp_predict_value(model, s) - days)) < 2.1 AS close, min(dp_predict_value(model, s)) >= 0 AS above, max(dp_predict_value(model, s)) <= 30 AS below
  FROM models, stays s;

-- Is it the minimum? Also if rows are read again in every pass, for an array,
-- with a kernel, for persons, in an aggregate, and for any type of number
INSERT INTO models SELECT 'straight', dp_linreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.01, knots => 1);
INSERT INTO models SELECT 'array', dp_linreg_train('stays', 'days', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 2}}');
INSERT INTO models SELECT 'kernel', dp_linreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20}');
INSERT INTO models SELECT 'no intercept', dp_linreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.01, options => '{"intercept": false}');
INSERT INTO models SELECT 'narrow h', dp_linreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.01, options => '{"h": 0.02}');
INSERT INTO models SELECT 'rows as persons', dp_linreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.01, unit => 'id');
SET dperm.cache_memory = 0;
INSERT INTO models SELECT 'passes', dp_linreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.01);
INSERT INTO models SELECT 'passes over arrays', dp_linreg_train('stays', 'days', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 2}}');
INSERT INTO models SELECT 'spool', dp_linreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.01, unit => 'id');
RESET dperm.cache_memory;
SELECT name, gradient(model, 'days') < 1e-9 AS minimal FROM models;
SELECT gradient(dp_linreg_train('stays', 'free', '{age,ward}', 'Infinity', lambda => 0.01, domains => '{"free": [3, 20]}'), 'free') < 1e-9 AS minimal;
SET dperm.cache_memory = 0;
SELECT gradient(dp_linreg_train('stays', 'free', '{age,ward}', 'Infinity', lambda => 0.01, domains => '{"free": [3, 20]}'), 'free') < 1e-9 AS minimal;
RESET dperm.cache_memory;
-- A wrong minimum would be seen
SELECT gradient(model, 'days + 1') > 1e-3 AS told FROM models WHERE name = 'straight';
SELECT max(abs(v - w)) < 1e-9 AS same
  FROM (SELECT dp_linreg(days, x, 'Infinity', '{"lambda": 0.01, "bounds": [0, 30], "dimension": 2}') AS m FROM stays) a, models b, unnest(dp_weights(m), dp_weights(model)) u(v, w) WHERE name = 'array';

-- Every type of number, with bounds from its column, a domain type, the
-- argument or domains
CREATE VIEW types AS SELECT age, ward, days::int2 AS int2, days::int4 AS int4, days::int8 AS int8, days::float4 AS float4, days::float8 AS float8,
  days::numeric AS "numeric", days::int2::day_count AS domain FROM (SELECT age, ward, floor(days) AS days FROM stays) s;
SELECT count(DISTINCT w) AS models, count(*) AS labels
  FROM unnest('{int2,int4,int8,float4,float8,numeric,domain}'::text[]) label, LATERAL (SELECT dp_weights(dp_linreg_train('types', label, '{age,ward}', 'Infinity', lambda => 0.01, domains => jsonb_build_object(label, '[0, 30]'::jsonb) || '{"age": [0, 100], "ward": ["A", "B", "C"]}')) w) s;
SELECT dp_weights(dp_linreg_train('types', 'domain', 'age', 'Infinity', lambda => 0.01, domains => '{"age": [0, 100]}')) = dp_weights(dp_linreg_train('types', 'int4', 'age', 'Infinity', lambda => 0.01, domains => '{"age": [0, 100], "int4": [0, 30]}')) AS same;
SELECT dperm.dperm_label(1::int2, d) AS a, dperm.dperm_label(1e400::numeric, d) AS b, dperm.dperm_label('NaN'::float4, d) AS c, dperm.dperm_label(NULL::int8, d) AS d FROM (SELECT '\x010000000000'::bytea || float8send(0) || float8send(4) || int4send(0)) v(d);

-- What cannot be
SELECT outcomes($$ dp_linreg_train('stays', ?, 'age', 1) $$, $$ 'free' | 'ward' | 'x' | 'nothing' | NULL $$);
SELECT outcomes($$ dp_linreg_train('stays', 'days', '{age,ward}', 1, ?) $$, $$
  domains => '{"days": [0]}' | domains => '{"days": [0, 1, 2]}' | domains => '{"days": [[0, 1]]}' | domains => '{"days": [0, null]}' | domains => '{"days": [1, 0]}' | domains => '{"days": [1, 1]}' | domains => '{"days": [0, 1e400]}'
  options => '{"h": 0.019}' | options => '{"h": 1.01}' | options => '{"h": "NaN"}' | options => '{"analysis": "paper"}' | positive => '3' $$);
SELECT dp_linreg_train('stays', 'days', '{age,ward,days}', 1);
SELECT dp_linreg(days, x, 1) FROM stays;
SELECT dp_linreg(days, x, 1, '{"dimension": 2, "bounds": [0]}') FROM stays;
SELECT dp_linreg(days, x, 1, '{"dimension": 2, "bounds": 30}') FROM stays;
SELECT dp_linreg(days, x, 1, '{"dimension": 2, "positive": "3"}') FROM stays;
SELECT dp_linreg(ward, x, 1, '{"dimension": 2, "bounds": [0, 1]}') FROM stays;
\set VERBOSITY terse
SELECT dp_logreg_train('stays', 'days', '{age,ward}', 1, domains => '{"days": [0, 30]}');
\set VERBOSITY default
SELECT dp_svm_train('stays', 'days', '{age,ward}', 1, options => '{"loss": "log_cosh"}');

-- Predictions say which function to use, and are NULL for a row that says
-- nothing
SELECT outcomes($$ (SELECT ?(model, s) FROM models, stays s WHERE name = 'straight' LIMIT 1) $$, $$ dp_predict | dp_predict_prob $$);
SELECT dp_predict_value(dp_logreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.1, positive => '2'), s) FROM stays s LIMIT 1;
SELECT dp_predict_value(model, (NULL, NULL, NULL, 'D', NULL, NULL, NULL)::stays) FROM models WHERE name = 'straight';
SELECT bool_and(abs(dp_predict_value(model, s) - greatest(0, least(30, 15 + 15 * dp_decision(model, s)))) < 1e-12) AS clipped FROM models, stays s WHERE name = 'straight';
SELECT dp_predict_value(model, ARRAY[1, 0]) BETWEEN 0 AND 30 AS array, dp_predict_value(model, '{0,1}') BETWEEN 0 AND 30 AS literal FROM models WHERE name = 'array';

-- What columns add, in days; together they are the prediction
SELECT bool_and(abs(total - dp_predict_value(model, s)) < 1e-9 OR total NOT BETWEEN 0 AND 30) AS adds_up
  FROM models, stays s, LATERAL (SELECT sum(score) AS total FROM dp_explain(model, s)) e WHERE name IN ('straight', 'columns', 'no intercept');
SELECT column_name, value, round(score::numeric, 1) AS days FROM models, stays s, dp_explain(model, s) WHERE name = 'columns' AND id = 20;
SELECT value, round(score::numeric, 1) AS days, odds FROM models, dp_curve(model, 'age') WHERE name = 'straight';

-- Text and binary forms
SELECT bool_and(model::text::dp_model::text = model::text) AS text, bool_and((model::jsonb)::dp_model::text = model::text) AS jsonb FROM models;
CREATE FUNCTION read_model(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM $1::dp_model; RETURN 'read'; EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS $1 = PG_EXCEPTION_DETAIL; RETURN $1; END $$;
SELECT change, read_model((m || change)::text) FROM (SELECT model::jsonb AS m FROM models WHERE name = 'straight') s,
  unnest(ARRAY['{}', '{"bounds": [30, 0]}', '{"bounds": [0]}', '{"bounds": [0, 1, 2]}', '{"bounds": "x"}', '{"positive": "3"}', '{"loss": "huber", "kind": "support vector machine"}']::jsonb[]) change;
SELECT read_model((model::jsonb - 'bounds')::text) FROM models WHERE name = 'straight';
SELECT dp_guarantee(dp_linreg_train('stays', 'days', '{age,ward}', 1)) LIKE '%The label is a number between 0 and 30: these bounds are public, and values outside of them were clamped.%' AS told;

-- Every mechanism, law, relation and unit
SELECT method, delta, neighbours, unit, m->>'method' AS used, (m->>'delta')::float8 AS spent, m->'budget'->'slack' <> '0' AS slack,
    dp_linreg_error < 7 AS useful
  FROM (VALUES ('objective', 0), ('objective', 1e-6), ('output', 0), ('output', 1e-6)) a(method, delta), unnest('{replace,remove}'::text[]) neighbours, unnest('{NULL,person}'::text[]) unit,
    LATERAL (SELECT dp_linreg_train('stays', 'days', '{age,ward}', 20, lambda => CASE method WHEN 'output' THEN 0.1 END, options => jsonb_build_object('method', method), delta => delta, neighbours => neighbours, unit => unit) AS model OFFSET 0) t,
    LATERAL (SELECT model::jsonb AS m, (SELECT avg(abs(dp_predict_value(model, s) - days)) FROM stays s) AS dp_linreg_error) s ORDER BY 1, 2, 3, 4;

-- The noise of Gaussian objective perturbation is that of two directions: of
-- half the delta, if slack takes nothing
SELECT round(((a->>'noise_scale')::float8 / (b->>'noise_scale')::float8)::numeric, 4) AS ratio
  FROM (SELECT dp_linreg_train('stays', 'days', '{age,ward}', 1, lambda => 1, delta => 1e-6, options => '{"method": "objective", "noise": "ball"}')::jsonb AS a) a,
    (SELECT dp_logreg_train('stays', 'days', '{age,ward}', 1, lambda => 1, positive => '2', delta => 0.5e-6, options => '{"method": "objective", "noise": "ball"}')::jsonb AS b) b;

-- A prior, whose bounds hold
SELECT m->'bounds' AS bounds, m->'prior'->>'private' AS private
  FROM (SELECT dp_linreg_train('stays', 'free', NULL, 1, prior => dp_linreg_train('stays', 'free', '{age,ward}', 1, domains => '{"free": [1, 25]}'))::jsonb AS m) s;
SELECT dp_linreg_train('stays', 'free', NULL, 1, domains => '{"free": [0, 25]}', prior => dp_linreg_train('stays', 'free', '{age,ward}', 1, domains => '{"free": [1, 25]}'));
SELECT dp_linreg_train('stays', 'days', NULL, 1, prior => dp_logreg_train('stays', 'days', '{age,ward}', 1, positive => '2'));

-- Tuning, by absolute errors
SELECT m->'tuning'->>'chosen' AS chosen, m->'bounds' AS bounds
  FROM (SELECT dp_linreg_tune('stays', 'days', '{age,ward}', 100, candidates => '[{"lambda": 0.0001}, {"lambda": 100}]')::jsonb AS m) s;
SELECT dp_linreg_tune('stays', 'days', '{age,ward}', 100, candidates => '[{"lambda": 0.0001}, {"lambda": 100}]', unit => 'person')::jsonb->'tuning'->>'chosen' AS chosen;
SELECT dp_linreg_tune('stays', 'days', '{age,ward}', 100, candidates => '[{"h": 0.02, "lambda": 1000}, {"h": 0.5}]')::jsonb->'tuning'->>'chosen' AS chosen;
CREATE TABLE public_stays AS SELECT id + 10000 AS id, age, ward, days, free FROM stays;
UPDATE public_stays SET days = NULL;
SELECT dp_linreg_tune('stays', 'days', '{age,ward}', 100, candidates => '[{"bounds": [0, 1]}, {"lambda": 1}]');
SELECT dp_guarantee(dp_linreg_tune('stays', 'days', '{age,ward}', 1)) LIKE '%one to add up their errors, by which one was chosen%the sums are not released.%' AS told;

-- Evaluation: exactly, against SQL
CREATE FUNCTION metrics(model dp_model, OUT metric text, OUT value float8) RETURNS SETOF record LANGUAGE sql AS $$
  WITH e AS (SELECT dp_predict_value(model, s) AS p, days AS y FROM stays s WHERE days IS NOT NULL)
  SELECT 'labelled', count(*)::float8 FROM e
  UNION ALL SELECT 'mean absolute error', avg(abs(p - y)) FROM e
  UNION ALL SELECT 'root mean square error', sqrt(avg((p - y) ^ 2)) FROM e
  UNION ALL SELECT 'r2', 1 - avg((p - y) ^ 2) / var_pop(y) FROM e $$;
SELECT a.metric, abs(a.value - b.value) < 1e-3 AS same, b.low <= b.value AND b.value <= b.high AS within, b.private
  FROM models, metrics(model) a JOIN dp_evaluate(model, 'stays', epsilon => 'Infinity') b USING (metric) WHERE name = 'straight';
SELECT a.metric, abs(a.value - b.value) < 1e-3 AS same FROM models, metrics(model) a JOIN dp_evaluate(model, 'stays', epsilon => 'Infinity', unit => 'id') b USING (metric) WHERE name = 'straight';
SELECT metric, value BETWEEN low AND high AS within, high - low < 31 AS bounded, private FROM models, dp_evaluate(model, 'stays', epsilon => 1) WHERE name = 'straight';
SELECT metric, value BETWEEN low AND high AS within FROM models, dp_evaluate(model, 'stays', epsilon => 100, unit => 'person', neighbours => 'remove') WHERE name = 'straight';
-- Bounds that are further apart than the largest number: errors that are not are
-- numbers
SELECT metric, value, low <= value AND value <= high AS within
  FROM (SELECT dp_linreg_train('stays', 'days', '{age,ward}', 'Infinity', lambda => 0.01, domains => '{"days": [-1e300, 1e300]}') AS far OFFSET 0) m, dp_evaluate(far, 'stays', epsilon => 'Infinity');
-- The bounds are those of the model, whatever the column allows
SELECT metric, value FROM models, dp_evaluate(model, 'public_stays', label => 'free', epsilon => 'Infinity') WHERE name = 'straight' AND metric = 'labelled';
SELECT dp_roc(model, 'stays', epsilon => 1) FROM models WHERE name = 'straight';
SELECT dp_evaluate(model, 'stays', epsilon => 1, positive => '3') FROM models WHERE name = 'straight';
SELECT dp_evaluate(model, 'stays', label => 'x', epsilon => 1) FROM models WHERE name = 'straight';

-- What it would cost
SELECT loss, h, round(units_needed, -1) > 0 AS possible FROM (VALUES ('log_cosh', NULL), ('log_cosh', 1)) v(loss, h), LATERAL dp_cost('stays', 'days', '{age,ward}', 1, units => 10000, learner => CASE loss WHEN 'logistic' THEN 'logreg' WHEN 'log_cosh' THEN 'linreg' ELSE 'svm' END, options => jsonb_strip_nulls(jsonb_build_object('loss', CASE WHEN loss NOT IN ('logistic', 'log_cosh') THEN loss END, 'h', h))) c;
SELECT method, noise, noise_share < 0.5 AS useful FROM dp_cost('stays', 'days', '{age,ward}', 1, units => 2000, learner => 'linreg');
SELECT * FROM dp_cost('stays', 'free', '{age,ward}', 1, units => 2000, learner => 'linreg');
SELECT count(*) FROM dp_cost('stays', 'free', '{age,ward}', 1, units => 2000, learner => 'linreg', domains => '{"free": [0, 30]}');

-- A page
SELECT dp_report(model) LIKE '%Each picture shows what a column adds to the prediction, in units of the label.%' AS legend, dp_report(model) LIKE '%number from 0 to 30%' AS bounds
  FROM models WHERE name = 'straight';

-- A protected table: the bounds are those of the owner, or narrower
\set ECHO none
CREATE ROLE dperm_stays_analyst;
GRANT USAGE ON SCHEMA stays TO dperm_stays_analyst;
SELECT dp_budget_create('stays', 100) \gset
SELECT dp_protect('stays', 'stays', columns => '{age,ward,days,free}', unit => 'person') \gset
SELECT dp_grant('stays', 'dperm_stays_analyst', epsilon => 50) \gset
GRANT SELECT ON models TO dperm_stays_analyst;
SET ROLE dperm_stays_analyst;
\set ECHO all
SELECT m->'bounds' AS bounds, m->>'persons' AS persons, m->'ledger'->>'budget' AS budget FROM (SELECT dp_linreg_train('stays', 'days', '{age,ward}', 1)::jsonb AS m) s;
SELECT m->'bounds' AS bounds FROM (SELECT dp_linreg_train('stays', 'days', '{age,ward}', 1, domains => '{"days": [0, 20]}')::jsonb AS m) s;
SELECT dp_linreg_train('stays', 'days', '{age,ward}', 1, domains => '{"days": [0, 31]}');
SELECT dp_linreg_train('stays', 'free', '{age,ward}', 1, domains => '{"free": [0, 31]}');
SELECT dp_linreg_train('stays', 'free', '{age,ward}', 1);
SELECT dp_linreg_tune('stays', 'days', '{age,ward}', 1, candidates => '[{"lambda": 0.001}, {"lambda": 0.01}]')::jsonb->'tuning'->>'persons' AS persons;
SELECT metric, private FROM models, dp_evaluate(model, 'stays', epsilon => 1) WHERE name = 'straight';
SELECT function, learner, epsilon FROM dp_ledger WHERE act = 'charge' ORDER BY entry;
\set ECHO none
RESET ROLE;
SET client_min_messages = error;
SELECT dp_unprotect('stays') \gset
DROP SCHEMA stays CASCADE;
SELECT dp_revoke('stays', 'dperm_stays_analyst') \gset
SELECT dp_budget_drop('stays') \gset
DROP ROLE dperm_stays_analyst;
