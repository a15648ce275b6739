--
-- dp_protect, called again: what is omitted stays as it is registered
--
\pset format unaligned
\pset footer off
\set ECHO none
CREATE ROLE dperm_keeper;
CREATE ROLE dperm_heir;
CREATE SCHEMA again AUTHORIZATION dperm_keeper;
GRANT USAGE, CREATE ON SCHEMA again TO PUBLIC;
SET ROLE dperm_keeper;
SET search_path = again, public;
CREATE TABLE visits (person_id int, clinic_id int, age int CHECK (age BETWEEN 0 AND 120), bmi float8, ward text, ill boolean);
INSERT INTO visits SELECT i % 500, i % 7, i % 100, 15 + i % 25, 'a', i % 100 > 60 FROM generate_series(1, 1000) i;
CREATE VIEW registered AS SELECT unit, columns, domains FROM dp_protected WHERE relation = 'again.visits';
\set ECHO all
SELECT dp_budget_create('again', epsilon => 4);
SELECT dp_protect('visits', 'again', unit => 'person_id', columns => '{age,bmi,ward,ill}', domains => '{"bmi": [10, 60], "ward": ["a", "b"]}');

-- The owner corrects a domain: neither the unit nor closed columns nor other domains are lost
SELECT dp_protect('visits', 'again', domains => '{"bmi": [10, 70]}');
TABLE registered;
SELECT details FROM dp_ledger WHERE budget = 'again' ORDER BY entry DESC LIMIT 1;
-- so it is with all other arguments
CREATE FUNCTION tried(arguments text) RETURNS SETOF registered LANGUAGE plpgsql AS $$
DECLARE result registered;
BEGIN
	EXECUTE format('SELECT dp_protect(''visits'', ''again''%s)', arguments);
	SELECT * INTO result FROM registered;
	RAISE EXCEPTION USING errcode = 'P0099';
EXCEPTION WHEN SQLSTATE 'P0099' THEN
	RETURN NEXT result;
END $$;
SELECT u <> '' AS new_unit, c <> '' AS new_columns, d <> '' AS new_domains,
       unit = CASE WHEN u = '' THEN 'person_id' ELSE 'clinic_id' END AS unit, columns = CASE WHEN c = '' THEN '{age,bmi,ward,ill}'::name[] ELSE '{age,bmi,ill}' END AS columns, domains
FROM unnest(ARRAY['', $$, unit => 'clinic_id'$$]) u, unnest(ARRAY['', $$, columns => '{ill,bmi,age}'$$]) c, unnest(ARRAY['', $$, domains => '{"bmi": [10, 50]}'$$]) d, tried(u || c || d) ORDER BY 1, 2, 3;
-- domains are corrected one by one: null removes one, also of a column that is not listed any more
SELECT d, domains FROM unnest(ARRAY['{}', '{"age": [0, 90]}', '{"bmi": null}', '{"bmi": null, "age": {"range": [0, 120], "knots": 3}}', '{"ward": null, "bmi": null}', '{"age": null}', '{"clinic_id": null}']) d, tried(format(', domains => %L', d)) ORDER BY d;
-- and says so if the domain of the catalog is wider
BEGIN;
SELECT dp_protect('visits', 'again', domains => '{"age": [0, 90], "ward": null}');
SELECT dp_protect('visits', 'again', domains => '{"age": null, "bmi": null}');
ROLLBACK;
SELECT domains FROM tried($$, columns => '{bmi,ill}', domains => '{"ward": null, "bmi": [10, 50]}'$$);
SELECT outcomes($f$ tried($$, domains => ?$$) $f$, $$ '{"none": null}' | '{"bmi": {"range": null}}' | 'null' $$);
TABLE registered;
-- domains that are given must be of listed columns, listed now or before; no
-- columns at all are a mistake
SELECT dp_protect('visits', 'again', domains => '{"clinic_id": [0, 7]}');
SELECT dp_protect('visits', 'again', columns => '{}');
-- after dp_unprotect nothing stays
BEGIN;
SELECT dp_unprotect('visits');
SELECT dp_protect('visits', 'again');
TABLE registered;
ROLLBACK;

-- Columns that have got another name, or are gone
BEGIN;
ALTER TABLE visits RENAME person_id TO patient;
ALTER TABLE visits RENAME bmi TO mass;
ALTER TABLE visits DROP ward;
SELECT dp_protect('visits', 'again');
TABLE registered;
-- if none is left of those that are open, none is open
ALTER TABLE visits DROP age, DROP mass, DROP ill;
SELECT dp_protect('visits', 'again');
TABLE registered;
-- a unit that is gone has to be replaced
ALTER TABLE visits DROP patient;
SAVEPOINT s;
SELECT dp_protect('visits', 'again');
ROLLBACK TO s;
SELECT dp_protect('visits', 'again', unit => 'clinic_id');
TABLE registered;
ROLLBACK;
-- a domain that a column can no longer have has to be specified
BEGIN;
ALTER TABLE visits ALTER ward TYPE int USING 1;
SAVEPOINT s;
SELECT dp_protect('visits', 'again');
ROLLBACK TO s;
SELECT dp_protect('visits', 'again', domains => '{"bmi": [10, 60]}');
ROLLBACK TO s;
SELECT dp_protect('visits', 'again', domains => '{"ward": [0, 1]}');
TABLE registered;
SELECT dp_protect('visits', 'again', domains => '{"ward": null}');
TABLE registered;
ROLLBACK;

-- A new owner takes over the unit, the columns and the domains
RESET ROLE;
BEGIN;
ALTER TABLE visits OWNER TO dperm_heir;
SET LOCAL ROLE dperm_heir;
SELECT dp_budget_create('heir', epsilon => 1), dp_protect('visits', 'heir');
SELECT relation, budget, unit, columns, domains FROM dp_protected;
ROLLBACK;
SET ROLE dperm_keeper;

-- After a charge the unit stays, and who forgets it is told
SELECT dp_budget_charge('again', 0.5);
SELECT dp_protect('visits', 'again', columns => '{age,ill}');
TABLE registered;
SELECT dp_protect('visits', 'again', unit => 'clinic_id');
SELECT dp_unprotect('visits');
SELECT dp_protect('visits', 'again');
SELECT dp_protect('visits', 'again', unit => 'clinic_id');
SELECT dp_budget_create('rows', epsilon => 1);
CREATE TABLE plain (x int CHECK (x BETWEEN 0 AND 1), y boolean);
SELECT dp_protect('plain', 'rows');
SELECT dp_protect('visits', 'rows', unit => 'person_id', columns => '{age}');
SELECT dp_budget_charge('rows', 0.5);
SELECT dp_protect('visits', 'rows', unit => 'person_id', columns => '{age}');


-- What is kept of a table whose protection has ended, and how it ended
RESET ROLE;
CREATE VIEW ended AS SELECT p.name, to_regclass(format('%I.%I', p.schema, p.name)) = p.relation AS there, p.unit, p.ended <= clock_timestamp() AS ended, p.ended_by, b.budget
  FROM dperm.protected p JOIN dperm.budgets b ON b.id = p.budget_id WHERE p.ended IS NOT NULL AND b.budget = ANY ('{again,rows,first,other}');
SELECT * FROM ended;
SET ROLE dperm_keeper;

-- Views follow their table: to another unit, to another budget, and out of it
SELECT dp_budget_create('first', epsilon => 10), dp_budget_create('other', epsilon => 10);
SELECT dp_protect('visits', 'first', columns => '{age,ill}');
CREATE VIEW old AS SELECT age, ill FROM visits WHERE age > 64;
CREATE VIEW young AS SELECT age * 2 AS twice, ill FROM visits WHERE age < 18;
SELECT dp_protect('old'), dp_protect('young', domains => '{"twice": [0, 36]}');
SELECT dp_protect('visits', unit => 'person_id');
SELECT relation, budget, unit, columns, domains FROM dp_protected WHERE budget = 'first' ORDER BY relation::text;
SELECT dp_protect('visits', 'other');
SELECT relation, budget, unit, columns, domains FROM dp_protected WHERE budget = 'other' ORDER BY relation::text;
SELECT dp_logreg_train('young', 'ill', 'twice', 1)::jsonb ->> 'persons' AS persons;
SELECT budget, act, relation, details FROM dp_ledger WHERE budget = ANY ('{first,other}') AND act <> 'create' ORDER BY budget, entry;
-- what is omitted stays, also that of a view
SELECT dp_protect('young');
SELECT dp_protect('young', domains => '{"twice": [0, 30]}');
SELECT relation, budget, unit, columns, domains FROM dp_protected WHERE relation = 'again.young';
SELECT dp_protect('young', domains => '{"twice": null, "ill": [false, true]}');
SELECT relation, budget, unit, columns, domains FROM dp_protected WHERE relation = 'again.young';
SELECT dp_unprotect('young');
SELECT dp_unprotect('young');
SELECT dp_protect('young');
SELECT dp_unprotect('visits');
SELECT relation FROM dp_protected WHERE budget = 'other';
SELECT dp_unprotect('old');
SELECT dp_protect('old');
SELECT act, relation, details FROM dp_ledger WHERE budget = 'other' ORDER BY entry DESC LIMIT 4;
-- a view that is not of the table any more does not follow it
SELECT dp_protect('visits', 'other', unit => 'person_id');
SELECT relation FROM dp_protected WHERE budget = 'other';
SELECT dp_unprotect('visits');

-- DROP ends a registration, and that of the views with it. A new table of the
-- name is not registered, and has no domains or columns of the old one; before
-- the first charge it can have another unit
SET client_min_messages = warning;
CREATE TABLE "Mixed ""name" (person int, nurse int, x int CHECK (x BETWEEN 0 AND 9), y boolean);
CREATE VIEW of_mixed AS SELECT x, y FROM "Mixed ""name";
SELECT dp_protect('"Mixed ""name"', 'first', unit => 'person', columns => '{x,y}'), dp_protect('of_mixed');
DROP TABLE "Mixed ""name" CASCADE;
SELECT count(*) FROM dp_protected WHERE budget = 'first';
CREATE TABLE "Mixed ""name" (person int, nurse int, x int CHECK (x BETWEEN 0 AND 9), y boolean);
CREATE VIEW of_mixed AS SELECT x, y FROM "Mixed ""name";
INSERT INTO "Mixed ""name" SELECT i % 50, i % 7, i % 10, i % 10 > 5 FROM generate_series(1, 400) i;
SELECT dp_logreg_train('"Mixed ""name"', 'y', 'nurse', 1, domains => '{"nurse": [0, 9]}')::jsonb ->> 'rows' AS open;
SELECT dp_protect('of_mixed');
SELECT dp_unprotect('"Mixed ""name"');
SELECT dp_protect('"Mixed ""name"', 'first', unit => 'nurse');
SELECT dp_logreg_train('"Mixed ""name"', 'y', 'x', 1)::jsonb ->> 'persons' AS persons;
-- after it, only with its own unit, or that of the last one of its name:
-- dp_unprotect, another budget or a DROP in between make no difference
SELECT dp_protect('"Mixed ""name"', 'first', unit => 'person');
SELECT dp_unprotect('"Mixed ""name"');
SELECT outcomes($$ dp_protect('"Mixed ""name"', ?) $$, $$ 'first', unit => 'person' | 'first' $$);
SELECT dp_protect('"Mixed ""name"', 'other', unit => 'person');
SELECT outcomes($$ dp_protect('"Mixed ""name"', ?) $$, $$ 'first', unit => 'person' | 'first', unit => 'nurse' $$);
DROP TABLE "Mixed ""name" CASCADE;
CREATE TABLE "Mixed ""name" (person int, nurse int, x int CHECK (x BETWEEN 0 AND 9), y boolean);
SELECT outcomes($$ dp_protect('"Mixed ""name"', ?) $$, $$ 'first', unit => 'person' | 'first' | 'other', unit => 'nurse' | 'first', unit => 'nurse' $$);
-- the unit is renamed before the drop, also while the table is not protected:
-- the budget keeps the new name
ALTER TABLE "Mixed ""name" RENAME nurse TO sister;
SELECT outcomes($$ dp_protect('"Mixed ""name"', 'first', ?) $$, $$ unit => 'sister' | unit => 'person' $$);
SELECT dp_unprotect('"Mixed ""name"');
ALTER TABLE "Mixed ""name" RENAME person TO nurse;
ALTER TABLE "Mixed ""name" RENAME sister TO person;
DROP TABLE "Mixed ""name";
CREATE TABLE "Mixed ""name" (person int, nurse int, x int CHECK (x BETWEEN 0 AND 9), y boolean);
SELECT outcomes($$ dp_protect('"Mixed ""name"', 'first', ?) $$, $$ unit => 'nurse' | unit => 'person' $$);
-- a table that gets the name has a unit of its own
CREATE TABLE another (nurse int, y boolean);
SELECT dp_protect('another', 'first', unit => 'nurse');
ALTER TABLE "Mixed ""name" RENAME TO aside;
ALTER TABLE another RENAME TO "Mixed ""name";
SELECT outcomes($$ dp_protect(?, 'first') $$, $$ '"Mixed ""name"' | 'aside' $$);
DROP TABLE aside;
-- a unit that is dropped cannot be replaced by another one
ALTER TABLE "Mixed ""name" DROP nurse, ADD person int;
SELECT outcomes($$ dp_protect('"Mixed ""name"', 'first', ?) $$, $$ columns => '{y}' | unit => 'person' $$);
-- nor by one that gets its name, however that happens
CREATE TYPE columns AS (person int, nurse int, y boolean);
CREATE TABLE typed OF columns;
SELECT dp_protect('typed', 'first', unit => 'person');
ALTER TYPE columns RENAME ATTRIBUTE person TO patient CASCADE;
ALTER TYPE columns RENAME ATTRIBUTE nurse TO person CASCADE;
SELECT unit FROM dp_protected WHERE relation = 'again.typed';
SELECT outcomes($$ dp_protect('typed', 'first', ?) $$, $$ unit => 'person' | unit => 'patient' $$);
DROP TYPE columns CASCADE;
-- rows are kept, too
SELECT dp_budget_charge('rows', 0.125);
DROP TABLE plain;
CREATE TABLE plain (x int CHECK (x BETWEEN 0 AND 1), y boolean);
SELECT dp_protect('plain', 'rows', unit => 'x');
SELECT dp_protect('plain', 'rows');
-- a DROP that is undone has ended nothing; one by somebody else is recorded
BEGIN;
DROP TABLE "Mixed ""name";
ROLLBACK;
SELECT count(*) FROM dp_protected WHERE budget = 'first';
RESET ROLE;
DROP TABLE "Mixed ""name";
SELECT * FROM ended ORDER BY name, budget, there, unit, ended_by;
-- what is dropped while event triggers are disabled is seen to be gone
CREATE TABLE unseen (x int CHECK (x BETWEEN 0 AND 1), y boolean);
SELECT dp_budget_create('unseen', 1), dp_protect('unseen', 'unseen');
ALTER EVENT TRIGGER dperm_after_drop DISABLE;
DROP TABLE unseen;
ALTER EVENT TRIGGER dperm_after_drop ENABLE ALWAYS;
SELECT relation, closed FROM dp_protected WHERE budget = 'unseen';
DROP TABLE plain;
SELECT dp_budget_drop('unseen');
-- what comes with the files of another database is bound by names, beside what
-- the budget keeps of an earlier table; of two for one table, one is bound
SET ROLE dperm_keeper;
CREATE TABLE copied (person int, x int CHECK (x BETWEEN 0 AND 9), y boolean);
SELECT dp_protect('copied', 'again', unit => 'person');
DROP TABLE copied;
CREATE TABLE copied (person int, x int CHECK (x BETWEEN 0 AND 9), y boolean);
SELECT dp_protect('copied', 'again', unit => 'person');
RESET ROLE;
UPDATE dperm.protected SET here = 'elsewhere' WHERE name = 'copied';
SELECT DISTINCT closed FROM dp_protected WHERE relation = 'again.copied';
ALTER TABLE copied ADD z int;
SELECT ended IS NOT NULL AS ended, count(*) FROM dperm.protected WHERE relation = 'copied'::regclass AND here = dperm.dperm_here() GROUP BY 1 ORDER BY 1;
SET ROLE dperm_keeper;
SELECT dp_protect('copied', columns => '{x,y}');
RESET ROLE;
INSERT INTO dperm.protected (schema, name, owner_name, budget_id, unit, all_columns) SELECT schema, name, owner_name, budget_id, unit, all_columns FROM dperm.protected WHERE name = 'copied' AND ended IS NULL;
UPDATE dperm.protected SET here = 'elsewhere' WHERE name = 'copied';
ALTER TABLE copied DROP z;
SELECT ended IS NOT NULL AS ended, count(*) FROM dperm.protected WHERE relation = 'copied'::regclass AND here = dperm.dperm_here() GROUP BY 1 ORDER BY 1;
-- a budget goes with all that it kept
SELECT dp_budget_drop('first');
SELECT count(*) FROM dperm.protected p JOIN dperm.budgets b ON b.id = p.budget_id WHERE b.budget = 'first';

RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA again CASCADE;
SELECT dp_budget_drop('again'), dp_budget_drop('rows'), dp_budget_drop('other');
SELECT count(*) AS kept FROM dperm.protected WHERE schema = 'again';
DROP ROLE dperm_keeper, dperm_heir;
