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
CREATE FUNCTION callees.fits_utc(p float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET TimeZone = 'UTC' AS $$ BEGIN PERFORM callees.ran(); RETURN true; END $$;
CREATE DOMAIN callees.part_of_state AS float8 CHECK (callees.fits_utc(VALUE));
CREATE TYPE callees.record_state AS (last callees.part_of_state);
CREATE AGGREGATE callees.fold(jsonb) (SFUNC = jsonb_populate_record, STYPE = callees.record_state, FINALFUNC = to_jsonb, INITCOND = '(0)');
CREATE FUNCTION callees.last_of(a float8[]) RETURNS float8 IMMUTABLE RETURN (SELECT (callees.fold(jsonb_build_object('last', q)) ->> 'last')::float8 FROM unnest(a) q);
CALL callees.define('folded', 'SELECT person, callees.last_of(v) AS x, y FROM callees.people');
-- operator classes of a superuser: how values are compared in GREATEST and in arrays
CREATE TYPE callees.version AS (major int, minor int);
CREATE TABLE callees.versions (person int, v callees.version, vs callees.version[], x float8, y boolean);
INSERT INTO callees.versions SELECT i, ROW(i % 3, 0)::callees.version, ARRAY[ROW(i % 3, 0)::callees.version], i % 10 / 10.0, i % 3 = 0 FROM generate_series(1, 300) i;
RESET ROLE;
SELECT format('CREATE FUNCTION callees.version_%s(p callees.version, q callees.version) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN PERFORM callees.ran(); RETURN (p).major %s (q).major; END $f$; '
  'CREATE OPERATOR callees.%s# (FUNCTION = callees.version_%s, LEFTARG = callees.version, RIGHTARG = callees.version)', name, op, op, name)
  FROM unnest('{lt,le,eq,ge,gt}'::text[], '{<,<=,=,>=,>}'::text[]) AS u(name, op) \gexec
CREATE FUNCTION callees.version_cmp(p callees.version, q callees.version) RETURNS int LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog AS
  $$ BEGIN PERFORM callees.ran(); RETURN (p).major - (q).major; END $$;
CREATE OPERATOR CLASS callees.version_ops DEFAULT FOR TYPE callees.version USING btree AS OPERATOR 1 callees.<#, OPERATOR 2 callees.<=#, OPERATOR 3 callees.=#,
  OPERATOR 4 callees.>=#, OPERATOR 5 callees.>#, FUNCTION 1 callees.version_cmp(callees.version, callees.version);
SELECT format('CREATE FUNCTION callees.text_%s(p text, q text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN PERFORM callees.ran(); RETURN p OPERATOR(pg_catalog.%s) q; END $f$; '
  'CREATE OPERATOR callees.%s# (FUNCTION = callees.text_%s, LEFTARG = text, RIGHTARG = text)', name, op, op, name)
  FROM unnest('{lt,le,eq,ge,gt}'::text[], '{<,<=,=,>=,>}'::text[]) AS u(name, op) \gexec
CREATE FUNCTION callees.text_cmp(p text, q text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM callees.ran(); RETURN bttextcmp(p, q); END $$;
CREATE OPERATOR CLASS callees.text_ops FOR TYPE text USING btree AS OPERATOR 1 callees.<#, OPERATOR 2 callees.<=#, OPERATOR 3 callees.=#,
  OPERATOR 4 callees.>=#, OPERATOR 5 callees.>#, FUNCTION 1 callees.text_cmp(text, text);
SET ROLE callees_owner;
CREATE TYPE callees.span AS RANGE (SUBTYPE = text, SUBTYPE_OPCLASS = callees.text_ops);
CREATE TABLE callees.spans AS SELECT person, callees.span(word, 'b') AS span, x, y FROM callees.people;
CALL callees.define('range', $$SELECT person, x, span @> 'a1'::text AS y FROM callees.spans$$);
CREATE TABLE callees.keyed (person int, span callees.span, x float8, y boolean) PARTITION BY LIST (span);
CREATE TABLE callees.keyed_rest PARTITION OF callees.keyed DEFAULT PARTITION BY RANGE (x);
CREATE TABLE callees.keyed_rest_0 PARTITION OF callees.keyed_rest DEFAULT;
INSERT INTO callees.keyed SELECT person, callees.span(word, 'b'), x, y FROM callees.people;
CALL callees.define('keys', 'SELECT person, x, y FROM callees.keyed');
CALL callees.define('keys_of_parents', 'SELECT person, x, y FROM callees.keyed_rest');
CALL callees.define('named_type', $$SELECT person, x, range_in('[a,b]', 'callees.span'::regtype, -1) IS NULL AS y FROM callees.people$$);
CREATE FUNCTION callees.least_of(a text[]) RETURNS boolean IMMUTABLE RETURN (SELECT (array_agg(q ORDER BY q USING OPERATOR(callees.<#)))[1] IS NULL FROM unnest(a) q);
CALL callees.define('sorted', 'SELECT person, x, callees.least_of(ARRAY[word]) AS y FROM callees.people');
CALL callees.define('greatest', $$SELECT person, x, (greatest(v, '(1,0)'::callees.version)).major > 1 AS y FROM callees.versions$$);
CALL callees.define('array_equal', $$SELECT person, x, vs = ARRAY['(1,0)'::callees.version] AS y FROM callees.versions$$);
-- what owners may do: SQL functions with a parsed body, default arguments and operators of their own
CREATE FUNCTION callees.half(x float8, by float8 DEFAULT 1 + 1) RETURNS float8 IMMUTABLE RETURN x / by;
CREATE OPERATOR callees.<| (FUNCTION = callees.half, LEFTARG = float8, RIGHTARG = float8);
CALL callees.define('sound', 'SELECT person, callees.half(x) OPERATOR(callees.<|) 1::float8 AS x, y FROM callees.people');

-- Nothing runs for the analyst, and what is sound can be used
\c -
\set VERBOSITY terse
-- the session has compared such values before, and knows the functions
SELECT ARRAY['(1,0)'::callees.version] = ARRAY['(1,0)'::callees.version] AS equal, greatest('(1,0)'::callees.version, '(2,0)') AS greatest, set_config('callees.ran', '', false) AS ran;
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
SELECT dp_logreg_train('callees.folded', 'y', 'x', 1) IS NOT NULL AS folded;
SELECT dp_logreg_train('callees.greatest', 'y', 'x', 1) IS NOT NULL AS greatest;
SELECT dp_logreg_train('callees.array_equal', 'y', 'x', 1) IS NOT NULL AS array_equal;
SELECT dp_logreg_train('callees.range', 'y', 'x', 1) IS NOT NULL AS range;
SELECT dp_logreg_train('callees.keys', 'y', 'x', 1) IS NOT NULL AS keys;
SELECT dp_logreg_train('callees.keys_of_parents', 'y', 'x', 1) IS NOT NULL AS keys_of_parents;
SELECT dp_logreg_train('callees.sorted', 'y', 'x', 1) IS NOT NULL AS sorted;
SELECT coalesce(current_setting('callees.ran', true), '') AS ran_as;
RESET ROLE;
-- how words are hashed to leave out partitions; the same family may serve wherever words are compared
CREATE FUNCTION callees.hash_word(p text, seed int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM callees.ran(); RETURN length(p); END $$;
CREATE OPERATOR CLASS callees.word_ops FOR TYPE text USING hash AS OPERATOR 1 =, FUNCTION 2 callees.hash_word(text, int8);
SET ROLE callees_owner;
CREATE TABLE callees.hashed (person int, word text, x float8, y boolean) PARTITION BY HASH (word callees.word_ops);
CREATE TABLE callees.hashed_0 PARTITION OF callees.hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE callees.hashed_1 PARTITION OF callees.hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO callees.hashed SELECT person, word, x, y FROM callees.people;
SET client_min_messages = error;
CALL callees.define('pruned', $$SELECT person, x, y FROM callees.hashed WHERE word = 'a1'$$);
RESET client_min_messages;
RESET ROLE;
SELECT satisfies_hash_partition('callees.hashed'::regclass, 2, 1, 'a1'::text) IS NOT NULL AS hashed, set_config('callees.ran', '', false) AS ran;
SET ROLE callees_analyst;
SELECT dp_logreg_train('callees.pruned', 'y', 'x', 1) IS NOT NULL AS pruned;
SELECT dp_logreg_train('callees.negator', 'y', 'x', 1) IS NOT NULL AS negator;
SELECT dp_logreg_train('callees.plain', 'y', 'x', 1) IS NOT NULL AS plain;
SELECT current_setting('callees.ran') AS ran_as;
RESET ROLE;
SET client_min_messages = error;
DROP OPERATOR FAMILY callees.word_ops USING hash CASCADE;
RESET client_min_messages;

-- a cast of somebody else, which their own type lets them make, is nobody's concern
CREATE ROLE callees_stranger;
CREATE SCHEMA callees_stranger AUTHORIZATION callees_stranger;
GRANT USAGE ON SCHEMA callees TO callees_stranger;
SET ROLE callees_owner;
CALL callees.define('kinds', $$SELECT person, x, kind = 'r' AS y FROM callees.people$$);
SET ROLE callees_stranger;
CREATE TYPE callees_stranger.t AS ENUM ('r');
CREATE FUNCTION callees_stranger.f(callees_stranger.t) RETURNS callees.kind LANGUAGE sql AS $$ SELECT 'r'::callees.kind $$;
CREATE CAST (callees_stranger.t AS callees.kind) WITH FUNCTION callees_stranger.f;
SET ROLE callees_analyst;
SELECT dp_logreg_train('callees.kinds', 'y', 'x', 1) IS NOT NULL AS kinds;
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
CREATE AGGREGATE callees.rewrite(text) (SFUNC = ts_rewrite, STYPE = tsquery, INITCOND = 'a');
CREATE FUNCTION callees.look(a text[]) RETURNS boolean IMMUTABLE RETURN (SELECT callees.rewrite(q) = 'b'::tsquery FROM unnest(a) q);
CALL callees.define('read_aggregate', $$SELECT person, x, callees.look(ARRAY['SELECT ''a''::tsquery, ''b''::tsquery FROM callees.people WHERE person = 7 AND y']) AS y FROM callees.people$$);
CALL callees.define('read_counters', $$SELECT person, x, pg_stat_get_live_tuples('callees.people'::regclass) > 1000 AS y FROM callees.people$$);
-- nor may a body carry something from row to row
CREATE FUNCTION callees.carry(p int, y boolean) RETURNS boolean IMMUTABLE RETURN CASE p WHEN 1 THEN set_config('callees.c', y::text, false)::boolean ELSE current_setting('callees.c')::boolean END;
CALL callees.define('carried', 'SELECT person, x, callees.carry(person, y) AS y FROM callees.people');
CREATE FUNCTION callees.size() RETURNS boolean IMMUTABLE RETURN pg_relation_size('callees.people') > 100000;
CALL callees.define('sized', 'SELECT person, x, callees.size() AS y FROM callees.people');
-- also where the catalog has an expression that no query shows: the constraint of a domain, and a default argument of a function that was first called in full
CREATE DOMAIN callees.carrier AS text CHECK (set_config('callees.c', VALUE, false) IS NOT NULL);
CALL callees.define('carried_domain', $$SELECT person, x, (y::text::callees.carrier) = 'true' AS y FROM callees.people$$);
CREATE FUNCTION callees.given(t text, r text DEFAULT set_config('callees.c', 'x', false)) RETURNS text IMMUTABLE RETURN r;
CREATE FUNCTION callees.left_out(t text) RETURNS text IMMUTABLE RETURN callees.given(t);
CALL callees.define('carried_default', $$SELECT person, x, callees.given('a', 'b') = 'b' AND callees.left_out(y::text) = 'x' AS y FROM callees.people$$);
CALL callees.define('carried_openly', $$SELECT person, x, set_config('callees.c', y::text, false) = 'true' AS y FROM callees.people$$);
-- Functions of PostgreSQL that show the session, its settings, the catalog, the statistics or how a row is stored
CREATE FUNCTION callees.cursors() RETURNS boolean STABLE RETURN (SELECT count(*) > 0 FROM pg_cursor());
CREATE FUNCTION callees.statements() RETURNS boolean STABLE RETURN (SELECT count(*) > 0 FROM pg_prepared_statement());
CREATE FUNCTION callees.settings() RETURNS boolean STABLE RETURN (SELECT count(*) > 0 FROM pg_show_all_settings());
CREATE DOMAIN callees.existing AS text CHECK (to_regclass(VALUE) IS NULL);
SELECT format('CALL callees.define(%L, %L)', name, format('SELECT person, x, %s AS y FROM callees.people', expression)) FROM (VALUES ('cursors', 'callees.cursors()'), ('statements', 'callees.statements()'),
  ('settings', 'callees.settings()'), ('setting', $$current_setting('callees.c', true) = word$$), ('snapshot', 'pg_current_snapshot() IS NULL'), ('session', 'pg_backend_pid() > 0'), ('client', 'inet_client_port() > 0'),
  ('stored_size', 'pg_column_size(word) > 3'), ('compressed', 'pg_column_compression(word) IS NULL'), ('named', 'to_regclass(word) IS NULL'), ('named_cast', 'word::regclass IS NULL'), ('named_domain', 'word::callees.existing IS NULL'),
  ('privilege', $$has_table_privilege(word, 'select')$$), ('definition', 'pg_get_expr(NULL, 0) IS NULL'), ('constraint', $$pg_get_partition_constraintdef('callees.people'::regclass) IS NULL$$),
  ('root', $$pg_partition_root('callees.people'::regclass) IS NULL$$), ('path', 'current_schemas(true) IS NULL'), ('age_of_xid', $$age('3'::xid) > 5$$)) AS t (name, expression) \gexec
-- Text search, whose configurations and dictionaries can be somebody else's
RESET ROLE;
CREATE SCHEMA callees_words AUTHORIZATION callees_analyst;
GRANT USAGE ON SCHEMA callees_words TO callees_owner;
SET ROLE callees_analyst;
CREATE TEXT SEARCH CONFIGURATION callees_words.words (COPY = simple);
SET ROLE callees_owner;
CREATE DOMAIN callees.worded AS text CHECK (to_tsvector('callees_words.words', VALUE) IS NOT NULL);
SELECT format('CALL callees.define(%L, %L)', name, format('SELECT person, x, %s AS y FROM callees.people', expression)) FROM (VALUES ('words', $$to_tsvector('callees_words.words', word) @@ 'a1'::tsquery$$),
  ('words_by_default', $$to_tsvector(word) @@ 'a1'::tsquery$$), ('words_domain', 'word::callees.worded IS NULL'), ('words_query', $$'a1'::tsvector @@ plainto_tsquery(word)$$), ('words_json', $$to_tsvector(to_jsonb(word)) @@ 'a1'::tsquery$$),
  ('words_json_too', $$jsonb_to_tsvector(to_jsonb(word), '"all"') @@ 'a1'::tsquery$$), ('words_match', $$word @@ 'a1'::text$$), ('words_match_query', $$word @@ 'a1'::tsquery$$), ('headline', $$ts_headline(word, 'a1'::tsquery) = word$$),
  ('lexemes', $$ts_lexize('simple', word) IS NULL$$), ('configuration', 'get_current_ts_config() IS NULL'), ('configuration_column', $$to_tsvector(3748::oid::regconfig, word) IS NULL$$)) AS t (name, expression) \gexec
CREATE FUNCTION callees.tokens(w text) RETURNS boolean STABLE RETURN (SELECT count(*) > 0 FROM ts_parse(3722, w));
CALL callees.define('tokens', 'SELECT person, x, callees.tokens(word) AS y FROM callees.people');
-- also in a generated column that is computed when it is read, which PostgreSQL 18 has
DO $$ BEGIN
	IF current_setting('server_version_num')::int >= 180000 THEN
		EXECUTE $c$ CREATE TABLE callees.virtual (person int, word text, x float8, words tsvector GENERATED ALWAYS AS (to_tsvector('callees_words.words', word)) VIRTUAL) $c$;
		PERFORM dp_protect('callees.virtual', 'callees', unit => 'person', columns => '{x}', domains => '{"x": [0, 1]}');
		RAISE 'protected';
	END IF;
EXCEPTION WHEN feature_not_supported THEN
	NULL;
END $$;
-- what depends on its arguments, on the time of the call and on settings that have fixed values is fine; an index and a column that is stored may be for text search
CREATE TABLE callees.texts_searched (person int, word text, birth date, seen timestamptz, x float8, y boolean, words tsvector GENERATED ALWAYS AS (to_tsvector('simple', word)) STORED);
CREATE INDEX ON callees.texts_searched USING gin (to_tsvector('simple', word));
INSERT INTO callees.texts_searched SELECT person, word, '2000-01-01', '2000-01-01', x, y FROM callees.people;
CALL callees.define('usual', $$SELECT person, x, words @@ 'a1'::tsquery AND array_to_tsvector(ARRAY[word]) @@ 'a1' AND age(birth) > '1 year' AND seen < now() AND seen::date = birth AND extract(year FROM seen) > 1990
  AND to_char(x, '0.0') <> '' AND concat(word, x) <> format('%s', word) AND to_jsonb(word) <> jsonb_build_object('a', birth) AND tableoid::regclass::text LIKE '%texts%' AND array_to_string(ARRAY[x], ',') <> '' AND current_date > birth
  AND convert_to(word, 'UTF8') <> '' AND word::date IS NULL AS y FROM callees.texts_searched WHERE y IS NULL$$);
SELECT dp_logreg_train('callees.usual', 'y', 'x', 1) IS NOT NULL AS usual;
-- Functions in PL/pgSQL keep things in the session: not for the owner either, unless no row gets there, as in indexes, or none in reading, as in CHECK and stored columns
CREATE FUNCTION callees.fast(x float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN x; END $$;
CREATE TABLE callees.fast (person int, x float8 CHECK (callees.fast(x) < 2), y boolean, z float8 GENERATED ALWAYS AS (callees.fast(x)) STORED);
CREATE INDEX ON callees.fast (callees.fast(x));
INSERT INTO callees.fast SELECT person, x, y FROM callees.people;
CALL callees.define('fast_columns', 'SELECT person, x, z > 0.5 AS y FROM callees.fast');
CALL callees.define('fast_calls', 'SELECT person, callees.fast(x) AS x, y FROM callees.fast');
SELECT dp_logreg_train('callees.fast_columns', 'y', 'x', 1) IS NOT NULL AS columns;
SELECT dp_logreg_train('callees.fast_calls', 'y', 'x', 1) IS NOT NULL AS calls;
-- what changes after a view has been protected is found by the call
CALL callees.define('later', 'SELECT person, x, y FROM callees.people');
CREATE OR REPLACE VIEW callees.later AS SELECT person, x, pg_column_size(word) > 3 AS y FROM callees.people;
SELECT dp_logreg_train('callees.later', 'y', 'x', 1) IS NOT NULL AS later;
-- Nor may it be stored through policies
CREATE TABLE callees.policed AS SELECT person, x, y FROM callees.people;
ALTER TABLE callees.policed ENABLE ROW LEVEL SECURITY;
SELECT dp_protect('callees.policed', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
CALL callees.define('stored_policed', 'SELECT person, x, y FROM callees.policed', 'MATERIALIZED VIEW');
-- Functions in SQL that PostgreSQL does not put in line leave plans and more in the session, and so tell whether some row got there: not for the owner either. dp_protect warns
CREATE FUNCTION callees.inline(x float8) RETURNS float8 IMMUTABLE RETURN x / 2;
CREATE FUNCTION callees.inline_too(x float8) RETURNS float8 IMMUTABLE RETURN CASE WHEN x > 0 THEN callees.inline(x) ELSE 0 END;
CREATE FUNCTION callees.inline_strict(x float8) RETURNS float8 IMMUTABLE STRICT RETURN x / 2;
CREATE FUNCTION callees.strict(x float8) RETURNS float8 IMMUTABLE STRICT RETURN coalesce(x, 0);
CREATE FUNCTION callees.set(x float8) RETURNS float8 IMMUTABLE SET extra_float_digits = 0 RETURN x / 2;
CREATE FUNCTION callees.definer(x float8) RETURNS float8 IMMUTABLE SECURITY DEFINER RETURN x / 2;
CREATE FUNCTION callees.statements(x float8) RETURNS float8 IMMUTABLE BEGIN ATOMIC SELECT 1; SELECT x / 2; END;
CREATE FUNCTION callees.aggregate(x float8) RETURNS float8 IMMUTABLE RETURN (SELECT max(q) FROM unnest(ARRAY[x, x / 2]) q);
CREATE FUNCTION callees.outer(x float8) RETURNS float8 IMMUTABLE RETURN callees.statements(x) / 2;
CREATE FUNCTION callees.quoted(x float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT 1; SELECT x / 2';
CREATE FUNCTION callees.is_word(w text) RETURNS boolean IMMUTABLE RETURN w <> 'b';
CREATE FUNCTION callees.is_word_too(w text) RETURNS boolean IMMUTABLE BEGIN ATOMIC SELECT 1; SELECT w <> 'b'; END;
CREATE DOMAIN callees.word AS text CHECK (callees.is_word(VALUE));
CREATE DOMAIN callees.word_too AS text CHECK (callees.is_word_too(VALUE));
CREATE TYPE callees.ikind AS ENUM ('r', 's');
CREATE FUNCTION callees.ikind(p callees.ikind) RETURNS float8 IMMUTABLE BEGIN ATOMIC SELECT 1; SELECT CASE p WHEN 'r' THEN 0.5 ELSE 0 END; END;
CREATE CAST (callees.ikind AS float8) WITH FUNCTION callees.ikind(callees.ikind);
CREATE TYPE callees.okind AS ENUM ('r', 's');
CREATE FUNCTION callees.okind(p callees.okind) RETURNS float8 IMMUTABLE RETURN CASE p WHEN 'r' THEN 0.5 ELSE 0 END;
CREATE CAST (callees.okind AS float8) WITH FUNCTION callees.okind(callees.okind);
CREATE TYPE callees.lkind AS ENUM ('r', 's');
CREATE FUNCTION callees.lkind(p callees.lkind) RETURNS json IMMUTABLE RETURN '{}'::json;
CREATE CAST (callees.lkind AS json) WITH FUNCTION callees.lkind(callees.lkind);
CREATE FUNCTION callees.unlike(p text, q text) RETURNS boolean IMMUTABLE RETURN p <> q;
CREATE OPERATOR callees.!=== (FUNCTION = callees.unlike, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR callees.==== (FUNCTION = pg_catalog.texteq, LEFTARG = text, RIGHTARG = text, NEGATOR = OPERATOR(callees.!===), RESTRICT = eqsel);
CREATE FUNCTION callees.like(p text, q text) RETURNS boolean IMMUTABLE RETURN p = q;
CREATE FUNCTION callees.like_too(p text, q text) RETURNS boolean IMMUTABLE BEGIN ATOMIC SELECT 1; SELECT 1 / (length(p) - 2) = 0; END;
CREATE OPERATOR callees.~= (FUNCTION = callees.like, LEFTARG = text, RIGHTARG = text, COMMUTATOR = OPERATOR(callees.~=), RESTRICT = eqsel);
CREATE OPERATOR callees.#= (FUNCTION = callees.like, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR callees.~== (FUNCTION = callees.like_too, LEFTARG = text, RIGHTARG = text, RESTRICT = eqsel);
CREATE FUNCTION callees.step_up(s float8, v float8) RETURNS float8 IMMUTABLE RETURN s + v;
CREATE AGGREGATE callees.add_up(float8) (SFUNC = callees.step_up, STYPE = float8, INITCOND = '0');
CREATE FUNCTION callees.added_up(a float8[]) RETURNS float8 IMMUTABLE RETURN (SELECT callees.add_up(q) FROM unnest(a) q);
CREATE TYPE callees.named AS (r regclass);
CREATE DOMAIN callees.named_too AS regclass;
CREATE FUNCTION callees.populated(w text) RETURNS boolean STABLE RETURN (SELECT bool_or(r IS NULL) FROM jsonb_to_recordset(jsonb_build_array(jsonb_build_object('r', w))) AS t (r regclass));
CREATE VIEW callees.left_warned AS SELECT person, callees.strict(x) AS x, y FROM callees.people;
SET client_min_messages = warning;
SELECT dp_protect('callees.left_warned', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
SET client_min_messages = error;
CREATE TABLE callees.cases (name text, x text, y text);
INSERT INTO callees.cases VALUES ('inline', 'callees.inline(x)', 'y'), ('inline_too', 'callees.inline_too(x)', 'y'), ('inline_strict', 'callees.inline_strict(x)', 'y'),
  ('folded', 'x * callees.statements(0.5)', 'y'), ('strict', 'callees.strict(x)', 'y'), ('set', 'callees.set(x)', 'y'), ('definer', 'callees.definer(x)', 'y'), ('statements', 'callees.statements(x)', 'y'),
  ('aggregate', 'callees.aggregate(x)', 'y'), ('outer', 'callees.outer(x)', 'y'), ('quoted', 'callees.quoted(x)', 'y'), ('branch', 'CASE WHEN person = 7 THEN callees.statements(x) ELSE x END', 'y'),
  ('domain', 'x', 'word::callees.word IS NULL'), ('domain_too', 'x', 'word::callees.word_too IS NULL'), ('domain_array', 'x', 'ARRAY[word]::callees.word_too[] IS NULL'),
  ('cast', 'kind::text::callees.okind::float8', 'y'), ('cast_too', 'kind::text::callees.ikind::float8', 'y'), ('cast_json', 'x', 'to_jsonb(kind::text::callees.lkind) IS NULL'),
  ('negator', 'x', $$word OPERATOR(callees.====) 'a1'$$), ('operator', 'x', $$word OPERATOR(callees.#=) 'a1'$$), ('operator_too', 'x', $$word OPERATOR(callees.~==) 'a1'$$), ('added_up', 'callees.added_up(v)', 'y'),
  ('named_array', 'x', $$('{' || word || '}')::regclass[] IS NULL$$), ('named_elements', 'x', 'ARRAY[word]::regclass[] IS NULL'), ('named_record', 'x', $$('(' || word || ')')::callees.named IS NULL$$),
  ('named_json', 'x', $$jsonb_populate_record(NULL::callees.named, jsonb_build_object('r', word)) IS NULL$$), ('named_domain', 'x', 'word::callees.named_too IS NULL'), ('named_columns', 'x', 'callees.populated(word)'),
  ('named_table', 'x', $$tableoid::regclass::text LIKE '%people'$$), ('session_user', 'x', 'session_user = word'), ('current_user', 'x', 'current_user = word');
SELECT format('CALL callees.define(%L, %L)', 'left_' || name, format('SELECT person, %s AS x, %s AS y FROM callees.people', x, y)) FROM callees.cases \gexec
SELECT format('SELECT dp_logreg_train(%L, ''y'', ''x'', 1) IS NOT NULL AS %I', 'callees.left_' || name, name) FROM callees.cases WHERE to_regclass('callees.left_' || name) IS NOT NULL \gexec
-- also a column that JSON is read into, which PostgreSQL 17 has
DO $$ BEGIN
	IF current_setting('server_version_num')::int >= 170000 THEN
		EXECUTE $c$ CREATE VIEW callees.left_value AS SELECT person, x, json_value(jsonb_build_object('r', word), '$.r' RETURNING regclass) IS NULL AS y FROM callees.people $c$;
		PERFORM dp_protect('callees.left_value', 'callees', unit => 'person', domains => '{"x": [0, 1]}');
		PERFORM dp_cost('callees.left_value', 'y', 'x', 1, 300);
		RAISE 'accepted';
	END IF;
EXCEPTION WHEN feature_not_supported THEN
	NULL;
END $$;
-- the planner calls an operator that has an estimator with what it knows of the rows, which fails here: this is refused before
CALL callees.define('left_estimated', $$SELECT person, x, y FROM callees.people WHERE word OPERATOR(callees.~==) 'a1'$$);
SELECT dp_logreg_train('callees.left_estimated', 'y', 'x', 1) IS NOT NULL AS estimated;
CALL callees.define('left_estimated_inline', $$SELECT person, x, y FROM callees.people WHERE word OPERATOR(callees.~=) 'a1'$$);
SELECT dp_logreg_train('callees.left_estimated_inline', 'y', 'x', 1) IS NOT NULL AS estimated_inline;
CALL callees.define('left_estimated_any', $$SELECT person, x, y FROM callees.people WHERE word OPERATOR(callees.~=) ANY (ARRAY['a1', 'a2'])$$);
SELECT dp_logreg_train('callees.left_estimated_any', 'y', 'x', 1) IS NOT NULL AS estimated_any;
-- functions in C that make a type for the session, or look up a name, and types that hold one
CALL callees.define('blessed', $$SELECT person, CASE WHEN x > 1e9 THEN (pg_walfile_name_offset('0/0'::pg_lsn + person)).file_offset ELSE x END AS x, y FROM callees.people$$);
CALL callees.define('granted', $$SELECT person, x, (('{' || word || '=r/postgres}')::aclitem[] IS NULL) AS y FROM callees.people$$);
SELECT dp_logreg_train('callees.granted', 'y', 'x', 1) IS NOT NULL AS granted;
-- nor is anything charged for it, whoever asks
SELECT count(*) AS charges FROM dp_ledger WHERE budget = 'callees' AND act = 'charge' \gset
SET ROLE callees_analyst;
SELECT dp_logreg_train('callees.left_warned', 'y', 'x', 1) IS NOT NULL AS left_warned;
\echo :LAST_ERROR_SQLSTATE
SELECT budget FROM dp_cost('callees.left_warned', 'y', 'x', 1, 300);
SET ROLE callees_owner;
SELECT count(*) = :charges AS nothing_charged FROM dp_ledger WHERE budget = 'callees' AND act = 'charge';
-- where a row lies is a matter of how large the others are
CALL callees.define('place', 'SELECT person, x, (ctid::text::point)[0] > 0 AS y FROM callees.people');
CALL callees.define('chosen', 'SELECT person, x, y FROM callees.people WHERE (ctid::text::point)[0] > 0');
CALL callees.define('stored_place', 'SELECT person, x, (ctid::text::point)[0] > 0 AS y FROM callees.people', 'MATERIALIZED VIEW');
-- rows and expressions of PostgreSQL alone, stored
CALL callees.define('stored', 'SELECT person, x / 2 AS x, y FROM callees.people', 'MATERIALIZED VIEW');
RESET ROLE;

-- A protected relation of the analyst's own, which they may fill with any function: others are not used from within it
CREATE SCHEMA callees_nest AUTHORIZATION callees_analyst;
SET ROLE callees_analyst;
SELECT dp_budget_create('callees nest', 100);
CREATE TABLE callees_nest.own AS SELECT i AS person, i % 10 / 10.0::float8 AS x, i % 3 = 0 AS y FROM generate_series(1, 20) i;
CREATE FUNCTION callees_nest.within(p int, y boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS
  $$ SELECT CASE p WHEN 1 THEN public.dp_logreg_train('callees.plain', 'y', 'x', 1) IS NOT NULL ELSE y END $$;
CREATE VIEW callees_nest.view AS SELECT person, x, callees_nest.within(1, true) AND y AS y FROM callees_nest.own;
SET client_min_messages = error;
SELECT dp_protect('callees_nest.view', 'callees nest', unit => 'person', domains => '{"x": [0, 1]}');
RESET client_min_messages;
SELECT dp_logreg_train('callees_nest.view', 'y', 'x', 1) IS NOT NULL AS within;
SELECT dp_logreg_train('callees.plain', 'y', 'x', 1) IS NOT NULL AS again;
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
DROP OWNED BY callees_owner, callees_analyst, callees_stranger CASCADE;
SELECT dp_budget_drop('callees'), dp_budget_drop('callees nest');
DROP ROLE callees_owner, callees_analyst, callees_stranger;
