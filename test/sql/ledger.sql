--
-- An owner's and an analyst's first day: a registration is corrected, grants
-- and the ledger show what each role may see, and refusals name their cause
--
\pset format unaligned
\pset footer off
\set ECHO none
CREATE ROLE dperm_curator;
CREATE ROLE dperm_ana;
CREATE ROLE dperm_ben;
CREATE ROLE dperm_team;
CREATE ROLE dperm_cleo IN ROLE dperm_team;
CREATE ROLE dperm_officer IN ROLE pg_read_all_stats;
CREATE ROLE dperm_passer_by;
CREATE SCHEMA first_day AUTHORIZATION dperm_curator;
GRANT USAGE ON SCHEMA first_day TO PUBLIC;
SET ROLE dperm_curator;
SET search_path = first_day, public;
CREATE TABLE visits (person_id int, clinic_id int, age int CHECK (age BETWEEN 0 AND 120), bmi float8, ill boolean);
INSERT INTO visits SELECT i % 2000, i % 7, i % 100, 15 + i % 25, i % 100 > 60 FROM generate_series(1, 4000) i;
CREATE VIEW seniors AS SELECT person_id, clinic_id, bmi > 30 AS obese, ill FROM visits WHERE age >= 65;
\set ECHO all
SELECT dp_budget_create('visits', epsilon => 4, delta => 1e-6, neighbours => 'remove');

-- Nothing has been charged: everything can be corrected. Rows to persons
SELECT dp_protect('visits', 'visits');
SELECT dp_protect('visits', 'visits', unit => 'clinic_id', columns => '{age,ill}');
SELECT relation, unit, columns, domains FROM dp_protected;
SELECT budget, unit, neighbours FROM dp_budgets;
-- one person to another, other columns, other domains
SELECT dp_protect('visits', 'visits', unit => 'person_id', columns => '{age,bmi,ill}', domains => '{"bmi": [10, 6]}');
SELECT dp_protect('visits', 'visits', unit => 'person_id', columns => '{age,bmi,ill}', domains => '{"bmi": [10, 60]}');
SELECT relation, unit, columns, domains FROM dp_protected;
-- and back to rows, with its views; but it has to count the same as other
-- tables of the budget
SELECT dp_protect('seniors', 'visits', unit => 'person_id');
CREATE TABLE staff (id int, ill boolean);
SELECT dp_protect('staff', 'visits', unit => 'id', columns => '{ill}');
SELECT dp_unprotect('visits');
SELECT dp_protect('visits', 'visits');
SELECT dp_unprotect('staff');
SELECT dp_protect('visits', 'visits');
SELECT dp_protect('visits', 'visits', unit => 'person_id', columns => '{age,bmi,ill}', domains => '{"bmi": [10, 60]}');
SELECT dp_protect('seniors');
-- the neighbours
SELECT dp_budget_alter('visits', neighbours => 'both');
SELECT dp_budget_alter('visits', neighbours => 'replace');
SELECT budget, unit, neighbours, epsilon, delta FROM dp_budgets;
SELECT act, neighbours, epsilon, delta FROM dp_ledger WHERE budget = 'visits' AND act <> 'protect' AND act <> 'unprotect' ORDER BY entry;

-- Grants: the owner sees all, others their own, by membership
SELECT dp_grant('visits', 'dperm_ana', epsilon => 1, delta => 5e-7);
SELECT dp_grant('visits', 'dperm_ben');
SELECT dp_grant('visits', 'dperm_team', epsilon => 0.5);
SELECT * FROM dp_grants ORDER BY role::text;
RESET ROLE;
SET ROLE dperm_ana;
SELECT * FROM dp_grants;
RESET ROLE;
SET ROLE dperm_cleo;
SELECT * FROM dp_grants;
RESET ROLE;
SET ROLE dperm_passer_by;
SELECT count(*) FROM dp_grants;
RESET ROLE;

-- Every charged call has a purpose, and the ledger says what was done
SET ROLE dperm_ana;
CREATE TEMP TABLE models AS SELECT dp_logreg_train('visits', 'ill', NULL, epsilon => 0.25, lambda => 0.01, domains => '{"bmi": [15, 40]}', purpose => 'triage, first attempt') AS model;
SELECT count(*) AS metrics FROM models, dp_evaluate(model, 'visits', epsilon => 0.125, purpose => 'is it any good?');
SELECT count(*) AS points FROM models, dp_roc(model, 'visits', epsilon => 0.125, bins => 5, purpose => repeat('ä', 511));
SELECT dp_svm_tune('seniors', 'ill', 'obese', epsilon => 0.25, delta => 1e-7, candidates => '[{"lambda": 0.1}, {"lambda": 0.01, "h": 0.25}]', purpose => 'choose') IS NOT NULL AS tuned;
SELECT dp_budget_charge('visits', 0.03125, purpose => 'a table in the annual report');
\x on
SELECT entry - min(entry) OVER () AS entry, l.role, l.at <= now() AS is_past, l.function, l.relation, label, features, learner, parameters, left(purpose, 30) AS purpose, neighbours, unit, epsilon, delta, epsilon_left, details, release,
  k.model IS NOT NULL AS model, jsonb_array_length(k.metrics) AS metrics FROM dp_ledger l LEFT JOIN dp_releases k USING (budget, entry) WHERE act = 'charge' ORDER BY entry;
\x off
-- a model names its entry, in all forms
SELECT m.model::jsonb -> 'ledger' ->> 'budget' AS budget, (m.model::jsonb -> 'ledger' ->> 'entry')::bigint = l.entry AS same_entry, l.model::text = m.model::text AS same_model, m.model::text::dp_model::text = m.model::text AS as_text
  FROM models m, LATERAL (SELECT entry, model FROM dp_releases WHERE function = 'dp_logreg_train') l;
SELECT bool_and(model::jsonb -> 'ledger' ->> 'entry' = entry::text) AS each_its_own, count(*) FROM dp_releases WHERE model IS NOT NULL;
CREATE TEMP TABLE open_rows AS SELECT i % 10 AS x, i % 10 > 5 AS y FROM generate_series(1, 1000) i;
SELECT dp_logreg_train('open_rows', 'y', 'x', 1, domains => '{"x": [0, 9]}', purpose => 'none is charged')::jsonb -> 'ledger' AS ledger;
-- a purpose that is too long is refused, a parameter is cut
SELECT dp_logreg_train('visits', 'ill', 'age', epsilon => 0.01, purpose => repeat('x', 1024));
SELECT dp_logreg_train('open_rows', 'y', 'x', 1, domains => '{"x": [0, 9]}', purpose => repeat('x', 1024));
\echo :LAST_ERROR_SQLSTATE
SELECT dp_logreg_train('visits', 'ill', '{age}', epsilon => 0.015625, domains => ('{"age": [0, 100.' || repeat('0', 1100) || ']}')::jsonb, kernel => 'gaussian', options => '{"kernel_features": 2, "intercept": false}') IS NOT NULL AS trained;
SELECT function, parameters - 'domains' AS parameters, length(parameters ->> 'domains') AS length, right(parameters ->> 'domains', 5) AS ends FROM dp_ledger ORDER BY entry DESC LIMIT 1;

-- Of the entries of others an analyst sees role, time and cost; a role without
-- a grant sees nothing
RESET ROLE;
SET ROLE dperm_ben;
SELECT dp_logreg_train('visits', 'ill', '{age,bmi}', epsilon => 0.5, purpose => 'of ben') IS NOT NULL AS trained;
SELECT role, act, at IS NOT NULL AS at, epsilon, delta, epsilon_left, function, relation, label, features, learner, parameters, purpose, neighbours, unit, details, release
  FROM dp_ledger WHERE role <> 'dperm_ben' ORDER BY entry;
SELECT l.role, l.epsilon, l.epsilon_left, l.label, l.purpose, k.model IS NOT NULL AS model FROM dp_ledger l LEFT JOIN dp_releases k USING (budget, entry) WHERE l.role = 'dperm_ben' ORDER BY entry;
SELECT role, count(*) AS releases FROM dp_releases GROUP BY role;
RESET ROLE;
SET ROLE dperm_passer_by;
SELECT count(*) FROM dp_ledger;
SELECT count(*) FROM dp_releases;
-- the owner sees all, with what the budget has left, and an officer all but
-- what was released
RESET ROLE;
SET ROLE dperm_curator;
SELECT l.role, l.function, l.label, left(l.purpose, 21) AS purpose, l.epsilon, l.delta, l.epsilon_left, k.model IS NOT NULL AS model, k.metrics IS NOT NULL AS metrics FROM dp_ledger l LEFT JOIN dp_releases k USING (budget, entry) WHERE budget = 'visits' AND act = 'charge' ORDER BY entry;
SELECT * FROM dp_grants ORDER BY role::text;
SELECT epsilon_spent, delta_spent, epsilon_left FROM dp_budgets;
RESET ROLE;
SET ROLE dperm_officer;
SELECT role, function, label, left(purpose, 21) AS purpose, epsilon_left FROM dp_ledger WHERE budget = 'visits' AND act = 'charge' ORDER BY entry;
SELECT count(*) AS releases FROM dp_releases;
RESET ROLE;
-- the tail of the noise is counted all the same
SELECT spent_tail / 0.000000000000000000054211 AS tails, spent_delta, (SELECT sum(tail) FROM dperm.ledger e WHERE e.budget_id = a.id) = spent_tail AS adds_up FROM dperm.budgets a WHERE budget = 'visits' AND dropped IS NULL;

-- After the first charge: columns and domains change, unit and neighbours do
-- not
SET ROLE dperm_curator;
SELECT dp_protect('visits', 'visits', unit => 'person_id', columns => '{age,ill}', domains => '{"age": [0, 100]}');
SELECT dp_protect('visits', 'visits', unit => 'clinic_id');
SELECT dp_budget_alter('visits', neighbours => 'remove');
SELECT dp_budget_alter('visits', neighbours => 'replace', epsilon => 5);
\echo :LAST_ERROR_SQLSTATE

-- Refusals name the cause: epsilon or delta, of the grant or of the budget, and
-- what is left
RESET ROLE;
SET ROLE dperm_ana;
\set VERBOSITY default
SELECT dp_logreg_train('visits', 'ill', 'age', epsilon => 2);
SELECT dp_budget_charge('visits', 0.01, delta => 1e-7);
SELECT epsilon_left::text AS mine FROM dp_grants \gset
SELECT dp_budget_charge('visits', :mine);
SELECT dp_logreg_train('visits', 'ill', 'age', epsilon => 0.01);
SELECT * FROM dp_grants;
RESET ROLE;
SET ROLE dperm_ben;
SELECT dp_logreg_train('visits', 'ill', 'age', epsilon => 100);
SELECT dp_budget_charge('visits', 0.25, delta => 9e-7);
SELECT dp_budget_charge('visits', 0.25, delta => 1e-7);
SELECT dp_budget_charge('visits', 0.25, delta => 1e-7);
RESET ROLE;
SET ROLE dperm_curator;
SELECT dp_budget_alter('visits', epsilon => 1);
SELECT dp_logreg_train('visits', 'ill', 'age', epsilon => 0.01);
SELECT dp_budget_alter('visits', epsilon => 5);
SELECT dp_grant('visits', 'dperm_team', epsilon => 1, delta => 0);
SELECT dp_budget_create('pure', epsilon => 1);
SELECT dp_budget_charge('pure', 0.5, delta => 1e-9);
-- what a budget does not have cannot be granted
SELECT dp_grant('pure', 'dperm_ana', epsilon => 1, delta => 1e-9);
\echo :LAST_ERROR_SQLSTATE
SELECT dp_grant('pure', 'dperm_ana', epsilon => 1, delta => 0);
SELECT dp_budget_charge('pure', 0.125);
SELECT dp_grant('pure', 'dperm_ana', delta => 1e-9);
RESET ROLE;
SET ROLE dperm_cleo;
SELECT dp_logreg_train('visits', 'ill', 'age', epsilon => 0.01, delta => 1e-9);
RESET ROLE;

-- Too little epsilon is reported with the result
SET ROLE dperm_ben;
SELECT dp_logreg_train('visits', 'ill', 'age', epsilon => 0.001) IS NOT NULL AS trained;
SELECT dp_logreg_train('visits', 'ill', 'age', epsilon => 0.25) IS NOT NULL AS trained;
SELECT dp_logreg_tune('visits', 'ill', 'age', epsilon => 0.001, candidates => '[{"lambda": 0.1}, {"lambda": 0.01}]') IS NOT NULL AS tuned;
RESET ROLE;

-- Conditions of a query are not evaluated for hidden rows, which EXPLAIN
-- ANALYZE would show: they stay above the view
CREATE FUNCTION pg_temp.top_of_plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; plan text[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP plan := plan || line; END LOOP;
	RETURN plan[1] || plan[2];
END $$;
SET ROLE dperm_ben;
SELECT pg_temp.top_of_plan(format('SELECT FROM %s WHERE %s', v, c)) FROM (VALUES ('dp_ledger', $$purpose = 'x'$$), ('dp_ledger', $$role = 'x'$$), ('dp_grants', $$role = 'x'$$), ('dp_budgets', $$budget = 'x'$$), ('dp_protected', $$relation = 'x'$$), ('dp_releases', $$role = 'x'$$)) q (v, c);
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA first_day CASCADE;
SELECT dp_budget_drop('visits'), dp_budget_drop('pure');
DROP OWNED BY dperm_ana, dperm_ben, dperm_curator;
DROP ROLE dperm_curator, dperm_ana, dperm_ben, dperm_cleo, dperm_team, dperm_officer, dperm_passer_by;
