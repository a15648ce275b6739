--
-- Stable rows: a source whose rows may change between two passes under one
-- snapshot is refused
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE TABLE people (id int PRIMARY KEY, g int, y boolean, a float8, k int, n numeric, t text, x float8[]);
INSERT INTO people SELECT i, i % 7, sin(i * i) > 0, sin(i), i % 5, i % 11, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, ARRAY[sin(i), cos(i)] FROM generate_series(1, 200) i;
CREATE TABLE more (id int PRIMARY KEY, b float8);
INSERT INTO more SELECT i, cos(i) FROM generate_series(1, 200) i;
CREATE TABLE keyless AS TABLE people;
CREATE TABLE parent (id int PRIMARY KEY, y boolean, a float8);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT id, y, a FROM people;
INSERT INTO child SELECT id, NOT y, -a FROM people;
CREATE TABLE parts (id int PRIMARY KEY, y boolean, a float8) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (1000);
INSERT INTO parts SELECT id, y, a FROM people;
CREATE SEQUENCE counter START 50;
SELECT nextval('counter') \gset

CREATE FUNCTION sum_step(float8, float8) RETURNS float8 LANGUAGE sql VOLATILE AS 'SELECT $1 + $2 + random()';
CREATE FUNCTION keep_step(float8, float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, $2)';
CREATE FUNCTION any_final(float8) RETURNS float8 LANGUAGE sql VOLATILE AS 'SELECT random()';
CREATE FUNCTION same_final(float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION set_final(float8, float8) RETURNS float8 LANGUAGE sql VOLATILE AS 'SELECT random()';
CREATE AGGREGATE shaky_sum(float8) (SFUNC = sum_step, STYPE = float8, INITCOND = '0');
CREATE AGGREGATE shaky_final(float8) (SFUNC = keep_step, STYPE = float8, FINALFUNC = any_final);
CREATE AGGREGATE shaky_combine(float8) (SFUNC = keep_step, STYPE = float8, COMBINEFUNC = sum_step);
CREATE AGGREGATE shaky_moving(float8) (SFUNC = keep_step, STYPE = float8, MSFUNC = sum_step, MINVFUNC = sum_step, MSTYPE = float8);
CREATE AGGREGATE shaky_set(float8 ORDER BY float8) (SFUNC = keep_step, STYPE = float8, FINALFUNC = set_final);
CREATE AGGREGATE first_of(float8) (SFUNC = keep_step, STYPE = float8);
CREATE FUNCTION shaky_lt(float8, float8) RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT $1 < $2 OR random() < 0.5';
CREATE OPERATOR <<<< (FUNCTION = shaky_lt, LEFTARG = float8, RIGHTARG = float8);
CREATE TYPE pair AS (a float8);
CREATE FUNCTION to_pair(float8) RETURNS pair LANGUAGE sql VOLATILE AS 'SELECT ROW(random())::pair';
CREATE CAST (float8 AS pair) WITH FUNCTION to_pair(float8);

-- Does training accept a view? v is the place for a query that returns y and a
CREATE FUNCTION tried(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  message text;
BEGIN
  EXECUTE 'CREATE VIEW tried_view AS ' || query;
  BEGIN
    PERFORM dp_logreg_train('tried_view', 'y', 'a', 1, lambda => 0.1, domains => '{"a": [-1, 1]}');
    message := 'steady';
  EXCEPTION WHEN OTHERS THEN
    message := CASE WHEN SQLERRM ~ 'volatile' THEN 'volatile' WHEN SQLERRM ~ 'order in which' THEN 'order' WHEN SQLERRM ~ 'reads data that can change' THEN 'changes' ELSE SQLERRM END;
  END;
  DROP VIEW tried_view;
  RETURN message;
END $$;
CREATE TABLE queries (n serial, want text, query text);

-- Volatile functions behind aggregates, operators, casts
INSERT INTO queries (want, query) VALUES
  ('volatile', $$ SELECT y, dp_decision(dp_logreg(y, x, 1, '{"lambda": 0.1, "dimension": 2}'), '{0,1}'::float8[]) AS a FROM people GROUP BY y $$),
  ('volatile', $$ SELECT p.y, dp_decision(m, p.x) AS a FROM people p, (SELECT dp_svm(y, x, 1, '{"lambda": 0.1, "dimension": 2}') AS m FROM people) s $$),
  ('volatile', $$ SELECT p.y, dp_decision((SELECT dp_logreg(y, x, 1, '{"lambda": 0.1, "dimension": 2}') FROM people), p.x) AS a FROM people p $$),
  ('volatile', $$ SELECT y, a FROM people p WHERE EXISTS (SELECT FROM people q WHERE q.g = p.g HAVING dp_logreg(y, x, 1) IS NOT NULL) $$),
  ('volatile', $$ SELECT y, shaky_sum(a) AS a FROM people GROUP BY y, g $$),
  ('volatile', $$ SELECT y, shaky_sum(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('volatile', $$ SELECT y, shaky_final(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('volatile', $$ SELECT y, shaky_combine(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('volatile', $$ SELECT y, shaky_moving(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('volatile', $$ SELECT y, shaky_moving(a) OVER (ORDER BY id ROWS 1 PRECEDING) AS a FROM people $$),
  ('volatile', $$ SELECT y, shaky_sum(a) OVER (ORDER BY id) AS a FROM people $$),
  ('volatile', $$ SELECT y, shaky_set(0.5) WITHIN GROUP (ORDER BY a) AS a FROM people GROUP BY y, g $$),
  ('volatile', $$ SELECT y, a FROM people GROUP BY y, a HAVING shaky_sum(a) > 0 $$),
  ('volatile', $$ WITH s AS (SELECT shaky_sum(a) AS s FROM people) SELECT y, a FROM people, s WHERE a < s $$),
  ('volatile', $$ SELECT y, a FROM people WHERE a <<<< 0.5 $$),
  ('volatile', $$ SELECT y, a FROM people WHERE a <<<< ANY (ARRAY[0.5, 0.6]::float8[]) $$),
  ('volatile', $$ SELECT y, (a::pair).a FROM people $$),
  ('volatile', $$ SELECT y, a FROM people LIMIT (100 * random())::int $$),
  ('volatile', $$ SELECT y, a FROM people TABLESAMPLE bernoulli (100 * random()) REPEATABLE (1) $$),
  ('volatile', $$ SELECT y, a FROM people TABLESAMPLE bernoulli (50) REPEATABLE (random()) $$),
  ('volatile', $$ SELECT y, a FROM people WHERE id < nextval('counter') $$),
  ('volatile', $$ SELECT y, a FROM people, generate_series(1, (2 * random())::int) $$),
  ('volatile', $$ SELECT y, a FROM people ORDER BY random() $$),
  ('volatile', $$ SELECT y, a FROM people, pg_locks $$);

-- What no snapshot covers
INSERT INTO queries (want, query) VALUES
  ('changes', $$ SELECT y, a FROM people, counter WHERE id <= last_value $$),
  ('changes', $$ SELECT y, a FROM people WHERE id <= (SELECT last_value FROM counter) $$),
  ('changes', $$ SELECT y, a FROM people WHERE xmax = '0' $$),
  ('changes', $$ SELECT y, (xmax::text::int % 2)::float8 AS a FROM people $$),
  ('changes', $$ SELECT y, a FROM people WHERE cmax = '0' OR cmin = '0' $$),
  ('changes', $$ SELECT y, a FROM people WHERE xmin <> '2' $$),
  ('changes', $$ SELECT y, a FROM people FOR UPDATE $$),
  ('changes', $$ SELECT y, a FROM (SELECT * FROM people FOR SHARE) s $$),
  ('changes', $$ SELECT y, a FROM people FOR KEY SHARE SKIP LOCKED $$),
  ('changes', $$ SELECT y, a FROM people TABLESAMPLE bernoulli (50) $$),
  ('changes', $$ SELECT y, a FROM people TABLESAMPLE system (50) $$),
  ('steady', $$ SELECT y, a FROM people TABLESAMPLE bernoulli (50) REPEATABLE (1) $$),
  ('steady', $$ SELECT y, a FROM people WHERE ctid > '(0,1)' AND tableoid = 'people'::regclass $$);

-- Rows that are picked: ties must be ruled out
INSERT INTO queries (want, query) VALUES
  ('order', $$ SELECT y, a FROM people LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM people ORDER BY g LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM people ORDER BY g OFFSET 50 $$),
  ('order', $$ SELECT y, a FROM keyless ORDER BY id LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM parent ORDER BY id LIMIT 51 $$),
  ('order', $$ SELECT y, a FROM people ORDER BY id + 0 LIMIT 50 $$),
  ('order', $$ SELECT p.y, p.a FROM people p, more m ORDER BY p.id LIMIT 50 $$),
  ('order', $$ SELECT p.y, p.a FROM people p JOIN more m ON p.g = m.id ORDER BY m.id LIMIT 50 $$),
  ('order', $$ SELECT y, a, generate_series(1, 3) FROM people ORDER BY id LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM people, generate_series(1, 3) ORDER BY id LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM people UNION ALL SELECT y, a FROM people ORDER BY y LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM people UNION SELECT y, a FROM people ORDER BY y, a LIMIT 50 $$),
  ('order', $$ SELECT DISTINCT y, a FROM people ORDER BY y LIMIT 50 $$),
  ('order', $$ SELECT y, 0.5 AS a FROM people GROUP BY y, g ORDER BY g LIMIT 5 $$),
  ('order', $$ SELECT y, a FROM people ORDER BY g OFFSET 3 FETCH FIRST 50 ROWS WITH TIES $$),
  ('order', $$ SELECT y, a FROM people WHERE id IN (SELECT id FROM people ORDER BY g LIMIT 50) $$),
  ('order', $$ SELECT y, a FROM (SELECT y, a FROM people ORDER BY id) s LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM (SELECT g AS id, y, a FROM people) s ORDER BY id LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM (SELECT p.id, p.y, p.a FROM people p, more) s ORDER BY id LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM (SELECT id, y, a FROM people UNION ALL SELECT id, y, a FROM people) s ORDER BY id LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM (SELECT id, y, a, unnest(x) FROM people) s ORDER BY id LIMIT 50 $$),
  ('order', $$ SELECT y, a FROM (SELECT g AS id, y, max(a) AS a FROM people GROUP BY g, y) s ORDER BY id LIMIT 5 $$),
  ('order', $$ SELECT DISTINCT ON (g) y, a FROM people $$),
  ('order', $$ SELECT DISTINCT ON (g) y, a FROM people ORDER BY g, k $$),
  ('order', $$ SELECT DISTINCT ON (id) y, a FROM parent ORDER BY id $$),
  ('order', $$ SELECT y, a FROM parent GROUP BY id $$),
  ('order', $$ WITH RECURSIVE r AS (SELECT y, a FROM people UNION ALL (SELECT y, a FROM r WHERE a > 1)) SELECT y, a FROM r LIMIT 7 $$),
  ('steady', $$ SELECT y, a FROM people ORDER BY id LIMIT 50 $$),
  ('steady', $$ SELECT y, a FROM people ORDER BY g DESC, id OFFSET 50 $$),
  ('steady', $$ SELECT y, a FROM parts ORDER BY id LIMIT 50 $$),
  ('steady', $$ SELECT y, a FROM ONLY parent ORDER BY id LIMIT 50 $$),
  ('steady', $$ SELECT p.y, p.a FROM people p JOIN more m USING (id) ORDER BY p.id, m.id LIMIT 50 $$),
  ('steady', $$ SELECT y, a FROM (SELECT id AS nr, y, a FROM people WHERE id > 10) s ORDER BY nr LIMIT 50 $$),
  ('steady', $$ SELECT y, (array_agg(a ORDER BY nr))[1] AS a FROM (SELECT nr, y, a FROM (SELECT id AS nr, y, a FROM people LIMIT ALL) t) s GROUP BY y $$),
  ('steady', $$ SELECT y, a FROM people ORDER BY g FETCH FIRST 50 ROWS WITH TIES $$),
  ('steady', $$ SELECT DISTINCT y, a FROM people ORDER BY y, a LIMIT 50 $$),
  ('steady', $$ SELECT y, max(a) AS a FROM people GROUP BY y, g ORDER BY g, y LIMIT 5 $$),
  ('steady', $$ SELECT true AS y, max(a) AS a FROM people LIMIT 1 $$),
  ('steady', $$ SELECT DISTINCT ON (g) y, a FROM people ORDER BY g, id $$),
  ('steady', $$ SELECT y, a FROM people OFFSET 0 $$),
  ('steady', $$ SELECT y, a FROM people LIMIT ALL $$),
  ('steady', $$ SELECT y, a FROM people GROUP BY id $$),
  ('steady', $$ SELECT y, a FROM parts GROUP BY id $$);

-- Rows that are numbered, or seen in order
INSERT INTO queries (want, query) VALUES
  ('order', $$ SELECT y, row_number() OVER () / 1000.0 AS a FROM people $$),
  ('order', $$ SELECT y, row_number() OVER (ORDER BY g) / 1000.0 AS a FROM people $$),
  ('order', $$ SELECT y, row_number() OVER (PARTITION BY g) / 1000.0 AS a FROM people $$),
  ('order', $$ SELECT y, lag(a) OVER (ORDER BY g) AS a FROM people $$),
  ('order', $$ SELECT y, first_value(a) OVER (PARTITION BY g ORDER BY k) AS a FROM people $$),
  ('order', $$ SELECT y, ntile(4) OVER (ORDER BY g) / 4.0 AS a FROM people $$),
  ('order', $$ SELECT y, sum(k) OVER (ORDER BY g ROWS 2 PRECEDING) / 100.0 AS a FROM people $$),
  ('order', $$ SELECT y, avg(a) OVER (PARTITION BY g) AS a FROM people $$),
  ('order', $$ SELECT y, row_number() OVER (ORDER BY g) / 10.0 AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, row_number() OVER (ORDER BY id) / 1000.0 AS a FROM people $$),
  ('steady', $$ SELECT y, lag(a) OVER (PARTITION BY g ORDER BY id) AS a FROM people $$),
  ('steady', $$ SELECT y, rank() OVER (ORDER BY g) / 1000.0 AS a FROM people $$),
  ('steady', $$ SELECT y, count(*) OVER (PARTITION BY g) / 1000.0 AS a FROM people $$),
  ('steady', $$ SELECT y, sum(n) OVER (ORDER BY g) / 1000.0 AS a FROM people $$),
  ('steady', $$ SELECT y, sum(a) OVER (ORDER BY id) AS a FROM people $$),
  ('steady', $$ SELECT y, row_number() OVER (ORDER BY g, y) / 10.0 AS a FROM people GROUP BY y, g $$);

-- Aggregates that see rows in order; sums of floats round by it
INSERT INTO queries (want, query) VALUES
  ('order', $$ SELECT y, (array_agg(a))[1] AS a FROM people GROUP BY y, g $$),
  ('order', $$ SELECT y, (array_agg(a ORDER BY k))[1] AS a FROM people GROUP BY y, g $$),
  ('order', $$ SELECT y, length(string_agg(t, ',')) / 1000.0 AS a FROM people GROUP BY y, g $$),
  ('order', $$ SELECT y, (jsonb_agg(a) ->> 0)::float8 AS a FROM people GROUP BY y, g $$),
  ('order', $$ SELECT y, first_of(a) AS a FROM people GROUP BY y, g $$),
  ('order', $$ SELECT y, first_of(a ORDER BY k) AS a FROM people GROUP BY y, g $$),
  ('order', $$ SELECT y, avg(a) AS a FROM people GROUP BY y, g $$),
  ('order', $$ SELECT y, sum(a::float4) AS a FROM people GROUP BY y, g $$),
  ('order', $$ SELECT y, corr(a, n) AS a FROM people GROUP BY y, g $$),
  ('order', $$ SELECT p.y, (SELECT avg(q.a) FROM people q WHERE q.g = p.g) AS a FROM people p $$),
  ('order', $$ SELECT y, (array_agg(a ORDER BY id))[1] AS a FROM parent GROUP BY y $$),
  ('order', $$ SELECT y, (array_agg(a ORDER BY id))[1] AS a FROM people GROUP BY ROLLUP (y) $$),
  ('steady', $$ SELECT y, (array_agg(a ORDER BY id))[1] AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, (array_agg(a ORDER BY a))[1] AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, (array_agg(DISTINCT a))[1] AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, length(string_agg(t, ',' ORDER BY t)) / 1000.0 AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, avg(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, avg(a ORDER BY a) AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, avg(a::numeric) AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, stddev(k) AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, max(a) AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, percentile_cont(0.5) WITHIN GROUP (ORDER BY a) AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, first_of(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('steady', $$ SELECT y, (SELECT max(n) FROM people q WHERE q.g = p.g) / 11 AS a FROM people p $$);

SELECT want, count(*), count(*) FILTER (WHERE tried(query) = want) AS as_wanted FROM queries GROUP BY want ORDER BY want;
SELECT n, want, tried(query), query FROM queries WHERE tried(query) <> want ORDER BY n;
-- a materialized view does not change
CREATE MATERIALIZED VIEW stored AS SELECT y, avg(a) AS a, random() AS r FROM people GROUP BY y, g;
SELECT dp_logreg_train('stored', 'y', '{a,r}', 1, domains => '{"a": [-1, 1], "r": [0, 1]}') IS NOT NULL AS stored;
-- the error
CREATE VIEW averages AS SELECT y, avg(a) AS a FROM people GROUP BY y, g;
SELECT dp_logreg_train('averages', 'y', 'a', 1, domains => '{"a": [-1, 1]}');
\echo :LAST_ERROR_SQLSTATE
CREATE VIEW touched AS SELECT y, a FROM people WHERE xmax = '0';
SELECT dp_logreg_train('touched', 'y', 'a', 1, domains => '{"a": [-1, 1]}');
\echo :LAST_ERROR_SQLSTATE
CREATE VIEW modelled AS SELECT y, dp_decision(dp_logreg(y, x, 1), '{0,1}'::float8[]) AS a FROM people GROUP BY y;
SELECT dp_logreg_train('modelled', 'y', 'a', 1, domains => '{"a": [-1, 1]}');
\echo :LAST_ERROR_SQLSTATE
-- policies are checked as well
CREATE ROLE dperm_reader;
CREATE TABLE guarded AS SELECT id, y, a FROM people;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON guarded USING (a < (SELECT shaky_sum(a) FROM people));
GRANT SELECT ON guarded, people TO dperm_reader;
SET ROLE dperm_reader;
SELECT dp_logreg_train('guarded', 'y', 'a', 1, domains => '{"a": [-1, 1]}');
RESET ROLE;

DROP MATERIALIZED VIEW stored;
DROP VIEW averages, touched, modelled;
DROP FUNCTION tried;
DROP TABLE queries, guarded, people, more, keyless, parent, child, parts;
DROP SEQUENCE counter;
DROP ROLE dperm_reader;
DROP AGGREGATE shaky_sum(float8), shaky_final(float8), shaky_combine(float8), shaky_moving(float8), shaky_set(float8 ORDER BY float8), first_of(float8);
DROP CAST (float8 AS pair);
DROP OPERATOR <<<< (float8, float8);
DROP FUNCTION sum_step, keep_step, any_final, same_final, set_final, shaky_lt, to_pair;
DROP TYPE pair;
