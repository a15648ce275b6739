--
-- Numbers whose knots nobody specifies: the rule, in every way that rows are read
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
SELECT setseed(0.31) \gset
CREATE TABLE people (id int PRIMARY KEY, age int CHECK (age BETWEEN 17 AND 90), gain float8, seen date, ward text CHECK (ward IN ('a', 'b', 'c')), smoker boolean, y boolean);
INSERT INTO people SELECT i, CASE WHEN i % 13 > 0 THEN 17 + (random() * 73)::int END, CASE WHEN i % 17 = 0 THEN NULL WHEN i % 19 = 0 THEN 'NaN' WHEN i % 29 = 0 THEN 50 WHEN i % 31 = 0 THEN -1e308 WHEN i % 37 = 0 THEN 'Infinity' ELSE random() * 110 - 5 END,
  CASE WHEN i % 11 > 0 THEN date '2020-01-01' + (random() * 1200)::int END, (ARRAY['a', 'b', 'c', NULL])[1 + i % 4], i % 5 = 0 FROM generate_series(1, 3000) i;
UPDATE people SET y = CASE WHEN id % 23 > 0 THEN random() < 1 / (1 + exp(abs(coalesce(age, 50) - 50) / 5.0 - 3 + (ward = 'a')::int)) END;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE WHEN cardinality(dp_weights(a)) = cardinality(dp_weights(b)) THEN max(abs(u - v)) END FROM unnest(dp_weights(a), dp_weights(b)) w(u, v) $$;
CREATE FUNCTION knots(model dp_model) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT string_agg(coalesce(f ->> 'knots', '1'), ' ') FROM jsonb_array_elements(model::jsonb -> 'features') f $$;

-- with as many as the rule says, the same model as with so many on request:
-- without noise it says 16, wherever the rows are
CREATE FUNCTION same(source text, features text, options text DEFAULT '', learner text DEFAULT 'logreg') RETURNS text LANGUAGE plpgsql AS $$
DECLARE ruled dp_model; asked dp_model;
BEGIN
  EXECUTE format('SELECT dp_%s_train(%L, ''y'', %L, ''Infinity'', lambda => 0.003, domains => ''{"gain": [0, 100], "seen": {"range": ["2020-01-01", "2022-12-31"], "knots": 3}}'' %s)', learner, source, features, options) INTO ruled;
  EXECUTE format('SELECT dp_%s_train(%L, ''y'', %L, ''Infinity'', lambda => 0.003, knots => 16, domains => ''{"gain": [0, 100], "seen": {"range": ["2020-01-01", "2022-12-31"], "knots": 3}}'' %s)', learner, source, features, options) INTO asked;
  RETURN CASE WHEN distance(ruled, asked) < 1e-9 THEN knots(ruled) ELSE 'differ' END;
END $$;
CREATE FUNCTION ways(source text) RETURNS TABLE (mixed text, numbers text, bare text, persons text, machine text) LANGUAGE sql AS $$
  SELECT same(source, '{ward,age,seen,smoker,gain}'), same(source, '{age,gain}'), same(source, '{gain,smoker,age}', ', options => ''{"intercept": false}'''), same(source, '{ward,age,seen,smoker,gain}', ', unit => ''id'''),
         same(source, '{gain,seen}', ', options => ''{"loss": "smooth_hinge"}''', 'svm') $$;
SELECT * FROM ways('people');
SET dperm.cache_memory = 0;
SELECT * FROM ways('people');
SET dperm.cache_memory = '64kB';
SELECT * FROM ways('people');
RESET dperm.cache_memory;
CREATE TABLE parts (LIKE people INCLUDING ALL) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE part_2 PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT * FROM people ORDER BY id DESC;
SELECT * FROM ways('parts');
SELECT distance(dp_logreg_train('people', 'y', '{age,ward}', 'Infinity', lambda => 0.003), dp_logreg_train('parts', 'y', '{age,ward}', 'Infinity', lambda => 0.003)) < 1e-9 AS in_any_order;
-- nobody asks for knots, or somebody does: the rows of a straight line are as they were
SELECT knots(dp_logreg_train('people', 'y', '{age,ward,seen}', 1, knots => 1, domains => '{"seen": {"range": ["2020-01-01", "2022-12-31"], "knots": 3}}')) AS asked,
       knots(dp_logreg_train('people', 'y', '{age,ward,seen}', 0.01, domains => '{"seen": {"range": ["2020-01-01", "2022-12-31"], "knots": 3}}')) AS few,
       knots(dp_logreg_train('people', 'y', '{age,gain}', 1, kernel => 'gaussian', options => '{"kernel_features": 10}', domains => '{"gain": [0, 100]}')) AS kernel;

-- how many: the most that the noise of so many knots allows, which dp_cost shows; a straight line and an intercept have noise of mean square 4 (apart / epsilon)^2
CREATE TABLE noise_of AS SELECT k, c.noise_norm * c.lambda_effective * 3000 * c.epsilon_noise / 2 AS norm
FROM generate_series(1, 16) k, dp_cost('people', 'y', 'age', 1, units => 3000, options => '{"method": "objective", "noise": "shaped"}', knots => k) c;
SELECT round(norm::numeric, 4) AS straight FROM noise_of WHERE k = 1;
CREATE FUNCTION by_hand(n float8, epsilon float8, apart int) RETURNS int LANGUAGE sql AS $$ SELECT coalesce(max(k), 1) FROM noise_of WHERE k >= 4 AND k <= round(0.85 * (n * epsilon / (norm * apart)) ^ (1 / 3.0)::float8) $$;
SELECT e AS epsilon, r.neighbours, k AS knots, knots(m)::int = k AS trained, c.knots = k AS told, c.lambda_used = (m::jsonb ->> 'lambda')::float8 AND c.epsilon_noise = (m::jsonb -> 'budget' ->> 'noise')::float8 AS lambda, coalesce((c.features -> 0 ->> 'knots')::int, 1) = k AS features
FROM (VALUES (0.01), (0.05), (0.1), (0.3), (1), (2), (4), (8), (64)) v (e), (VALUES ('replace', 2), ('remove', 1)) r (neighbours, apart), by_hand(3000, e, apart) k, dp_logreg_train('people', 'y', 'age', e, neighbours => r.neighbours, options => '{"method": "objective"}') m, dp_cost('people', 'y', 'age', e, units => 3000, neighbours => r.neighbours, options => '{"method": "objective"}') c
ORDER BY 1, 2;
-- the next number of rows after each step, and units_needed is a number of rows at which the noise is small enough
SELECT bool_and(a.knots = by_hand(n, 1, 2)) AS by_hand, min(a.knots), max(a.knots), bool_and(c.noise_share <= 0.5) AS needed
FROM generate_series(57, 60000, 400) n, dp_cost('people', 'y', 'age', 1, units => n, options => '{"noise": "shaped"}') a, dp_cost('people', 'y', 'age', 1, units => a.units_needed, options => '{"noise": "shaped"}') c;
SELECT method, noise, knots FROM dp_cost('people', 'y', '{age,ward,smoker}', 1, units => 3000, delta => 1e-6);
SELECT options, (SELECT knots FROM dp_cost('people', 'y', features::text[], 1, units => 3000, knots => k, kernel => kernel, options => jsonb_strip_nulls(jsonb_build_object('kernel_features', nullif((kernel IS NOT NULL)::int * 10, 0)))))
FROM (VALUES ('{age,ward}', 'asked', 6, NULL), ('{ward,smoker}', 'no number', NULL, NULL), ('{age}', 'kernel', NULL, 'gaussian'), ('{age}', 'straight', 1, NULL)) v (features, options, k, kernel);

-- tuning: each candidate has its portion, and knots of its own if it says so
SELECT DISTINCT knots(m)::int = by_hand(1500, 1, 2) AS half, by_hand(1500, 1, 2) <> by_hand(3000, 1, 2) AS smaller FROM dp_logreg_tune('people', 'y', 'age', 1, candidates => '[{"method": "objective"}]') m;
SELECT m::jsonb #> '{tuning,chosen}' AS chosen, knots(m) FROM dp_logreg_tune('people', 'y', '{age,ward}', 'Infinity', lambda => 0.001, candidates => '[{"knots": 1}, {}, {"knots": 2}]') m;
SELECT m::jsonb #> '{tuning,chosen}' AS chosen, knots(m) FROM dp_logreg_tune('people', 'y', '{age,ward}', 'Infinity', lambda => 0.001, candidates => '[{"knots": 1}, {}, {"knots": 2}]', unit => 'id') m;
SET dperm.cache_memory = 0;
SELECT m::jsonb #> '{tuning,chosen}' AS chosen, knots(m) FROM dp_logreg_tune('people', 'y', '{age,ward}', 'Infinity', lambda => 0.001, candidates => '[{"knots": 1}, {}]', unit => 'id') m;
SELECT m::jsonb #> '{tuning,chosen}' AS chosen, knots(m) FROM dp_logreg_tune('people', 'y', '{age,ward}', 'Infinity', lambda => 0.001, candidates => '[{"knots": 1}, {}]') m;
RESET dperm.cache_memory;

-- a dimension that does not fit lowers them, and raises no error
CREATE FUNCTION make_wide(n int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE wide_%s (y boolean, %s)', n, (SELECT string_agg(format('c%s float4 CHECK (c%s BETWEEN 0 AND 1)', i, i), ', ') FROM generate_series(1, n) i));
  RETURN 'wide_' || n;
END $$;
SELECT n, (SELECT knots FROM dp_cost(make_wide(n), 'y', NULL, 500, units => 1000000000)) FROM unnest(ARRAY[312, 313, 400, 1249, 1250]) n;
INSERT INTO wide_1250 (y, c1, c2) SELECT i % 2 = 0, random(), random() FROM generate_series(1, 40) i;
SELECT cardinality(dp_weights(dp_logreg_train('wide_1250', 'y', NULL, 'Infinity', lambda => 0.1))) AS straight;
DROP TABLE wide_312, wide_313, wide_400, wide_1249, wide_1250;

-- a protected relation: what a call is charged is known before its number of
-- rows, and is never less than its model costs
SELECT dp_budget_create('rule_pure', 500) IS NOT NULL AS created, dp_budget_create('rule_both', 100, 1e-3) IS NOT NULL AS created;
SELECT dp_protect('people', 'rule_pure', domains => '{"gain": [0, 100]}') IS NOT NULL AS protected;
SELECT knots(m), distance(m, dp_logreg_train('parts', 'y', '{age,ward,gain}', 'Infinity', lambda => 0.01, domains => '{"gain": [0, 100]}')) < 0.1 AS near FROM dp_logreg_train('people', 'y', '{age,ward,gain}', 200, lambda => 0.01) m;
SET dperm.cache_memory = '64kB';
SELECT knots(m), distance(m, dp_logreg_train('parts', 'y', '{age,ward,gain}', 'Infinity', lambda => 0.01, domains => '{"gain": [0, 100]}')) < 0.1 AS near FROM dp_logreg_train('people', 'y', '{age,ward,gain}', 200, lambda => 0.01) m;
RESET dperm.cache_memory;
SELECT knots(m)::int = by_hand(1000, 1, 2) AS third FROM dp_logreg_tune('people', 'y', 'age', 1, candidates => '[{"method": "objective"}, {"method": "objective", "noise": "shaped"}]') m;
SELECT dp_unprotect('people');
SELECT dp_protect('people', 'rule_both', domains => '{"gain": [0, 100]}') IS NOT NULL AS protected;
SELECT count(*) AS calls, bool_and(ruled.epsilon_charged >= asked.epsilon_charged AND ruled.calls_left <= asked.calls_left) AS never_less, bool_or(ruled.calls_left < asked.calls_left) AS sometimes_more, bool_and(ruled.knots > 1) AS curves
FROM (VALUES (0.1), (0.5), (1)) e (e), (VALUES ('output', 0), ('output', 1e-7), ('objective', 0), ('objective', 1e-7), ('auto', 1e-7)) w (method, delta), unnest(ARRAY[1, 4, 8, 16]) k,
  LATERAL (SELECT * FROM dp_cost('people', 'y', '{age,gain}', e, units => 100000, options => jsonb_build_object('method', w.method), delta => w.delta)) ruled,
  LATERAL (SELECT * FROM dp_cost('people', 'y', '{age,gain}', e, units => 100000, options => jsonb_build_object('method', w.method), delta => w.delta, knots => k)) asked;
SELECT dp_unprotect('people');
DROP TABLE people, parts;
DROP TABLE noise_of;
DROP FUNCTION distance, knots, same, ways, by_hand, make_wide;
