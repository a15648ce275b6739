--
-- Row types that change: between two calls, in the middle of a query, under
-- rows that are stored; and rows of one hierarchy whose columns are in other
-- orders
--
\set ECHO none
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA altered_test;
SET search_path = altered_test, public;
\set VERBOSITY terse

CREATE TABLE people AS
  SELECT id, (id * 7) % 121 AS age, (ARRAY['surgery', 'cardiology', 'oncology'])[1 + id % 3] AS ward,
         ARRAY[sin(id), cos(id)] AS x, sin(id * id) > 0 AS sick
  FROM generate_series(1, 60) id;
CREATE TABLE models AS
  SELECT dp_svm_train('people', 'sick', '{age,ward,x}', 'Infinity', lambda => 0.01,
    domains => '{"age": [0, 120], "ward": ["surgery", "cardiology", "oncology"], "x": {"dimension": 2}}') AS model;
CREATE FUNCTION model() RETURNS dp_model LANGUAGE sql STABLE AS 'SELECT model FROM models';
-- the right results: rows of no table
CREATE TABLE score AS
  SELECT id, dp_decision(model(), s) AS d FROM (SELECT id, age, ward, x FROM people) s;
CREATE FUNCTION check_score(i int, value float8) RETURNS boolean LANGUAGE sql STABLE AS
  'SELECT abs(d - value) < 1e-12 FROM score WHERE id = i';
\set ECHO all

-- Between two calls of one call site: a type of its own
\set ECHO none
CREATE TYPE person AS (ward text, age int, x float8[]);
CREATE FUNCTION make_person(i int) RETURNS person LANGUAGE plpgsql AS $$
DECLARE
  r person;
BEGIN
  EXECUTE 'SELECT s.* FROM people p, jsonb_populate_record(NULL::person, to_jsonb(p)) s WHERE p.id = $1' INTO r USING i;
  RETURN r;
END $$;
CREATE FUNCTION scored(r person) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  m dp_model := model();
BEGIN
  RETURN dp_decision(m, r);
END $$;
CREATE FUNCTION all_right() RETURNS TABLE (people bigint, right_ bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT count(*), count(*) FILTER (WHERE check_score(i, scored(make_person(i)))) FROM generate_series(1, 20) i';
END $$;
\set ECHO all
SELECT * FROM all_right();
ALTER TYPE person ADD ATTRIBUTE extra text;
SELECT * FROM all_right();
ALTER TYPE person DROP ATTRIBUTE age;
SELECT * FROM all_right();
ALTER TYPE person ADD ATTRIBUTE age int;
SELECT * FROM all_right();
ALTER TYPE person ALTER ATTRIBUTE age TYPE numeric;
SELECT * FROM all_right();
ALTER TYPE person ALTER ATTRIBUTE age TYPE text;
SELECT * FROM all_right();
ALTER TYPE person RENAME ATTRIBUTE age TO old_age;
ALTER TYPE person ADD ATTRIBUTE age smallint;
SELECT * FROM all_right();
ALTER TYPE person DROP ATTRIBUTE ward, ADD ATTRIBUTE ward varchar(20), DROP ATTRIBUTE x, ADD ATTRIBUTE x float4[];
SELECT max(abs(d - scored(make_person(id)))) < 1e-6 AS nearly FROM score WHERE id <= 20;
ALTER TYPE person DROP ATTRIBUTE x, ADD ATTRIBUTE x float8[];
-- in a transaction that is rolled back
BEGIN;
ALTER TYPE person DROP ATTRIBUTE ward, ADD ATTRIBUTE ward text;
SELECT * FROM all_right();
SAVEPOINT s;
ALTER TYPE person DROP ATTRIBUTE extra, DROP ATTRIBUTE age, ADD ATTRIBUTE age bigint;
SELECT * FROM all_right();
ROLLBACK TO s;
SELECT * FROM all_right();
ROLLBACK;
SELECT * FROM all_right();

-- In the middle of a query: every row, or every third, is of a type that was
-- altered since
\set ECHO none
CREATE FUNCTION alter_and_make(i int) RETURNS person LANGUAGE plpgsql AS $$
BEGIN
  CASE i % 9
    WHEN 0 THEN ALTER TYPE person DROP ATTRIBUTE age;
                ALTER TYPE person ADD ATTRIBUTE age int;
    WHEN 3 THEN ALTER TYPE person DROP ATTRIBUTE x, ADD ATTRIBUTE x float8[];
    WHEN 6 THEN ALTER TYPE person ALTER ATTRIBUTE age TYPE float8;
    ELSE NULL;
  END CASE;
  RETURN make_person(i);
END $$;
CREATE FUNCTION in_the_middle(how text) RETURNS TABLE (people bigint, right_ bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT count(*), count(*) FILTER (WHERE check_score(i, %s)) FROM generate_series(1, 60) i', how);
END $$;
\set ECHO all
SELECT * FROM in_the_middle('dp_decision(model(), alter_and_make(i))');
SELECT * FROM in_the_middle('dp_decision(model(), alter_and_make(i)::record)');
SELECT * FROM in_the_middle('(SELECT sum(v * w) FROM unnest(dp_encode(model(), alter_and_make(i)), dp_weights(model())) u(v, w))');
-- a column that the model needs is dropped, and added again
CREATE FUNCTION drop_and_make(i int) RETURNS person LANGUAGE plpgsql AS $$
BEGIN
  IF i = 7 THEN
    ALTER TYPE person DROP ATTRIBUTE ward;
  END IF;
  RETURN make_person(i);
END $$;
SELECT * FROM in_the_middle('dp_decision(model(), drop_and_make(i))');
SELECT * FROM all_right();
-- or is of a type that does not fit
CREATE FUNCTION retype_and_make(i int) RETURNS person LANGUAGE plpgsql AS $$
BEGIN
  IF i = 7 THEN
    ALTER TYPE person DROP ATTRIBUTE x, ADD ATTRIBUTE x text;
    RETURN ROW(NULL, NULL, NULL, NULL, NULL)::person;
  END IF;
  RETURN make_person(i);
END $$;
SELECT * FROM in_the_middle('dp_decision(model(), retype_and_make(i))');
SELECT * FROM all_right();

-- A value in hand that is no longer what its type says. Servers that version
-- attributes refuse to read it, with any function; others take it as it lies:
-- here four or eight bytes as another kind of number
\set ECHO none
CREATE FUNCTION in_hand(change text, access text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  r record;
  number float8;
BEGIN
  SELECT make_person(1) AS v INTO r;
  EXECUTE 'SELECT ' || access INTO number USING r.v;
  BEGIN
    EXECUTE change;
    EXECUTE 'SELECT ' || access INTO number USING r.v;
    RAISE division_by_zero;
  EXCEPTION
    WHEN division_by_zero THEN RETURN 'taken';	-- and the change is undone
    WHEN SQLSTATE '22P07' THEN RETURN 'refused';
  END;
END $$;
ALTER TYPE person ALTER ATTRIBUTE age TYPE int;
\set ECHO all
SELECT in_hand('ALTER TYPE person ALTER ATTRIBUTE age TYPE float4', '($1::person).age') =
  in_hand('ALTER TYPE person ALTER ATTRIBUTE age TYPE float4', 'dp_decision(model(), $1::person)') AS as_the_server_does;
ALTER TYPE person ALTER ATTRIBUTE age TYPE bigint;
SELECT in_hand('ALTER TYPE person ALTER ATTRIBUTE age TYPE float8', '($1::person).age') =
  in_hand('ALTER TYPE person ALTER ATTRIBUTE age TYPE float8', 'dp_decision(model(), $1::person)') AS as_the_server_does;
SELECT * FROM all_right();

-- Stored values of a type from before it was altered
CREATE TYPE stored AS (gone text, ward text, age int, x float8[]);
CREATE TABLE old_values (id int, v stored);
CREATE FUNCTION fill() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'INSERT INTO old_values SELECT id, jsonb_populate_record(NULL::stored, to_jsonb(p)) FROM people p';
END $$;
CREATE FUNCTION old_right() RETURNS TABLE (values_ bigint, right_ bigint, by_hand bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT count(*), count(*) FILTER (WHERE check_score(id, dp_decision(model(), v))),
      count(*) FILTER (WHERE dp_decision(model(), v) = dp_decision(model(), s))
    FROM old_values, LATERAL (SELECT (v).age, (v).ward, (v).x) s';
END $$;
SELECT fill();
SELECT * FROM old_right();
ALTER TYPE stored ADD ATTRIBUTE more text;
SELECT fill();
SELECT * FROM old_right();
ALTER TYPE stored DROP ATTRIBUTE gone;
SELECT fill();
SELECT * FROM old_right();
ALTER TYPE stored RENAME ATTRIBUTE ward TO department;
ALTER TYPE stored RENAME ATTRIBUTE department TO ward;
SELECT * FROM old_right();
-- a column that was dropped and added is NULL in the values from before, as
-- everywhere in SQL
ALTER TYPE stored DROP ATTRIBUTE age, ADD ATTRIBUTE age int;
SELECT count((v).age) AS ages, count(dp_decision(model(), v)) AS values_ FROM old_values;
SELECT fill();
SELECT * FROM old_right();

-- The same with the row type of a table, and in arrays
CREATE TABLE shape (gone text, ward text, age int, x float8[]);
CREATE TABLE old_rows (id int, v shape);
INSERT INTO old_rows SELECT id, ROW('gone', ward, age, x)::shape FROM people;
CREATE TABLE old_arrays AS SELECT array_agg(v ORDER BY id) AS vs FROM old_rows;
ALTER TABLE shape ADD more text, ADD many int;
SELECT count(*) FILTER (WHERE check_score(id, dp_decision(model(), v))) AS rows,
       (SELECT count(*) FILTER (WHERE check_score(i::int, dp_decision(model(), w)))
        FROM old_arrays, unnest(vs) WITH ORDINALITY u(gone, ward, age, x, more, many, i), LATERAL (SELECT ward, age, x) w) AS elements
  FROM old_rows;
ALTER TABLE shape DROP gone;
INSERT INTO old_rows SELECT id, ROW(ward, age, x, 'more', 1)::shape FROM people;
SELECT count(*), count(*) FILTER (WHERE check_score(id, dp_decision(model(), v))) AS rows FROM old_rows;
SELECT count(*), count(*) FILTER (WHERE check_score(i::int, dp_decision(model(), vs[i]))) AS elements FROM old_arrays, generate_series(1, 60) i;

-- Columns of a table that were dropped and added
CREATE TABLE renewed AS SELECT id, 'gone' AS gone, age, ward, x, sick FROM people;
ALTER TABLE renewed DROP gone, ADD late text DEFAULT 'late';
PREPARE renewed_right AS
  SELECT count(*), count(*) FILTER (WHERE check_score(id, dp_decision(model(), r))) AS right FROM renewed r;
EXECUTE renewed_right;
ALTER TABLE renewed ADD age2 int;
UPDATE renewed SET age2 = age;
ALTER TABLE renewed DROP age;
EXECUTE renewed_right;
ALTER TABLE renewed RENAME age2 TO age;
EXECUTE renewed_right;
ALTER TABLE renewed ALTER age TYPE numeric, ALTER ward TYPE varchar(30), ALTER id TYPE bigint;
PREPARE renewed_again AS
  SELECT count(*), count(*) FILTER (WHERE check_score(id::int, dp_decision(model(), r))) AS right FROM renewed r;
EXECUTE renewed_again;
ALTER TABLE renewed DROP late, ADD late int DEFAULT 7;
EXECUTE renewed_again;

-- Partitions and children with their columns in other orders, some dropped,
-- some of their own
\set ECHO none
CREATE TABLE parts (LIKE people) PARTITION BY LIST (ward);
CREATE TABLE parts_surgery PARTITION OF parts FOR VALUES IN ('surgery');
CREATE TABLE parts_cardiology (x float8[], junk text, sick boolean, ward text, id int, age int);
ALTER TABLE parts_cardiology DROP junk;
ALTER TABLE parts ATTACH PARTITION parts_cardiology FOR VALUES IN ('cardiology');
CREATE TABLE parts_others (ward text, x float8[], age int, id int, junk int, sick boolean) PARTITION BY RANGE (age);
ALTER TABLE parts_others DROP junk;
CREATE TABLE parts_others_all (sick boolean, age int, id int, x float8[], ward text);
ALTER TABLE parts_others ATTACH PARTITION parts_others_all DEFAULT;
ALTER TABLE parts ATTACH PARTITION parts_others DEFAULT;
INSERT INTO parts SELECT * FROM people;
CREATE TABLE parent (LIKE people);
CREATE TABLE child (own text, x float8[], ward text);
ALTER TABLE child ADD junk int, ADD age int, ADD sick boolean, ADD id int;
ALTER TABLE child DROP junk;
ALTER TABLE child INHERIT parent;
CREATE TABLE grandchild (CHECK (own IS NOT NULL)) INHERITS (child);
INSERT INTO parent SELECT * FROM people WHERE id % 3 = 0;
INSERT INTO child (id, age, ward, x) SELECT id, age, ward, x FROM people WHERE id % 3 = 1;
INSERT INTO grandchild (id, age, ward, x, own) SELECT id, age, ward, x, 'own' FROM people WHERE id % 3 = 2;
\set ECHO all
SELECT rows, count(*), count(*) FILTER (WHERE check_score(id, d)) AS right FROM (
  SELECT 'parts' AS rows, id, dp_decision(model(), p) AS d FROM parts p
  UNION ALL SELECT 'surgery', id, dp_decision(model(), p) FROM parts_surgery p
  UNION ALL SELECT 'cardiology', id, dp_decision(model(), p) FROM parts_cardiology p
  UNION ALL SELECT 'cardiology as parts', id, dp_decision(model(), p::parts) FROM parts_cardiology p
  UNION ALL SELECT 'others', id, dp_decision(model(), p) FROM parts_others p
  UNION ALL SELECT 'others as parts', id, dp_decision(model(), p::parts_others::parts) FROM parts_others_all p
  UNION ALL SELECT 'parent', id, dp_decision(model(), p) FROM parent p
  UNION ALL SELECT 'only parent', id, dp_decision(model(), p) FROM ONLY parent p
  UNION ALL SELECT 'child', id, dp_decision(model(), p) FROM child p
  UNION ALL SELECT 'child as parent', id, dp_decision(model(), p::parent) FROM child p
  UNION ALL SELECT 'grandchild as parent', id, dp_decision(model(), p::child::parent) FROM grandchild p) s
GROUP BY rows ORDER BY rows COLLATE "C";
-- one call site, rows of all of these types in turn
CREATE FUNCTION any_row(i int) RETURNS record LANGUAGE plpgsql STABLE AS $$
DECLARE
  r record;
BEGIN
  EXECUTE format('SELECT t.* FROM %s t WHERE id = $1', (SELECT tableoid::regclass::text FROM (
    SELECT tableoid, id FROM parts WHERE i % 2 = 0 UNION ALL SELECT tableoid, id FROM parent WHERE i % 2 = 1) s WHERE id = i)) INTO r USING i;
  RETURN r;
END $$;
SELECT count(*), count(*) FILTER (WHERE check_score(i, dp_decision(model(), any_row(i)))) AS right FROM generate_series(1, 60) i;
ALTER TABLE parts ADD late text DEFAULT 'late';
ALTER TABLE parent ADD late text DEFAULT 'late';
SELECT count(*), count(*) FILTER (WHERE check_score(id, dp_decision(model(), p))) AS right FROM parts p;
SELECT count(*), count(*) FILTER (WHERE check_score(id, dp_decision(model(), p))) AS right FROM parent p;
ALTER TABLE parts DROP sick;
ALTER TABLE parent DROP sick;
SELECT count(*), count(*) FILTER (WHERE check_score(id, dp_decision(model(), p))) AS right FROM parts p;
SELECT count(*), count(*) FILTER (WHERE check_score(id, dp_decision(model(), p))) AS right FROM parent p;

-- A view that exchanges two of its columns when a query over it is planned, the
-- first one or a later one: no query may take one column for the other
\set ECHO none
CREATE TABLE exchanged (id int PRIMARY KEY, a text, b bigint, u text, v bigint, ill boolean);
INSERT INTO exchanged SELECT i, 'yes', i % 10, 'person ' || i, i, i % 2 = 0 FROM generate_series(1, 100) i;
CREATE TABLE private (LIKE exchanged INCLUDING ALL);
INSERT INTO private TABLE exchanged;
CREATE FUNCTION exchange() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  pair text[] := string_to_array(current_setting('altered.pair'), ' ');
  turn int := current_setting('altered.turn');
BEGIN
  PERFORM set_config('altered.turn', (turn - 1)::text, false);
  IF turn = 1 THEN
    EXECUTE format('ALTER VIEW exchanging RENAME %I TO between', pair[1]);
    EXECUTE format('ALTER VIEW exchanging RENAME %I TO %I', pair[2], pair[1]);
    EXECUTE format('ALTER VIEW exchanging RENAME between TO %I', pair[2]);
  END IF;
  RETURN true;
END $$;
CREATE FUNCTION calm() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN exchange(); END $$;
CREATE TABLE judge AS SELECT dp_logreg_train('private', 'ill', '{a,b}', 'Infinity', lambda => 0.1, domains => '{"a": ["yes", "no"], "b": [0, 10]}') AS model;
CREATE FUNCTION exchanged(at_turn int, pair text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  PERFORM set_config('altered.turn', '0', false), set_config('altered.pair', pair, false);
  DROP VIEW IF EXISTS exchanging;
  CREATE VIEW exchanging AS SELECT id, a, b, u, v, ill FROM exchanged WHERE calm();
  PERFORM set_config('altered.turn', at_turn::text, false);
  EXECUTE 'SELECT count(*) FROM ' || call INTO result;
  RETURN 'done';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
SELECT what, string_agg(DISTINCT outcome, ' ' ORDER BY outcome) AS outcomes FROM (VALUES
  ('training', 'dp_logreg_train(''exchanging'', ''ill'', ''{a,b}'', ''Infinity'', lambda => 0.1, domains => ''{"a": ["yes", "no"], "b": [0, 10]}'')'),
  ('training of persons', 'dp_logreg_train(''exchanging'', ''ill'', ''{a}'', ''Infinity'', lambda => 0.1, unit => ''u'', domains => ''{"a": ["yes", "no"]}'')'),
  ('evaluation', 'judge, dp_evaluate(model, ''exchanging'', ''Infinity'', ''ill'')'),
  ('evaluation of persons', 'judge, dp_evaluate(model, ''exchanging'', ''Infinity'', ''ill'', unit => ''u'')'),
  ('roc', 'judge, dp_roc(model, ''exchanging'', ''Infinity'', ''ill'')'),
  ('tuning of persons', 'dp_logreg_tune(''exchanging'', ''ill'', ''{a,b}'', 1, candidates => ''[{"lambda": 0.1}, {"lambda": 0.2}]'', unit => ''u'', domains => ''{"a": ["yes", "no"], "b": [0, 10]}'')')) c (what, call),
  (VALUES ('a b'), ('u v'), ('ill b'), ('a ill')) p (pair), generate_series(1, 12) turn, exchanged(turn, pair, call) outcome GROUP BY what ORDER BY what;
-- a view that drops itself, or is dropped with its schema, while its rows are read
CREATE FUNCTION gone() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN EXECUTE current_setting('altered.drop'); RETURN true; END $$;
CREATE FUNCTION quiet(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN gone(); END $$;
CREATE FUNCTION dropped(command text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  CREATE SCHEMA leaving;
  CREATE VIEW leaving.vanishing AS SELECT id, a, b, u, ill FROM exchanged WHERE quiet(id);
  PERFORM set_config('altered.drop', command, false);
  EXECUTE 'SELECT count(*) FROM ' || call INTO result;
  DROP SCHEMA leaving CASCADE;
  RETURN 'done';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT what, command, dropped(command, call) FROM (VALUES
  ('training', 'dp_logreg_train(''leaving.vanishing'', ''ill'', ''{b}'', ''Infinity'', lambda => 0.1, domains => ''{"b": [0, 10]}'')'),
  ('training of persons', 'dp_logreg_train(''leaving.vanishing'', ''ill'', ''{b}'', ''Infinity'', lambda => 0.1, unit => ''u'', domains => ''{"b": [0, 10]}'')'),
  ('tuning of persons', 'dp_logreg_tune(''leaving.vanishing'', ''ill'', ''{b}'', 1, candidates => ''[{"lambda": 0.1}, {"lambda": 0.2}]'', unit => ''u'', domains => ''{"b": [0, 10]}'')'),
  ('evaluation', 'judge, dp_evaluate(model, ''leaving.vanishing'', ''Infinity'', ''ill'')')) c (what, call),
  unnest('{DROP VIEW IF EXISTS leaving.vanishing,DROP SCHEMA IF EXISTS leaving CASCADE}'::text[]) command ORDER BY what, command;
-- a relation that is altered while a tuning is planned, which opens it once for all
-- candidates, and one that is locked by planning: the lock stays
CREATE TABLE tuned (id int PRIMARY KEY, b int CHECK (b BETWEEN 0 AND 9), y int CONSTRAINT few CHECK (y IN (0, 1)), p int CHECK (p BETWEEN 0 AND 9), q text CHECK (q IN ('a', 'b')));
INSERT INTO tuned SELECT i, i % 10, i % 2, i % 10, 'a' FROM generate_series(1, 1000) i;
CREATE FUNCTION change() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  command text := current_setting('altered.change');
BEGIN
  PERFORM set_config('altered.turn', (current_setting('altered.turn')::int - 1)::text, false);
  IF current_setting('altered.turn') = '0' THEN
    EXECUTE command;
  END IF;
  RETURN true;
END $$;
CREATE FUNCTION still() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN change(); END $$;
CREATE FUNCTION changed(at_turn int, command text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  PERFORM set_config('altered.turn', '0', false), set_config('altered.change', command, false);
  CREATE VIEW changing AS SELECT id, b, y FROM tuned WHERE still();
  PERFORM set_config('altered.turn', at_turn::text, false);
  EXECUTE 'SELECT count(*) FROM ' || call INTO result;
  RAISE 'done';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
SELECT what, string_agg(DISTINCT outcome, ' ' ORDER BY outcome) AS outcomes FROM (VALUES
  ('more classes', 'ALTER TABLE tuned DROP CONSTRAINT few; ALTER TABLE tuned ADD CONSTRAINT few CHECK (y IN (0, 1, 2, 3, 4, 5, 6))'),
  ('other columns', 'ALTER TABLE tuned DROP CONSTRAINT tuned_b_check; ALTER TABLE tuned ADD CONSTRAINT tuned_id_check CHECK (id BETWEEN 0 AND 9999)'),
  ('more columns', 'CREATE OR REPLACE VIEW changing AS SELECT id, b, y, p, q FROM tuned WHERE still()')) c (what, command),
  generate_series(1, 9) turn, unnest('{unit => NULL,unit => ''id''}'::text[]) divided,
  changed(turn, command, format('dp_logreg_tune(''changing'', ''y'', NULL::text, 1, candidates => ''[{"lambda": 0.1}, {"lambda": 0.2}, {"lambda": 0.3}]'', %s)', divided)) outcome GROUP BY what ORDER BY what;
CREATE VIEW changing AS SELECT id, b, y FROM tuned WHERE still();
BEGIN;
SET LOCAL altered.change = 'LOCK TABLE judge IN ACCESS EXCLUSIVE MODE';
SET LOCAL altered.turn = 1;
SELECT count(*) > 0 AS cost FROM dp_cost('changing', 'y', '{b}', 1, units => 1000);
SELECT mode FROM pg_locks WHERE relation = 'judge'::regclass AND pid = pg_backend_pid();
COMMIT;
\set ECHO all

DROP SCHEMA altered_test CASCADE;
