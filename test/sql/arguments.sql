--
-- Arguments: every mistake raises an error with a SQLSTATE and a hint, before
-- any row is read; strange names work, and no argument is ever read as SQL
--
\set ECHO errors
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE DOMAIN vec2 AS float8[] CHECK (cardinality(VALUE) = 2);
CREATE TABLE people (sick boolean, x vec2, age integer, name text, born date);
INSERT INTO people
  SELECT i % 3 = 0, ARRAY[sin(i), cos(i)], i, 'p' || i, date '2000-01-01' + i
  FROM generate_series(1, 20) i;

-- The result of calls with these arguments: 'trained', or the error
CREATE FUNCTION trains(call text, cases text) RETURNS text LANGUAGE sql AS $$
  SELECT outcomes('''trained'' FROM ' || call || ' m WHERE m IS NOT NULL', cases, call)
$$;

-- epsilon
SELECT trains($$ dp_logreg_train('people', 'sick', 'x', ?) $$, $$
  1 | 0 | -0.0 | -1 | 'NaN' | '-Infinity' | NULL | 1e-9 | 1e-6 | 500 | 1e300 | 500.1
  'Infinity' $$);
SELECT left(result, 5) FROM outcome($$ SELECT dp_logreg_train('people', 'sick', 'x') $$);
SELECT trains($$ dp_svm_train('people', 'sick', 'x', ?) $$, '0 | NULL');
-- the fifth argument is no number: a lambda that was meant for it must not become anything else
SELECT outcomes($$ 'none' FROM dp_?) $$, $$
  logreg_train('people', 'sick', 'x', 1, 0.01 | svm_train('people', 'sick', 'x', 1, 0.01 | linreg_train('people', 'sick', 'x', 1, 0.01
  logreg_tune('people', 'sick', 'x', 1, 0.01 | svm_tune('people', 'sick', 'x', 1, 0.01 | linreg_tune('people', 'sick', 'x', 1, 0.01
  logreg_train('people', 'sick', 'x', 1, '0.01' | svm_train('people', 'sick', 'x', 1, '0.01' | linreg_train('people', 'sick', 'x', 1, '0.01'
  logreg_tune('people', 'sick', 'x', 1, '0.01' | svm_tune('people', 'sick', 'x', 1, '0.01' | linreg_tune('people', 'sick', 'x', 1, '0.01' $$);
-- options
SELECT trains($$ dp_logreg_train('people', 'sick', 'x', 1, options => ?) $$, $$
  '[]' | '1' | '{"lambda": 0.1}' | '{"norm": 2}' | '{"bounds": [0, 1]}' | '{"metod": "output"}' | '{"h": 0.1}' | '{"kernel_seed": 9223372036854775808}' | '{"kernel_seed": 0.5}' | '{"intercept": 1}' | '{}' $$);
SELECT trains($$ (SELECT dp_logreg(sick, x, ?) FROM people) $$,
  $$ 0 | -1 | 'NaN' | NULL | 1e-9 | 1e300 | 'Infinity' $$);

-- lambda; objective perturbation raises it as far as it needs, the others
-- cannot
SELECT trains($$ dp_logreg_train('people', 'sick', 'x', 1, lambda => ?) $$, $$
  0.1 | NULL | -1 | 'NaN' | 'Infinity' | '-Infinity' | 1e10 | 0 | 0, options => '{"analysis": "paper"}' | 1e-300
  0, options => '{"method": "output"}' | 1e-11, options => '{"method": "output"}' | 1e-10, options => '{"method": "output"}' $$);
SELECT trains($$ dp_logreg_train('people', 'sick', 'x', ?) $$,
  $$ 'Infinity', lambda => 0 | 'Infinity', lambda => 0, options => '{"method": "output"}' $$);
SELECT trains($$ dp_svm_train('people', 'sick', 'x', ?) $$,
  $$ 1, lambda => -1 | 'Infinity', lambda => 0 $$);
SELECT trains($$ (SELECT dp_logreg(sick, x, ?) FROM people) $$,
  $$ 1, '{"lambda": -1}' | 1, NULL | 1, '{"lambda": 0}' | 'Infinity', '{"lambda": 0}' | 1, '{"lambda": 0, "method": "output"}' $$);

-- method, analysis, norm, dimension, loss, h
SELECT trains($$ dp_logreg_train('people', 'sick', 'x', 1, ?) $$, $$
  options => '{"method": "Objective"}' | options => '{"method": ""}'
  domains => NULL, lambda => NULL, knots => NULL, options => NULL | options => '{"analysis": "blunt"}'
  domains => '{"x": {"norm": 0}}' | domains => '{"x": {"norm": -1}}' | domains => '{"x": {"norm": "NaN"}}' | domains => '{"x": {"norm": 1e-300}}' | domains => '{"x": {"norm": 1e100}}'
  domains => '{"x": {"dimension": 0}}' | domains => '{"x": {"dimension": -1}}' | domains => '{"x": {"dimension": 5000}}' | domains => '{"x": {"dimension": 2147483647}}'
  domains => '{"x": {"dimension": 7}}' $$);
SELECT left(result, 5) FROM outcome($$ SELECT dp_logreg_train('people', 'sick', 'x', 1, options => '{"loss": "huber"}') $$);
SELECT trains($$ dp_svm_train('people', 'sick', 'x', 1, ?) $$, $$
  options => '{"loss": "logistic"}' | options => '{"loss": "hinge"}' | options => NULL | options => '{"loss": null}' | options => '{"h": 0}' | options => '{"h": 0.009}' | options => '{"h": 1.5}'
  options => '{"h": "NaN"}' | options => '{"h": 1}' $$);

-- Columns and their types
SELECT trains($$ dp_logreg_train('people', ?, 'x', 1) $$,
  $$ 'ill' | 'SICK' | '"sick"' | '' | NULL | 'xmin' | 'born' | 'x' | 'name' $$);
SELECT trains($$ dp_logreg_train('people', 'sick', ?, 1) $$, $$
  'y' | '' | NULL::text | NULL::text[] | '{}' | '{x,x}' | '{NULL}' | ARRAY['x'] | ARRAY['x', 'age']
  ARRAY[NULL]::text[] | ARRAY[]::text[] | '{{x}}' | '{x' | 'ctid' | 'age' | 'name' | 'sick' $$);
SELECT trains('dp_logreg_train(?)', $$
  NULL, 'sick', 'x', 1 | 'people', 'x', 'age', 1, domains => '{"age": [0, 120]}'
  'people', 'sick', 'age', 1, domains => '{"age": [0, 120]}' $$);
CREATE TABLE columns (sick boolean, i integer[], n numeric[], t text[], v float8[], gone float8[]);
ALTER TABLE columns DROP COLUMN gone;
SELECT trains($$ dp_logreg_train('columns', 'sick', ?, 1) $$,
  $$ 'i' | 'n' | 't' | 'gone' | '........pg.dropped.6........' $$);
SELECT outcomes('? FROM columns', 'dp_logreg(sick, t, 1)');
INSERT INTO columns (t) VALUES ('{1,2}');
SELECT outcomes('? FROM columns', $$
  dp_logreg(sick, t, 1) | dp_logreg(sick, 1.5, 1) | dp_logreg(sick, '{1,2}', 1)
  dp_logreg(columns, v, 1) | dp_logreg(NULL, v, 1) | dp_svm(v, v, 1) $$);

-- Relations
CREATE SEQUENCE counter;
CREATE INDEX people_age ON people (age);
CREATE TYPE pair AS (sick boolean, x float8[]);
SELECT trains($$ dp_logreg_train(?, 'sick', 'x', 1) $$, $$
  'nobody' | 'nowhere.people' | 'public.people' | current_database() || '.public.people'
  'elsewhere.public.people' | 'a.b.c.d' | '' | '.' | '"people' | 'PEOPLE' | '"PEOPLE"'
  'people'::regclass::text | 'counter' | 'people_age' | 'pair' $$);
SELECT trains('dp_logreg_train(?)', $$ 'pg_catalog.pg_class', 'relhasindex', 'relname', 1 $$);

-- A view whose rows change whenever it is read
CREATE VIEW shaky AS SELECT sick, ARRAY[random()] AS x FROM people;
CREATE VIEW sampled AS SELECT sick, x FROM people WHERE random() < 0.5;
CREATE VIEW deeper AS SELECT * FROM shaky;
CREATE VIEW in_cte AS WITH r AS (SELECT random() AS r) SELECT sick, x FROM people WHERE age > (SELECT r FROM r);
CREATE VIEW still AS SELECT sick, x FROM people WHERE now() > '2000-01-01';
CREATE VIEW some_blocks AS SELECT sick, x FROM people TABLESAMPLE bernoulli (50);
CREATE VIEW same_blocks AS SELECT sick, x FROM people TABLESAMPLE bernoulli (100) REPEATABLE (7);
CREATE VIEW any_ten AS SELECT sick, x FROM people LIMIT 10;
CREATE VIEW but_ten AS SELECT sick, x FROM people OFFSET 10;
CREATE VIEW within AS SELECT sick, x FROM people WHERE age IN (SELECT age FROM people LIMIT 10);
CREATE VIEW in_cte_too AS WITH r AS (SELECT * FROM people FETCH FIRST 10 ROWS ONLY) SELECT sick, x FROM r;
CREATE VIEW of_union AS SELECT sick, x FROM people UNION ALL (SELECT sick, x FROM people LIMIT 1);
CREATE VIEW first_ten AS SELECT sick, x FROM people ORDER BY age LIMIT 10;
SELECT trains($$ dp_logreg_train(?, 'sick', 'x', 1) $$, $$
  'shaky' | 'sampled' | 'deeper' | 'in_cte' | 'still' | 'some_blocks' | 'same_blocks' | 'any_ten'
  'but_ten' | 'within' | 'in_cte_too' | 'of_union' | 'first_ten' $$);

-- All of this before any row is read: a view that cannot be read does not fail
-- first
CREATE FUNCTION untouchable(boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS
  $$ BEGIN RAISE 'a row was read'; END $$;
CREATE VIEW minefield AS SELECT untouchable(sick) AS sick, x, name, age FROM people;
SELECT trains($$ dp_logreg_train('minefield', ?) $$, $$
  'sick', 'x', 1 | 'sick', 'x', 0 | 'sick', 'x', 1, lambda => -1
  'sick', 'x', 1, lambda => 0, options => '{"method": "output"}' | 'sick', 'x', 1, options => '{"method": "none"}'
  'sick', 'x', 1, positive => 'yes' | 'sick', 'name', 1 | 'name', 'x', 1 | 'nothing', 'x', 1
  'sick', '{x,age}', 1 | 'sick', 'age', 1, domains => '{"age": [120, 0]}'
  'sick', 'age', 1, domains => '{"age": [0, 120], "name": "a"}'
  'sick', 'age', 1, domains => '{"age": [0, 120], "nothing": ["a"]}'
  'sick', 'age', 1, domains => '{"age": [0, 120]}', kernel => 'none'
  'sick', 'age', 1, domains => '{"age": [0, 120]}' $$);
SELECT trains($$ dp_svm_train('minefield', 'sick', 'x', 1, ?) $$, $$ options => '{"loss": "none"}' | options => '{"h": 7}' $$);

-- The number of elements is declared, never read from rows
CREATE TABLE undeclared (sick boolean, x float8[], y float4[] CHECK (cardinality(y) < 3), age integer);
CREATE VIEW of_undeclared AS SELECT sick, x, ARRAY[age, age]::float8[] AS made, x || 1::float8 AS longer FROM undeclared;
CREATE MATERIALIZED VIEW stored AS SELECT sick, made, x AS kept FROM of_undeclared;
CREATE TABLE checked (sick boolean, a float8[] CHECK (cardinality(a) = 3), b float4[] CHECK (array_length(b, 1) = 3), c float8[] CHECK (3 = cardinality(c)), d vec2);
INSERT INTO undeclared VALUES (true, '{1,2}'), (false, '{1,2,3}');
INSERT INTO checked VALUES (true, '{1,2,3}', '{1,2,3}', '{1,2,3}', '{1,2}');
REFRESH MATERIALIZED VIEW stored;
SELECT trains('dp_logreg_train(?)', $$
  'undeclared', 'sick', 'x', 1 | 'undeclared', 'sick', '{x}', 1, domains => '{"x": {"norm": 2}}'
  'of_undeclared', 'sick', 'x', 1 | 'of_undeclared', 'sick', 'longer', 1
  'stored', 'sick', 'kept', 1 | 'undeclared', 'sick', 'x', 1, domains => '{"x": {"norm": 2}}'
  'undeclared', 'sick', '{x,age}', 1, domains => '{"age": [0, 120]}'
  'undeclared', 'sick', NULL, 1 $$);
SELECT trains('dp_svm_train(?)', $$ 'undeclared', 'sick', 'y', 1 $$);
SELECT outcomes($$ m #>> '{features,0,dimension}' FROM (SELECT dp_logreg_train(?)::jsonb AS m OFFSET 0) s $$, $$
  'undeclared', 'sick', 'x', 1, domains => '{"x": {"dimension": 3}}'
  'undeclared', 'sick', 'x', 1, domains => '{"x": {"dimension": 3}}'
  'of_undeclared', 'sick', 'x', 1, domains => '{"x": {"dimension": 2}}' | 'of_undeclared', 'sick', 'made', 1
  'stored', 'sick', 'made', 1 | 'checked', 'sick', 'a', 1 | 'checked', 'sick', 'b', 1
  'checked', 'sick', 'c', 1 | 'checked', 'sick', 'd', 1 $$);
DROP MATERIALIZED VIEW stored;
DROP VIEW of_undeclared;
DROP TABLE undeclared, checked;

-- Strange names
CREATE SCHEMA "Sché ma";
CREATE TABLE "Sché ma"."Pa""tients; --" ("Is ""sick"", or not?" boolean, "x'); DROP TABLE people; --" vec2,
  "Größe" vec2, "select" vec2, "{curly}" vec2, "a.b" boolean,
  "a_name_as_long_as_a_name_can_be_and_not_one_single_lettr_longer" boolean);
INSERT INTO "Sché ma"."Pa""tients; --"
  SELECT i % 2 = 0, v, v, v, v, i % 2 = 0, i % 2 = 0
  FROM generate_series(1, 10) i, LATERAL (SELECT ARRAY[sin(i), cos(i)]) s(v);
SELECT trains($$ dp_logreg_train('"Sché ma"."Pa""tients; --"', ?, 1) $$, $$
  'Is "sick", or not?', 'x''); DROP TABLE people; --' | 'a.b', 'Größe' | 'a.b', '{Größe}'
  'a.b', 'select' | 'a.b', ARRAY['{curly}'] | 'a.b', '{"{curly}"}'
  'a_name_as_long_as_a_name_can_be_and_not_one_single_lettr_longer', 'select'
  'a_name_as_long_as_a_name_can_be_and_not_one_single_lettr_longer_', 'select' $$);
SELECT trains($$ dp_logreg_train(?, 'a.b', 'select', 1) $$,
  $$ quote_ident('Sché ma') || '.' || quote_ident('Pa"tients; --') | 'Sché ma.Pa"tients; --' $$);
SELECT left(result, 30) FROM unnest(ARRAY[$$ repeat('x', 100000), 'a', 'b', 1 $$, $$ 'people', repeat('x', 100000), 'b', 1 $$,
  $$ 'people', 'sick', 'x', 1, options => jsonb_build_object('method', repeat('x', 100000)) $$]) a, outcome('SELECT dp_logreg_train(' || a || ')');
CREATE TABLE "w" (t boolean, w float8[] CHECK (cardinality(w) = 1));
INSERT INTO w SELECT i % 2 = 0, ARRAY[i] FROM generate_series(1, 10) i;
SELECT trains('dp_logreg_train(?)', $$ 'w', 't', 'w', 1 $$);

-- Injection
SELECT trains('dp_logreg_train(?)', $$
  'people; DROP TABLE people', 'sick', 'x', 1 | '(SELECT * FROM people)', 'sick', 'x', 1
  'people t, people u', 'sick', 'x', 1 | 'people -- ', 'sick', 'x', 1
  'people', 'sick OR true', 'x', 1 | 'people', 't.sick', 'x', 1
  'people', 'sick), (SELECT 1', 'x', 1
  'people', 'sick', 'x) FROM people; DROP TABLE people; --', 1 | 'people', 'sick', 'array[1.0]', 1
  'people', 'sick', 'x', 1, options => '{"method": "output''; DROP TABLE people; --"}'
  'people', 'sick', 'x', 1, options => '{"analysis": "%s%n%d"}'
  'people', 'name', 'x', 1, positive => 'p1''; DROP TABLE people; --'
  'people', 'name', 'x', 1, positive => '$1'
  'people', 'age', 'x', 1, positive => '1); DROP TABLE people; --' $$);
SELECT trains('dp_svm_train(?)', $$ 'people', 'sick', 'x', 1, options => '{"loss": "huber\""}' $$);
SELECT count(*) FROM people;

-- features: a name or an array of names, of any type of strings; columns and
-- parameters have types, literals need none
CREATE DOMAIN column_name AS text;
CREATE TABLE two (sick boolean, a float8 CHECK (a BETWEEN 0 AND 1), b float8 CHECK (b BETWEEN 0 AND 1), "{a,b}" float8 CHECK ("{a,b}" BETWEEN 0 AND 1));
INSERT INTO two SELECT i % 3 = 0, i / 20.0, i / 20.0, i / 20.0 FROM generate_series(1, 20) i;
SELECT outcomes($$ jsonb_path_query_array(dp_logreg_train('two', 'sick', ?, 1)::jsonb, '$.features[*].column') $$, $$
  'a' | '{a,b}' | '{"a"}' | '{"{a,b}"}' | ARRAY['a', 'b'] | ARRAY['{a,b}'] | '[0:1]={a,b}'::text[]
  NULL | NULL::text[] | (SELECT 'a') | 'a'::text | 'a'::varchar(1) | 'a'::char(1) | 'a'::name
  'a'::column_name | '{a,b}'::text[] | '{a,b}'::varchar[] | '{a,b}'::name[] | '{a,b}'::column_name[]
  '{a,b}'::text | '{}' | ARRAY[]::name[] | '{a,NULL}' | ARRAY['a', NULL] | '{a' | '{{a},{b}}' | 1
  1.5 | true | ARRAY[1, 2] | ROW('a') | ''::bytea $$);
SELECT string_agg(dp_logreg_train('two', 'sick', attname, 1)::jsonb #>> '{features,0,column}', ', ' ORDER BY attnum)
  FROM pg_attribute WHERE attrelid = 'two'::regclass AND attname IN ('a', 'b');
-- Many drivers send parameters without types
PREPARE untyped AS SELECT dp_logreg_train($1, $2, $3, $4, lambda => $5, domains => $6)::jsonb #> '{features,1,column}';
EXECUTE untyped('two', 'sick', '{a,b}', 1, NULL, NULL);
PREPARE typed(text[]) AS SELECT dp_svm_train('two', 'sick', features => $1, epsilon => 1)::jsonb #> '{features,1,column}';
EXECUTE typed(ARRAY['a', 'b']);
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
DEALLOCATE ALL;

-- The arguments that candidates do not have; what candidates have is an
-- argument, or a key of the argument options, and no key is an argument
CREATE FUNCTION valid(call text) RETURNS text[] LANGUAGE sql AS $$
  SELECT string_to_array(replace(substring(hint FROM 'Valid options are (.*)\.'), ' and ', ', '), ', ') FROM outcome(call) $$;
SELECT proname, array_to_string(ARRAY(SELECT a FROM unnest(proargnames[1:pronargs]) a WHERE a <> ALL (candidate)), ', ') AS others, array_to_string(keys, ', ') AS keys,
       candidate <@ (proargnames || keys) AND NOT proargnames[1:pronargs] && keys AS complete
  FROM pg_proc, LATERAL (SELECT valid(format('SELECT dp_%s_tune(''people'', ''sick'', ''x'', 1, candidates => ''[{"no": 1}]'')', split_part(proname, '_', 2)))) c(candidate),
       LATERAL (SELECT valid(format('SELECT %s(''people'', ''sick'', ''x'', 1, options => ''{"no": 1}'')', proname))) k(keys)
  WHERE proname ~ '^dp_(logreg|svm|linreg)_(train|tune)$' ORDER BY proname;
DROP FUNCTION valid;

DROP TABLE people, two, columns, w, "Sché ma"."Pa""tients; --" CASCADE;
DROP SCHEMA "Sché ma";
DROP SEQUENCE counter;
DROP TYPE pair;
DROP FUNCTION trains, untouchable;
DROP DOMAIN vec2, column_name;
