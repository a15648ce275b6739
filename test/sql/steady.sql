--
-- Sources whose rows could differ when they are read again: they are read once,
-- so the model is that of the rows that were seen
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
CREATE AGGREGATE shaky_moving(float8) (SFUNC = keep_step, STYPE = float8, MSFUNC = sum_step, MINVFUNC = sum_step, MSTYPE = float8, MINITCOND = '0');
CREATE AGGREGATE shaky_set(float8 ORDER BY float8) (SFUNC = keep_step, STYPE = float8, FINALFUNC = set_final);
CREATE AGGREGATE first_of(float8) (SFUNC = keep_step, STYPE = float8);
CREATE FUNCTION shaky_lt(float8, float8) RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT $1 < $2 OR random() < 0.5';
CREATE OPERATOR <<<< (FUNCTION = shaky_lt, LEFTARG = float8, RIGHTARG = float8);
CREATE TYPE pair AS (a float8);
CREATE FUNCTION to_pair(float8) RETURNS pair LANGUAGE sql VOLATILE AS 'SELECT ROW(random())::pair';
CREATE CAST (float8 AS pair) WITH FUNCTION to_pair(float8);

-- What training makes of a view: 'same' if it is the model of what the view
-- shows, stored in a table, and 'other' if it is another one
CREATE FUNCTION tried(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  source text;
  models dp_model[];
BEGIN
  EXECUTE 'CREATE VIEW tried_view AS ' || query;
  EXECUTE 'CREATE TEMP TABLE tried_table AS ' || query;
  FOREACH source IN ARRAY '{tried_view,tried_table}'::text[] LOOP
    models := models || dp_logreg_train(source, 'y', 'a', 'Infinity', lambda => 0.1, domains => '{"a": [-1, 1]}');
  END LOOP;
  DROP VIEW tried_view;
  DROP TABLE tried_table;
  RETURN CASE WHEN models[1] IS NULL AND models[2] IS NULL THEN 'none'
              WHEN models[1]::jsonb -> 'rows' = models[2]::jsonb -> 'rows'
                AND (SELECT max(abs(v - w)) < 1e-8 FROM unnest(dp_weights(models[1]), dp_weights(models[2])) u(v, w)) THEN 'same' ELSE 'other' END;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;
CREATE TABLE queries (n serial, want text, query text);

-- Volatile functions behind aggregates, operators, casts
INSERT INTO queries (want, query) VALUES
  ('any', $$ SELECT y, dp_decision(dp_logreg(y, x, 1, '{"lambda": 0.1, "dimension": 2}'), '{0,1}'::float8[]) AS a FROM people GROUP BY y $$),
  ('any', $$ SELECT p.y, dp_decision(m, p.x) AS a FROM people p, (SELECT dp_svm(y, x, 1, '{"lambda": 0.1, "dimension": 2}') AS m FROM people) s $$),
  ('any', $$ SELECT p.y, dp_decision((SELECT dp_logreg(y, x, 1, '{"lambda": 0.1, "dimension": 2}') FROM people), p.x) AS a FROM people p $$),
  ('any', $$ SELECT y, a FROM people p WHERE EXISTS (SELECT FROM people q WHERE q.g = p.g HAVING dp_logreg(y, x, 1, '{"dimension": 2}') IS NOT NULL) $$),
  ('any', $$ SELECT y, shaky_sum(a) AS a FROM people GROUP BY y, g $$),
  ('any', $$ SELECT y, shaky_sum(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('any', $$ SELECT y, shaky_final(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('any', $$ SELECT y, shaky_combine(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('any', $$ SELECT y, shaky_moving(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('any', $$ SELECT y, shaky_moving(a) OVER (ORDER BY id ROWS 1 PRECEDING) AS a FROM people $$),
  ('any', $$ SELECT y, shaky_sum(a) OVER (ORDER BY id) AS a FROM people $$),
  ('any', $$ SELECT y, shaky_set(0.5) WITHIN GROUP (ORDER BY a) AS a FROM people GROUP BY y, g $$),
  ('any', $$ SELECT y, a FROM people GROUP BY y, a HAVING shaky_sum(a) > 0 $$),
  ('any', $$ WITH s AS (SELECT shaky_sum(a) AS s FROM people) SELECT y, a FROM people, s WHERE a < s $$),
  ('any', $$ SELECT y, a FROM people WHERE a <<<< 0.5 $$),
  ('any', $$ SELECT y, a FROM people WHERE a <<<< ANY (ARRAY[0.5, 0.6]::float8[]) $$),
  ('any', $$ SELECT y, (a::pair).a FROM people $$),
  ('any', $$ SELECT y, a FROM people LIMIT (100 * random())::int $$),
  ('any', $$ SELECT y, a FROM people TABLESAMPLE bernoulli (100 * random()) REPEATABLE (1) $$),
  ('any', $$ SELECT y, a FROM people TABLESAMPLE bernoulli (50) REPEATABLE (random()) $$),
  ('any', $$ SELECT y, a FROM people WHERE id < nextval('counter') $$),
  ('any', $$ SELECT y, a FROM people, generate_series(1, (2 * random())::int) $$),
  ('any', $$ SELECT y, a FROM people ORDER BY random() $$),
  ('any', $$ SELECT y, a FROM people, pg_locks $$);

-- What no snapshot covers
INSERT INTO queries (want, query) VALUES
  ('same', $$ SELECT y, a FROM people, counter WHERE id <= last_value $$),
  ('same', $$ SELECT y, a FROM people WHERE id <= (SELECT last_value FROM counter) $$),
  ('same', $$ SELECT y, a FROM people WHERE xmax = '0' $$),
  ('same', $$ SELECT y, (xmax::text::int % 2)::float8 AS a FROM people $$),
  ('same', $$ SELECT y, a FROM people WHERE cmax = '0' OR cmin = '0' $$),
  ('same', $$ SELECT y, a FROM people WHERE xmin <> '2' $$),
  ('same', $$ SELECT y, a FROM people FOR UPDATE $$),
  ('same', $$ SELECT y, a FROM (SELECT * FROM people FOR SHARE) s $$),
  ('same', $$ SELECT y, a FROM people FOR KEY SHARE SKIP LOCKED $$),
  ('any', $$ SELECT y, a FROM people TABLESAMPLE bernoulli (50) $$),
  ('any', $$ SELECT y, a FROM people TABLESAMPLE system (50) $$),
  ('same', $$ SELECT y, a FROM people TABLESAMPLE bernoulli (50) REPEATABLE (1) $$),
  ('same', $$ SELECT y, a FROM people WHERE ctid > '(0,1)' AND tableoid = 'people'::regclass $$);

-- Rows that are picked, with ties or without
INSERT INTO queries (want, query) VALUES
  ('same', $$ SELECT y, a FROM people LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM people ORDER BY g LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM people ORDER BY g OFFSET 50 $$),
  ('same', $$ SELECT y, a FROM keyless ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM parent ORDER BY id LIMIT 51 $$),
  ('same', $$ SELECT y, a FROM people ORDER BY id + 0 LIMIT 50 $$),
  ('same', $$ SELECT p.y, p.a FROM people p, more m ORDER BY p.id LIMIT 50 $$),
  ('same', $$ SELECT p.y, p.a FROM people p JOIN more m ON p.g = m.id ORDER BY m.id LIMIT 50 $$),
  ('same', $$ SELECT y, a, generate_series(1, 3) FROM people ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM people, generate_series(1, 3) ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM people UNION ALL SELECT y, a FROM people ORDER BY y LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM people UNION SELECT y, a FROM people ORDER BY y, a LIMIT 50 $$),
  ('same', $$ SELECT DISTINCT y, a FROM people ORDER BY y LIMIT 50 $$),
  ('same', $$ SELECT y, 0.5 AS a FROM people GROUP BY y, g ORDER BY g LIMIT 5 $$),
  ('same', $$ SELECT y, a FROM people ORDER BY g OFFSET 3 FETCH FIRST 50 ROWS WITH TIES $$),
  ('same', $$ SELECT y, a FROM people WHERE id IN (SELECT id FROM people ORDER BY g LIMIT 50) $$),
  ('same', $$ SELECT y, a FROM (SELECT y, a FROM people ORDER BY id) s LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM (SELECT g AS id, y, a FROM people) s ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM (SELECT p.id, p.y, p.a FROM people p, more) s ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM (SELECT id, y, a FROM people UNION ALL SELECT id, y, a FROM people) s ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM (SELECT id, y, a, unnest(x) FROM people) s ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM (SELECT g AS id, y, max(a) AS a FROM people GROUP BY g, y) s ORDER BY id LIMIT 5 $$),
  ('same', $$ SELECT DISTINCT ON (g) y, a FROM people $$),
  ('same', $$ SELECT DISTINCT ON (g) y, a FROM people ORDER BY g, k $$),
  ('same', $$ SELECT DISTINCT ON (id) y, a FROM parent ORDER BY id $$),
  ('same', $$ SELECT y, a FROM parent GROUP BY id $$),
  ('same', $$ WITH RECURSIVE r AS (SELECT y, a FROM people UNION ALL (SELECT y, a FROM r WHERE a > 1)) SELECT y, a FROM r LIMIT 7 $$),
  ('same', $$ SELECT y, a FROM people ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM people ORDER BY g DESC, id OFFSET 50 $$),
  ('same', $$ SELECT y, a FROM parts ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM ONLY parent ORDER BY id LIMIT 50 $$),
  ('same', $$ SELECT p.y, p.a FROM people p JOIN more m USING (id) ORDER BY p.id, m.id LIMIT 50 $$),
  ('same', $$ SELECT y, a FROM (SELECT id AS nr, y, a FROM people WHERE id > 10) s ORDER BY nr LIMIT 50 $$),
  ('same', $$ SELECT y, (array_agg(a ORDER BY nr))[1] AS a FROM (SELECT nr, y, a FROM (SELECT id AS nr, y, a FROM people LIMIT ALL) t) s GROUP BY y $$),
  ('same', $$ SELECT y, a FROM people ORDER BY g FETCH FIRST 50 ROWS WITH TIES $$),
  ('same', $$ SELECT DISTINCT y, a FROM people ORDER BY y, a LIMIT 50 $$),
  ('same', $$ SELECT y, max(a) AS a FROM people GROUP BY y, g ORDER BY g, y LIMIT 5 $$),
  ('same', $$ SELECT true AS y, max(a) AS a FROM people LIMIT 1 $$),
  ('same', $$ SELECT DISTINCT ON (g) y, a FROM people ORDER BY g, id $$),
  ('same', $$ SELECT y, a FROM people OFFSET 0 $$),
  ('same', $$ SELECT y, a FROM people LIMIT ALL $$),
  ('same', $$ SELECT y, a FROM people GROUP BY id $$),
  ('same', $$ SELECT y, a FROM parts GROUP BY id $$);

-- Rows that are numbered, or seen in order
INSERT INTO queries (want, query) VALUES
  ('same', $$ SELECT y, row_number() OVER () / 1000.0 AS a FROM people $$),
  ('same', $$ SELECT y, row_number() OVER (ORDER BY g) / 1000.0 AS a FROM people $$),
  ('same', $$ SELECT y, row_number() OVER (PARTITION BY g) / 1000.0 AS a FROM people $$),
  ('same', $$ SELECT y, lag(a) OVER (ORDER BY g) AS a FROM people $$),
  ('same', $$ SELECT y, first_value(a) OVER (PARTITION BY g ORDER BY k) AS a FROM people $$),
  ('same', $$ SELECT y, ntile(4) OVER (ORDER BY g) / 4.0 AS a FROM people $$),
  ('same', $$ SELECT y, sum(k) OVER (ORDER BY g ROWS 2 PRECEDING) / 100.0 AS a FROM people $$),
  ('same', $$ SELECT y, avg(a) OVER (PARTITION BY g) AS a FROM people $$),
  ('same', $$ SELECT y, row_number() OVER (ORDER BY g) / 10.0 AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, row_number() OVER (ORDER BY id) / 1000.0 AS a FROM people $$),
  ('same', $$ SELECT y, lag(a) OVER (PARTITION BY g ORDER BY id) AS a FROM people $$),
  ('same', $$ SELECT y, rank() OVER (ORDER BY g) / 1000.0 AS a FROM people $$),
  ('same', $$ SELECT y, count(*) OVER (PARTITION BY g) / 1000.0 AS a FROM people $$),
  ('same', $$ SELECT y, sum(n) OVER (ORDER BY g) / 1000.0 AS a FROM people $$),
  ('same', $$ SELECT y, sum(a) OVER (ORDER BY id) AS a FROM people $$),
  ('same', $$ SELECT y, row_number() OVER (ORDER BY g, y) / 10.0 AS a FROM people GROUP BY y, g $$);

-- Aggregates that see rows in order; sums of floats round by it
INSERT INTO queries (want, query) VALUES
  ('same', $$ SELECT y, (array_agg(a))[1] AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, (array_agg(a ORDER BY k))[1] AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, length(string_agg(t, ',')) / 1000.0 AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, (jsonb_agg(a) ->> 0)::float8 AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, first_of(a) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, first_of(a ORDER BY k) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, avg(a) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, sum(a::float4) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, corr(a, n) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT p.y, (SELECT avg(q.a) FROM people q WHERE q.g = p.g) AS a FROM people p $$),
  ('same', $$ SELECT y, (array_agg(a ORDER BY id))[1] AS a FROM parent GROUP BY y $$),
  ('same', $$ SELECT y, (array_agg(a ORDER BY id))[1] AS a FROM people GROUP BY ROLLUP (y) $$),
  ('same', $$ SELECT y, (array_agg(a ORDER BY id))[1] AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, (array_agg(a ORDER BY a))[1] AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, (array_agg(DISTINCT a))[1] AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, length(string_agg(t, ',' ORDER BY t)) / 1000.0 AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, avg(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, avg(a ORDER BY a) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, avg(a::numeric) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, stddev(k) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, max(a) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, percentile_cont(0.5) WITHIN GROUP (ORDER BY a) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, first_of(a ORDER BY id) AS a FROM people GROUP BY y, g $$),
  ('same', $$ SELECT y, (SELECT max(n) FROM people q WHERE q.g = p.g) / 11 AS a FROM people p $$);

ALTER TABLE queries ADD found text;
UPDATE queries SET found = tried(query);
UPDATE queries SET found = 'any' WHERE want = 'any' AND found IN ('same', 'other', 'none');
SELECT want, count(*), count(*) FILTER (WHERE found = want) AS as_wanted FROM queries GROUP BY want ORDER BY want;
SELECT n, found, query FROM queries WHERE found <> want ORDER BY n;

-- Each row is read once, by every function, with rows in memory or not: a
-- volatile function that a view calls for each row is called as often
CREATE SEQUENCE calls;
CREATE FUNCTION counted() RETURNS boolean LANGUAGE sql VOLATILE AS $$ SELECT nextval('calls') > 0 $$;
CREATE VIEW watched AS SELECT id, y, a FROM people WHERE counted();
CREATE TABLE model AS SELECT dp_logreg_train('people', 'y', 'a', 1, lambda => 0.1, domains => '{"a": [-1, 1]}') AS m;
CREATE FUNCTION calls(call text, memory text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM setval('calls', 1, false), set_config('dperm.cache_memory', memory, true);
  EXECUTE 'SELECT count(*) FROM ' || call;
  RETURN nextval('calls') - 1;
END $$;
SELECT calls(c || e, memory) AS calls, memory, c FROM unnest('{256MB,0}'::text[]) memory, unnest(ARRAY['dp_logreg_train(''watched'', ''y'', ''a'', 1', 'dp_logreg_tune(''watched'', ''y'', ''a'', 1']) c,
  unnest(ARRAY[', domains => ''{"a": [-1, 1]}'')', ', domains => ''{"a": [-1, 1]}'', unit => ''id'')']) e;
SELECT calls(c, '256MB') AS calls, c FROM unnest(ARRAY['model, dp_evaluate(m, ''watched'', 1)', 'model, dp_roc(m, ''watched'', 1)', 'dp_cost(''watched'', ''y'', ''a'', 1, units => 200, domains => ''{"a": [-1, 1]}'')']) c;
-- whatever it does, and whenever: here it adds rows to its own table, which the
-- call does not see
CREATE FUNCTION adds() RETURNS boolean LANGUAGE sql VOLATILE AS $$ INSERT INTO more SELECT max(id) + 1, 0 FROM more RETURNING true $$;
CREATE VIEW growing AS SELECT id % 2 = 0 AS y, b AS a FROM more WHERE adds();
SELECT dp_logreg_train('growing', 'y', 'a', 1, domains => '{"a": [-1, 1]}')::jsonb -> 'rows' AS rows, (SELECT count(*) FROM more) AS before;
SELECT count(*) AS after FROM more;
-- an error in it is its own
CREATE VIEW failing AS SELECT y, a FROM people WHERE id / (id - 100) >= 0 AND random() < 2;
SELECT dp_logreg_train('failing', 'y', 'a', 1, domains => '{"a": [-1, 1]}');
-- policies count as well, each time
CREATE ROLE dperm_reader;
CREATE TABLE guarded AS SELECT id, y, a FROM people;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON guarded USING (counted() AND id <= 120);
GRANT SELECT ON guarded TO dperm_reader;
GRANT USAGE ON SEQUENCE calls TO dperm_reader;
SELECT setval('calls', 1, false);
SET ROLE dperm_reader;
SELECT dp_logreg_train('guarded', 'y', 'a', 1, domains => '{"a": [-1, 1]}')::jsonb -> 'rows' AS rows;
RESET ROLE;
SELECT nextval('calls') - 1 AS calls;

DROP VIEW watched, growing, failing;
DROP TABLE queries, guarded, people, more, keyless, parent, child, parts, model;
DROP FUNCTION tried, calls, counted, adds;
DROP SEQUENCE counter, calls;
DROP ROLE dperm_reader;
DROP AGGREGATE shaky_sum(float8), shaky_final(float8), shaky_combine(float8), shaky_moving(float8), shaky_set(float8 ORDER BY float8), first_of(float8);
DROP CAST (float8 AS pair);
DROP OPERATOR <<<< (float8, float8);
DROP FUNCTION sum_step, keep_step, any_final, same_final, set_final, shaky_lt, to_pair;
DROP TYPE pair;
