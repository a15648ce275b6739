--
-- Vectors as curves: knots of each element, in every way that rows are read
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
SELECT setseed(0.31) \gset
CREATE TABLE readings (id int, x float8[] CHECK (cardinality(x) = 3), z real[], age int CHECK (age BETWEEN 17 AND 90), ward text CHECK (ward IN ('a', 'b')), y boolean);
ALTER TABLE readings ALTER x SET STORAGE PLAIN;  -- read in place; z is not
INSERT INTO readings SELECT i, ARRAY[random(), CASE WHEN i % 13 = 0 THEN 'NaN' ELSE random() * 3 - 1 END, random() * 2 - 1], CASE WHEN i % 11 = 0 THEN NULL WHEN i % 17 = 0 THEN ARRAY[1, 2, 3] WHEN i % 19 = 0 THEN ARRAY[NULL, 1] ELSE ARRAY[random() * 5, random()] END,
  17 + (random() * 73)::int, (ARRAY['a', 'b', NULL])[1 + i % 3] FROM generate_series(1, 3000) i;
UPDATE readings SET y = CASE WHEN id % 23 > 0 THEN random() < 1 / (1 + exp(6 * abs(x[1] - 0.5) - 2 * (x[3] > 0)::int + (ward = 'a')::int)) END;
\set domains '{"x": {"range": [[0, 1], [-1, 2], [-0.5, 0.5]], "knots": 4}, "z": {"dimension": 2, "knots": [0, 0.25, 5]}}'

-- what a model says of them
CREATE TABLE fit AS SELECT dp_logreg_train('readings', 'y', '{x,age,z,ward}', 'Infinity', lambda => 0.001, knots => 1, domains => :'domains') AS model;
SELECT feature FROM fit, jsonb_array_elements(model::jsonb -> 'features') feature;
SELECT model::text::dp_model::text = model::text AS same, cardinality(dp_weights(model)) AS dimension FROM fit;
SELECT rank, column_name, value FROM fit, dp_coefficients(model) ORDER BY rank;

-- the encoded row: each element is two neighbours that add up to the share of a column, or nothing
SELECT count(*) AS rows, count(*) FILTER (WHERE x1 <> share OR x2 <> CASE WHEN id % 13 = 0 THEN 0 ELSE share END OR x3 <> share) AS wrong_x, count(*) FILTER (WHERE z1 <> CASE WHEN id % 11 * (id % 17) * (id % 19) = 0 THEN 0 ELSE share END OR z2 <> z1) AS wrong_z,
       max(entries) AS entries, min(least) AS least, min(share) = max(share) AND abs(min(share) - 1 / sqrt(8)) < 1e-15 AS share
FROM (SELECT id, e[1] + e[2] + e[3] + e[4] AS x1, e[5] + e[6] + e[7] + e[8] AS x2, e[9] + e[10] + e[11] + e[12] AS x3, e[14] + e[15] + e[16] AS z1, e[17] + e[18] + e[19] AS z2, e[22] AS share,
        (SELECT min(e[i]) FROM generate_series(1, 19) i WHERE i <> 13) AS least, (SELECT count(*) FROM generate_series(1, 19) i WHERE i <> 13 AND e[i] <> 0) AS entries
      FROM fit, readings r, LATERAL dp_encode(model, r) e) s;
SELECT x, dp_encode('{"x": {"range": [0, 1], "knots": 3}}'::jsonb, r) FROM jsonb_populate_recordset(NULL::readings, '[{"x": [0, 0.5, 1]}, {"x": [-7, 0.25, "Infinity"]}, {"x": [1, "NaN", null]}, {"x": [1, "NaN", 0]}, {"x": [1]}, {}]') r;

-- the same as columns of the elements: rows, noise, charge
CREATE VIEW columns AS SELECT id, x[1] AS a, x[2] AS b, x[3] AS c, age, y FROM readings;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$ SELECT max(abs(u - v)) FROM unnest(dp_weights(a), dp_weights(b)) w(u, v) $$;
CREATE FUNCTION differs(options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE v dp_model; c dp_model;
BEGIN
  EXECUTE 'SELECT dp_logreg_train(''readings'', ''y'', ''{x,age}'', domains => ''{"x": {"range": [[0, 1], [-1, 2], [-0.5, 0.5]], "knots": 4}}'', ' || options || ')' INTO v;
  EXECUTE 'SELECT dp_logreg_train(''columns'', ''y'', ''{a,b,c,age}'', domains => ''{"a": {"range": [0, 1], "knots": 4}, "b": {"range": [-1, 2], "knots": 4}, "c": {"range": [-0.5, 0.5], "knots": 4}, "age": [17, 90]}'', ' || options || ')' INTO c;
  RETURN (SELECT string_agg(key, ', ') FROM jsonb_each(v::jsonb) JOIN jsonb_each(c::jsonb) o USING (key) WHERE o.value <> jsonb_each.value) || CASE WHEN distance(v, c) < 1e-9 THEN ', but not by much' ELSE '' END;
END $$;
SELECT options, differs(options) FROM unnest(ARRAY['epsilon => ''Infinity'', lambda => 0.01', 'epsilon => 1, lambda => 0.01', 'epsilon => 1, delta => 1e-6', 'epsilon => 1, neighbours => ''remove'', unit => ''id''']) options;

-- the same as a training on the expanded vectors, wherever the rows are
CREATE FUNCTION agrees(arguments text DEFAULT '', knots text DEFAULT '3', options jsonb DEFAULT '{}') RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE model dp_model; again dp_model;
BEGIN
  EXECUTE format('SELECT dp_svm_train(''readings'', ''y'', ''{x,age,z,ward}'', ''Infinity'', lambda => 0.003, knots => %s, domains => ''{"x": {"range": [-1, 1], "knots": [-1, 0, 0.1, 1]}, "z": {"dimension": 2, "range": [[0, 1], [0, 3]], "knots": 5}}'', options => %L %s)', knots, options, arguments) INTO model;
  CREATE TEMP TABLE vectors AS SELECT id, y, dp_encode(model, r) AS x FROM readings r;
  EXECUTE format('SELECT dp_svm_train(''pg_temp.vectors'', ''y'', ''x'', ''Infinity'', lambda => 0.003, domains => jsonb_build_object(''x'', jsonb_build_object(''dimension'', %s)), options => ''{"intercept": false}''::jsonb || %L %s)', cardinality(dp_weights(model)), options, arguments) INTO again;
  DROP TABLE vectors;
  RETURN distance(model, again) < 1e-7 AND cardinality(dp_weights(model)) = 3 * 4 + CASE knots WHEN 'NULL' THEN 16 ELSE 3 END + 2 * 5 + 2 + 1;
END $$;
SELECT agrees() AS in_memory, agrees($$, unit => 'id'$$) AS persons, agrees(options => '{"loss": "smooth_hinge", "h": 0.1}') AS smooth_hinge, agrees('', 'NULL') AND agrees($$, unit => 'id'$$, 'NULL') AS by_the_rule;
SET dperm.cache_memory = 0;
SELECT agrees() AS passes, agrees($$, unit => 'id'$$) AS spooled, agrees('', 'NULL') AND agrees($$, unit => 'id'$$, 'NULL') AS by_the_rule;
SET dperm.cache_memory = '64kB';
SELECT agrees() AS compact, agrees($$, unit => 'id'$$) AS spooled, agrees('', 'NULL') AND agrees($$, unit => 'id'$$, 'NULL') AS by_the_rule;
RESET dperm.cache_memory;
-- a vector alone: columns by name, or an array
SELECT count(dp_decision(m, r)), count(*) FILTER (WHERE dp_decision(m, r) = dp_decision(m, x) AND dp_decision(m, x) = dp_decision(m, x || '{}')) AS same FROM (SELECT dp_logreg_train('readings', 'y', 'x', 1, domains => '{"x": {"range": [0, 1], "knots": 4}}') AS m) s, readings r;
SELECT dp_decision(dp_logreg_train('readings', 'y', 'x', 1, domains => '{"x": {"range": [0, 1], "knots": 4}}'), ARRAY[1, 2]::float8[]);
-- aggregates: shaped noise, and no vector of dp_encode is outside of its shape
SELECT cardinality(dp_weights(m)) AS dimension, m::jsonb ->> 'noise' AS noise, jsonb_path_query_array(m::jsonb, 'strict $.noise_groups[*].shapes[*].count') AS shapes, distance(m, f) < 0.2 * sqrt((SELECT sum(w * w) FROM unnest(dp_weights(f)) w)) AS near
FROM (SELECT dp_logreg(y, dp_encode('{"x": {"range": [0, 1], "knots": 4}}'::jsonb, r), 500, '{"lambda": 0.01, "noise": "shaped"}') AS m, dp_logreg(y, dp_encode('{"x": {"range": [0, 1], "knots": 4}}'::jsonb, r), 'Infinity', '{"lambda": 0.01}') AS f FROM readings r) s;

-- decisions follow, and what columns and elements add
SELECT max(abs(dp_decision(model, r) - (SELECT sum(a * b) FROM unnest(dp_encode(model, r), dp_weights(model)) w(a, b)))) < 1e-12 AS decides,
       max(abs(dp_decision(model, r) - (SELECT sum(score) FROM dp_explain(model, r)))) < 1e-12 AS explains FROM fit, readings r;
SELECT c.value, abs(c.score - k.weight / sqrt(8)) < 1e-12 AS score, c.noise, odds > 0 AS odds FROM fit, dp_curve(model, 'z[2]') c JOIN dp_coefficients(model) k ON k.column_name = 'z' AND k.value = '[2] ' || c.value ORDER BY scaled;
SELECT count(*), bool_and(abs(e.score - c.score) < 1e-12) AS explained FROM fit, generate_series(1, 3) i, dp_curve(model, format('x[%s]', i)) c,
  LATERAL (SELECT score FROM readings r, dp_explain(model, jsonb_populate_record(r, jsonb_build_object('x', (SELECT jsonb_agg(CASE WHEN j = i THEN to_jsonb(c.value) ELSE '"NaN"' END ORDER BY j) FROM generate_series(1, 3) j)))) WHERE id = 1 AND column_name = 'x') e;
-- straight elements: the ends of a line
CREATE TABLE straight AS SELECT dp_logreg_train('readings', 'y', '{x,age}', 1, knots => 5, domains => '{"x": {"range": [0, 1], "knots": 1}}') AS model;
SELECT feature FROM straight, jsonb_array_elements(model::jsonb -> 'features') feature;
SELECT c.value, abs(c.score - (c.scaled * 2 - 1) * weight / sqrt(3 * 3)) < 1e-12 AS score, abs(c.noise - k.noise / sqrt(3 * 3)) < 1e-12 AS noise FROM straight, dp_curve(model, 'x[2]') c JOIN dp_coefficients(model) k ON k.column_name = 'x' AND k.value = '[2]' ORDER BY 1;
SELECT * FROM outcomes($$dp_curve(model, ?) FROM fit$$, $$'x' | 'x[0]' | 'x[4]' | 'x[01]' | 'x[ 1]' | 'x[1' | 'x[1]]' | 'x[]' | 'x[99999999999]' | 'y[1]' | 'age[1]' | '[1]'$$);

-- a kernel takes numbers as they are; tuning, costs, evaluation
SELECT feature FROM jsonb_array_elements(dp_logreg_train('readings', 'y', '{x,age}', 1, kernel => 'gaussian', options => '{"kernel_features": 10}', domains => '{"x": {"range": [0, 1], "knots": 4}}')::jsonb -> 'features') feature
UNION ALL SELECT feature FROM jsonb_array_elements(dp_logreg_train('readings', 'y', 'x', 1, kernel => 'gaussian', options => '{"kernel_features": 10}', domains => '{"x": {"knots": [0, 0.1, 1]}}')::jsonb -> 'features') feature;
SELECT cardinality(dp_weights(m)) IN (13, 15) AS tuned FROM dp_logreg_tune('readings', 'y', '{x,age}', 5, candidates => '[{"knots": 1, "intercept": false}, {"knots": 2}]', domains => '{"x": {"range": [0, 1], "knots": 4}}') m;
SELECT (SELECT noise_norm FROM dp_cost('readings', 'y', 'x', 1, units => 3000, domains => '{"x": {"range": [0, 1], "knots": 4}}')) > (SELECT noise_norm FROM dp_cost('readings', 'y', 'x', 1, units => 3000, domains => '{"x": {"range": [0, 1]}}')) AS costs;
SELECT value = (SELECT avg((dp_predict(model, r) = y)::int) FROM readings r) AS same FROM fit, dp_evaluate(model, 'readings', 'Infinity', 'y') WHERE metric = 'accuracy';

-- a prior has its knots
CREATE TABLE earlier AS SELECT dp_logreg_train('readings', 'y', 'x', 1, domains => '{"x": {"range": [0, 1], "knots": 4}}') AS model;
SELECT m::jsonb -> 'features' AS features, cardinality(dp_weights(m)) AS dimension FROM earlier, dp_logreg_train('readings', 'y', NULL, 1, prior => model) m;
DROP TABLE earlier;

-- registered domains: an analyst may choose other knots within the range
SELECT dp_budget_create('vectors', 100) IS NOT NULL AS created;
SELECT dp_protect('readings', 'vectors', columns => '{x,z,y}', domains => '{"x": {"range": [[0, 1], [-1, 2], [0, 1]], "knots": 2}, "z": {"dimension": 2, "knots": [0, 0.25, 5]}}') IS NOT NULL AS protected;
SELECT column_name, domain FROM dp_domains('readings');
SELECT feature FROM jsonb_array_elements(dp_logreg_train('readings', 'y', '{x,z}', 1)::jsonb -> 'features') feature
UNION ALL SELECT feature FROM jsonb_array_elements(dp_logreg_train('readings', 'y', '{x,z}', 1, domains => '{"x": {"range": [0, 1], "knots": 6}, "z": {"dimension": 2, "range": [0, 1]}}')::jsonb -> 'features') feature
UNION ALL SELECT feature FROM jsonb_array_elements(dp_logreg_train('readings', 'y', 'x', 1, domains => '{"x": {"dimension": 3, "range": [[0, 1], [-1, 2], [0, 1]], "knots": 2}}')::jsonb -> 'features') feature;
SELECT dp_logreg_train('readings', 'y', 'x', 1, domains => '{"x": {"dimension": 6}}');
SELECT dp_logreg_train('readings', 'y', 'x', 1, domains => '{"x": {"knots": [-1, 0, 1]}}');
-- but not a wider range, in any element or direction
SELECT dp_logreg_train('readings', 'y', 'x', 1, domains => '{"x": {"range": [[0, 1], [-1, 2.5], [0, 1]]}}');
SELECT dp_logreg_train('readings', 'y', 'x', 1, domains => '{"x": {"range": [[0, 1], [-1, 2], [-0.5, 1]]}}');
SELECT dp_unprotect('readings');

-- what is refused, before any row is read
CREATE FUNCTION refused(domains jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE format('SELECT dp_logreg_train(''readings'', ''y'', ''{x,age}'', 1, domains => %L)', domains);
  RETURN 'trained';
EXCEPTION WHEN others THEN GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT; RETURN sqlerrm || CASE WHEN hint LIKE '%knots%' THEN ' ' || hint ELSE '' END;
END $$;
SELECT domain -> 'x' AS x, refused(domain) FROM unnest(ARRAY['{"x": {"knots": 3}}', '{"x": {"dimension": 3, "knots": 3}}', '{"x": {"norm": 1, "knots": 3}}', '{"x": {"norm": 1, "knots": [0, 1]}}', '{"x": {"range": [0, 1], "knots": 0}}', '{"x": {"range": [0, 1], "knots": 1.5}}',
  '{"x": {"range": [0, 1], "knots": "3"}}', '{"x": {"range": [0, 1], "knots": []}}', '{"x": {"range": [0, 1], "knots": [0]}}', '{"x": {"range": [0, 1], "knots": [0, 0, 1]}}', '{"x": {"range": [0, 1], "knots": [0, 0.5]}}', '{"x": {"range": [[0, 1], [0, 2], [0, 1]], "knots": [0, 0.5, 1]}}',
  '{"x": {"range": [[0, 1], [0, 1], [0, 1]], "knots": [0, 0.3, 1]}}', '{"x": {"dimension": 4, "range": [0, 1], "knots": 3}}', '{"x": {"range": [[0, 1], [0, 2]], "knots": 3}}', '{"x": {"range": [1, 0], "knots": 3}}', '{"x": {"range": [0, 1], "knots": 3, "more": 1}}',
  '{"x": {"range": [0, 1], "knots": 5000}}', '{"x": {"range": [0, 1], "knots": 1667}}', '{"x": {"range": [0, 1], "knots": 1666}}', '{"x": {"range": [0, 1], "knots": [[0, 1]]}}']::jsonb[]) domain;
-- a range of the catalog
CREATE TABLE checked (v float8[] CHECK (cardinality(v) = 2 AND 0 <= ALL (v) AND 9 >= ALL (v)), y boolean);
INSERT INTO checked SELECT ARRAY[i % 10, i % 7], i % 3 = 0 FROM generate_series(1, 100) i;
SELECT feature FROM jsonb_array_elements(dp_logreg_train('checked', 'y', 'v', 1, domains => '{"v": {"knots": 3}}')::jsonb -> 'features') feature;
-- hostile forms of a model
SELECT replace(model::text, what, instead)::dp_model IS NOT NULL AS taken FROM fit, (VALUES ('"knots": 4', '"knots": 5')) v(what, instead);
SELECT * FROM outcomes($$replace(model::text, '"knots": 4', ?)::dp_model IS NULL FROM fit$$, $$'"knots": 4' | '"knots": 0' | '"knots": 1' | '"knots": 3' | '"knots": -4' | '"knots": 4.5' | '"knots": 99999999999' | '"knots": [0, 0.1, 0.2, 1]' | '"knots": []' | '"knots": [0]' | '"knots": null'$$);
SELECT * FROM outcomes($$replace(model::text, '"knots": [0, 0.25, 5]', ?)::dp_model IS NULL FROM fit$$, $$'"knots": 3' | '"knots": [0, 2.5, 5]' | '"knots": [0, 5, 5]' | '"knots": [0, 4]' | '"knots": [0, 5, 4]' | '"knots": [0, 0.25, 5, 6]' | '"norm": 1' | '"knots": 3, "knots": 3' | '"low": 0, "high": 5'$$);
DROP VIEW columns;
DROP TABLE readings, fit, straight, checked;
DROP FUNCTION distance, agrees, differs, refused;
