-- Noise in the shape of the data, the criterion for lambda and the slack
\set ECHO errors
\pset format unaligned
SET client_min_messages = warning;
\pset tuples_only on
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE TABLE people (id integer PRIMARY KEY, sick boolean, age integer CHECK (age BETWEEN 0 AND 100), smoker boolean, colour colour, x float8[] CHECK (cardinality(x) = 2));
INSERT INTO people SELECT i, i % 3 = 0, i % 100, i % 2 = 0, (ARRAY['red', 'green', 'blue'])[1 + i % 3]::colour, ARRAY[sin(i) / 2, cos(i) / 2] FROM generate_series(1, 1000) i;

-- The shapes and groups of a model: coordinates and shares
CREATE FUNCTION shapes(m dp_model) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(string_agg(format('%s: %s %s+%s r=%s', round((g ->> 'share')::numeric, 4), s ->> 'shape', s ->> 'first', s ->> 'count', round((s ->> 'radius')::numeric, 6)), E'\n' ORDER BY n, k), m::jsonb ->> 'noise')
  FROM jsonb_array_elements(m::jsonb -> 'noise_groups') WITH ORDINALITY AS a (g, n), jsonb_array_elements(g -> 'shapes') WITH ORDINALITY AS b (s, k) $$;
SELECT shapes(dp_logreg_train('people', 'sick', '{age,smoker,colour,x}', 1, knots => 1));
SELECT shapes(dp_svm_train('people', 'sick', '{colour,age,x,smoker}', 1, options => '{"intercept": false}', knots => 1));
-- the shares by hand: the cube roots of (D+1)(D+2) times the mean square of a
-- point, of the groups that make their sum least
WITH parts(name, k, square) AS (VALUES ('age', 1, 1 / 3.0), ('smoker', 1, 1 / 3.0), ('colour', 3, 2 * 3 / (4.0 * 5)), ('x', 2, 2 / 4.0), ('intercept', 1, 1 / 3.0)),
  -- all 52 partitions: a group is the smallest part that it holds
  partitions AS (SELECT ARRAY[1, b, c, d, e] AS p FROM generate_series(1, 2) b, generate_series(1, 3) c, generate_series(1, 4) d, generate_series(1, 5) e
    WHERE c <= greatest(1, b) + 1 AND d <= greatest(1, b, c) + 1 AND e <= greatest(1, b, c, d) + 1),
  costs AS (SELECT p, (SELECT sum(cost) FROM (SELECT ((sum(k) + 1) * (sum(k) + 2) * sum(square) / 5) ^ (1 / 3.0) AS cost
      FROM (SELECT row_number() OVER () AS i, k, square FROM parts) q GROUP BY p[i]) c) AS cost FROM partitions)
SELECT count(*), round(min(cost) ^ 3, 6), round((SELECT sum((d + 1) * (d + 2) * square / share ^ 2) FROM (
    SELECT (g ->> 'share')::numeric AS share, sum((s ->> 'count')::numeric) AS d,
      sum((s ->> 'radius')::numeric ^ 2 * CASE s ->> 'shape' WHEN 'box' THEN (s ->> 'count')::numeric / 3 WHEN 'ball' THEN (s ->> 'count')::numeric / ((s ->> 'count')::numeric + 2)
        ELSE 2 * (s ->> 'count')::numeric / (((s ->> 'count')::numeric + 1) * ((s ->> 'count')::numeric + 2)) END) AS square
    FROM dp_logreg_train('people', 'sick', '{age,smoker,colour,x}', 1, knots => 1) m, jsonb_array_elements(m::jsonb -> 'noise_groups') g, jsonb_array_elements(g -> 'shapes') s GROUP BY g) t), 6) FROM costs;
-- kernels: pairs, and an intercept beside them
SELECT shapes(dp_logreg_train('people', 'sick', '{age,x}', 1, kernel => 'gaussian', options => '{"kernel_features": 20}'));
SELECT shapes(dp_logreg_train('people', 'sick', '{age,x}', 1, kernel => 'gaussian', options => '{"kernel_features": 20, "intercept": true}'));

-- a vector with a range: a box, each coordinate of which has its share
SELECT shapes(dp_logreg_train('people', 'sick', 'x', 1, options => '{"intercept": false}', domains => '{"x": {"range": [-1, 1]}}'));
SELECT shapes(dp_logreg_train('people', 'sick', '{age,x}', 1, knots => 1, domains => '{"x": {"range": [[-1, 1], [0, 2]]}}'));

-- The ball: on request, of a lone vector, with other methods, without noise
-- there is none
SELECT shapes(dp_logreg_train('people', 'sick', '{age,colour}', 1, options => '{"noise": "ball"}'));
SELECT shapes(dp_logreg_train('people', 'sick', 'x', 1, options => '{"intercept": false}'));
SELECT shapes(dp_logreg_train('people', 'sick', 'x', 1, options => '{"intercept": false, "noise": "shaped"}'));
SELECT shapes(dp_logreg_train('people', 'sick', '{age,colour}', 1, options => '{"analysis": "paper"}'));
SELECT shapes(dp_logreg_train('people', 'sick', '{age,colour}', 1, options => '{"method": "output"}'));
SELECT dp_logreg_train('people', 'sick', '{age,colour}', 'Infinity')::jsonb ? 'noise';
SELECT shapes(dp_logreg_train('people', 'sick', 'x', 1));

-- Text and binary forms keep it, and the guarantee describes it
CREATE TABLE models AS SELECT dp_svm_train('people', 'sick', '{age,smoker,colour,x}', 1, knots => 1) AS m;
SELECT m::text::dp_model::text = m::text, m::jsonb::dp_model::text = m::text, dp_guarantee(m) ~ 'with the sharp analysis and noise in the shape of the encoded columns\.' FROM models;
SELECT current_setting('data_directory') || '/dperm_noise_test.bin' AS file \gset
COPY models TO :'file' (FORMAT binary);
CREATE TABLE restored (m dp_model);
COPY restored FROM :'file' (FORMAT binary);
SELECT r.m::text = o.m::text FROM restored r, models o;
-- what does not fit is refused
SELECT outcomes('jsonb_set(m::jsonb, ?)::dp_model::text <> '''' FROM models', $$
  '{noise}', '"ball"' | '{noise}', '"round"' | '{noise_groups}', '[]'
  '{noise_groups,0,share}', '0' | '{noise_groups,0,share}', '2'
  '{noise_groups,0,shapes,0,first}', '7' | '{noise_groups,0,shapes,0,count}', '2'
  '{noise_groups,0,shapes,0,radius}', '-1' | '{noise_groups,0,shapes,0,shape}', '"cube"'
  '{noise_groups,0,shapes}', '[]' | '{noise_groups,0,shapes,0,odd}', '1' | '{method}', '"output"'
  '{analysis}', '"paper"' $$);

-- The criterion: lambda by default is where the risk is least, here by trying
-- many; the slack takes what that lambda needs
CREATE FUNCTION least_risk(n float8, eps float8, c float8, spread float8) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN l FROM (SELECT l, left_for_noise(eps, n * l, c, CASE c WHEN 0.25 THEN 'logistic' ELSE 'huber' END) AS room FROM (SELECT exp(k * 0.0046::float8 - 18.4) AS l FROM generate_series(1000, 6000) k
    WHERE exp(k * 0.0046::float8 - 18.4) BETWEEN sqrt(spread) / (10 * n * eps) / 3 AND sqrt(spread) / (10 * n * eps) * 10 + c / (n * eps) * 4) a) b
  WHERE room > 0 ORDER BY 4 * spread / (2 * (room * n) ^ 2 * l) + 200 * l LIMIT 1;
END $$;
CREATE FUNCTION spread(m dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN m::jsonb ->> 'noise' = 'ball' THEN (m::jsonb ->> 'dimension')::float8 * ((m::jsonb ->> 'dimension')::float8 + 1) ELSE
    (SELECT sum((d + 1) * (d + 2) * square / share ^ 2) FROM (SELECT (g ->> 'share')::float8 AS share, sum((s ->> 'count')::float8) AS d,
      sum((s ->> 'radius')::float8 ^ 2 * CASE s ->> 'shape' WHEN 'box' THEN (s ->> 'count')::float8 / 3 WHEN 'ball' THEN (s ->> 'count')::float8 / ((s ->> 'count')::float8 + 2) WHEN 'discs' THEN (s ->> 'count')::float8 / 4
        ELSE 2 * (s ->> 'count')::float8 / (((s ->> 'count')::float8 + 1) * ((s ->> 'count')::float8 + 2)) END) AS square
    FROM jsonb_array_elements(m::jsonb -> 'noise_groups') g, jsonb_array_elements(g -> 'shapes') s GROUP BY g) t) END $$;
CREATE TABLE by_default AS
  SELECT e, 0.25 AS c, dp_logreg_train('people', 'sick', '{age,smoker,colour,x}', e) AS m FROM (VALUES (0.1), (1), (10)) v (e)
  UNION ALL SELECT e, 1, dp_svm_train('people', 'sick', '{age,smoker,colour,x}', e) FROM (VALUES (0.1), (1), (10)) v (e)
  UNION ALL SELECT 1, 0.25, dp_logreg_train('people', 'sick', '{age,smoker,colour,x}', 1, options => '{"noise": "ball"}')
  UNION ALL SELECT 1, 0.25, dp_logreg_train('people', 'sick', '{age,x}', 1, kernel => 'cauchy', options => '{"kernel_features": 30}');
SELECT bool_and(abs((m::jsonb ->> 'lambda')::float8 / least_risk(1000, e, c, spread(m)) - 1) < 0.01) AS least,
       bool_and(abs((m::jsonb ->> 'lambda_effective')::float8 / (m::jsonb ->> 'lambda')::float8 - 1) < 1e-9) AS as_it_is,
       bool_and(abs((m::jsonb #>> '{budget,noise}')::float8 - left_for_noise(e - (m::jsonb #>> '{budget,release}')::float8, 1000 * (m::jsonb ->> 'lambda')::float8, c,
         CASE c WHEN 0.25 THEN 'logistic' ELSE 'huber' END)) < 1e-9) AS slack, count(*) FROM by_default;
-- a lambda of the caller's is kept while the slack takes at most a tenth, or what the criterion would give it
SELECT lambda, (m ->> 'lambda_effective')::float8 = lambda AS kept, round((m #>> '{budget,slack}')::numeric, 4) AS slack
FROM (VALUES (1), (0.01), (0.001), (1e-9)) v (lambda), LATERAL (SELECT dp_svm_train('people', 'sick', '{age,smoker,colour,x}', 0.5, lambda => lambda)::jsonb) s (m);

-- The default grid of a tuning: multiples of the default, whatever the number of rows
SELECT bool_and(abs((m ->> 'lambda')::float8 / least_risk((m ->> 'rows')::float8, 1, 0.25, spread(m::dp_model)) / (m #>> '{tuning,chosen,scale}')::float8 - 1) < 0.02)
FROM (SELECT dp_logreg_tune('people', 'sick', '{age,colour}', 1)::jsonb AS m FROM generate_series(1, 5) OFFSET 0) s;

-- Aggregates: the shape of what dp_encode makes, if it is called with a
-- constant or a parameter
SELECT shapes(dp_logreg(sick, dp_encode(jsonb '{"age": [0, 100], "colour": ["red", "green", "blue"]}', p), 1)) FROM people p;
SELECT shapes(dp_logreg(sick, dp_encode(jsonb '{"age": [0, 100], "colour": ["red", "green", "blue"]}', p), 1, '{"intercept": false, "norm": 2}')) FROM people p;
SELECT m AS model FROM models \gset
SELECT shapes(dp_svm(sick, dp_encode(:'model'::dp_model, p), 1)) FROM people p;
PREPARE by_parameter(jsonb) AS SELECT shapes(dp_logreg(sick, dp_encode($1, p), 1)) FROM people p;
EXECUTE by_parameter('{"smoker": null, "age": [0, 10]}');
SELECT shapes(dp_logreg(sick, dp_encode(jsonb '{"age": [0, 100], "colour": null}', p), 1, '{"noise": "ball"}')) FROM people p;
-- not: from a subquery, after a cast that rounds, ARRAY[...], a function of the
-- same name
SELECT shapes(dp_logreg(sick, x, 1, '{"dimension": 4}')) FROM (SELECT sick, dp_encode(jsonb '{"age": [0, 100], "colour": null}', p) AS x FROM people p OFFSET 0) s;
SELECT shapes(dp_logreg(sick, dp_encode(jsonb '{"age": [0, 100], "colour": null}', p)::real[], 1)) FROM people p;
SELECT shapes(dp_logreg(sick, ARRAY[age, 1], 1)) FROM people p;
CREATE SCHEMA mine;
CREATE FUNCTION mine.dp_encode(jsonb, public.people) RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$ SELECT '{1,1,1,1}'::float8[] $$;
SELECT shapes(dp_logreg(sick, mine.dp_encode(jsonb '{"age": [0, 100], "colour": null}', p), 1, '{"dimension": 4}')) FROM people p;
-- weights do not depend on it
SELECT dp_weights(dp_logreg(sick, dp_encode(jsonb '{"age": [0, 100], "colour": null}', p), 'Infinity', '{"lambda": 0.1, "noise": "ball"}')) = dp_weights(dp_logreg(sick, dp_encode(jsonb '{"age": [0, 100], "colour": null}', p), 'Infinity', '{"lambda": 0.1}')) FROM people p;

-- Mistakes
SELECT outcomes($$ dp_logreg_train('people', 'sick', 'age', 1, ?) $$, $$
  options => '{"noise": "round"}' | options => '{"noise": "shaped", "method": "output"}' | options => '{"noise": "shaped", "analysis": "paper"}' $$);
DROP TABLE people, models, restored, by_default CASCADE;
DROP SCHEMA mine CASCADE;
DROP TYPE colour CASCADE;
DROP FUNCTION least_risk, spread, shapes;
