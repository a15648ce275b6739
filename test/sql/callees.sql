-- What a view may compute of a row: nothing but PostgreSQL's own IMMUTABLE
-- functions. Whatever else could run code or look at something other than the
-- row is refused when the view is offered, or the table is protected
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
CREATE DOMAIN callees.share AS float8 CHECK (VALUE BETWEEN 0 AND 1);
CREATE TYPE callees.version AS (major int, minor int);
CREATE TABLE callees.people (person int, kind callees.kind, kinds callees.kind[], word text, x float8 CHECK (x BETWEEN 0 AND 1), y boolean, v float8[], share callees.share,
  version callees.version, j jsonb, seen timestamptz, birth date, n numeric, place point);
INSERT INTO callees.people SELECT i, (ARRAY['r', 's'])[1 + i % 2]::callees.kind, ARRAY['r']::callees.kind[], 'a' || i % 3, i % 10 / 10.0, i % 3 = 0, ARRAY[0.1, 0.2], 0.5, '(1,2)', '{"a": [1, 2]}',
  '2020-01-01 00:00+00', '2000-01-01', i / 7.0, point(i, 1) FROM generate_series(1, 100) i;
SELECT dp_protect('callees.people', 'callees', unit => 'person');

-- Create a view of people, or objects, and protect the relation; the outcome
\set ECHO none
CREATE FUNCTION callees.protect(definition text, relation text, OUT outcome text, OUT hint text) LANGUAGE plpgsql SET client_min_messages = error AS $$
BEGIN
	EXECUTE definition;
	PERFORM dp_protect('callees.' || relation, 'callees', unit => 'person', domains => '{"x": [0, 1]}');
	outcome := 'protected';
	RAISE EXCEPTION USING ERRCODE = 'RB000';
EXCEPTION
	WHEN SQLSTATE 'RB000' THEN
		NULL;
	WHEN feature_not_supported THEN
		outcome := regexp_replace(SQLERRM, '^(view|table) "t" cannot be (offered|protected): ', '');
		GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
END $$;
CREATE FUNCTION callees.define(query text, OUT outcome text, OUT hint text) LANGUAGE sql AS $$ SELECT * FROM callees.protect('CREATE VIEW callees.t AS ' || query, 't') $$;
CREATE FUNCTION callees.show(expression text, OUT outcome text, OUT hint text) LANGUAGE sql AS $$ SELECT * FROM callees.define(format('SELECT person, x, %s AS y FROM callees.people p', expression)) $$;
\set ECHO all
-- Code of an owner, of a stranger and of a superuser, in whatever language, and
-- behind whatever calls it
\set ECHO none
CREATE FUNCTION callees.plpgsql(p text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN p; END $$;
CREATE FUNCTION callees.sql(p text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT p $$;
CREATE FUNCTION callees.parsed(p text) RETURNS text IMMUTABLE RETURN p;
CREATE FUNCTION callees.reading(p text) RETURNS text STABLE BEGIN ATOMIC SELECT word FROM callees.people WHERE person = 7; END;
CREATE FUNCTION callees.definer(p text) RETURNS text LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER AS $$ BEGIN RETURN p; END $$;
CREATE FUNCTION callees.defaults(p text, q text DEFAULT callees.plpgsql('cm')) RETURNS text IMMUTABLE RETURN p;
CREATE FUNCTION callees.other(p text, q text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN p <> q; END $$;
CREATE FUNCTION callees.fits(p float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$;
CREATE FUNCTION callees.to_text(p callees.kind) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'k'; END $$;
CREATE FUNCTION callees.to_number(p callees.kind) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 0.5; END $$;
CREATE CAST (callees.kind AS float8) WITH FUNCTION callees.to_number(callees.kind) AS ASSIGNMENT;
CREATE CAST (callees.kind AS text) WITH FUNCTION callees.to_text(callees.kind);
CREATE DOMAIN callees.fitting AS float8 CHECK (callees.fits(VALUE));
CREATE OPERATOR callees.!== (FUNCTION = callees.other, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR callees.=== (FUNCTION = pg_catalog.texteq, LEFTARG = text, RIGHTARG = text, NEGATOR = OPERATOR(callees.!==));
CREATE COLLATION callees.bytes (provider = libc, locale = 'C');
CREATE TYPE callees.span AS RANGE (SUBTYPE = text);
RESET ROLE;
CREATE FUNCTION callees.internal(p float8) RETURNS float8 LANGUAGE internal IMMUTABLE AS 'dsqrt';
SELECT format('CREATE FUNCTION callees.version_%s(p callees.version, q callees.version) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN RETURN (p).major %s (q).major; END $f$; '
  'CREATE OPERATOR callees.%s# (FUNCTION = callees.version_%s, LEFTARG = callees.version, RIGHTARG = callees.version)', name, op, op, name)
  FROM unnest('{lt,le,eq,ge,gt}'::text[], '{<,<=,=,>=,>}'::text[]) AS u(name, op) \gexec
CREATE FUNCTION callees.version_cmp(p callees.version, q callees.version) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN (p).major - (q).major; END $$;
CREATE OPERATOR CLASS callees.version_ops DEFAULT FOR TYPE callees.version USING btree AS OPERATOR 1 callees.<#, OPERATOR 2 callees.<=#, OPERATOR 3 callees.=#,
  OPERATOR 4 callees.>=#, OPERATOR 5 callees.>#, FUNCTION 1 callees.version_cmp(callees.version, callees.version);
SET ROLE callees_stranger;
CREATE FUNCTION callees_stranger.word(p text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN p; END $$;
CREATE TYPE callees_stranger.kind AS ENUM ('a0', 'a1', 'a2');
CREATE FUNCTION callees_stranger.is_not(p polygon, q point) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$;
SET ROLE callees_owner;
CREATE TABLE callees.cases (id int GENERATED ALWAYS AS IDENTITY, expression text);
INSERT INTO callees.cases (expression) VALUES
	('callees.plpgsql(word)'), ('callees.sql(word)'), ('callees.parsed(word)'), ('callees.reading(word)'), ('callees.definer(word)'), ('callees.defaults(word)'), ('callees.internal(x)'), ('callees_stranger.word(word)'),
	('dp_predict(NULL::dp_model, ARRAY[x])'), ('CASE WHEN y THEN coalesce(callees.sql(word), word) ELSE word END'), ('ARRAY[x, length(callees.sql(word))]'), ('v[length(callees.sql(word))]'), ('callees.sql(word) IS NULL'),
	-- operators and casts
	($$word OPERATOR(callees.!==) 'a'$$), ($$NOT (word OPERATOR(callees.===) 'a')$$), ($$word OPERATOR(callees.===) ANY (ARRAY['a', 'b'])$$), ('kind::float8'), ('kind::text'), ($$'a' || kind = 'ar'$$), ('kinds::text[]'),
	($$greatest(version, '(1,0)')$$), ($$version OPERATOR(callees.=#) '(1,0)'$$), ($$ARRAY[version] = ARRAY['(1,0)'::callees.version]$$), ('nullif(version, version)'), ($$version IN ('(1,0)', '(2,0)')$$), ($$version IS DISTINCT FROM '(1,0)'$$),
	-- types
	('x::callees.fitting'), ('v::callees.fitting[]'), ('x::callees.share'), ('word::callees_stranger.kind'), ($$'a0'::callees_stranger.kind = 'a1'$$), ('version IS NULL'), ('(version).major'), ('ROW(x, y) IS NULL'), ('ROW(x, y) < ROW(1, true)'),
	($$callees.span(word, 'b') @> 'a1'::text$$), ('int4range(person, 9) @> 3'), ('p IS NULL'), ('p'), ('to_jsonb(p)'), ('word COLLATE callees.bytes'), ('word::xml IS NULL'), ('xml_is_well_formed_document(word)'),
	-- enums beyond equality, which look into the catalog
	($$kind > 'r'$$), ('greatest(kind, kind)'), ('enum_first(kind)'), ('array_append(kinds, kind)'), ('kinds = kinds'), ('hashenum(kind)'),
	-- what depends on the time, on settings, the server, the session or the catalog
	('now()'), ('current_date'), ('current_user'), ('random()'), ('seen::date'), ($$extract(year FROM seen)$$), ($$seen + interval '1 day'$$), ($$date_trunc('day', seen)$$), ($$to_char(x, '0.0')$$), ('concat(word, x)'), ($$format('%s', x)$$),
	('x || word'), ('word::date'), ('birth::text'), ('word::timestamptz'), ('array_to_string(v, chr(44))'), ('v::text'), ('n::money::text'), ($$set_config('callees.c', word, false)$$), ($$current_setting('callees.c', true)$$),
	('pg_backend_pid()'), ('pg_column_size(word)'), ('pg_typeof(word)'), ('num_nulls(x, y)'), ($$pg_relation_size('callees.people')$$), ('version()'),
	-- names of objects
	('to_regclass(word)'), ('word::regclass'), ('word::regtype::text'), ('person::oid'), ('person::oid::regproc::text'), ('ARRAY[word]::regclass[]'), ($$'callees.people'::regclass$$), ($$hashoid(1::oid)$$),
	($$has_table_privilege(word, 'select')$$), ($$to_tsvector('english', word)$$), ('to_tsvector(word)'), ($$ts_lexize('simple', word)$$), ('word::aclitem'), ($$query_to_xml(word, true, true, '')$$),
	-- where a row lies
	('ctid'), ('(ctid::text::point)[0]'), ('tableoid'), ('xmin'),
	-- more than one row
	('generate_series(1, 2)'), ('unnest(v)'), ('(SELECT 1)'), ('EXISTS (SELECT FROM callees.cases)'), ('x IN (SELECT 1)'), ('ARRAY(SELECT 1)'), ('count(*) OVER ()'), ('row_number() OVER (ORDER BY x)'),
	('make_interval(days => 3)'), ($$(birth::timestamp, interval '1 day') OVERLAPS (birth::timestamp, interval '1 day')$$);
\set ECHO all
SELECT expression, outcome FROM callees.cases, callees.show(expression) ORDER BY id;
SELECT DISTINCT hint COLLATE "C" AS hint FROM callees.cases, callees.show(expression) ORDER BY 1;
-- Functions of PostgreSQL that are written in SQL: those that the planner always
-- puts in the place of the call
SELECT string_agg(p.oid::regprocedure::text, ' ' ORDER BY p.oid::int) FROM pg_proc p,
	LATERAL (SELECT format('%I(%s)', p.proname, string_agg('NULL::' || t::regtype, ', ' ORDER BY i)) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a(t, i)) c(call), callees.show(c.call)
	WHERE p.prolang = 14 AND p.provolatile = 'i' AND p.pronamespace = 'pg_catalog'::regnamespace AND p.oid < 12000 AND p.proname <> 'polygon' AND outcome = 'protected';
-- in WHERE, too
SELECT outcome FROM callees.define($$SELECT person, x, y FROM callees.people WHERE callees.sql(word) = 'a'$$);
-- An operator of PostgreSQL that has no negator may be given one, and the planner
-- uses it
SELECT outcome FROM callees.show($$NOT ('((0,0),(1,1),(1,0))'::polygon @> place)$$);
RESET ROLE;
CREATE OPERATOR callees_stranger.!@> (FUNCTION = callees_stranger.is_not, LEFTARG = polygon, RIGHTARG = point, NEGATOR = OPERATOR(pg_catalog.@>));
SET ROLE callees_owner;
SELECT outcome FROM callees.show($$NOT ('((0,0),(1,1),(1,0))'::polygon @> place)$$);
RESET ROLE;
DROP OPERATOR callees_stranger.!@> (polygon, point);
SET ROLE callees_owner;

-- Other forms of a view
\set ECHO none
CREATE VIEW callees.lower_view AS SELECT person, x, y FROM callees.people;
CREATE TABLE callees.forms (id int GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO callees.forms (query) VALUES
	('SELECT p.person, p.x, p.y FROM callees.people p JOIN callees.cases ON id = person'), ('SELECT p.person, p.x, p.y FROM callees.people p, callees.cases'), ('SELECT person, x, y FROM callees.lower_view'),
	('SELECT person, x, y FROM (SELECT * FROM callees.people) p'), ('WITH p AS (SELECT * FROM callees.people) SELECT person, x, y FROM p'), ('SELECT DISTINCT person, x, y FROM callees.people'), ('SELECT DISTINCT ON (person) person, x, y FROM callees.people'),
	('SELECT person, max(x) AS x, bool_or(y) AS y FROM callees.people GROUP BY person'), ('SELECT max(person) AS person, max(x) AS x, bool_or(y) AS y FROM callees.people'), ('SELECT 1 AS person, 0.5 AS x, true AS y FROM callees.people HAVING true'),
	('SELECT person, x, y FROM callees.people GROUP BY GROUPING SETS ((person, x, y))'), ('SELECT person, x, y FROM callees.people ORDER BY x'), ('SELECT person, x, y FROM callees.people LIMIT 5'), ('SELECT person, x, y FROM callees.people OFFSET 5'),
	('SELECT person, x, y FROM callees.people FETCH FIRST 5 ROWS ONLY'), ('SELECT person, x, y FROM callees.people FOR UPDATE'), ('SELECT person, x, y FROM callees.people UNION ALL SELECT person, x, y FROM callees.people'),
	('SELECT person, x, y FROM callees.people TABLESAMPLE SYSTEM (50)'), ('SELECT person, x, y FROM ONLY callees.people'), ('SELECT 1 AS person, 0.5 AS x, true AS y'), ('SELECT person, x, y FROM (VALUES (1, 0.5::float8, true)) v (person, x, y)'), ('SELECT g AS person, 0.5 AS x, true AS y FROM generate_series(1, 2) g'),
	('SELECT person, x, y FROM callees.people, LATERAL unnest(v) u'), ('SELECT person, x, y FROM callees.people WHERE person = (SELECT 7)'), ('SELECT person, x, y FROM callees.people WINDOW w AS (ORDER BY x)');
\set ECHO all
SELECT query, outcome FROM callees.forms, callees.define(query) ORDER BY id;
SELECT outcome, hint FROM callees.protect('CREATE VIEW callees.t WITH (security_invoker) AS SELECT person, x, y FROM callees.people', 't');
SELECT DISTINCT hint COLLATE "C" AS hint FROM callees.forms, callees.define(query) ORDER BY 1;

-- A table, if planning or reading it would run code that is not PostgreSQL's own
\set ECHO none
CREATE TABLE callees.tables (id int GENERATED ALWAYS AS IDENTITY, extra text, definition text);
INSERT INTO callees.tables (extra, definition) VALUES
	('', 'CREATE INDEX ON callees.t (callees.parsed(word))'), ('', $$CREATE INDEX ON callees.t (x) WHERE callees.sql('a') = word$$), ('', $$CREATE INDEX ON callees.t (x) WHERE word OPERATOR(callees.===) 'a'$$),
	('', 'CREATE STATISTICS callees.s ON (callees.parsed(word)), y FROM callees.t'), ('PARTITION BY RANGE (callees.parsed(word))', ''), ('', 'CREATE TABLE callees.child () INHERITS (callees.t); CREATE INDEX ON callees.child (callees.parsed(word))'),
	('PARTITION BY RANGE (x)', 'CREATE TABLE callees.part PARTITION OF callees.t DEFAULT PARTITION BY RANGE (callees.parsed(word))'),
	-- a cast to a domain runs its constraints
	('', 'CREATE INDEX ON callees.t ((x::callees.fitting))'),
	-- neither operator classes matter, nor what is computed when a row is written
	('', $$CREATE INDEX ON callees.t (word text_pattern_ops); CREATE INDEX ON callees.t USING gin (to_tsvector('simple', word)); CREATE INDEX ON callees.t (lower(word)) WHERE x > 0.5$$),
	('', 'ALTER TABLE callees.t ADD CHECK (callees.sql(word) IS NOT NULL), ADD z text GENERATED ALWAYS AS (callees.parsed(word)) STORED, ALTER word SET DEFAULT callees.parsed(NULL)');
\set ECHO all
SELECT extra, definition, outcome FROM callees.tables, callees.protect(format('CREATE TABLE callees.t (person int, word text, x float8, y boolean) %s; %s', extra, definition), 't') ORDER BY id;
SELECT DISTINCT hint COLLATE "C" AS hint FROM callees.tables, callees.protect(format('CREATE TABLE callees.t (person int, word text, x float8, y boolean) %s; %s', extra, definition), 't') WHERE hint IS NOT NULL ORDER BY 1;
-- also in a generated column that is computed when it is read, which PostgreSQL
-- 18 has
\set ECHO none
DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 180000
		AND ((SELECT outcome FROM callees.protect('CREATE TABLE callees.t (person int, word text, x float8, z tsvector GENERATED ALWAYS AS (to_tsvector(''simple'', word)) VIRTUAL)', 't')) = 'protected'
			OR (SELECT outcome FROM callees.protect('CREATE TABLE callees.t (person int, word text, x float8, z text GENERATED ALWAYS AS (upper(word)) VIRTUAL)', 't')) <> 'protected')
	THEN
		RAISE 'it is not';
	END IF;
END $$;
\set ECHO all

-- What a view may have
CREATE TABLE callees.allowed (id int GENERATED ALWAYS AS IDENTITY, expression text);
INSERT INTO callees.allowed (expression) VALUES ('y'), ('x > 0.5'), ('y AND x < 1 OR NOT y'), ('x IS NULL'), ('place IS NOT NULL'), ('version IS DISTINCT FROM NULL'), ('y IS TRUE'), ('y IS NOT UNKNOWN'), ('x IS DISTINCT FROM 0.5'), ('CASE kind WHEN ''r'' THEN x > 0.5 ELSE y END'), ('CASE WHEN x > 0.5 THEN y END IS NULL'),
	('coalesce(x, 0) > 0'), ('nullif(x, 0.5) IS NULL'), ('greatest(x, n) > 0.5'), ('least(word, ''a1'') = ''a1'''), ('word IN (''a1'', ''a2'')'), ('x <> ALL (v)'), ('kind = ''r'''), ('kind IN (''r'', ''s'')'), ('kind = ANY (kinds)'), ('kinds[1] <> kind'),
	('coalesce(kind, ''s'') IS DISTINCT FROM ''s'''), ('(ARRAY[x, 0.5])[1] > 0.5'), ('v[1:2] = ARRAY[0.1, 0.2]::float8[]'), ('j[''a''] IS NOT NULL'), ('j -> ''a'' ->> 0 = ''1'''), ('j @? ''$.a[*] ? (@ > 1)'''), ('word COLLATE "C" > ''a1'''), ('word::varchar(2) = ''a1'''),
	('x::text::float8 = x'), ('person::text LIKE ''1%'''), ('v::text[]::int[] IS NULL AND y'), ('v::numeric[] IS NULL'), ('share * 2 > 0.5'), ('n::numeric(9, 2) > round(n)'), ('(seen AT TIME ZONE ''UTC'')::date > birth'), ('extract(year FROM birth) > 1990'),
	('age(seen AT TIME ZONE ''UTC'', birth) > interval ''1 year'''), ('lpad(word, 3) ~ ''a.'''), ('regexp_replace(lower(word), ''[0-9]+'', '''') = ''a'''), ('md5(word) > ''a'''), ('place <@ box ''((0,0),(50,50))'''), ('place[0] > 5'), ('width_bucket(x, ARRAY[0.1, 0.5]::float8[]) = 1'),
	('date_part(''day'', birth) = 1'), ('word || ''b'' = ''a1b'''), ('array_position(v, 0.2::float8) = 2'), ('1 / person > 0');
SELECT count(*) FILTER (WHERE outcome <> 'protected') AS refused, string_agg(expression, E'\n' ORDER BY id) FILTER (WHERE outcome <> 'protected') AS expressions FROM callees.allowed, callees.show(expression);
-- in one view, and a training by somebody else
SELECT format('CREATE VIEW callees.all_of_them AS SELECT person, kind, share, v, place, y, %s FROM callees.people WHERE x >= 0 AND (%s OR true)', string_agg(format('(%s) AS x%s', expression, id), ', ' ORDER BY id), string_agg(expression, ' OR ' ORDER BY id)) FROM callees.allowed
\set ECHO none
\gexec
\set ECHO all
SET client_min_messages = warning;
SELECT dp_protect('callees.all_of_them', 'callees', unit => 'person');
GRANT SELECT ON callees.allowed TO callees_analyst;
SET ROLE callees_analyst;
SELECT model::jsonb ->> 'persons' AS persons FROM dp_logreg_train('callees.all_of_them', 'y', (SELECT array_agg('x' || id) FROM callees.allowed), 5) AS model;
RESET client_min_messages;
-- A definition that changes later is found by the call
SET ROLE callees_owner;
CREATE VIEW callees.later AS SELECT person, x, y FROM callees.people;
SELECT dp_protect('callees.later', 'callees', unit => 'person');
CREATE OR REPLACE VIEW callees.later AS SELECT person, x, pg_column_size(word) > 3 AS y FROM callees.people;
SET ROLE callees_analyst;
\set VERBOSITY sqlstate
SELECT dp_logreg_train('callees.later', 'y', 'x', 1);
\set VERBOSITY default

-- In an open view, an argument that is left out may be different in each row: rows
-- are read once
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
SELECT dp_budget_drop('callees');
DROP ROLE callees_owner, callees_analyst, callees_stranger;
