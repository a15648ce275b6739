-- What runs with the rights of an owner, beyond the functions that a query shows: the planner, the executor and PostgreSQL's own functions find more in the catalog
CREATE ROLE callees_owner;
CREATE ROLE callees_analyst;
CREATE SCHEMA callees AUTHORIZATION callees_owner;
GRANT USAGE ON SCHEMA callees TO callees_analyst;
SET ROLE callees_owner;
SELECT dp_budget_create('callees', 500), dp_grant('callees', 'callees_analyst');
CREATE TYPE callees.kind AS ENUM ('r', 's');
CREATE TABLE callees.people (person int, kind callees.kind, word text, x float8 CHECK (x BETWEEN 0 AND 1), y boolean, v float8[]);
INSERT INTO callees.people SELECT i, (ARRAY['r', 's'])[1 + i % 2]::callees.kind, 'a' || i % 3, i % 10 / 10.0, i % 3 = 0, ARRAY[0.1, 0.2] FROM generate_series(1, 300) i;
SELECT dp_protect('callees.people', 'callees', unit => 'person');

-- Functions in PL/pgSQL, which do what the session's search path made of their names at their first call; they tell that they ran, and as whom
CREATE FUNCTION callees.ran() RETURNS text LANGUAGE sql AS $$ SELECT pg_catalog.set_config('callees.ran', current_user, false) $$;
CREATE FUNCTION callees.word(p text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM callees.ran(); RETURN p; END $$;
CREATE FUNCTION callees.other(p text, q text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM callees.ran(); RETURN p <> q; END $$;
CREATE FUNCTION callees.greater(p float8, q float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM callees.ran(); RETURN p > q; END $$;
CREATE FUNCTION callees.fits(p float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM callees.ran(); RETURN true; END $$;

-- A view that does not get as far as being protected says why; warnings are those of any function of this kind
SET client_min_messages = error;
CREATE PROCEDURE callees.define(name text, query text, kind text DEFAULT 'VIEW') LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE %s callees.%I AS %s', kind, name, query);
	PERFORM dp_protect('callees.' || name, 'callees', unit => 'person', domains => '{"x": [0, 1]}');
	RAISE INFO '%: protected', name;
EXCEPTION WHEN OTHERS THEN
	RAISE INFO '%: %', name, SQLERRM;
END $$;

-- none of it: the usual case
CALL callees.define('plain', 'SELECT person, x / 2 AS x, y FROM callees.people');
-- a call that the view shows
CALL callees.define('shown', $$SELECT person, x, y FROM callees.people WHERE callees.word('cm') = 'cm'$$);
-- default arguments, in a view and in an index
CREATE FUNCTION callees.scale(x float8, u text DEFAULT callees.word('cm')) RETURNS float8 IMMUTABLE RETURN CASE u WHEN 'cm' THEN x / 2 ELSE x END;
CALL callees.define('defaults', 'SELECT person, callees.scale(x) AS x, y FROM callees.people');
CREATE TABLE callees.indexed AS SELECT person, x, y FROM callees.people;
CREATE INDEX ON callees.indexed (callees.scale(x));
SELECT dp_protect('callees.indexed', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
CREATE TABLE callees.measured AS SELECT person, x, y FROM callees.people;
CREATE STATISTICS callees.measures ON (callees.scale(x)), y FROM callees.measured;
SELECT dp_protect('callees.measured', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
CREATE TABLE callees.parted (person int, x float8, y boolean) PARTITION BY RANGE (callees.scale(x));
CREATE TABLE callees.part PARTITION OF callees.parted DEFAULT;
INSERT INTO callees.parted SELECT person, x, y FROM callees.people;
SELECT dp_protect('callees.parted', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
-- the negator and the commutator of an operator
CREATE OPERATOR callees.!== (FUNCTION = callees.other, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR callees.=== (FUNCTION = pg_catalog.texteq, LEFTARG = text, RIGHTARG = text, NEGATOR = OPERATOR(callees.!==));
CALL callees.define('negator', $$SELECT person, x, y FROM callees.people WHERE NOT (word OPERATOR(callees.===) 'a1')$$);
CREATE OPERATOR callees.>>> (FUNCTION = callees.greater, LEFTARG = float8, RIGHTARG = float8, RESTRICT = scalargtsel);
CREATE OPERATOR callees.<<< (FUNCTION = float8lt, LEFTARG = float8, RIGHTARG = float8, RESTRICT = scalarltsel, COMMUTATOR = OPERATOR(callees.>>>));
CALL callees.define('commutator', 'SELECT person, x, y FROM callees.people WHERE 0.5::float8 OPERATOR(callees.<<<) x');
ANALYZE callees.people;
-- casts that PostgreSQL's functions find: to JSON, to text, and to what a function returns
CREATE TYPE callees.jkind AS ENUM ('r', 's');
CREATE FUNCTION callees.to_json(p callees.jkind) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM callees.ran(); RETURN '{}'; END $$;
CREATE CAST (callees.jkind AS json) WITH FUNCTION callees.to_json(callees.jkind);
CALL callees.define('json_cast', $$SELECT person, x, to_jsonb('r'::callees.jkind) IS NULL AS y FROM callees.people$$);
CREATE TYPE callees.tkind AS ENUM ('r', 's');
CREATE FUNCTION callees.to_text(p callees.tkind) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM callees.ran(); RETURN 'k'; END $$;
CREATE CAST (callees.tkind AS text) WITH FUNCTION callees.to_text(callees.tkind);
CREATE TABLE callees.texts AS SELECT person, 'r'::callees.tkind AS kind, x, y FROM callees.people;
CALL callees.define('text_cast', $$SELECT person, x, 'a' || kind = 'ak' AS y FROM callees.texts$$);
CALL callees.define('array_cast', $$SELECT person, x, (ARRAY['r', 's']::callees.tkind[])[1] IS NULL AS y FROM callees.people$$);
CREATE TYPE callees.fkind AS ENUM ('r', 's');
CREATE FUNCTION callees.to_float(p callees.fkind) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM callees.ran(); RETURN 0.5; END $$;
CREATE CAST (callees.fkind AS float8) WITH FUNCTION callees.to_float(callees.fkind) AS ASSIGNMENT;
CREATE FUNCTION callees.level(p callees.fkind) RETURNS float8 IMMUTABLE RETURN p;
CREATE TABLE callees.levels AS SELECT person, 'r'::callees.fkind AS kind, y FROM callees.people;
CALL callees.define('result_cast', 'SELECT person, callees.level(kind) AS x, y FROM callees.levels');
-- the state of an aggregate, in the body of a function
CREATE DOMAIN callees.state AS float8 CHECK (callees.fits(VALUE));
CREATE FUNCTION callees.step(callees.state, v float8) RETURNS callees.state IMMUTABLE RETURN v;
CREATE FUNCTION callees.final(callees.state) RETURNS float8 IMMUTABLE RETURN 0.5::float8;
CREATE AGGREGATE callees.total(float8) (SFUNC = callees.step, STYPE = callees.state, INITCOND = '0', FINALFUNC = callees.final);
CREATE FUNCTION callees.sum_up(a float8[]) RETURNS float8 IMMUTABLE RETURN (SELECT callees.total(q) FROM unnest(a) q);
CALL callees.define('stated', 'SELECT person, callees.sum_up(v) AS x, y FROM callees.people');
-- what owners may do: SQL functions with a parsed body, default arguments and operators of their own
CREATE FUNCTION callees.half(x float8, by float8 DEFAULT 1 + 1) RETURNS float8 IMMUTABLE RETURN x / by;
CREATE OPERATOR callees.<| (FUNCTION = callees.half, LEFTARG = float8, RIGHTARG = float8);
CALL callees.define('sound', 'SELECT person, callees.half(x) OPERATOR(callees.<|) 1::float8 AS x, y FROM callees.people');

-- Nothing runs for the analyst, and what is sound can be used
\c -
\set VERBOSITY terse
SET ROLE callees_analyst;
SELECT dp_logreg_train('callees.plain', 'y', 'x', 1) IS NOT NULL AS plain;
SELECT dp_logreg_train('callees.sound', 'y', 'x', 1) IS NOT NULL AS sound;
SELECT dp_logreg_train('callees.shown', 'y', 'x', 1) IS NOT NULL AS shown;
SELECT dp_logreg_train('callees.defaults', 'y', 'x', 1) IS NOT NULL AS defaults;
SELECT dp_logreg_train('callees.indexed', 'y', 'x', 1) IS NOT NULL AS indexed;
SELECT dp_logreg_train('callees.measured', 'y', 'x', 1) IS NOT NULL AS measured;
SELECT dp_logreg_train('callees.parted', 'y', 'x', 1) IS NOT NULL AS parted;
SELECT dp_logreg_train('callees.negator', 'y', 'x', 1) IS NOT NULL AS negator;
SELECT dp_logreg_train('callees.commutator', 'y', 'x', 1) IS NOT NULL AS commutator;
SELECT dp_logreg_train('callees.json_cast', 'y', 'x', 1) IS NOT NULL AS json_cast;
SELECT dp_logreg_train('callees.text_cast', 'y', 'x', 1) IS NOT NULL AS text_cast;
SELECT dp_logreg_train('callees.array_cast', 'y', 'x', 1) IS NOT NULL AS array_cast;
SELECT dp_logreg_train('callees.result_cast', 'y', 'x', 1) IS NOT NULL AS result_cast;
SELECT dp_logreg_train('callees.stated', 'y', 'x', 1) IS NOT NULL AS stated;
SELECT coalesce(current_setting('callees.ran', true), '') AS ran_as;
RESET ROLE;

-- The same ways to a function that reads a table, and so has one person's row in the rows of others: refused when a relation is protected
SET ROLE callees_owner;
CREATE FUNCTION callees.seven() RETURNS boolean STABLE BEGIN ATOMIC SELECT y FROM callees.people WHERE person = 7; END;
CREATE FUNCTION callees.mix(y boolean, s boolean DEFAULT callees.seven()) RETURNS boolean IMMUTABLE RETURN s;
CALL callees.define('read_default', 'SELECT person, x, callees.mix(y) AS y FROM callees.people');
CREATE TYPE callees.rkind AS ENUM ('r', 's');
CREATE FUNCTION callees.read_text(p callees.rkind) RETURNS text STABLE BEGIN ATOMIC SELECT y::text FROM callees.people WHERE person = 7; END;
CREATE CAST (callees.rkind AS text) WITH FUNCTION callees.read_text(callees.rkind);
CREATE TABLE callees.read AS SELECT person, 'r'::callees.rkind AS kind, x, y FROM callees.people;
SELECT dp_protect('callees.read', 'callees', unit => 'person', columns => '{x,y}', domains => '{"x": [0, 1]}');
CALL callees.define('read_cast', $$SELECT person, x, 'a' || kind = 'atrue' AS y FROM callees.read$$);
CALL callees.define('stored_cast', $$SELECT person, x, 'a' || kind = 'atrue' AS y FROM callees.read$$, 'MATERIALIZED VIEW');
-- where a row lies is a matter of how large the others are
CALL callees.define('place', 'SELECT person, x, (ctid::text::point)[0] > 0 AS y FROM callees.people');
CALL callees.define('chosen', 'SELECT person, x, y FROM callees.people WHERE (ctid::text::point)[0] > 0');
CALL callees.define('stored_place', 'SELECT person, x, (ctid::text::point)[0] > 0 AS y FROM callees.people', 'MATERIALIZED VIEW');
-- rows and expressions of PostgreSQL alone, stored
CALL callees.define('stored', 'SELECT person, x / 2 AS x, y FROM callees.people', 'MATERIALIZED VIEW');
RESET ROLE;

-- An argument that is left out, and different in each pass, is as bad as one that is written
SET ROLE callees_owner;
CREATE TABLE callees.free AS SELECT x, y FROM callees.people;
CREATE FUNCTION callees.jitter(x float8, r float8 DEFAULT random()) RETURNS float8 IMMUTABLE RETURN x * r;
CREATE FUNCTION callees.twice(x float8, r float8 DEFAULT callees.jitter(0.5)) RETURNS float8 IMMUTABLE RETURN x * r;
CREATE VIEW callees.jitters AS SELECT callees.jitter(x) AS x, y FROM callees.free;
CREATE VIEW callees.deeper AS SELECT callees.twice(x) AS x, y FROM callees.free;
CREATE VIEW callees.written AS SELECT callees.jitter(x, 0.5) AS x, y FROM callees.free;
SELECT dp_logreg_train('callees.jitters', 'y', 'x', 1, domains => '{"x": [0, 1]}') IS NOT NULL AS jitters;
SELECT dp_logreg_train('callees.deeper', 'y', 'x', 1, domains => '{"x": [0, 1]}') IS NOT NULL AS deeper;
SELECT dp_logreg_train('callees.written', 'y', 'x', 1, domains => '{"x": [0, 1]}') IS NOT NULL AS written;
RESET ROLE;

SET client_min_messages = error;
DROP OWNED BY callees_owner, callees_analyst CASCADE;
SELECT dp_budget_drop('callees');
DROP ROLE callees_owner, callees_analyst;
