--
-- Numbers as curves: knots of columns, in every way that rows are read
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
SELECT setseed(0.29) \gset
CREATE TABLE people (id int, age int CHECK (age BETWEEN 17 AND 90), gain float8, seen date, at time, ward text CHECK (ward IN ('a', 'b', 'c')), v float8[] CHECK (cardinality(v) = 2), y boolean);
INSERT INTO people SELECT i, 17 + (random() * 73)::int, CASE WHEN i % 17 = 0 THEN NULL WHEN i % 19 = 0 THEN 'NaN' ELSE exp(random() * 11.6) END, date '2020-01-01' + (random() * 1200)::int,
  time '07:00' + random() * interval '9 hours', (ARRAY['a', 'b', 'c', NULL])[1 + i % 4], ARRAY[random() - 0.5, random() - 0.5] FROM generate_series(1, 3000) i;
UPDATE people SET y = CASE WHEN id % 23 > 0 THEN random() < 1 / (1 + exp(abs(age - 50) / 8.0 - 2 - coalesce(nullif(gain, 'NaN'), 0) / 30000 + (ward = 'a')::int)) END;
\set domains '{"age": {"knots": 8}, "gain": {"range": [0, 99999], "knots": [0, 1000, 5000, 20000, 99999]}, "seen": {"knots": ["2020-01-01", "2020-02-01", "2022-12-31"]}, "at": {"range": ["08:00", "15:00"], "knots": 4}}'

-- what a model says of them
CREATE TABLE fit AS SELECT dp_logreg_train('people', 'y', '{age,gain,seen,at,ward,v}', 'Infinity', lambda => 0.001, domains => :'domains') AS model;
SELECT feature FROM fit, jsonb_array_elements(model::jsonb -> 'features') feature;
SELECT model::text::dp_model::text = model::text AS same, cardinality(dp_weights(model)) AS dimension FROM fit;
SELECT rank, column_name, value, weight = (dp_weights(model))[rank] AS weight FROM fit, dp_coefficients(model) ORDER BY rank;

-- the encoded row: two neighbours that add up to the share of a column, or nothing
SELECT count(*) AS rows, count(*) FILTER (WHERE age_sum <> age_share OR gain_sum NOT IN (0, age_share) OR seen_sum <> age_share OR least > -1 AND least < 0) AS wrong,
       max(entries) AS entries, count(*) FILTER (WHERE gain_sum = 0) AS missing
FROM (SELECT (SELECT sum(x[i]) FROM generate_series(1, 8) i) AS age_sum, (SELECT sum(x[i]) FROM generate_series(9, 13) i) AS gain_sum, (SELECT sum(x[i]) FROM generate_series(14, 16) i) AS seen_sum,
        (SELECT min(x[i]) FROM generate_series(1, 20) i) AS least, (SELECT count(*) FROM generate_series(1, 20) i WHERE x[i] <> 0) AS entries, x[26] AS age_share
      FROM fit, people p, LATERAL dp_encode(model, p) x) s;
SELECT age, dp_encode('{"age": {"range": [0, 100], "knots": 5}}'::jsonb, p) FROM jsonb_populate_recordset(NULL::people, '[{"age": 0}, {"age": 25}, {"age": 30}, {"age": 100}, {"age": 1000}, {}]') p;

-- the same as a training on the expanded vectors, wherever the rows are
CREATE TABLE expanded AS SELECT id, y, dp_encode(model, p) AS x FROM fit, people p;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$ SELECT max(abs(u - v)) FROM unnest(dp_weights(a), dp_weights(b)) w(u, v) $$;
SELECT distance(model, dp_logreg_train('expanded', 'y', 'x', 'Infinity', lambda => 0.001, domains => '{"x": {"dimension": 26}}', options => '{"intercept": false}')) < 1e-8 AS expanded FROM fit;
CREATE FUNCTION agrees(arguments text DEFAULT '', options jsonb DEFAULT '{}') RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE model dp_model; again dp_model;
BEGIN
  EXECUTE format('SELECT dp_svm_train(''people'', ''y'', ''{age,gain,seen,at,ward,v}'', ''Infinity'', lambda => 0.003, knots => 3, domains => ''{"age": {"knots": 8}, "gain": {"knots": [0, 1000, 5000, 20000, 99999]}, "seen": ["2020-01-01", "2022-12-31"], "at": {"range": ["08:00", "15:00"], "knots": 1}}'', options => %L %s)', options, arguments) INTO model;
  CREATE TEMP TABLE vectors AS SELECT id, y, dp_encode(model, p) AS x FROM people p;
  EXECUTE format('SELECT dp_svm_train(''pg_temp.vectors'', ''y'', ''x'', ''Infinity'', lambda => 0.003, domains => jsonb_build_object(''x'', jsonb_build_object(''dimension'', %s)), options => ''{"intercept": false}''::jsonb || %L %s)', cardinality(dp_weights(model)), options, arguments) INTO again;
  DROP TABLE vectors;
  RETURN distance(model, again) < 1e-7 AND cardinality(dp_weights(model)) = 8 + 5 + 3 + 1 + 3 + 2 + 1;
END $$;
SELECT agrees() AS in_memory, agrees($$, unit => 'id'$$) AS persons, agrees(options => '{"loss": "smooth_hinge", "h": 0.1}') AS smooth_hinge;
SET dperm.cache_memory = 0;
SELECT agrees() AS passes, agrees($$, unit => 'id'$$) AS spooled;
SET dperm.cache_memory = '64kB';
SELECT agrees() AS compact, agrees($$, unit => 'id'$$) AS spooled;
RESET dperm.cache_memory;

-- aggregates: shaped noise, and no vector of dp_encode is outside of its shape
SELECT cardinality(dp_weights(m)) AS dimension, (m::jsonb ->> 'noise') AS noise, distance(m, f) < 0.2 * sqrt((SELECT sum(w * w) FROM unnest(dp_weights(f)) w)) AS near
FROM (SELECT dp_logreg(y, dp_encode('{"age": {"range": [17, 90], "knots": 8}, "gain": {"knots": [0, 1000, 99999]}}'::jsonb, p), 500, '{"lambda": 0.01, "noise": "shaped"}') AS m,
             dp_logreg(y, dp_encode('{"age": {"range": [17, 90], "knots": 8}, "gain": {"knots": [0, 1000, 99999]}}'::jsonb, p), 'Infinity', '{"lambda": 0.01}') AS f FROM people p) s;

-- decisions follow, and what columns add
SELECT max(abs(dp_decision(model, p) - (SELECT sum(a * b) FROM unnest(dp_encode(model, p), dp_weights(model)) w(a, b)))) < 1e-12 AS decides,
       max(abs(dp_decision(model, p) - (SELECT sum(score) FROM dp_explain(model, p)))) < 1e-12 AS explains FROM fit, people p;
SELECT value, round(exp(score)::numeric, 1) > 0 AS score, noise, odds > 0 AS odds FROM fit, dp_curve(model, 'gain');
SELECT count(*), max(scaled), bool_and(abs(c.score - e.score) < 1e-12) AS explained FROM fit, dp_curve(model, 'age') c,
  LATERAL (SELECT score FROM people p, dp_explain(model, jsonb_populate_record(p, jsonb_build_object('age', round(c.scaled)))) WHERE id = 1 AND column_name = 'age') e WHERE c.scaled = round(c.scaled);
CREATE TABLE noisy AS SELECT dp_logreg_train('people', 'y', '{age,gain,ward,v}', 1, knots => 5, domains => '{"gain": {"range": [0, 99999], "knots": 1}}') AS model;
SELECT c.value, c.noise > 0 AS noise, abs(c.noise - k.noise / sqrt(5)) < 1e-9 AS of_weights, odds IS NOT NULL AS odds FROM noisy, dp_curve(model, 'age') c JOIN dp_coefficients(model) k ON k.value = c.value AND k.column_name = 'age' ORDER BY scaled;
SELECT value, score = -lag(score) OVER (ORDER BY scaled) AS straight, round((odds * lag(odds) OVER (ORDER BY scaled))::numeric, 9) AS odds FROM noisy, dp_curve(model, 'gain');
SELECT noise #>> '{}' AS noise, shapes FROM noisy, LATERAL (SELECT model::jsonb -> 'noise' AS noise, jsonb_path_query_array(model::jsonb, '$.**.shape') AS shapes) s;
SELECT odds FROM dp_curve(dp_svm_train('people', 'y', 'age', 1, knots => 2), 'age');
SELECT dp_curve(model, 'ward') FROM noisy;
SELECT dp_curve(model, 'v') FROM noisy;
SELECT dp_curve(model, 'Age') FROM noisy;

-- a kernel takes numbers as they are
SELECT feature FROM jsonb_array_elements(dp_logreg_train('people', 'y', '{age,gain}', 1, kernel => 'gaussian', options => '{"kernel_features": 10}', domains => '{"age": {"knots": 4}, "gain": {"knots": [0, 1, 99999]}}')::jsonb -> 'features') feature;
SELECT dp_logreg_train('people', 'y', 'age', 1, kernel => 'gaussian', knots => 2);
SELECT dp_curve(dp_logreg_train('people', 'y', 'age', 1, kernel => 'gaussian', options => '{"kernel_features": 2}', knots => 1), 'age');

-- candidates, costs, evaluation
SELECT m::jsonb #>> '{tuning,chosen}' IN ('{"knots": 1}', '{"knots": 6}') AS chosen, cardinality(dp_weights(m)) IN (2, 7) AS dimension
FROM dp_logreg_tune('people', 'y', 'age', 5, candidates => '[{"knots": 1}, {"knots": 6}]') m;
SELECT (SELECT noise_norm FROM dp_cost('people', 'y', 'age', 1, units => 3000, knots => 8)) > (SELECT noise_norm FROM dp_cost('people', 'y', 'age', 1, units => 3000, knots => 1)) AS costs;
SELECT value = (SELECT avg((dp_predict(model, p) = y)::int) FROM people p) AS same FROM fit, dp_evaluate(model, 'people', 'Infinity', 'y') WHERE metric = 'accuracy';

-- registered domains: an analyst may choose other knots within the range
SELECT dp_budget_create('curves', 100) IS NOT NULL AS created;
SELECT dp_protect('people', 'curves', columns => '{age,gain,y}', domains => '{"gain": {"range": [0, 99999], "knots": [0, 9, 99999]}}') IS NOT NULL AS protected;
SELECT column_name, domain, origin FROM dp_domains('people');
SELECT feature FROM jsonb_array_elements(dp_logreg_train('people', 'y', '{age,gain}', 1, knots => 3)::jsonb -> 'features') feature
UNION ALL SELECT feature FROM jsonb_array_elements(dp_logreg_train('people', 'y', '{age,gain}', 1, domains => '{"age": {"range": [20, 80], "knots": [20, 70, 80]}, "gain": {"range": [0, 500], "knots": 2}}')::jsonb -> 'features') feature;
SELECT dp_logreg_train('people', 'y', '{age,gain}', 1, domains => '{"gain": {"knots": [0, 100000]}}');
-- a number of knots alone has the range of the catalog, not the registered one
CREATE VIEW shown AS SELECT age, gain AS won, y FROM people;
SELECT dp_protect('shown', 'curves') IS NOT NULL AS protected;
SELECT feature FROM jsonb_array_elements(dp_logreg_train('people', 'y', '{age,gain}', 1, domains => '{"age": {"knots": 2}, "gain": {"range": [0, 99999], "knots": 4}}')::jsonb -> 'features') feature
UNION ALL SELECT feature FROM jsonb_array_elements(dp_logreg_train('shown', 'y', '{won}', 1, domains => '{"won": {"range": [0, 99999], "knots": 5}}')::jsonb -> 'features') feature
UNION ALL SELECT feature FROM jsonb_array_elements(dp_logreg_train('people', 'y', '{gain}', 1, domains => '{"gain": {"range": [0, 500]}}')::jsonb -> 'features') feature;
SELECT dp_logreg_train('shown', 'y', '{won}', 1, domains => '{"won": {"knots": 5}}');
SELECT dp_unprotect('shown');
DROP VIEW shown;
-- with a kernel, one knot is what every number has
SELECT dp_logreg_train('people', 'y', 'gain', 1, kernel => 'gaussian', options => '{"kernel_features": 2}', knots => 1) IS NOT NULL AS trained;
-- knots that no feature would get
SELECT * FROM outcomes($$dp_logreg_train('people', 'y', 'gain', 1, knots => ?)$$, $$3 | 1$$);
SELECT dp_unprotect('people');
-- not before what else is wrong with them
CREATE TABLE bare (t text, y boolean);
SELECT * FROM outcomes($$dp_logreg_train('bare', 'y', 't', 1, knots => ?)$$, $$3$$);
DROP TABLE bare;

-- what is refused, before any row is read
CREATE FUNCTION refused(domains jsonb, options text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT dp_logreg_train(''people'', ''y'', NULL, 1, domains => %L %s)', domains, options);
  RETURN 'trained';
EXCEPTION WHEN others THEN RETURN sqlerrm;
END $$;
SELECT domain, refused(domain) FROM unnest(ARRAY['{"age": {"knots": 0}}', '{"age": {"knots": 2.5}}', '{"age": {"knots": 5001}}', '{"age": {"knots": "8"}}', '{"age": {"knots": null}}', '{"age": {"knots": []}}', '{"age": {"knots": [1]}}',
  '{"age": {"knots": [1, 1]}}', '{"age": {"knots": [1, 3, 2]}}', '{"seen": {"knots": ["2020-01-01", "2019-01-01"]}}', '{"age": {"knots": [1, "2"]}}', '{"age": {"range": [0, 2], "knots": [0, 1]}}', '{"age": {"range": [0, 2], "knots": [1, 2]}}',
  '{"age": {"range": [2, 0], "knots": 3}}', '{"age": {"range": [0, 2], "knots": 3, "more": 1}}', '{"gain": {"knots": 3}}', '{"seen": {"knots": [1, 2]}}', '{"seen": {"knots": ["2020-01-01", "infinity"]}}',
  '{"ward": {"knots": 3}}', '{"y": {"knots": 3}}', '{"v": {"dimension": 2, "norm": 1, "knots": 3}}', '{"age": {"categories": [1, 2], "knots": 3}}']::jsonb[]) domain;
SELECT options, refused('{}', options) FROM unnest(ARRAY[', knots => 0', ', knots => -1', ', knots => 5000', ', knots => 4999']) options;
SELECT dp_logreg(y, v, 1, '{"knots": 3}') FROM people;
DROP TABLE people, fit, expanded, noisy;
DROP FUNCTION distance, agrees, refused;
