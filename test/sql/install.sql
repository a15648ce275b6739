--
-- Installing: into any schema, and schema dperm; dropped without a trace; every
-- object has a comment; the marks that let the planner use the functions
--
\pset format unaligned
\pset footer off

-- Of the database: a process that reads protected rows does not have the session's
ALTER DATABASE :"DBNAME" SET datestyle = 'ISO, MDY';

-- Into a schema of its own, which is not on the search_path
CREATE SCHEMA private_learning;
CREATE EXTENSION dperm SCHEMA private_learning;
CREATE DOMAIN vec2 AS float8[] CHECK (cardinality(VALUE) = 2);
CREATE TABLE rows_to_learn AS
  SELECT i % 3 = 0 AS y, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS t, ARRAY[sin(i), cos(i)]::vec2 AS x FROM generate_series(1, 50) i;
SELECT private_learning.dp_weights(private_learning.dp_logreg_train('rows_to_learn', 'y', 'x', 'Infinity')) IS NOT NULL AS trained,
       private_learning.dp_logreg_train('public.rows_to_learn', 't', 'x', 1, positive => 'a') IS NOT NULL AS with_label,
       private_learning.dp_svm_train('rows_to_learn', 'y', ARRAY['x'], 1) IS NOT NULL AS svm;
SELECT private_learning.dp_logreg(y, x, 1) IS NOT NULL AS aggregate FROM rows_to_learn;

-- It stays there, and so does all that is in schema dperm
CREATE TABLE models AS SELECT private_learning.dp_logreg_train('rows_to_learn', 'y', 'x', 'Infinity', lambda => 0.1) AS model;
ALTER EXTENSION dperm SET SCHEMA public;
-- with nothing at all on the search_path
SET search_path = '';
SELECT private_learning.dp_logreg_train('public.rows_to_learn', 't', 'x', 1, positive => 'a') IS NOT NULL AS trained;
RESET search_path;

CREATE TABLE names AS SELECT DISTINCT proname FROM pg_proc WHERE proname ~ '^dp(erm)?_' AND prokind = 'f';

-- Dropped: not while it is in use
\set VERBOSITY terse
DROP EXTENSION dperm;
\set VERBOSITY default
DROP TABLE models;
DROP EXTENSION dperm;
SELECT count(*) AS left_behind FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname IN ('private_learning', 'dperm');
SELECT count(*) AS left_behind FROM pg_proc WHERE proname ~ '^dp(erm)?_';
SELECT to_regnamespace('dperm') AS left_behind;
DROP SCHEMA private_learning;
DROP TABLE rows_to_learn;
DROP DOMAIN vec2;

-- Beside functions of the same names, which somebody created before: they stay
-- as they are
CREATE SCHEMA crowded;
DO $$
DECLARE
  name text;
BEGIN
  FOR name IN SELECT proname FROM names LOOP
    EXECUTE format('CREATE FUNCTION crowded.%I(int) RETURNS int LANGUAGE sql AS ''SELECT 1''', name);
  END LOOP;
END $$;
CREATE EXTENSION dperm SCHEMA crowded;
SELECT count(*) > 50 AS many, count(*) FILTER (WHERE proacl IS NOT NULL OR obj_description(p.oid, 'pg_proc') IS NOT NULL
    OR EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND deptype = 'e')) AS touched
  FROM pg_proc p WHERE pronamespace = 'crowded'::regnamespace AND prosrc = 'SELECT 1';
DROP EXTENSION dperm;
SET client_min_messages = warning;
DROP SCHEMA crowded CASCADE;
RESET client_min_messages;
DROP TABLE names;

-- With a name that needs quotes
CREATE SCHEMA "Sché ma";
CREATE EXTENSION dperm SCHEMA "Sché ma";
SELECT "Sché ma".dp_logreg(i % 3 = 0, ARRAY[sin(i), cos(i)], 1) IS NOT NULL AS trained FROM generate_series(1, 50) i;
DROP EXTENSION dperm;
DROP SCHEMA "Sché ma";

-- Not into a schema dperm of somebody else
CREATE SCHEMA dperm;
\set SHOW_CONTEXT never
CREATE EXTENSION dperm;
CREATE EXTENSION dperm SCHEMA dperm;
\set SHOW_CONTEXT errors
DROP SCHEMA dperm;

-- As most people do it, whatever default privileges there are; the other tests
-- need it
CREATE ROLE dperm_install_guest;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO dperm_install_guest, PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO dperm_install_guest, PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO dperm_install_guest;
CREATE EXTENSION dperm;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM dperm_install_guest, PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SCHEMAS FROM dperm_install_guest, PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM dperm_install_guest;
SHOW search_path;
SELECT privilege_type, string_agg(DISTINCT grantee::regrole::text, ' ') AS held_by_others FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'dperm' AND grantee <> nspowner GROUP BY 1;
SELECT relname, privilege_type, grantee::regrole AS held_by_others FROM pg_class, aclexplode(relacl) WHERE relnamespace = 'dperm'::regnamespace AND grantee <> relowner ORDER BY 1, 2;
SELECT DISTINCT grantee::regrole AS called_by_others FROM pg_proc, aclexplode(proacl) WHERE pronamespace = 'dperm'::regnamespace AND grantee <> proowner;
DROP OWNED BY dperm_install_guest;
DROP ROLE dperm_install_guest;

-- What is in the chosen schema is for users
SELECT relname, relkind FROM pg_class WHERE pg_table_is_visible(oid) AND relnamespace::regnamespace::text !~ '^pg_' ORDER BY 1;
SELECT p.oid::regprocedure AS internal FROM pg_depend d JOIN pg_proc p ON p.oid = objid WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dperm') AND classid = 'pg_proc'::regclass AND deptype = 'e'
  AND pronamespace <> 'dperm'::regnamespace AND proname !~ '^dp_';
-- those in schema dperm of the same name as one of users are what it calls
SELECT p.oid::regprocedure AS misplaced FROM pg_proc p WHERE pronamespace = 'dperm'::regnamespace AND proname ~ '^dp_'
  AND NOT EXISTS (SELECT FROM pg_proc u WHERE u.proname = p.proname AND u.pronamespace <> p.pronamespace AND u.prosrc = 'dperm_administer' AND p.proargtypes::oid[] = 'oid'::regtype::oid || u.proargtypes::oid[]);

-- The rest
SELECT extname, extversion, extrelocatable, nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'dperm';

-- Every object, and how each function may be used; none is without a comment.
-- Since PostgreSQL 17 the row types of tables and views are members, too
CREATE VIEW members AS
  SELECT classid, objid, pg_describe_object(classid, objid, 0) COLLATE "C" AS object FROM pg_depend d
  WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dperm') AND deptype = 'e'
  AND pg_describe_object(classid, objid, 0) !~ '\[\]$'
  AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = objid AND classid = 'pg_type'::regclass AND typrelid <> 0);
SELECT prokind AS kind, provolatile AS volatility, proparallel AS parallel, proisstrict AS strict, prosecdef AS definer,
       has_function_privilege('public', p.oid, 'EXECUTE') AS public, object
  FROM members LEFT JOIN pg_proc p ON p.oid = objid AND classid = 'pg_proc'::regclass ORDER BY object;
SELECT object AS without_comment FROM members WHERE NOT EXISTS (
  SELECT FROM pg_description c WHERE c.classoid = classid AND c.objoid = objid AND c.objsubid = 0 AND c.description <> '');
DROP VIEW members;
SELECT obj_description(oid, 'pg_extension') IS NOT NULL AS extension_has_one FROM pg_extension WHERE extname = 'dperm';

-- What the aggregates have
SELECT proname AS aggregate, pronargs AS args, aggcombinefn <> 0 AS combine, aggserialfn <> 0 AS serial, aggmtransfn <> 0 AS moving, aggfinalmodify AS modify
  FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid WHERE proname ~ '^dp(erm)?_' ORDER BY proname COLLATE "C", pronargs, p.oid;
SELECT typname, typlen, typalign, typstorage, typtype, typcategory FROM pg_type WHERE typname IN ('dp_model') ORDER BY 1;

-- What users call, and nothing else, begins with dp_
SELECT string_agg(DISTINCT proname, ' ' ORDER BY proname) AS functions FROM pg_proc WHERE proname ~ '^dp_';
SELECT string_agg(typname, ' ' ORDER BY typname) AS types FROM pg_type WHERE typname ~ '^dp_' AND typrelid = 0;

-- One library
SELECT DISTINCT probin AS library FROM pg_proc WHERE probin ~ 'dperm';

-- The settings
SELECT name, setting, unit, context, vartype, min_val, boot_val FROM pg_settings WHERE name ~ '^dperm\.' ORDER BY name COLLATE "C";
SET dperm.cache_memory = 0;
SHOW dperm.cache_memory;
SET dperm.cache_memory = '2GB';
SHOW dperm.cache_memory;
\set VERBOSITY sqlstate
SET dperm.cache_memory = -1;
\set VERBOSITY default
RESET dperm.cache_memory;

-- A missing library stops no command but those of dperm, also of the owner of a
-- protected table, and not its own removal
DROP EXTENSION IF EXISTS dperm CASCADE;
CREATE EXTENSION dperm;
SELECT evtname, evtenabled FROM pg_event_trigger WHERE evtname ~ '^dperm_' ORDER BY 1;
BEGIN;
CREATE TABLE guarded (a int, b int);
SELECT dp_budget_create('b', 1);
SELECT dp_protect('guarded', 'b', domains => '{"a": [0, 1], "b": [0, 1]}');
UPDATE pg_proc SET probin = '$libdir/dperm_that_is_gone' WHERE probin ~ 'dperm$';
SAVEPOINT s;
\set VERBOSITY sqlstate
SELECT dp_budget_create('c', 1);
\set VERBOSITY default
ROLLBACK TO s;
CREATE TABLE bystander (a int);
ALTER TABLE bystander ADD b int;
ALTER TABLE bystander RENAME TO still;
CREATE VIEW over AS SELECT a FROM still;
DROP TABLE still CASCADE;
ALTER TABLE guarded RENAME TO kept;
ALTER TABLE kept RENAME a TO c;
ALTER TABLE kept DROP b;
SELECT p.name, k.name AS "column" FROM dperm.protected p JOIN dperm.protected_columns k ON k.protected = p.id;
DROP TABLE kept;
SELECT name, relation, ended IS NOT NULL AS ended FROM dperm.protected;
-- the first budget has made it certain that nobody removes the ledger by mistake
SAVEPOINT s;
DROP EXTENSION dperm;
ROLLBACK TO s;
DROP VIEW dperm.ledger_is_kept;
DROP EXTENSION dperm;
SELECT to_regnamespace('dperm') AS left_behind;
ROLLBACK;

-- For the other tests, whose owners of data have no superuser beside them
GRANT EXECUTE ON FUNCTION dp_budget_create TO PUBLIC;
\set ECHO none
-- What the slack of objective perturbation leaves of epsilon for the noise, as the guarantee document has it: the least over all
-- slopes, for a row; flat is n Lambda, c the bound on the curvature
CREATE FUNCTION left_for_noise(epsilon float8, flat float8, c float8, loss text, apart int DEFAULT 2) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  ends float8[] := '{0,1}';
  inner_points float8[];
  found float8[];
  q float8;
BEGIN
  IF loss = 'huber' OR ln(1 + c / flat) >= epsilon THEN
    RETURN epsilon - ln(1 + c / flat);
  END IF;
  FOR i IN 1..50 LOOP
    FOR k IN 1..2 LOOP
      inner_points[k] := ends[3 - k] + (2 * k - 3) * 0.6180339887498949 * (ends[2] - ends[1]);
      q := 2 * inner_points[k] - 1;
      found[k] := apart * (epsilon - ln(1 + c * (1 - q * q) / flat)) /
        (apart - 1 + CASE loss WHEN 'logistic' THEN inner_points[k] ELSE 0.5 + (3 * q - q ^ 3) / 4 END);
    END LOOP;
    ends := CASE WHEN found[1] < found[2] THEN ARRAY[ends[1], inner_points[2]] ELSE ARRAY[inner_points[1], ends[2]] END;
  END LOOP;
  RETURN least(found[1], epsilon);
END $$;
-- What a query returns or raises
CREATE FUNCTION outcome(query text, OUT result text, OUT hint text) LANGUAGE plpgsql AS $$
DECLARE
  state text;
  detail text;
BEGIN
  EXECUTE query INTO result;
  result := coalesce(result, 'NULL');
EXCEPTION WHEN undefined_function THEN
  result := SQLSTATE || ': ' || SQLERRM; -- detail and hint are PostgreSQL's, and of its version
WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, result = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    hint = PG_EXCEPTION_HINT;
  result := state || ': ' || result || CASE WHEN detail <> '' THEN ' (' || detail || ')' ELSE '' END;
END $$;
-- What calls return or raise that differ in what takes the place of the ?.
-- Cases are separated by | or are lines of their own. Those with the same
-- outcome are listed together; a hint is that of all errors since the last one
CREATE FUNCTION outcomes(call text, cases text, shown text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
  SELECT btrim(coalesce(shown, call)) || string_agg(group_of || CASE hint WHEN '' THEN E'\n    no hint'
      ELSE coalesce(E'\n    hint: ' || hint, '') END, '' ORDER BY first)
  FROM (SELECT hint, min(first) AS first, string_agg(E'\n  ' || CASE WHEN length(list) < 110 THEN list
            ELSE regexp_replace(list, '(.{1,110}) \| ', E'\\1 |\n  ', 'g') END || ' -> ' || result,
          '' ORDER BY first) AS group_of
        FROM (SELECT string_agg(c, ' | ' ORDER BY n) AS list, min(n) AS first, result, hint
              FROM regexp_split_to_table(btrim(cases, E' \n'), '\s+\|\s+|\s*\n\s*')
                     WITH ORDINALITY AS s (c, n),
                   LATERAL outcome('SELECT ' || replace(call, '?', c))
              GROUP BY result, hint) AS s
        GROUP BY hint) AS s
$$;
