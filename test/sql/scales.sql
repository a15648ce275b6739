--
-- Scales: numbers that count by their logarithm, in domains, models and registrations
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
SELECT setseed(0.46) \gset
CREATE TABLE orders (id int, amount numeric(12, 2) CHECK (amount BETWEEN 0 AND 1000000), items int CHECK (items >= 0), balance float8, kind int CHECK (kind IN (1, 2, 7)), code int, late boolean);
INSERT INTO orders SELECT i, CASE WHEN i % 17 > 0 THEN least(exp(4 + 2 * n), 999999) END, exp(random() * 4)::int, CASE WHEN i % 19 = 0 THEN 'NaN' ELSE sign(random() - 0.4) * exp(random() * 8) END, 1, 2, random() < 1 / (1 + exp(-1.5 * n))
  FROM (SELECT i, sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) AS n FROM generate_series(1, 3000) i) s;
\set domains '{"amount": {"scale": "log"}, "balance": {"range": [-1000, 1000], "knots": 5, "scale": "log"}, "items": [0, 100]}'

-- a model has the scale, in both of its forms; knots are at even distances on it, and the bounds stay as they are
CREATE TABLE fit AS SELECT dp_logreg_train('orders', 'late', '{amount,balance,items}', 'Infinity', lambda => 0.001, knots => 7, domains => :'domains') AS model;
SELECT feature FROM fit, jsonb_array_elements(model::jsonb -> 'features') feature;
SELECT model::text::dp_model::text = model::text AS same FROM fit;
SELECT value, round(scaled::numeric, 6) AS scaled, abs(scaled - sign(value::float8) * ln(1 + abs(value::float8))) < 1e-12 AS on_scale FROM fit, unnest('{amount,balance}'::text[]) name, dp_curve(model, name);
SELECT column_name, value FROM fit, dp_coefficients(model) WHERE column_name = 'balance' ORDER BY rank;
SELECT round(scaled::numeric, 6) AS middle, round(odds::numeric, 9) AS odds FROM fit, dp_curve(model, 'amount') WHERE value LIKE '999.%';

-- the same weights as on a view of the logarithms, as curves, lines and with a kernel, wherever rows are read
CREATE VIEW logs AS SELECT id, late, ln(1 + amount)::float8 AS amount, sign(balance) * ln(1 + abs(balance)) AS balance, items FROM orders;
CREATE FUNCTION agrees(arguments text, options jsonb DEFAULT '{}') RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE model dp_model; again dp_model; own text := '{"amount": {"scale": "log"}, "balance": {"range": [-1000, 1000], "scale": "log"}, "items": [0, 100]}';
BEGIN
  EXECUTE format('SELECT dp_svm_train(''orders'', ''late'', ''{amount,balance,items}'', ''Infinity'', lambda => 0.01, domains => %L, options => %L, %s)', own, options, arguments) INTO model;
  EXECUTE format('SELECT dp_svm_train(''logs'', ''late'', ''{amount,balance,items}'', ''Infinity'', lambda => 0.01, domains => %L, options => %L, %s)', jsonb_build_object('amount', jsonb_build_array(0, ln(1000001.0)), 'balance', jsonb_build_array(-ln(1001.0), ln(1001.0)), 'items', jsonb_build_array(0, 100)), options, arguments) INTO again;
  RETURN (SELECT max(abs(u - v)) FROM unnest(dp_weights(model), dp_weights(again)) w(u, v)) < 1e-7;
END $$;
SELECT agrees('knots => NULL') AS rule, agrees('knots => 4') AS knots, agrees('knots => 1') AS lines, agrees($$knots => NULL, unit => 'id'$$) AS persons, agrees($$kernel => 'gaussian'$$, '{"kernel_features": 20}') AS kernel;
SET dperm.cache_memory = 0;
SELECT agrees('knots => NULL') AS rule, agrees('knots => 1') AS lines;
SET dperm.cache_memory = '64kB';
SELECT agrees('knots => NULL') AS rule, agrees($$knots => 4, unit => 'id'$$) AS spooled;
RESET dperm.cache_memory;

-- a row: halfway on the scale is half of a knot, beyond the bounds is at them
SELECT amount, x FROM (VALUES (0), (9), (99.99), (999999), (1e9)) v(amount), LATERAL dp_encode('{"amount": {"range": [0, 999999], "scale": "log", "knots": 4}}'::jsonb, (SELECT o FROM orders o WHERE false UNION ALL SELECT (1, v.amount, NULL, NULL, NULL, NULL, NULL)::orders LIMIT 1)) x;
SELECT max(abs(dp_decision(model, o) - (SELECT sum(score) FROM dp_explain(model, o)))) < 1e-12 AS explains FROM fit, orders o;

-- a prior brings its scale
SELECT feature FROM fit, jsonb_array_elements(dp_logreg_train('orders', 'late', NULL, 1, prior => model)::jsonb -> 'features') feature LIMIT 1;

-- what dp_domains proposes: a scale for wide ranges and open ones, categories for integers
SELECT column_name, domain, template FROM dp_domains('orders');
\set VERBOSITY default
SELECT dp_logreg_train('orders', 'late', 'code', 1);
SELECT dp_logreg_train('orders', 'late', 'balance', 1);
\set VERBOSITY terse

-- what is refused, before any row is read
SELECT outcomes('dp_logreg_train(''orders'', ''late'', ''{amount,kind}'', 1, domains => ?) IS NOT NULL', $$ '{"amount": {"scale": "sqrt"}}' | '{"amount": {"scale": 1}}' | '{"amount": {"scale": null}}' | '{"balance": {"scale": "log"}}'
  | '{"amount": {"scale": "log", "knots": [0, 10, 1000000]}}' | '{"amount": {"range": [1e15, 1000000000000001], "scale": "log"}}' | '{"kind": {"categories": [1, 2], "scale": "log"}}' | '{"late": {"scale": "log"}}'
  | '{"amount": {"range": [0, 1000000], "scale": "linear"}}' | '{"amount": {"knots": [0, 10, 1000000], "scale": "linear"}}' $$, 'trained');
CREATE TABLE others (t timestamp, w text, v float8[], y boolean);
SELECT outcomes('dp_logreg_train(''others'', ''y'', ''{t}'', 1, domains => ?) IS NOT NULL', $$ '{"t": {"range": ["2020-01-01", "2021-01-01"], "scale": "log"}}' | '{"w": {"categories": ["a"], "scale": "log"}}' | '{"v": {"dimension": 2, "range": [0, 9], "scale": "log"}}' $$, 'trained');
SELECT outcomes('length((?)::dp_model::text) > 0 FROM fit', $$ replace(model::text, '"scale": "log"', '"scale": "sqrt"') | replace(model::text, '"scale": "log"', '"scale": 1') | replace(model::text, '"type": "number", "low": -1000', '"type": "time", "low": -1000') $$, 'a model');

-- registered: with its range; an analyst chooses a scale of their own within the range
SELECT dp_budget_create('orders', 100) IS NOT NULL AS created;
SELECT dp_protect('orders', 'orders', domains => '{"amount": {"range": [0, 1000000], "scale": "log"}, "balance": {"range": [-1000, 1000], "scale": "log"}, "items": [0, 100]}') IS NOT NULL AS protected;
SELECT column_name, domain, template FROM dp_domains('orders') WHERE column_name IN ('amount', 'balance', 'items');
CREATE FUNCTION trained(domains jsonb) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT (feature - '{low,high,type}'::text[])::text FROM jsonb_array_elements(dp_logreg_train('orders', 'late', '{amount,balance,items}', 1, domains => domains)::jsonb -> 'features') feature $$;
SELECT trained(NULL);
SELECT trained('{"amount": {"knots": 5}, "balance": {"range": [-1000, 1000], "scale": "linear"}, "items": {"range": [0, 100], "scale": "log", "knots": 1}}');
SELECT trained('{"amount": [0, 1000], "balance": {"knots": [-1000, 0, 1000]}, "items": {"range": [0, 50], "scale": "log"}}');
SELECT outcomes('trained(?)', $$ '{"items": {"range": [0, 101], "scale": "log"}}' | '{"kind": {"scale": "log"}}' $$);
SELECT dp_protect('orders', domains => '{"amount": {"range": [0, 1000000], "scale": "linear"}}') IS NOT NULL AS protected;
SELECT domain FROM dp_domains('orders') WHERE column_name = 'amount';
SELECT dp_unprotect('orders');

-- times are shown as times, whatever the DateStyle
CREATE TABLE visits AS SELECT date '2020-01-01' + i % 1000 AS seen, time '08:00' + interval '1 minute' * (i % 500) AS at, i % 3 = 0 AS y FROM generate_series(1, 300) i;
SET datestyle = 'German';
CREATE TABLE timed AS SELECT dp_logreg_train('visits', 'y', '{seen,at}', 1, domains => '{"seen": {"range": ["2020-01-01", "2022-09-27"], "knots": 3}, "at": {"range": ["08:00", "24:00"], "knots": 1}}') AS model;
SELECT name, value, scaled FROM timed, unnest('{seen,at}'::text[]) name, dp_curve(model, name);
SELECT column_name, value FROM timed, dp_coefficients(model) ORDER BY rank;
SELECT value FROM timed, dp_curve(replace(model::text, '"high": 8305', '"high": 7306')::dp_model, 'seen');
SELECT value FROM timed, dp_curve(replace(model::text, '"high": 8305', '"high": 1e300')::dp_model, 'seen');
DROP TABLE orders, fit, others, visits, timed CASCADE;
DROP FUNCTION agrees, trained;
