--
-- Arguments: every mistake is an error with an SQLSTATE and a hint, before any row is
-- read; names that look strange work, and no argument is ever read as SQL
--
SET client_min_messages = warning;

CREATE DOMAIN vec2 AS float8[] CHECK (cardinality(VALUE) = 2);
CREATE TABLE people (sick boolean, x vec2, age integer, name text, born date);
INSERT INTO people
  SELECT i % 3 = 0, ARRAY[sin(i), cos(i)], i, 'p' || i, date '2000-01-01' + i
  FROM generate_series(1, 20) i;

-- What a query says: its result, or the SQLSTATE, the message and the hint
CREATE FUNCTION says(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
  state text;
  hint text;
BEGIN
  EXECUTE query INTO result;
  RETURN coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, result = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN state || ': ' || result || CASE WHEN hint <> '' THEN E'\n  hint: ' || hint ELSE '' END;
END $$;

-- What a call with these arguments says: 'trained', or why not
CREATE FUNCTION logreg(arguments text) RETURNS text LANGUAGE sql AS $$
  SELECT says('SELECT ''trained'' FROM dp_logreg_train(' || arguments || ') m WHERE m IS NOT NULL')
$$;
CREATE FUNCTION svm(arguments text) RETURNS text LANGUAGE sql AS $$
  SELECT says('SELECT ''trained'' FROM dp_svm_train(' || arguments || ') m WHERE m IS NOT NULL')
$$;
-- The same, from dp_logreg(label, features, epsilon, ...)
CREATE FUNCTION agg(arguments text) RETURNS text LANGUAGE sql AS $$
  SELECT says('SELECT ''trained'' FROM (SELECT dp_logreg(sick, x, ' || arguments || ') AS m FROM people) s
               WHERE m IS NOT NULL')
$$;
\pset format unaligned
\pset tuples_only on

-- epsilon
SELECT logreg($$ 'people', 'sick', 'x', 1 $$);
SELECT logreg($$ 'people', 'sick', 'x', 0 $$);
SELECT logreg($$ 'people', 'sick', 'x', -0.0 $$);
SELECT logreg($$ 'people', 'sick', 'x', -1 $$);
SELECT logreg($$ 'people', 'sick', 'x', 'NaN' $$);
SELECT logreg($$ 'people', 'sick', 'x', '-Infinity' $$);
SELECT logreg($$ 'people', 'sick', 'x', NULL $$);
SELECT logreg($$ 'people', 'sick', 'x', 1e-9 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1e-6 $$);
SELECT logreg($$ 'people', 'sick', 'x', 500 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1e300 $$);
SELECT logreg($$ 'people', 'sick', 'x', 500.1 $$);
SELECT logreg($$ 'people', 'sick', 'x', 'Infinity' $$);
SELECT left(logreg($$ 'people', 'sick', 'x' $$), 5);
SELECT svm($$ 'people', 'sick', 'x', 0 $$);
SELECT svm($$ 'people', 'sick', 'x', NULL $$);
SELECT agg($$ 0 $$);
SELECT agg($$ -1 $$);
SELECT agg($$ 'NaN' $$);
SELECT agg($$ NULL $$);
SELECT agg($$ 1e-9 $$);
SELECT agg($$ 1e300 $$);
SELECT agg($$ 'Infinity' $$);

-- lambda; objective perturbation raises it as far as it needs, the others cannot
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 0.1 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => NULL $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => -1 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 'NaN' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 'Infinity' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => '-Infinity' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 1e10 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 0 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 0, analysis => 'paper' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 1e-300 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 0, method => 'output' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 1e-11, method => 'output' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, lambda => 1e-10, method => 'output' $$);
SELECT logreg($$ 'people', 'sick', 'x', 'Infinity', lambda => 0 $$);
SELECT logreg($$ 'people', 'sick', 'x', 'Infinity', lambda => 0, method => 'output' $$);
SELECT svm($$ 'people', 'sick', 'x', 1, lambda => -1 $$);
SELECT svm($$ 'people', 'sick', 'x', 'Infinity', lambda => 0 $$);
SELECT agg($$ 1, -1 $$);
SELECT agg($$ 1, 'NaN' $$);
SELECT agg($$ 1, NULL $$);
SELECT agg($$ 1, 0 $$);
SELECT agg($$ 'Infinity', 0 $$);
SELECT agg($$ 1, 0, '{"method": "output"}' $$);

-- method, analysis, loss, h, norm, dimension
SELECT logreg($$ 'people', 'sick', 'x', 1, method => 'Objective' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, method => '' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, method => NULL, analysis => NULL, intercept => NULL, norm => NULL $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, analysis => 'blunt' $$);
SELECT left(logreg($$ 'people', 'sick', 'x', 1, loss => 'huber' $$), 5);
SELECT svm($$ 'people', 'sick', 'x', 1, loss => 'logistic' $$);
SELECT svm($$ 'people', 'sick', 'x', 1, loss => 'hinge' $$);
SELECT svm($$ 'people', 'sick', 'x', 1, loss => NULL, h => NULL $$);
SELECT svm($$ 'people', 'sick', 'x', 1, h => 0 $$);
SELECT svm($$ 'people', 'sick', 'x', 1, h => 0.009 $$);
SELECT svm($$ 'people', 'sick', 'x', 1, h => 1.5 $$);
SELECT svm($$ 'people', 'sick', 'x', 1, h => 'NaN' $$);
SELECT svm($$ 'people', 'sick', 'x', 1, h => 1 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, norm => 0 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, norm => -1 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, norm => 'NaN' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, norm => 'Infinity' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, norm => 1e-300 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, norm => 1e100 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, dimension => 0 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, dimension => -1 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, dimension => 5000 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, dimension => 2147483647 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, dimension => 7 $$);

-- Columns and their types
SELECT logreg($$ 'people', 'ill', 'x', 1 $$);
SELECT logreg($$ 'people', 'SICK', 'x', 1 $$);
SELECT logreg($$ 'people', '"sick"', 'x', 1 $$);
SELECT logreg($$ 'people', 'sick', 'y', 1 $$);
SELECT logreg($$ 'people', 'sick', '', 1 $$);
SELECT logreg($$ 'people', '', 'x', 1 $$);
SELECT logreg($$ 'people', NULL, 'x', 1 $$);
SELECT logreg($$ 'people', 'sick', NULL::text, 1 $$);
SELECT logreg($$ 'people', 'sick', NULL::text[], 1 $$);
SELECT logreg($$ NULL, 'sick', 'x', 1 $$);
SELECT logreg($$ 'people', 'sick', '{}', 1 $$);
SELECT logreg($$ 'people', 'sick', '{x,x}', 1 $$);
SELECT logreg($$ 'people', 'sick', '{NULL}', 1 $$);
SELECT logreg($$ 'people', 'sick', ARRAY['x'], 1 $$);
SELECT logreg($$ 'people', 'sick', ARRAY['x', 'age'], 1 $$);
SELECT logreg($$ 'people', 'sick', ARRAY[NULL]::text[], 1 $$);
SELECT logreg($$ 'people', 'sick', ARRAY[]::text[], 1 $$);
SELECT logreg($$ 'people', 'sick', '{{x}}', 1 $$);
SELECT logreg($$ 'people', 'sick', '{x', 1 $$);
SELECT logreg($$ 'people', 'sick', 'ctid', 1 $$);
SELECT logreg($$ 'people', 'xmin', 'x', 1 $$);
SELECT logreg($$ 'people', 'sick', 'age', 1 $$);
SELECT logreg($$ 'people', 'sick', 'age', 1, domains => '{"age": [0, 120]}' $$);
SELECT logreg($$ 'people', 'sick', 'name', 1 $$);
SELECT logreg($$ 'people', 'sick', 'sick', 1 $$);
SELECT logreg($$ 'people', 'born', 'x', 1 $$);
SELECT logreg($$ 'people', 'x', 'x', 1 $$);
SELECT logreg($$ 'people', 'x', 'age', 1, domains => '{"age": [0, 120]}' $$);
SELECT logreg($$ 'people', 'name', 'x', 1 $$);
CREATE TABLE columns (sick boolean, i integer[], n numeric[], t text[], v float8[], gone float8[]);
ALTER TABLE columns DROP COLUMN gone;
SELECT logreg($$ 'columns', 'sick', 'i', 1 $$);
SELECT logreg($$ 'columns', 'sick', 'n', 1 $$);
SELECT logreg($$ 'columns', 'sick', 't', 1 $$);
SELECT logreg($$ 'columns', 'sick', 'gone', 1 $$);
SELECT logreg($$ 'columns', 'sick', '........pg.dropped.6........', 1 $$);
SELECT says('SELECT dp_logreg(sick, t, 1) FROM columns');
INSERT INTO columns (t) VALUES ('{1,2}');
SELECT says('SELECT dp_logreg(sick, t, 1) FROM columns');
SELECT says('SELECT dp_logreg(sick, 1.5, 1) FROM columns');
SELECT says('SELECT dp_logreg(sick, ''{1,2}'', 1) FROM columns');
SELECT says('SELECT dp_logreg(columns, v, 1) FROM columns');
SELECT says('SELECT dp_logreg(NULL, v, 1) FROM columns');
SELECT says('SELECT dp_svm(v, v, 1) FROM columns');

-- Relations
SELECT logreg($$ 'nobody', 'sick', 'x', 1 $$);
SELECT logreg($$ 'nowhere.people', 'sick', 'x', 1 $$);
SELECT logreg($$ 'public.people', 'sick', 'x', 1 $$);
SELECT logreg($$ current_database() || '.public.people', 'sick', 'x', 1 $$);
SELECT logreg($$ 'elsewhere.public.people', 'sick', 'x', 1 $$);
SELECT logreg($$ 'a.b.c.d', 'sick', 'x', 1 $$);
SELECT logreg($$ '', 'sick', 'x', 1 $$);
SELECT logreg($$ '.', 'sick', 'x', 1 $$);
SELECT logreg($$ '"people', 'sick', 'x', 1 $$);
SELECT logreg($$ 'PEOPLE', 'sick', 'x', 1 $$);
SELECT logreg($$ '"PEOPLE"', 'sick', 'x', 1 $$);
SELECT logreg($$ 'people'::regclass::text, 'sick', 'x', 1 $$);
CREATE SEQUENCE counter;
CREATE INDEX people_age ON people (age);
CREATE TYPE pair AS (sick boolean, x float8[]);
SELECT logreg($$ 'counter', 'sick', 'x', 1 $$);
SELECT logreg($$ 'people_age', 'sick', 'x', 1 $$);
SELECT logreg($$ 'pair', 'sick', 'x', 1 $$);
SELECT logreg($$ 'pg_catalog.pg_class', 'relhasindex', 'relname', 1 $$);

-- A view whose rows change from pass to pass
CREATE VIEW shaky AS SELECT sick, ARRAY[random()] AS x FROM people;
CREATE VIEW sampled AS SELECT sick, x FROM people WHERE random() < 0.5;
CREATE VIEW deeper AS SELECT * FROM shaky;
CREATE VIEW in_cte AS WITH r AS (SELECT random() AS r) SELECT sick, x FROM people WHERE age > (SELECT r FROM r);
CREATE VIEW still AS SELECT sick, x FROM people WHERE now() > '2000-01-01';
SELECT logreg($$ 'shaky', 'sick', 'x', 1 $$);
SELECT logreg($$ 'sampled', 'sick', 'x', 1 $$);
SELECT logreg($$ 'deeper', 'sick', 'x', 1 $$);
SELECT logreg($$ 'in_cte', 'sick', 'x', 1 $$);
SELECT logreg($$ 'still', 'sick', 'x', 1 $$);
CREATE VIEW some_blocks AS SELECT sick, x FROM people TABLESAMPLE bernoulli (50);
CREATE VIEW same_blocks AS SELECT sick, x FROM people TABLESAMPLE bernoulli (100) REPEATABLE (7);
CREATE VIEW any_ten AS SELECT sick, x FROM people LIMIT 10;
CREATE VIEW but_ten AS SELECT sick, x FROM people OFFSET 10;
CREATE VIEW within AS SELECT sick, x FROM people WHERE age IN (SELECT age FROM people LIMIT 10);
CREATE VIEW in_cte_too AS WITH r AS (SELECT * FROM people FETCH FIRST 10 ROWS ONLY) SELECT sick, x FROM r;
CREATE VIEW of_union AS SELECT sick, x FROM people UNION ALL (SELECT sick, x FROM people LIMIT 1);
CREATE VIEW first_ten AS SELECT sick, x FROM people ORDER BY age LIMIT 10;
SELECT logreg($$ 'some_blocks', 'sick', 'x', 1 $$);
SELECT logreg($$ 'same_blocks', 'sick', 'x', 1 $$);
SELECT logreg($$ 'any_ten', 'sick', 'x', 1 $$);
SELECT logreg($$ 'but_ten', 'sick', 'x', 1 $$);
SELECT logreg($$ 'within', 'sick', 'x', 1 $$);
SELECT logreg($$ 'in_cte_too', 'sick', 'x', 1 $$);
SELECT logreg($$ 'of_union', 'sick', 'x', 1 $$);
SELECT logreg($$ 'first_ten', 'sick', 'x', 1 $$);

-- All of this before any row is read: a view that cannot be read says nothing first
CREATE FUNCTION untouchable(boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS
  $$ BEGIN RAISE 'a row was read'; END $$;
CREATE VIEW minefield AS SELECT untouchable(sick) AS sick, x, name, age FROM people;
SELECT logreg($$ 'minefield', 'sick', 'x', 1 $$);
SELECT logreg($$ 'minefield', 'sick', 'x', 0 $$);
SELECT logreg($$ 'minefield', 'sick', 'x', 1, lambda => -1 $$);
SELECT logreg($$ 'minefield', 'sick', 'x', 1, lambda => 0, method => 'output' $$);
SELECT logreg($$ 'minefield', 'sick', 'x', 1, method => 'none' $$);
SELECT logreg($$ 'minefield', 'sick', 'x', 1, positive => 'yes' $$);
SELECT logreg($$ 'minefield', 'sick', 'name', 1 $$);
SELECT logreg($$ 'minefield', 'name', 'x', 1 $$);
SELECT logreg($$ 'minefield', 'nothing', 'x', 1 $$);
SELECT svm($$ 'minefield', 'sick', 'x', 1, loss => 'none' $$);
SELECT svm($$ 'minefield', 'sick', 'x', 1, h => 7 $$);
SELECT logreg($$ 'minefield', 'sick', '{x,age}', 1 $$);
SELECT logreg($$ 'minefield', 'sick', 'age', 1, domains => '{"age": [120, 0]}' $$);
SELECT logreg($$ 'minefield', 'sick', 'age', 1, domains => '{"age": [0, 120], "name": "a"}' $$);
SELECT logreg($$ 'minefield', 'sick', 'age', 1, domains => '{"age": [0, 120], "nothing": ["a"]}' $$);
SELECT logreg($$ 'minefield', 'sick', 'age', 1, domains => '{"age": [0, 120]}', kernel => 'none' $$);
SELECT logreg($$ 'minefield', 'sick', 'age', 1, domains => '{"age": [0, 120]}' $$);

-- The length of vectors is declared, never read from rows
CREATE TABLE undeclared (sick boolean, x float8[], y float4[] CHECK (cardinality(y) < 3), age integer);
CREATE VIEW of_undeclared AS SELECT sick, x, ARRAY[age, age]::float8[] AS made, x || 1::float8 AS longer FROM undeclared;
CREATE MATERIALIZED VIEW stored AS SELECT sick, made, x AS kept FROM of_undeclared;
CREATE TABLE checked (sick boolean, a float8[] CHECK (cardinality(a) = 3), b float4[] CHECK (array_length(b, 1) = 3), c float8[] CHECK (cardinality(c) >= 3 AND cardinality(c) < 4), d vec2);
INSERT INTO undeclared VALUES (true, '{1,2}'), (false, '{1,2,3}');
INSERT INTO checked VALUES (true, '{1,2,3}', '{1,2,3}', '{1,2,3}', '{1,2}');
REFRESH MATERIALIZED VIEW stored;
SELECT logreg($$ 'undeclared', 'sick', 'x', 1 $$);
SELECT logreg($$ 'undeclared', 'sick', '{x}', 1, norm => 2 $$);
SELECT svm($$ 'undeclared', 'sick', 'y', 1 $$);
SELECT logreg($$ 'of_undeclared', 'sick', 'x', 1 $$);
SELECT logreg($$ 'of_undeclared', 'sick', 'longer', 1 $$);
SELECT logreg($$ 'stored', 'sick', 'kept', 1 $$);
SELECT logreg($$ 'undeclared', 'sick', 'x', 1, domains => '{"x": {"norm": 2}}' $$);
SELECT logreg($$ 'undeclared', 'sick', '{x,age}', 1, domains => '{"age": [0, 120]}' $$);
SELECT logreg($$ 'undeclared', 'sick', NULL, 1 $$);
CREATE FUNCTION length_of(arguments text) RETURNS text LANGUAGE sql AS $$
  SELECT says('SELECT m #>> ''{features,0,dimension}'' FROM (SELECT dp_logreg_train(' || arguments || ')::jsonb AS m OFFSET 0) s')
$$;
SELECT length_of($$ 'undeclared', 'sick', 'x', 1, dimension => 3 $$);
SELECT length_of($$ 'undeclared', 'sick', 'x', 1, domains => '{"x": {"dimension": 3}}' $$);
SELECT length_of($$ 'of_undeclared', 'sick', 'x', 1, dimension => 2 $$);
SELECT length_of($$ 'of_undeclared', 'sick', 'made', 1 $$);
SELECT length_of($$ 'stored', 'sick', 'made', 1 $$);
SELECT format('%s: %s', x, length_of(format($$ 'checked', 'sick', %L, 1 $$, x))) FROM unnest('{a,b,c,d}'::text[]) x;
DROP MATERIALIZED VIEW stored;
DROP VIEW of_undeclared;
DROP TABLE undeclared, checked;
DROP FUNCTION length_of;

-- Strange names
CREATE SCHEMA "Sché ma";
CREATE TABLE "Sché ma"."Pa""tients; --" ("Is ""sick"", or not?" boolean, "x'); DROP TABLE people; --" vec2,
  "Größe" vec2, "select" vec2, "{curly}" vec2, "a.b" boolean,
  "a_name_as_long_as_a_name_can_be_and_not_one_single_lettr_longer" boolean);
INSERT INTO "Sché ma"."Pa""tients; --"
  SELECT i % 2 = 0, v, v, v, v, i % 2 = 0, i % 2 = 0
  FROM generate_series(1, 10) i, LATERAL (SELECT ARRAY[sin(i), cos(i)]) s(v);
SELECT logreg($$ '"Sché ma"."Pa""tients; --"', 'Is "sick", or not?', 'x''); DROP TABLE people; --', 1 $$);
SELECT logreg($$ '"Sché ma"."Pa""tients; --"', 'a.b', 'Größe', 1 $$);
SELECT logreg($$ '"Sché ma"."Pa""tients; --"', 'a.b', '{Größe}', 1 $$);
SELECT logreg($$ '"Sché ma"."Pa""tients; --"', 'a.b', 'select', 1 $$);
SELECT logreg($$ '"Sché ma"."Pa""tients; --"', 'a.b', ARRAY['{curly}'], 1 $$);
SELECT logreg($$ '"Sché ma"."Pa""tients; --"', 'a.b', '{"{curly}"}', 1 $$);
SELECT logreg($$ '"Sché ma"."Pa""tients; --"', 'a_name_as_long_as_a_name_can_be_and_not_one_single_lettr_longer', 'select', 1 $$);
SELECT logreg($$ '"Sché ma"."Pa""tients; --"', 'a_name_as_long_as_a_name_can_be_and_not_one_single_lettr_longer_', 'select', 1 $$);
SELECT logreg($$ quote_ident('Sché ma') || '.' || quote_ident('Pa"tients; --'), 'a.b', 'select', 1 $$);
SELECT logreg($$ 'Sché ma.Pa"tients; --', 'a.b', 'select', 1 $$);
SELECT left(logreg($$ repeat('x', 100000), 'a', 'b', 1 $$), 30);
SELECT left(logreg($$ 'people', repeat('x', 100000), 'b', 1 $$), 30);
SELECT left(logreg($$ 'people', 'sick', 'x', 1, method => repeat('x', 100000) $$), 30);
CREATE TABLE "w" (t boolean, w float8[] CHECK (cardinality(w) = 1));
INSERT INTO w SELECT i % 2 = 0, ARRAY[i] FROM generate_series(1, 10) i;
SELECT logreg($$ 'w', 't', 'w', 1 $$);

-- Injection
SELECT logreg($$ 'people; DROP TABLE people', 'sick', 'x', 1 $$);
SELECT logreg($$ '(SELECT * FROM people)', 'sick', 'x', 1 $$);
SELECT logreg($$ 'people t, people u', 'sick', 'x', 1 $$);
SELECT logreg($$ 'people -- ', 'sick', 'x', 1 $$);
SELECT logreg($$ 'people', 'sick OR true', 'x', 1 $$);
SELECT logreg($$ 'people', 't.sick', 'x', 1 $$);
SELECT logreg($$ 'people', 'sick), (SELECT 1', 'x', 1 $$);
SELECT logreg($$ 'people', 'sick', 'x) FROM people; DROP TABLE people; --', 1 $$);
SELECT logreg($$ 'people', 'sick', 'array[1.0]', 1 $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, method => 'output''; DROP TABLE people; --' $$);
SELECT logreg($$ 'people', 'sick', 'x', 1, analysis => '%s%n%d' $$);
SELECT svm($$ 'people', 'sick', 'x', 1, loss => 'huber"' $$);
SELECT logreg($$ 'people', 'name', 'x', 1, positive => 'p1''; DROP TABLE people; --' $$);
SELECT logreg($$ 'people', 'name', 'x', 1, positive => '$1' $$);
SELECT logreg($$ 'people', 'age', 'x', 1, positive => '1); DROP TABLE people; --' $$);
SELECT count(*) FROM people;

-- features: a name or an array of names, of any type of strings; columns and parameters have types, literals need none
CREATE DOMAIN column_name AS text;
CREATE TABLE two (sick boolean, a float8 CHECK (a BETWEEN 0 AND 1), b float8 CHECK (b BETWEEN 0 AND 1), "{a,b}" float8 CHECK ("{a,b}" BETWEEN 0 AND 1));
INSERT INTO two SELECT i % 3 = 0, i / 20.0, i / 20.0, i / 20.0 FROM generate_series(1, 20) i;
-- The columns that a call trains on, or why it does not
CREATE FUNCTION trained_on(features text) RETURNS text LANGUAGE sql AS $$
  SELECT says('SELECT jsonb_path_query_array(dp_logreg_train(''two'', ''sick'', ' || features || ', 1)::jsonb, ''$.features[*].column'')')
$$;
SELECT f || ' -> ' || trained_on(f) FROM unnest(ARRAY[
  $$ 'a' $$, $$ '{a,b}' $$, $$ '{"a"}' $$, $$ '{"{a,b}"}' $$, $$ ARRAY['a', 'b'] $$, $$ ARRAY['{a,b}'] $$, $$ '[0:1]={a,b}'::text[] $$, $$ NULL $$, $$ NULL::text[] $$,
  $$ (SELECT 'a') $$, $$ 'a'::text $$, $$ 'a'::varchar(1) $$, $$ 'a'::char(1) $$, $$ 'a'::name $$, $$ 'a'::column_name $$,
  $$ '{a,b}'::text[] $$, $$ '{a,b}'::varchar[] $$, $$ '{a,b}'::name[] $$, $$ '{a,b}'::column_name[] $$, $$ '{a,b}'::text $$,
  $$ '{}' $$, $$ ARRAY[]::name[] $$, $$ '{a,NULL}' $$, $$ ARRAY['a', NULL] $$, $$ '{a' $$, $$ '{{a},{b}}' $$,
  $$ 1 $$, $$ 1.5 $$, $$ true $$, $$ ARRAY[1, 2] $$, $$ '{"a": 1}'::jsonb $$, $$ ROW('a') $$, $$ ''::bytea $$]) f;
SELECT says($$ SELECT string_agg(dp_logreg_train('two', 'sick', attname, 1)::jsonb #>> '{features,0,column}', ', ' ORDER BY attnum)
  FROM pg_attribute WHERE attrelid = 'two'::regclass AND attname IN ('a', 'b') $$);
-- Many drivers send parameters without types
PREPARE untyped AS SELECT dp_logreg_train($1, $2, $3, $4, lambda => $5, domains => $6)::jsonb #> '{features,1,column}';
EXECUTE untyped('two', 'sick', '{a,b}', 1, NULL, NULL);
PREPARE typed(text[]) AS SELECT dp_svm_train('two', 'sick', features => $1, epsilon => 1)::jsonb #> '{features,1,column}';
EXECUTE typed(ARRAY['a', 'b']);
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
DEALLOCATE ALL;

-- The arguments that are not options: any other is in the table of options, and what is there is an argument, but for scale, which is for candidates alone
SELECT proname, string_agg(name, ', ' ORDER BY place) FILTER (WHERE NOT is_option) AS others, count(*) FILTER (WHERE is_option) = max(options) AS all_options
  FROM (SELECT proname, name, place, name = ANY (options) AS is_option, cardinality(array_remove(options, 'scale')) AS options
        FROM pg_proc, unnest(proargnames[1:pronargs]) WITH ORDINALITY AS a (name, place),
             LATERAL (SELECT string_to_array(replace(substring(says('SELECT dp_' || split_part(proname, '_', 2)
                        || '_tune(''people'', ''sick'', ''x'', 1, candidates => ''[{"no": 1}]'')') FROM 'Valid options are (.*)\.'), ' and ', ', '), ', ')) AS h (options)
        WHERE proname ~ '^dp_(logreg|svm)_(train|tune)$') a
  GROUP BY proname ORDER BY proname;

\pset tuples_only off
\pset format aligned
DROP TABLE people, two, columns, w, "Sché ma"."Pa""tients; --" CASCADE;
DROP SCHEMA "Sché ma";
DROP SEQUENCE counter;
DROP TYPE pair;
DROP FUNCTION says, logreg, svm, agg, untouchable, trained_on;
DROP DOMAIN vec2, column_name;
