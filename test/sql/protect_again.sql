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
CREATE VIEW registered AS SELECT unit, columns, domains FROM dp_protected WHERE relation = 'again.visits'::regclass;
\set ECHO all
SELECT dp_budget_create('again', epsilon => 4);
SELECT dp_protect('visits', 'again', unit => 'person_id', columns => '{age,bmi,ward,ill}', domains => '{"bmi": [10, 60], "ward": ["a", "b"]}');

-- The owner corrects a domain: neither the unit nor closed columns are lost
SELECT dp_protect('visits', 'again', domains => '{"bmi": [10, 70], "ward": ["a", "b"]}');
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
-- an object without a domain is none
SELECT * FROM tried($$, domains => '{}'$$);
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
SELECT dp_protect('visits', 'again', domains => '{"ward": [0, 1]}');
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
CREATE VIEW old AS SELECT person_id AS who, clinic_id, age, ill FROM visits WHERE age > 64;
SELECT dp_protect('old', 'again', unit => 'clinic_id');
SELECT dp_protect('old', 'again', unit => 'who');
SELECT dp_budget_create('rows', epsilon => 1);
CREATE TABLE plain (x int CHECK (x BETWEEN 0 AND 1), y boolean);
SELECT dp_protect('plain', 'rows');
SELECT dp_protect('visits', 'rows', unit => 'person_id', columns => '{age}');
SELECT dp_budget_charge('rows', 0.5);
SELECT dp_protect('visits', 'rows', unit => 'person_id', columns => '{age}');

RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA again CASCADE;
SELECT dp_budget_drop('again'), dp_budget_drop('rows');
DROP ROLE dperm_keeper, dperm_heir;
