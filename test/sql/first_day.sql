--
-- The first day of an owner and of an analyst: mistakes cost nothing, and
-- everybody sees what they have
--
\pset format unaligned
\pset footer off
\set ECHO none
CREATE ROLE dperm_first_owner;
CREATE ROLE dperm_first_analyst;
CREATE ROLE dperm_first_stranger;
CREATE SCHEMA bureau AUTHORIZATION dperm_first_owner;
GRANT USAGE ON SCHEMA bureau TO PUBLIC;
SET ROLE dperm_first_owner;
SET search_path = bureau, public;
CREATE TYPE bureau.sector AS ENUM ('private', 'state', 'none');
CREATE TABLE adult (
	id int,
	age int,
	education_num int CHECK (education_num BETWEEN 1 AND 16),
	sector bureau.sector,
	country text,
	grade char(2) CHECK (grade IN ('A', 'B', 'C')),
	score int,
	balance numeric(6,2),
	shift time,
	tags text[],
	income text
);
INSERT INTO adult SELECT i, 17 + i % 70, 1 + i % 16, (ARRAY['private', 'state', 'none'])[1 + i % 3]::bureau.sector, (ARRAY['US', 'MX', 'CA'])[1 + i % 3],
  (ARRAY['A', 'B', 'C'])[1 + i % 3], i % 5 - 2, i % 7, time '06:00' + (i % 12) * interval '1 hour', ARRAY['x'], CASE WHEN i % 4 = 0 THEN '>50K' ELSE '<=50K' END
  FROM generate_series(1, 400) i;
\set ECHO all
SELECT dp_budget_create('bureau', 100);

-- The owner protects the table: columns without a domain are named, and so is
-- who can read the rows
GRANT SELECT ON adult TO PUBLIC;
SELECT dp_protect('adult', 'bureau', domains => '{"age": [17, 90], "income": ["<=50K", ">50K"]}');
REVOKE SELECT ON adult FROM PUBLIC;
GRANT SELECT (id) ON adult TO dperm_first_analyst;
SELECT dp_protect('adult', 'bureau', columns => '{age,education_num,sector,grade,score,balance,income}', domains => '{"age": [17, 90], "balance": {"categories": [0, 1.5]}, "income": ["<=50K", ">50K"]}');
-- so is whoever is granted a share
SELECT dp_grant('bureau', 'dperm_first_analyst', epsilon => 50);
SELECT dp_protect('adult', 'bureau', columns => '{age,education_num,sector,grade,score,balance,income}', domains => '{"age": [17, 90], "balance": {"categories": [0, 1.5]}, "income": ["<=50K", ">50K"]}');
REVOKE SELECT (id) ON adult FROM dperm_first_analyst;
SELECT dp_grant('bureau', 'dperm_first_analyst', epsilon => 50);
SELECT dp_grant('bureau', 'dperm_first_owner');
-- A view has the domains of the columns of its table; its own come first
CREATE VIEW states AS SELECT age AS years, education_num, balance, income, score + 1 AS score FROM adult WHERE sector = 'state';
SELECT dp_protect('states', 'bureau', domains => '{"education_num": [1, 10]}');
SELECT * FROM dp_domains('states');

-- Both see registered domains and open columns, and what is to be filled in;
-- others see the catalog
SELECT * FROM dp_domains('adult');
RESET ROLE;
SET ROLE dperm_first_analyst;
SELECT * FROM dp_domains('adult');
RESET ROLE;
SET ROLE dperm_first_stranger;
SELECT column_name, domain, origin FROM dp_domains('adult');
RESET ROLE;

-- What the domain of a label refuses is not charged: neither a training
SET ROLE dperm_first_analyst;
SELECT dp_logreg_train('adult', 'income', '{age}', 1, positive => '>50k');
\echo :LAST_ERROR_SQLSTATE
SELECT dp_logreg_train('adult', 'grade', '{age}', 1, positive => 'Z');
SELECT dp_logreg_train('adult', 'age', '{education_num}', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT dp_logreg_train('adult', 'sector', '{age}', 1, positive => 'federal');
SELECT dp_logreg_train('adult', 'balance', '{age}', 1, positive => '1.6');
SELECT dp_logreg_train('states', 'income', '{years}', 1, positive => '>50k');
-- nor a tuning, an evaluation or a curve; and dp_cost says the same
SELECT dp_logreg_tune('adult', 'income', '{age}', 1, positive => '>50k');
CREATE TEMP TABLE model AS SELECT dp_logreg_train('adult', 'income', '{age}', 1, positive => '>50K') AS model;
SELECT count(*) FROM model, dp_evaluate(model, 'adult', epsilon => 1, label => 'grade', positive => 'Z');
SELECT count(*) FROM model, dp_roc((model::jsonb - 'positive')::dp_model, 'adult', epsilon => 1, label => 'education_num');
SELECT count(*) FROM dp_cost('adult', 'income', '{age}', 1, units => 400, positive => '>50k');
SELECT count(*) AS charges, sum(epsilon) AS epsilon FROM dp_ledger WHERE budget = 'bureau' AND act = 'charge';
-- What the domain allows is trained: by their values and not by their spellings
SELECT dp_logreg_train('adult', 'grade', '{age}', 1, positive => 'B   ') IS NOT NULL AS blanks,
  dp_logreg_train('adult', 'balance', '{age}', 1, positive => '1.50') IS NOT NULL AS digits,
  dp_logreg_train('adult', 'age', '{education_num}', 1, positive => '17') IS NOT NULL AS bound,
  dp_logreg_train('states', 'income', '{years}', 1, positive => '>50K') IS NOT NULL AS of_view;
-- A number without a domain needs a positive value
SELECT dp_logreg_train('adult', 'score', '{age}', 1);
SELECT dp_logreg_tune('adult', 'score', '{age}', 1, positive => '2', candidates => '[{"lambda": 0.1}, {"lambda": 0.01}]') IS NOT NULL AS trained;
SELECT count(*) FROM dp_cost('adult', 'score', '{age}', 1, units => 400);
-- dp_cost needs no number of rows where a release has it, or the catalog
RESET ROLE;
ANALYZE adult;
SET ROLE dperm_first_analyst;
SELECT method, noise, units, units_from, epsilon_charged FROM dp_cost('adult', 'income', '{age,sector}', 1, positive => '>50K');
SELECT units, units_from FROM dp_cost('states', 'income', '{years}', 1, positive => '>50K');
-- All columns that have a domain: the others are named
SELECT jsonb_path_query_array(dp_logreg_train('adult', 'income', NULL, 1, positive => '>50K')::jsonb, '$.features[*].column') AS features;
RESET ROLE;
CREATE TEMP TABLE open_rows AS SELECT * FROM adult;
SELECT jsonb_path_query_array(dp_logreg_tune('open_rows', 'income', NULL, 1, domains => '{"age": [17, 90]}', positive => '>50K', candidates => '[{"lambda": 0.1}, {"lambda": 0.01}]')::jsonb, '$.features[*].column') AS features;
-- for an open table nothing is charged, so a label need not have a domain; if
-- it has one, it is checked all the same
SELECT dp_logreg_train('open_rows', 'income', '{sector}', 1, positive => '>50k') IS NOT NULL AS trained;
SELECT dp_logreg_train('open_rows', 'sector', '{age}', 1, domains => '{"age": [17, 90]}', positive => 'federal');
-- a number is positive above 0, which a notice says once for each call
SELECT dp_logreg_train('open_rows', 'score', '{sector}', 1) IS NOT NULL AS trained;
SELECT dp_svm_tune('open_rows', 'score', '{sector}', 1) IS NOT NULL AS trained;
CREATE TABLE labels (sign int CHECK (sign BETWEEN -1 AND 1), debt numeric CHECK (debt BETWEEN -9 AND 0), share float4 CHECK (share BETWEEN 0 AND 0.1), rank int CHECK (rank IN (1, 2)),
  one text CHECK (one = 'only'), flag boolean, sector bureau.sector CHECK (sector <> 'none'));
SELECT dp_logreg_train('labels', 'sign', '{sector}', 1, positive => '1') IS NULL AS no_rows, dp_logreg_train('labels', 'share', '{sector}', 1, positive => '0.05') IS NULL AS no_rows, dp_logreg_train('labels', 'rank', '{sector}', 1, positive => '2') IS NULL AS no_rows,
  dp_logreg_train('labels', 'flag', '{sector}', 1, positive => 'no') IS NULL AS no_rows;
SELECT dp_logreg_train('labels', 'debt', '{sector}', 1);
SELECT dp_logreg_train('labels', 'debt', '{sector}', 1, positive => 'NaN');
SELECT dp_logreg_train('labels', 'rank', '{sector}', 1);
SELECT dp_logreg_train('labels', 'one', '{sector}', 1, positive => 'only');
-- in domains, a label may have fewer values than in the catalog
SELECT dp_logreg_train('labels', 'sign', '{sector}', 1, domains => '{"sign": [0, 1]}') IS NULL AS no_rows;
SELECT dp_logreg_train('labels', 'sector', '{sign}', 1, domains => '{"sector": ["private", "none"]}', positive => 'state');
-- a long list is cut
DO $$ BEGIN EXECUTE (SELECT format('ALTER TABLE labels ADD many text CHECK (many IN (%s))', string_agg(quote_literal('ä' || i), ', ')) FROM generate_series(1, 1000) i); END $$;
SELECT dp_logreg_train('labels', 'many', '{sector}', 1, positive => repeat('ö', 100));

-- Domains may be of columns that are no features of the call, but not of
-- columns that do not exist
SELECT jsonb_path_query_array(dp_logreg_train('open_rows', 'income', '{age}', 1, domains => '{"age": [17, 90], "score": [-2, 2], "income": [">50K", "<=50K"]}', positive => '>50K')::jsonb, '$.features[*].column') AS features;
SELECT dp_logreg_train('open_rows', 'income', '{age}', 1, domains => '{"age": [17, 90], "Score": [-2, 2]}', positive => '>50K');
SELECT dp_logreg_train('open_rows', 'income', '{age}', 1, domains => '{"age": [17, 90], "income": [">50K", "<=50K"]}', positive => '>50k');
SET ROLE dperm_first_analyst;
-- also of columns that are closed; what is open keeps to the registration
SELECT dp_logreg_train('adult', 'income', '{age}', 1, domains => '{"age": [20, 60], "id": [0, 9], "education_num": [2, 10]}', positive => '>50K') IS NOT NULL AS trained;
SELECT dp_logreg_train('adult', 'income', '{age}', 1, domains => '{"age": [20, 60], "education_num": [0, 10]}', positive => '>50K');
-- Several columns are written in braces
SELECT dp_logreg_train('adult', 'income', 'age,education_num', 1, positive => '>50K');
RESET ROLE;

-- Times have bounds, as dates do
SELECT jsonb_path_query(dp_logreg_train('open_rows', 'income', '{shift}', 1, domains => '{"shift": ["06:00", "18:00"]}', positive => '>50K')::jsonb, '$.features[*]') AS feature;
SELECT dp_logreg_train('open_rows', 'income', '{shift}', 1, positive => '>50K');
SELECT dp_logreg_train('open_rows', 'income', '{shift}', 1, domains => '{"shift": ["18:00", "06:00"]}', positive => '>50K');
SELECT shift, dp_encode('{"shift": ["08:00", "16:00"]}'::jsonb, o) FROM open_rows o WHERE id BETWEEN 1 AND 12 ORDER BY shift;
CREATE TEMP TABLE hours AS SELECT shift, extract(hour FROM shift)::int AS hour, income FROM open_rows;
CREATE FUNCTION as_hours() RETURNS boolean LANGUAGE sql AS $$
  SELECT bool_and(abs(t - h) < 1e-9) FROM unnest(dp_weights(dp_logreg_train('hours', 'income', 'shift', 'Infinity', domains => '{"shift": ["08:00", "16:00"]}', positive => '>50K')),
    dp_weights(dp_logreg_train('hours', 'income', 'hour', 'Infinity', domains => '{"hour": [8, 16]}', positive => '>50K'))) u(t, h)
$$;
SELECT as_hours() AS in_memory;
SET dperm.cache_memory = 0;
SELECT as_hours() AS in_passes;
RESET dperm.cache_memory;
ALTER TABLE hours ADD CHECK (shift BETWEEN '06:00' AND '18:00'), ADD stamp timestamp CHECK (stamp::time BETWEEN '06:00' AND '18:00');
SELECT column_name, domain FROM dp_domains('hours');

SET ROLE dperm_first_owner;
-- what the type of a label cannot be is not charged
CREATE TABLE typed (x float8 CHECK (x BETWEEN 0 AND 1), kind text CHECK (kind IN ('a', 'b')), short varchar(3), exact numeric(3,1), loose float8, y boolean);
INSERT INTO typed SELECT i % 2, 'a', 'yes', 1, 1, i % 2 = 0 FROM generate_series(1, 400) i;
SELECT dp_protect('typed', 'bureau', columns => '{x,kind,short,exact,loose,y}');
SELECT * FROM outcomes($$dp_logreg_train('typed', 'short', 'x', 1, positive => ?)$$, $$'toolong' | 'yes '$$);
SELECT * FROM outcomes($$dp_logreg_train('typed', 'exact', 'x', 1, positive => ?)$$, $$'0.55' | '1000' | 'NaN'$$);
SELECT * FROM outcomes($$dp_logreg_train('typed', 'loose', 'x', 1, positive => ?)$$, $$'NaN'$$);
SELECT count(*) AS charges FROM dp_ledger WHERE budget = 'bureau' AND act = 'charge';
RESET ROLE;

RESET search_path;
DISCARD TEMP;
SELECT dp_unprotect('bureau.states'), dp_unprotect('bureau.adult'), dp_unprotect('bureau.typed');
DROP SCHEMA bureau CASCADE;
SELECT dp_budget_drop('bureau');
DROP ROLE dperm_first_owner, dperm_first_analyst, dperm_first_stranger;
