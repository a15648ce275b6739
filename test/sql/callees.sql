-- What runs with the rights of an owner, and what a row may depend on: beyond
-- the functions that a query shows, the planner, the executor and PostgreSQL's
-- own functions find more in the catalog
\pset format unaligned
\pset footer off
CREATE ROLE callees_owner;
CREATE ROLE callees_analyst;
CREATE ROLE callees_stranger;
CREATE SCHEMA callees AUTHORIZATION callees_owner;
CREATE SCHEMA callees_stranger AUTHORIZATION callees_stranger;
GRANT USAGE ON SCHEMA callees, callees_stranger TO PUBLIC;
SET ROLE callees_owner;
SELECT dp_budget_create('callees', 500), dp_grant('callees', 'callees_analyst');
CREATE TYPE callees.kind AS ENUM ('r', 's');
CREATE TABLE callees.people (person int, kind callees.kind, word text, x float8 CHECK (x BETWEEN 0 AND 1), y boolean, v float8[]);
INSERT INTO callees.people SELECT i, (ARRAY['r', 's'])[1 + i % 2]::callees.kind, 'a' || i % 3, i % 10 / 10.0, i % 3 = 0, ARRAY[0.1, 0.2] FROM generate_series(1, 100) i;
ANALYZE callees.people;
SELECT dp_protect('callees.people', 'callees', unit => 'person');

-- Create a view and protect it; use one. Each returns the outcome. Rows for
-- which an expression fails are left out
\set ECHO none
CREATE TABLE callees.model AS SELECT dp_logreg_train('callees.people', 'y', 'x', 1) AS model;
GRANT SELECT ON callees.model TO PUBLIC;
CREATE FUNCTION callees.define(name text, query text, kind text DEFAULT 'VIEW') RETURNS text LANGUAGE plpgsql SET client_min_messages = error AS $$
BEGIN
	EXECUTE format('CREATE %s callees.%I AS %s', kind, name, query);
	PERFORM dp_protect('callees.' || name, 'callees', unit => 'person', domains => '{"x": [0, 1]}');
	RETURN 'protected';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
CREATE FUNCTION callees.count(name text) RETURNS text LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
	RETURN (SELECT CASE WHEN sum(value) > 15 THEN 'counted' ELSE 'no rows' END FROM callees.model, dp_evaluate(model, 'callees.' || name, epsilon => 3) WHERE metric LIKE '%tives');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
CREATE TABLE callees.cases (id int GENERATED ALWAYS AS IDENTITY, name text, x text, y text);
GRANT SELECT ON callees.cases TO PUBLIC;

-- Functions in PL/pgSQL, behind everything that calls a function. The owner's
-- may run if they are IMMUTABLE
CREATE FUNCTION callees.word(p text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN p; END $$;
CREATE FUNCTION callees.other(p text, q text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN p <> q; END $$;
CREATE FUNCTION callees.greater(p float8, q float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN p > q; END $$;
CREATE FUNCTION callees.fits(p float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$;
CREATE FUNCTION callees.fits_utc(p float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET TimeZone = 'UTC' AS $$ BEGIN RETURN true; END $$;
CREATE FUNCTION callees.half(x float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER AS $$ BEGIN RETURN x / 2; END $$;
-- default arguments
CREATE FUNCTION callees.scale(x float8, u text DEFAULT callees.word('cm')) RETURNS float8 IMMUTABLE RETURN CASE u WHEN 'cm' THEN x / 2 ELSE x END;
-- the negator and the commutator of an operator
CREATE OPERATOR callees.!== (FUNCTION = callees.other, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR callees.=== (FUNCTION = pg_catalog.texteq, LEFTARG = text, RIGHTARG = text, NEGATOR = OPERATOR(callees.!==));
CREATE OPERATOR callees.>>> (FUNCTION = callees.greater, LEFTARG = float8, RIGHTARG = float8, RESTRICT = scalargtsel);
CREATE OPERATOR callees.<<< (FUNCTION = float8lt, LEFTARG = float8, RIGHTARG = float8, RESTRICT = scalarltsel, COMMUTATOR = OPERATOR(callees.>>>));
-- casts that PostgreSQL's functions find: to JSON, to text, and to what a
-- function returns
CREATE TYPE callees.jkind AS ENUM ('r', 's');
CREATE FUNCTION callees.to_json(p callees.jkind) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN '{}'; END $$;
CREATE CAST (callees.jkind AS json) WITH FUNCTION callees.to_json(callees.jkind);
CREATE TYPE callees.tkind AS ENUM ('r', 's');
CREATE FUNCTION callees.to_text(p callees.tkind) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'k'; END $$;
CREATE CAST (callees.tkind AS text) WITH FUNCTION callees.to_text(callees.tkind);
CREATE TYPE callees.fkind AS ENUM ('r', 's');
CREATE FUNCTION callees.to_float(p callees.fkind) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 0.5; END $$;
CREATE CAST (callees.fkind AS float8) WITH FUNCTION callees.to_float(callees.fkind) AS ASSIGNMENT;
CREATE FUNCTION callees.level(p callees.fkind) RETURNS float8 IMMUTABLE RETURN p;
-- the state of an aggregate, in the body of a function
CREATE DOMAIN callees.state AS float8 CHECK (callees.fits(VALUE));
CREATE FUNCTION callees.step(callees.state, v float8) RETURNS callees.state IMMUTABLE RETURN v;
CREATE FUNCTION callees.final(callees.state) RETURNS float8 IMMUTABLE RETURN 0.5::float8;
CREATE AGGREGATE callees.total(float8) (SFUNC = callees.step, STYPE = callees.state, INITCOND = '0', FINALFUNC = callees.final);
CREATE FUNCTION callees.sum_up(a float8[]) RETURNS float8 IMMUTABLE RETURN (SELECT callees.total(q) FROM unnest(a) q);
CREATE DOMAIN callees.part_of_state AS float8 CHECK (callees.fits_utc(VALUE));
CREATE TYPE callees.record_state AS (last callees.part_of_state);
CREATE AGGREGATE callees.fold(jsonb) (SFUNC = jsonb_populate_record, STYPE = callees.record_state, FINALFUNC = to_jsonb, INITCOND = '(0)');
CREATE FUNCTION callees.last_of(a float8[]) RETURNS float8 IMMUTABLE RETURN (SELECT (callees.fold(jsonb_build_object('last', q)) ->> 'last')::float8 FROM unnest(a) q);
-- bodies that cannot be examined
CREATE FUNCTION callees.calling(p text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN callees.word(p) = p; END $$;
CREATE FUNCTION callees.quoting(p text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT callees.word(p) = p $$;
CREATE FUNCTION callees.executing(p text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ DECLARE r boolean; BEGIN EXECUTE 'SELECT callees.word($1) = $1' INTO r USING p; RETURN r; END $$;
CREATE FUNCTION callees.setting(p float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN CASE WHEN callees.fits_utc(p) THEN p ELSE 0 END; END $$;
CREATE FUNCTION callees.definer(p float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN callees.half(p); END $$;
CREATE FUNCTION callees.domained(p float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ DECLARE r callees.state := p; BEGIN RETURN r; END $$;
-- operator classes of a superuser: how values are compared in GREATEST, in
-- arrays, in ranges and by ORDER BY
CREATE TYPE callees.version AS (major int, minor int);
RESET ROLE;
SELECT format('CREATE FUNCTION callees.version_%s(p callees.version, q callees.version) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN RETURN (p).major %s (q).major; END $f$; '
  'CREATE OPERATOR callees.%s# (FUNCTION = callees.version_%s, LEFTARG = callees.version, RIGHTARG = callees.version); '
  'CREATE FUNCTION callees.text_%s(p text, q text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN RETURN p OPERATOR(pg_catalog.%s) q; END $f$; '
  'CREATE OPERATOR callees.%s# (FUNCTION = callees.text_%s, LEFTARG = text, RIGHTARG = text)', name, op, op, name, name, op, op, name)
  FROM unnest('{lt,le,eq,ge,gt}'::text[], '{<,<=,=,>=,>}'::text[]) AS u(name, op) \gexec
CREATE FUNCTION callees.version_cmp(p callees.version, q callees.version) RETURNS int LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog AS $$ BEGIN RETURN (p).major - (q).major; END $$;
CREATE FUNCTION callees.text_cmp(p text, q text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN bttextcmp(p, q); END $$;
CREATE OPERATOR CLASS callees.version_ops DEFAULT FOR TYPE callees.version USING btree AS OPERATOR 1 callees.<#, OPERATOR 2 callees.<=#, OPERATOR 3 callees.=#,
  OPERATOR 4 callees.>=#, OPERATOR 5 callees.>#, FUNCTION 1 callees.version_cmp(callees.version, callees.version);
CREATE OPERATOR CLASS callees.text_ops FOR TYPE text USING btree AS OPERATOR 1 callees.<#, OPERATOR 2 callees.<=#, OPERATOR 3 callees.=#,
  OPERATOR 4 callees.>=#, OPERATOR 5 callees.>#, FUNCTION 1 callees.text_cmp(text, text);
CREATE FUNCTION callees.hash_word(p text, seed int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN length(p); END $$;
CREATE OPERATOR CLASS callees.word_ops FOR TYPE text USING hash AS OPERATOR 1 =, FUNCTION 2 callees.hash_word(text, int8);
SET ROLE callees_owner;
CREATE TYPE callees.span AS RANGE (SUBTYPE = text, SUBTYPE_OPCLASS = callees.text_ops);
CREATE FUNCTION callees.least_of(a text[]) RETURNS boolean IMMUTABLE RETURN (SELECT (array_agg(q ORDER BY q USING OPERATOR(callees.<#)))[1] IS NULL FROM unnest(a) q);
INSERT INTO callees.cases (name, x, y) VALUES ('shown', 'x', $$callees.word('cm') = word$$), ('defaults', 'callees.scale(x)', 'y'), ('negator', 'x', $$NOT (word OPERATOR(callees.===) 'a1')$$),
  ('commutator', 'x', '0.5::float8 OPERATOR(callees.<<<) x'), ('any', 'x', 'x OPERATOR(callees.>>>) ANY (v)'), ('in_case', 'CASE WHEN y THEN coalesce(callees.half(x), 1) ELSE x END', 'y'),
  ('json_cast', 'x', $$to_jsonb(kind::text::callees.jkind) IS NULL$$), ('text_cast', 'x', $$'a' || kind::text::callees.tkind = 'ak'$$), ('array_cast', 'x', $$(ARRAY['r', 's']::callees.tkind[])[1] IS NULL$$),
  ('result_cast', 'callees.level(kind::text::callees.fkind)', 'y'), ('stated', 'callees.sum_up(v)', 'y'), ('folded', 'callees.last_of(v)', 'y'), ('domain', 'x::callees.state', 'y'), ('domain_array', 'x', 'v::callees.state[] IS NULL'),
  ('record', 'x', $$('(' || x || ')')::callees.record_state IS NULL$$), ('calling', 'x', 'callees.calling(word)'), ('quoting', 'x', 'callees.quoting(word)'), ('executing', 'x', 'callees.executing(word)'),
  ('setting', 'callees.setting(x)', 'y'), ('definer', 'callees.definer(x)', 'y'), ('domained', 'callees.domained(x)', 'y'), ('greatest', 'x', $$(greatest(ROW(person, 1)::callees.version, '(1,0)')).major > 1$$),
  ('array_equal', 'x', $$ARRAY[ROW(person, 1)::callees.version] = ARRAY['(1,0)'::callees.version]$$), ('range', 'x', $$callees.span(word, 'b') @> 'a1'::text$$), ('sorted', 'x', 'callees.least_of(ARRAY[word, word])');
\set ECHO all
SELECT name, callees.define(name, format('SELECT person, %s AS x, %s AS y FROM callees.people', x, y)) FROM callees.cases ORDER BY id;
-- expressions of indexes, of statistics and of partition keys, which the
-- planner simplifies, and how it finds partitions
\set ECHO none
CREATE TABLE callees.indexed AS SELECT person, x, y FROM callees.people;
CREATE INDEX ON callees.indexed (callees.scale(x));
CREATE TABLE callees.partial AS SELECT person, x, y FROM callees.people;
CREATE INDEX ON callees.partial (x) WHERE callees.word('a') = 'a';
CREATE TABLE callees.measured AS SELECT person, x, y FROM callees.people;
CREATE STATISTICS callees.measures ON (callees.scale(x)), y FROM callees.measured;
CREATE TABLE callees.parted (person int, x float8, y boolean) PARTITION BY RANGE (callees.scale(x));
CREATE TABLE callees.part PARTITION OF callees.parted DEFAULT;
CREATE TABLE callees.keyed (person int, span callees.span, x float8, y boolean) PARTITION BY LIST (span);
CREATE TABLE callees.keyed_rest PARTITION OF callees.keyed DEFAULT;
CREATE TABLE callees.hashed (person int, word text, x float8, y boolean) PARTITION BY HASH (word callees.word_ops);
CREATE TABLE callees.hashed_0 PARTITION OF callees.hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE callees.hashed_1 PARTITION OF callees.hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO callees.parted SELECT person, x, y FROM callees.people;
INSERT INTO callees.keyed SELECT person, callees.span(word, 'b'), x, y FROM callees.people;
INSERT INTO callees.hashed SELECT person, word, x, y FROM callees.people;
\set ECHO all
SELECT count(dp_protect('callees.' || t, 'callees', unit => 'person', domains => '{"x": [0, 1]}')) AS tables FROM unnest('{indexed,partial,measured,parted,keyed}'::text[]) t;
SELECT callees.define('pruned', $$SELECT person, x, y FROM callees.hashed WHERE word = 'a1'$$);
INSERT INTO callees.cases (name) VALUES ('indexed'), ('partial'), ('measured'), ('parted'), ('keyed'), ('pruned');
-- the owner's and a superuser's, unless the body of a function names them
SET ROLE callees_analyst;
SELECT callees.count(name), string_agg(name, ' ' ORDER BY id) FROM callees.cases GROUP BY 1 ORDER BY 1;
-- A stranger's are refused: most before the call is charged, with a name; the
-- others when PostgreSQL looks them up, so that no row is left
RESET ROLE;
GRANT CREATE ON SCHEMA callees TO callees_stranger;
SELECT format('ALTER FUNCTION %s OWNER TO callees_stranger', p.oid::regprocedure) FROM pg_proc p JOIN pg_language l ON l.oid = prolang
  WHERE pronamespace = 'callees'::regnamespace AND lanname = 'plpgsql' AND proname NOT IN ('define', 'count', 'calling', 'executing', 'setting', 'definer', 'domained') ORDER BY p.oid::regprocedure::text COLLATE "C" \gexec
REVOKE CREATE ON SCHEMA callees FROM callees_stranger;
SET ROLE callees_analyst;
SELECT name, callees.count(name) FROM callees.cases ORDER BY id;
SELECT budget FROM dp_cost('callees.shown', 'y', 'x', 1, 300);
-- dp_protect warns about what it finds
SET ROLE callees_owner;
\set VERBOSITY terse
SELECT count(dp_protect('callees.' || name, 'callees', unit => 'person', domains => '{"x": [0, 1]}')) AS protected FROM (SELECT name FROM callees.cases ORDER BY id) c;
\set VERBOSITY default
RESET ROLE;
SET client_min_messages = error;
DROP OPERATOR FAMILY callees.word_ops USING hash CASCADE;
RESET client_min_messages;

-- Names in a body that cannot be examined are found only in pg_catalog,
-- whatever search path the function has
SET ROLE callees_analyst;
\set ECHO none
CREATE TEMP TABLE limits AS SELECT 0.5::float8 AS most;
SET ROLE callees_stranger;
CREATE FUNCTION callees_stranger.tidy(w text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'a1'; END $$;
CREATE FUNCTION callees_stranger.lower(w text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'a1'; END $$;
CREATE FUNCTION callees_stranger.evil(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$;
CREATE DOMAIN callees_stranger.text AS pg_catalog.text CHECK (callees_stranger.evil(VALUE));
SET ROLE callees_owner;
CREATE FUNCTION callees.lowered(w text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ DECLARE r text; BEGIN r := lower(w); RETURN r = 'a1'; END $$;
CREATE FUNCTION callees.tidied(w text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN tidy(w) = 'a1'; END $$;
CREATE FUNCTION callees.limited(x float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN x < (SELECT most FROM limits); END $$;
CREATE FUNCTION callees.astray(w text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = callees_stranger AS $$ BEGIN RETURN tidy(w) = 'a1'; END $$;
CREATE FUNCTION callees.astray_too(w text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = callees_stranger, pg_catalog AS $$ DECLARE r text; BEGIN r := w; RETURN r = 'a1'; END $$;
RESET ROLE;
CREATE SCHEMA callees_home AUTHORIZATION callees_owner;
GRANT USAGE ON SCHEMA callees_home TO PUBLIC;
SET ROLE callees_owner;
CREATE FUNCTION callees_home.lowered(w text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN lower(w) = 'a1'; END $$;
CREATE FUNCTION callees.at_home(w text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = callees_home AS $$ BEGIN RETURN lowered(w); END $$;
\set ECHO all
SELECT callees.define(f, format('SELECT person, x, callees.%s(%s) AS y FROM callees.people', f, CASE f WHEN 'limited' THEN 'x' ELSE 'word' END)) FROM unnest('{lowered,tidied,limited,astray,astray_too,at_home}'::text[]) f;
SET ROLE callees_analyst;
SET search_path = callees_stranger, pg_catalog, public;
SELECT callees.lowered('A1'), callees.tidied('x');
SELECT f AS function, callees.count(f) FROM unnest('{lowered,tidied,limited,astray,astray_too,at_home}'::pg_catalog.text[]) f;
-- so nothing that an analyst puts in the way is ever found
RESET ROLE;
GRANT CREATE ON SCHEMA callees_home TO callees_analyst;
SET ROLE callees_owner;
CREATE VIEW callees.at_work AS SELECT person, x, callees.at_home(word) AS y FROM callees.people;
SELECT dp_protect('callees.at_work', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
SET ROLE callees_analyst;
CREATE FUNCTION callees_home.lowered(w varchar) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN true;
SELECT callees.count('at_work');
DROP FUNCTION callees_home.lowered(varchar);
RESET ROLE;
REVOKE CREATE ON SCHEMA callees_home FROM callees_analyst;
SET ROLE callees_analyst;
RESET search_path;
-- What cannot be examined has to be IMMUTABLE: the owner's word that it depends
-- on its arguments alone
SET ROLE callees_owner;
CREATE FUNCTION callees.stable(w text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN w = 'a1'; END $$;
CREATE FUNCTION callees.unmarked(w text) RETURNS boolean LANGUAGE sql AS $$ SELECT w = 'a1' $$;
CREATE FUNCTION callees.within(w text) RETURNS boolean IMMUTABLE RETURN callees.stable(w);
CREATE FUNCTION callees.looked_into(w text) RETURNS boolean STABLE BEGIN ATOMIC SELECT 1; SELECT w = 'a1'; END;
CREATE FUNCTION callees.strict(w text) RETURNS boolean IMMUTABLE STRICT SET extra_float_digits = 0 RETURN coalesce(w, 'a') = 'a1';
CREATE VIEW callees.hinted AS SELECT person, x, callees.stable(word) AS y FROM callees.people;
SELECT dp_protect('callees.hinted', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
SELECT dp_logreg_train('callees.hinted', 'y', 'x', 1);
SELECT f AS function, callees.define(f, format('SELECT person, x, callees.%I(word) AS y FROM callees.people', f)) FROM unnest('{stable,unmarked,within,looked_into,strict}'::text[]) f;
SELECT f AS function, callees.count(f) FROM unnest('{stable,unmarked,within,looked_into,strict}'::text[]) f;
-- nor is anything charged for it
SELECT count(*) AS charges FROM dp_ledger WHERE budget = 'callees' AND act = 'charge' \gset
SET ROLE callees_analyst;
SELECT dp_logreg_train('callees.hinted', 'y', 'x', 1);
SET ROLE callees_owner;
SELECT count(*) = :charges AS nothing_charged FROM dp_ledger WHERE budget = 'callees' AND act = 'charge';
-- columns that are stored, constraints and indexes may call what they like
CREATE FUNCTION callees.fast(x float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN x; END $$;
CREATE TABLE callees.fast (person int, x float8 CHECK (callees.fast(x) < 2), y boolean, z float8 GENERATED ALWAYS AS (callees.fast(x)) STORED);
CREATE INDEX ON callees.fast (callees.fast(x));
INSERT INTO callees.fast SELECT person, x, y FROM callees.people;
SELECT callees.define('stored_columns', 'SELECT person, x, z > 0.5 AS y FROM callees.fast');
SELECT callees.count('stored_columns');
RESET ROLE;
-- Functions of extensions, if they are there: in C, and in SQL
DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AND EXISTS (SELECT FROM pg_available_extensions WHERE name = 'cube') THEN
		CREATE EXTENSION citext;
		CREATE EXTENSION cube;
		EXECUTE $v$CREATE VIEW callees.extensions AS SELECT person, cube_distance(cube(ARRAY[x]), cube(ARRAY[0.1])) AS x, word::citext = 'A1' AND regexp_match(word::citext, 'A'::citext) IS NOT NULL AND replace(word::citext, 'A'::citext, 'b'::citext) <> 'c' AS y FROM callees.people$v$;
	ELSE
		CREATE VIEW callees.extensions AS SELECT person, x, y FROM callees.people;
	END IF;
	ALTER VIEW callees.extensions OWNER TO callees_owner;
	SET LOCAL ROLE callees_owner;
	PERFORM dp_protect('callees.extensions', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
END $$;
SET ROLE callees_analyst;
SELECT callees.count('extensions');
RESET ROLE;

-- A cast of somebody else, which their own type lets them create, does not
-- matter; their types do
SET ROLE callees_owner;
SELECT callees.define('kinds', $$SELECT person, x, kind = 'r' AS y FROM callees.people$$);
SET ROLE callees_stranger;
CREATE TYPE callees_stranger.t AS ENUM ('a0', 'a1', 'a2');
CREATE TYPE callees_stranger.pair AS (a int, b callees_stranger.t);
CREATE FUNCTION callees_stranger.f(callees_stranger.t) RETURNS callees.kind LANGUAGE sql AS $$ SELECT 'r'::callees.kind $$;
CREATE CAST (callees_stranger.t AS callees.kind) WITH FUNCTION callees_stranger.f;
SET ROLE callees_owner;
CREATE FUNCTION callees.from_json(w text) RETURNS boolean STABLE BEGIN ATOMIC SELECT true FROM json_to_recordset('[{"a": 1, "b": "a1"}]') AS r (a int, b callees_stranger.t); END;
CREATE TABLE callees.typed (name text, y text);
INSERT INTO callees.typed VALUES ('type', $$word::callees_stranger.t = 'a1'$$), ('type_array', $$('{' || word || '}')::callees_stranger.t[] IS NULL$$), ('type_record', $$('(1,' || word || ')')::callees_stranger.pair IS NULL$$),
  ('type_columns', 'callees.from_json(word)'), ('type_named', $$enum_in(word::cstring, 'callees_stranger.t'::regtype) IS NULL$$);
SELECT name, callees.define(name, format('SELECT person, x, %s AS y FROM callees.people', y)) FROM callees.typed;
GRANT SELECT ON callees.typed TO PUBLIC;
SET ROLE callees_analyst;
SELECT callees.count('kinds');
SELECT name, callees.count(name) FROM callees.typed WHERE name <> 'type_named';
RESET ROLE;

-- Functions that read a table, and so put one person's row into the rows of
-- others: refused when a relation is protected, in whatever way they are called
SET ROLE callees_owner;
\set ECHO none
CREATE FUNCTION callees.seven() RETURNS boolean STABLE BEGIN ATOMIC SELECT y FROM callees.people WHERE person = 7; END;
CREATE FUNCTION callees.mix(y boolean, s boolean DEFAULT callees.seven()) RETURNS boolean IMMUTABLE RETURN s;
CREATE TYPE callees.rkind AS ENUM ('r', 's');
CREATE FUNCTION callees.read_text(p callees.rkind) RETURNS text STABLE BEGIN ATOMIC SELECT y::text FROM callees.people WHERE person = 7; END;
CREATE CAST (callees.rkind AS text) WITH FUNCTION callees.read_text(callees.rkind);
CREATE AGGREGATE callees.rewrite(text) (SFUNC = ts_rewrite, STYPE = tsquery, INITCOND = 'a');
CREATE FUNCTION callees.look(a text[]) RETURNS boolean IMMUTABLE RETURN (SELECT callees.rewrite(q) = 'b'::tsquery FROM unnest(a) q);
-- nor may anything carry information from row to row, even where the catalog
-- has an expression that no query shows: the constraint of a domain, and a
-- default argument of a function that was first called in full
CREATE FUNCTION callees.carry(p int, y boolean) RETURNS boolean IMMUTABLE RETURN CASE p WHEN 1 THEN set_config('callees.c', y::text, false)::boolean ELSE current_setting('callees.c')::boolean END;
CREATE DOMAIN callees.carrier AS text CHECK (set_config('callees.c', VALUE, false) IS NOT NULL);
CREATE FUNCTION callees.given(t text, r text DEFAULT set_config('callees.c', 'x', false)) RETURNS text IMMUTABLE RETURN r;
CREATE FUNCTION callees.left_out(t text) RETURNS text IMMUTABLE RETURN callees.given(t);
CREATE FUNCTION callees.settings() RETURNS boolean STABLE RETURN (SELECT count(*) > 0 FROM pg_show_all_settings());
CREATE DOMAIN callees.existing AS text CHECK (to_regclass(VALUE) IS NULL);
-- Text search, whose configurations and dictionaries can be somebody else's;
-- names of objects, which can change
SET ROLE callees_stranger;
CREATE TEXT SEARCH CONFIGURATION callees_stranger.words (COPY = pg_catalog.simple);
SET ROLE callees_owner;
CREATE DOMAIN callees.worded AS text CHECK (to_tsvector('callees_stranger.words', VALUE) IS NOT NULL);
CREATE FUNCTION callees.tokens(w text) RETURNS boolean STABLE RETURN (SELECT count(*) > 0 FROM ts_parse(3722, w));
CREATE TYPE callees.named AS (r regclass);
CREATE DOMAIN callees.named_too AS regclass;
CREATE FUNCTION callees.populated(w text) RETURNS boolean STABLE RETURN (SELECT bool_or(r IS NULL) FROM jsonb_to_recordset(jsonb_build_array(jsonb_build_object('r', w))) AS t (r regclass));
\set ECHO all
SELECT name, callees.define(name, format('SELECT person, x, %s AS y FROM callees.people', y)) FROM (VALUES
  ('read_default', 'callees.mix(y)'), ('read_cast', $$'a' || kind::text::callees.rkind = 'atrue'$$),
  ('read_aggregate', $$callees.look(ARRAY['SELECT ''a''::tsquery, ''b''::tsquery FROM callees.people WHERE person = 7 AND y'])$$), ('read_counters', $$pg_stat_get_live_tuples('callees.people'::regclass) > 1000$$),
  ('carried', 'callees.carry(person, y)'), ('carried_domain', $$(y::text::callees.carrier) = 'true'$$), ('carried_default', $$callees.given('a', 'b') = 'b' AND callees.left_out(y::text) = 'x'$$),
  ('carried_openly', $$set_config('callees.c', y::text, false) = 'true'$$), ('sized', $$pg_relation_size('callees.people') > 100000$$), ('settings', 'callees.settings()'), ('setting_of', $$current_setting('callees.c', true) = word$$),
  ('snapshot', 'pg_current_snapshot() IS NULL'), ('session', 'pg_backend_pid() > 0'), ('client', 'inet_client_port() > 0'), ('stored_size', 'pg_column_size(word) > 3'), ('compressed', 'pg_column_compression(word) IS NULL'),
  ('privilege', $$has_table_privilege(word, 'select')$$), ('definition', 'pg_get_expr(NULL, 0) IS NULL'), ('path', 'current_schemas(true) IS NULL'), ('age_of_xid', $$age('3'::xid) > 5$$),
  ('named_plainly', 'to_regclass(word) IS NULL'), ('named_cast', 'word::regclass IS NULL'), ('named_existing', 'word::callees.existing IS NULL'), ('root', $$pg_partition_root('callees.people'::regclass) IS NULL$$),
  ('named_text', $$tableoid::regclass::text LIKE '%people'$$), ('named_any', $$concat(tableoid::regclass) LIKE '%people'$$), ('named_constant', $$concat('callees.people'::regclass) LIKE '%people'$$),
  ('named_number', 'to_jsonb(person::oid::regproc) IS NULL'), ('named_elements', 'ARRAY[word]::regclass[] IS NULL'), ('named_array', $$('{' || word || '}')::regclass[] IS NULL$$), ('named_record', $$('(' || word || ')')::callees.named IS NULL$$),
  ('named_json', $$jsonb_populate_record(NULL::callees.named, jsonb_build_object('r', word)) IS NULL$$), ('named_domain', 'word::callees.named_too IS NULL'), ('named_columns', 'callees.populated(word)'),
  ('named_grant', $$('{' || word || '=r/postgres}')::aclitem[] IS NULL$$), ('named_type', $$range_in('[a,b]', 'callees.span'::regtype, -1) IS NULL$$), ('words', $$to_tsvector('callees_stranger.words', word) @@ 'a1'::tsquery$$),
  ('words_by_default', $$to_tsvector(word) @@ 'a1'::tsquery$$), ('words_domain', 'word::callees.worded IS NULL'), ('words_query', $$'a1'::tsvector @@ plainto_tsquery(word)$$), ('words_json', $$to_tsvector(to_jsonb(word)) @@ 'a1'::tsquery$$),
  ('words_json_too', $$jsonb_to_tsvector(to_jsonb(word), '"all"') @@ 'a1'::tsquery$$), ('words_match', $$word @@ 'a1'::text$$), ('headline', $$ts_headline(word, 'a1'::tsquery) = word$$),
  ('lexemes', $$ts_lexize('simple', word) IS NULL$$), ('configuration', 'get_current_ts_config() IS NULL'), ('configuration_column', $$to_tsvector(3748::oid::regconfig, word) IS NULL$$), ('tokens', 'callees.tokens(word)')) AS t (name, y);
-- about some of these there is only a warning, and they are refused when they
-- are used
SET ROLE callees_analyst;
SELECT relname AS relation, callees.count(relname) FROM pg_class WHERE relnamespace = 'callees'::regnamespace AND relname LIKE 'named\_%' AND relkind = 'v' ORDER BY relname COLLATE "C";
SET ROLE callees_owner;
-- also in a generated column that is computed when it is read, and in a column
-- that JSON is read into, which PostgreSQL 18 and 17 have
\set ECHO none
DO $$ BEGIN
	IF current_setting('server_version_num')::int >= 180000 THEN
		EXECUTE $c$ CREATE TABLE callees.virtual (person int, word text, x float8, words tsvector GENERATED ALWAYS AS (to_tsvector('callees_stranger.words', word)) VIRTUAL) $c$;
		PERFORM dp_protect('callees.virtual', 'callees', unit => 'person', columns => '{x}', domains => '{"x": [0, 1]}');
		RAISE 'protected';
	END IF;
EXCEPTION WHEN feature_not_supported THEN
	NULL;
END $$;
DO $$ BEGIN
	SET LOCAL client_min_messages = error;
	IF current_setting('server_version_num')::int >= 170000 THEN
		EXECUTE $c$ CREATE VIEW callees.left_value AS SELECT person, x, json_value(jsonb_build_object('r', word), '$.r' RETURNING regclass) IS NULL AS y FROM callees.people $c$;
		PERFORM dp_protect('callees.left_value', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
		PERFORM dp_cost('callees.left_value', 'y', 'x', 1, 300);
		RAISE 'accepted';
	END IF;
EXCEPTION WHEN feature_not_supported THEN
	NULL;
END $$;
-- what depends on its arguments, on the time of the call and on settings that
-- have fixed values is fine; an index and a column that is stored may be for
-- text search
CREATE TABLE callees.texts_searched (person int, word text, birth date, seen timestamptz, x float8, y boolean, words tsvector GENERATED ALWAYS AS (to_tsvector('simple', word)) STORED);
CREATE INDEX ON callees.texts_searched USING gin (to_tsvector('simple', word));
INSERT INTO callees.texts_searched SELECT person, word, '2000-01-01', '2000-01-01', x, y FROM callees.people;
\set ECHO all
SELECT callees.define('usual', $$SELECT person, x, words @@ 'a1'::tsquery AND array_to_tsvector(ARRAY[word]) @@ 'a1' AND age(birth) > '1 year' AND seen < now() AND seen::date = birth AND extract(year FROM seen) > 1990
  AND to_char(x, '0.0') <> '' AND concat(word, x) <> format('%s', word) AND to_jsonb(word) <> jsonb_build_object('a', birth) AND tableoid = 'callees.texts_searched'::regclass AND array_to_string(ARRAY[x], ',') <> '' AND current_date > birth
  AND convert_to(word, 'UTF8') <> '' AND word::date IS NULL AND session_user = current_user AS y FROM callees.texts_searched WHERE y IS NULL$$);
SELECT callees.count('usual');
-- what changes after a view has been protected is found by the call
SELECT callees.define('later', 'SELECT person, x, y FROM callees.people');
CREATE OR REPLACE VIEW callees.later AS SELECT person, x, pg_column_size(word) > 3 AS y FROM callees.people;
SELECT callees.count('later');
-- where a row lies depends on how large the others are
SELECT callees.define('place', 'SELECT person, x, (ctid::text::point)[0] > 0 AS y FROM callees.people');
SELECT callees.define('chosen', 'SELECT person, x, y FROM callees.people WHERE (ctid::text::point)[0] > 0');
-- What is stored was computed by functions and policies as they were then: only
-- rows and expressions of PostgreSQL
SELECT callees.define('stored_place', 'SELECT person, x, (ctid::text::point)[0] > 0 AS y FROM callees.people', 'MATERIALIZED VIEW');
SELECT callees.define('stored_cast', $$SELECT person, x, 'a' || kind::text::callees.rkind = 'atrue' AS y FROM callees.people$$, 'MATERIALIZED VIEW');
CREATE TABLE callees.policed AS SELECT person, x, y FROM callees.people;
ALTER TABLE callees.policed ENABLE ROW LEVEL SECURITY;
SELECT dp_protect('callees.policed', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
SELECT callees.define('stored_policed', 'SELECT person, x, y FROM callees.policed', 'MATERIALIZED VIEW');
SELECT callees.define('stored', 'SELECT person, x / 2 AS x, y FROM callees.people', 'MATERIALIZED VIEW');
RESET ROLE;

-- A protected relation of the analyst's own, which they may fill with any
-- function: others are not used from within it
CREATE SCHEMA callees_nest AUTHORIZATION callees_analyst;
SET ROLE callees_analyst;
SELECT dp_budget_create('callees nest', 100);
CREATE TABLE callees_nest.own AS SELECT i AS person, i % 10 / 10.0::float8 AS x, i % 3 = 0 AS y FROM generate_series(1, 20) i;
CREATE FUNCTION callees_nest.within(p int, y boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS
  $$ SELECT CASE p WHEN 1 THEN public.dp_logreg_train('callees.kinds', 'y', 'x', 1) IS NOT NULL ELSE y END $$;
CREATE VIEW callees_nest.view AS SELECT person, x, callees_nest.within(1, true) AND y AS y FROM callees_nest.own;
SELECT dp_protect('callees_nest.view', 'callees nest', unit => 'person', domains => '{"x": [0, 1]}');
\set VERBOSITY sqlstate
SELECT dp_logreg_train('callees_nest.view', 'y', 'x', 1) IS NOT NULL AS within;
\set VERBOSITY default
SELECT callees.count('kinds') AS again;
RESET ROLE;

-- An argument that is left out, and different in each pass, is as bad as one
-- that is written
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
DROP OWNED BY callees_owner, callees_analyst, callees_stranger CASCADE;
DROP EXTENSION IF EXISTS citext, cube CASCADE;
SELECT dp_budget_drop('callees'), dp_budget_drop('callees nest');
DROP ROLE callees_owner, callees_analyst, callees_stranger;
