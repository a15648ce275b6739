--
-- Before the first row: errors in arguments and the catalog are raised before
-- any table is scanned
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE DOMAIN vec2 AS float8[] CHECK (cardinality(VALUE) = 2);
CREATE TABLE people (id int PRIMARY KEY, y boolean, answer text, x vec2, free float8[], age int CHECK (age BETWEEN 0 AND 100), ward text, secret text NOT NULL);
INSERT INTO people SELECT i, i % 3 = 0, CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END, ARRAY[sin(i), cos(i)], ARRAY[sin(i)], i % 100, 'a', 'b' FROM generate_series(1, 300) i;
CREATE TABLE other_types AS SELECT y::text AS y, x::text AS x, age::text AS age FROM people;
CREATE VIEW seen AS SELECT y, x FROM people;
CREATE MATERIALIZED VIEW unfilled AS SELECT y, x FROM people WITH NO DATA;
CREATE TABLE models AS SELECT dp_logreg_train('people', 'y', 'x', 'Infinity') AS m, dp_logreg_train('people', 'y', '{age,x}', 'Infinity') AS columns;
DROP ROLE IF EXISTS dperm_early, dperm_owner_of_views;
CREATE ROLE dperm_early;
CREATE ROLE dperm_owner_of_views;
GRANT SELECT ON people, models TO dperm_early;
-- a view whose owner may not read what is behind it
CREATE VIEW closed AS SELECT id, y, x FROM people;
ALTER VIEW closed OWNER TO dperm_owner_of_views;
GRANT SELECT ON closed TO dperm_early;

-- What a call returns or raises, and how many scans it has begun by then
CREATE FUNCTION scans() RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(pg_stat_get_xact_numscans(oid)) FROM pg_class WHERE relname IN ('people', 'other_types', 'people_pkey', 'unfilled')
$$;
CREATE FUNCTION says(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  before bigint := scans();
  said text;
BEGIN
  BEGIN
    EXECUTE 'SELECT count(r) FROM ' || CASE WHEN call ~ '^ *dp_(evaluate|roc)' THEN 'models, ' ELSE '' END || call || ' r' INTO said;
    said := 'no error';
  EXCEPTION WHEN OTHERS THEN
    said := SQLSTATE || ': ' || SQLERRM;
  END;
  RETURN said || CASE WHEN scans() = before THEN '' ELSE format(' AFTER %s SCANS', scans() - before) END;
END $$;
\pset tuples_only on

-- The count detects a scan
SELECT says($$ dp_logreg_train('people', 'y', 'x', 1) $$), says($$ dp_logreg_tune('people', 'y', 'x', 1, candidates => '[{"lambda": 0.1}]') $$) ~ 'SCANS$';

-- Training, on its own and as a part of tuning
CREATE TABLE mistakes (arguments text);
INSERT INTO mistakes VALUES ($$ 'y', 'x', 0 $$), ($$ 'y', 'x', 'NaN' $$), ($$ 'y', 'x', NULL $$), ($$ 'y', 'x', 1e-9 $$), ($$ 'y', 'x', 1e300 $$),
  ($$ NULL, 'x', 1 $$), ($$ 'none', 'x', 1 $$), ($$ 'answer', 'x', 1 $$), ($$ 'id', 'x', 1, positive => 'one' $$), ($$ 'y', 'x', 1, positive => 'perhaps' $$), ($$ 'free', 'x', 1 $$),
  ($$ 'y', 'none', 1 $$), ($$ 'y', 'y', 1 $$), ($$ 'y', '{x,x}', 1 $$), ($$ 'y', '{}', 1 $$), ($$ 'y', 'free', 1 $$), ($$ 'y', '{free,age}', 1 $$), ($$ 'y', 'ward', 1 $$), ($$ 'y', '{age,ward}', 1 $$),
  ($$ 'y', 'x', 1, options => '{"method": "none"}' $$), ($$ 'y', 'x', 1, options => '{"analysis": "none"}' $$), ($$ 'y', 'x', 1, domains => '{"x": {"norm": 0}}' $$), ($$ 'y', 'x', 1, domains => '{"x": {"dimension": 0}}' $$), ($$ 'y', 'x', 1, domains => '{"x": {"dimension": 5000}}' $$),
  ($$ 'y', 'age', 1, domains => '{"age": {"dimension": 2}}' $$), ($$ 'y', '{x,age}', 1, options => '{"norm": 2}' $$), ($$ 'y', 'x', 1, domains => '{"x": [0, 1]}' $$), ($$ 'y', 'x', 1, domains => '[]' $$), ($$ 'y', 'x', 1, domains => '{"none": [0, 1]}' $$),
  ($$ 'y', 'x', 1, domains => '{"nobody": [0, 1]}' $$), ($$ 'y', 'x', 1, domains => '{"x": {"dimension": 2, "norm": 3, "range": [0, 1]}}' $$), ($$ 'y', 'age', 1, domains => '{"age": [5, 5]}' $$),
  ($$ 'y', 'x', 1, kernel => 'none' $$), ($$ 'y', 'x', 1, gamma => 2 $$), ($$ 'y', 'x', 1, kernel => 'gaussian', gamma => 0 $$), ($$ 'y', 'x', 1, kernel => 'gaussian', options => '{"kernel_features": 3}' $$),
  ($$ 'y', 'x', 1, kernel => 'gaussian', options => '{"kernel_features": 5000}' $$), ($$ 'y', '{x,ward}', 1, domains => jsonb_build_object('ward', (SELECT jsonb_agg(i::text) FROM generate_series(1, 4999) i)) $$);
CREATE VIEW ways AS SELECT way, function, tail FROM (VALUES (1, 'train', ''), (2, 'tune', ', candidates => ''[{"lambda": 0.1}, {"lambda": 0.2}]''')) v(way, function, tail);
SELECT format('%s: %s', arguments, string_agg(DISTINCT says(format('dp_%s_%s(''people'', %s%s)', learner, function, arguments, tail)), ' | ')) FROM mistakes, ways, unnest('{logreg,svm}'::text[]) learner
  GROUP BY arguments ORDER BY arguments COLLATE "C";
SELECT DISTINCT arguments || ': ' || says(format('dp_svm_%s(''people'', ''y'', ''x'', 1, %s%s)', function, arguments, tail)) AS said FROM ways, unnest(ARRAY[$$options => '{"loss": "logistic"}'$$, $$options => '{"h": 2}'$$, $$options => '{"h": 0}'$$]) arguments ORDER BY 1;
SELECT format('%s: %s', arguments, string_agg(DISTINCT says(format('dp_logreg_%s(''people'', ''y'', ''x'', %s)', function, arguments)), ' | '))
  FROM unnest(ARRAY['1, lambda => -1', '1, lambda => ''NaN''', '1, lambda => 1e10', '1, lambda => 0, options => ''{"method": "output"}''', '''Infinity'', lambda => 0']) arguments, unnest('{train,tune}'::text[]) function GROUP BY arguments ORDER BY arguments COLLATE "C";
SELECT says($$ dp_logreg_train(NULL, 'y', 'x', 1) $$), says($$ dp_logreg_train('nowhere', 'y', 'x', 1) $$), says($$ dp_logreg_train('a.b.c.d', 'y', 'x', 1) $$), says($$ dp_logreg_train('people_pkey', 'y', 'x', 1) $$);
-- lambda is raised as far as needed: no error depends on the number of rows
SELECT split_part(says($$ dp_logreg_train('people', 'y', 'x', 300, lambda => 0) $$), ' AFTER', 1), split_part(says($$ dp_svm_train('people', 'y', 'x', 300, lambda => 0, options => '{"analysis": "paper"}') $$), ' AFTER', 1),
       split_part(says($$ dp_logreg_tune('people', 'y', 'x', 300, candidates => '[{"lambda": 0.1}, {"lambda": 0}]') $$), ' AFTER', 1);

-- Tuning
SELECT format('%s: %s', arguments, says(format('dp_svm_tune(''people'', ''y'', ''x'', 1, %s)', arguments))) FROM unnest(ARRAY['candidates => ''[{"lambda": 0.1}, {"lambda": -1}]''', 'candidates => ''[{"lambda": 0}, {"lambda": 0.1}]'', options => ''{"method": "output"}''',
  'candidates => ''[]''', 'candidates => ''{}''', 'candidates => ''[{}, {"h": 7}]''', 'candidates => ''[{}, {"method": "output", "lambda": 0}]''',
  'candidates => ''[{}, {"kernel": "gaussian", "kernel_features": 5}]''', 'candidates => ''[{}, {"kernel": "gaussian", "kernel_features": 4999}]''', 'candidates => ''[{}, {"dimension": 5000}]''', 'candidates => ''[{}, {"positive": "a"}]''',
  'selection => ''best''']) arguments;
SELECT says($$ dp_logreg_tune('people', 'y', 'free', 1, candidates => '[{"lambda": 1}, {}]') $$);

-- Evaluation
SELECT format('%s: %s', arguments, says(format('dp_%s(%s)', function, arguments))) FROM unnest('{evaluate,roc}'::text[]) function, unnest(ARRAY['m, ''people'', 0, ''y''', 'm, ''people'', NULL, ''y''', 'm, ''people'', 1, ''none''', 'm, ''people'', 1, ''answer''',
  'm, ''people'', 1, ''y'', positive => ''perhaps''', 'm, ''nowhere'', 1, ''y''', 'm, ''other_types'', 1, ''y'', positive => ''true''', 'm, ''people'', 1, ''y'', features => ''none''', 'm, ''people'', 1, ''y'', features => ''age''',
  'columns, ''people'', 1, ''y'', features => ''x''', 'm, ''unfilled'', 1, ''y''']) arguments ORDER BY function, arguments COLLATE "C";
SELECT says($$ dp_roc(m, 'people', 1, 'y', bins => 1) $$);

-- Privileges, including those that only the executor checks
SET ROLE dperm_early;
SELECT says($$ dp_logreg_train('other_types', 'y', 'x', 1) $$), says($$ dp_logreg_train('closed', 'y', 'x', 1) $$);
SELECT says($$ dp_evaluate(m, 'closed', 1, 'y') $$);
RESET ROLE;
\pset tuples_only off

DROP OWNED BY dperm_early, dperm_owner_of_views;
DROP ROLE dperm_early, dperm_owner_of_views;
DROP VIEW seen, ways;
DROP MATERIALIZED VIEW unfilled;
DROP TABLE people, other_types, models, mistakes;
DROP FUNCTION scans, says;
DROP DOMAIN vec2;
