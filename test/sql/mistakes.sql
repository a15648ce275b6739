--
-- Mistakes that new users make. Each call is tried on a protected relation, by the analyst who has a grant or by the
-- owner: refused before it is charged, or charged. At least 27 of 30 have to be refused and cost nothing.
--
\pset format unaligned
\pset footer off
\set ECHO errors
CREATE ROLE dperm_mistakes_owner;
CREATE ROLE dperm_mistakes_analyst;
CREATE SCHEMA clinic AUTHORIZATION dperm_mistakes_owner;
GRANT USAGE ON SCHEMA clinic TO dperm_mistakes_analyst;
SET search_path = clinic, public;
SET ROLE dperm_mistakes_owner;
CREATE TABLE patients (person int, name text, age int, sex text, weight float8, visits int, price numeric(8,2), smoker boolean, remark text, outcome text, stage text);
INSERT INTO patients SELECT i / 2, 'n' || i, i % 100, (ARRAY['f', 'm'])[1 + i % 2], 50 + i % 60, 1 + i % 20, 10 + i, i % 3 = 0, 'r' || i, (ARRAY['ill', 'well'])[1 + i % 2],
	(ARRAY['early', 'late', 'none'])[1 + i % 3] FROM generate_series(1, 1000) i;
CREATE TABLE visits (LIKE patients);
CREATE TABLE relatives AS SELECT person, age, sex, weight FROM patients;
DO $$ BEGIN
	PERFORM dp_budget_create('clinic', 100), dp_budget_create('research', 100);
	PERFORM dp_protect('patients', 'clinic', unit => 'person', columns => '{age,sex,weight,visits,price,smoker,remark,outcome,stage}',
		domains => '{"age": [0, 100], "sex": ["f", "m"], "weight": [40, 120], "visits": [1, 20], "price": [0, 5000], "outcome": ["ill", "well"], "stage": ["early", "late", "none"]}');
	PERFORM dp_protect('relatives', 'clinic', unit => 'person', domains => '{"age": [0, 100], "sex": ["f", "m"], "weight": [40, 120]}');
	PERFORM dp_protect('visits', 'research', domains => '{"age": [0, 100], "outcome": ["ill", "well"]}');
	PERFORM dp_grant('clinic', 'dperm_mistakes_analyst', epsilon => 50);
END $$;
RESET ROLE;
CREATE TABLE mistakes (number int PRIMARY KEY, mistake text, who text DEFAULT 'analyst', call text);
INSERT INTO mistakes (number, mistake, call) VALUES
	(1, 'misspelt positive', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 1, positive => 'Ill')$$),
	(2, 'misspelt class', $$dp_logreg_train('patients', 'stage', '{age,sex}', 1, domains => '{"stage": ["erly", "late", "none"]}')$$),
	(3, 'misspelt column', $$dp_logreg_train('patients', 'outcome', '{age,sexx}', 1, positive => 'ill')$$),
	(4, 'misspelt label', $$dp_logreg_train('patients', 'outcom', '{age,sex}', 1, positive => 'ill')$$),
	(5, 'misspelt relation', $$dp_logreg_train('patiens', 'outcome', '{age,sex}', 1, positive => 'ill')$$),
	(6, 'misspelt budget', $$dp_grant('clinick', 'dperm_mistakes_analyst', epsilon => 5)$$),
	(7, 'misspelt unit', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 1, positive => 'ill', unit => 'persn')$$),
	(8, 'unit in other case', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 1, positive => 'ill', unit => 'Person')$$),
	(9, 'text label without positive', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 1)$$),
	(10, 'reversed bounds', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 1, positive => 'ill', domains => '{"age": [100, 0]}')$$),
	(11, 'string categories for a number', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 1, positive => 'ill', domains => '{"age": ["young", "old"]}')$$),
	(12, 'label among the features', $$dp_logreg_train('patients', 'outcome', '{age,outcome}', 1, positive => 'ill')$$),
	(13, 'label is an amount of money', $$dp_logreg_train('patients', 'price', '{age,sex}', 1)$$),
	(14, 'label is a number of many values', $$dp_svm_train('patients', 'visits', '{age,sex}', 1)$$),
	(15, 'evaluation without epsilon', $$(SELECT count(*) FROM model, dp_evaluate(model, 'patients'))$$),
	(16, 'evaluation on a table without the label', $$(SELECT count(*) FROM model, dp_evaluate(model, 'relatives', epsilon => 1))$$),
	(17, 'negative epsilon', $$dp_logreg_train('patients', 'outcome', '{age,sex}', -1, positive => 'ill')$$),
	(18, 'epsilon of zero', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 0, positive => 'ill')$$),
	(19, 'delta of 1', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 1, positive => 'ill', delta => 1)$$),
	(20, 'a kernel with knots', $$dp_logreg_train('patients', 'outcome', '{age,weight}', 1, positive => 'ill', kernel => 'gaussian', knots => 5)$$),
	(21, 'a prior with other features', $$dp_logreg_train('patients', 'outcome', '{age,weight}', 1, positive => 'ill', prior => (SELECT model FROM model))$$),
	(22, 'epsilon beyond the grant', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 60, positive => 'ill')$$),
	(23, 'a relation of another budget', $$dp_logreg_train('visits', 'outcome', '{age}', 1, positive => 'ill')$$),
	(24, 'no categories', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 1, positive => 'ill', domains => '{"sex": []}')$$),
	(25, 'an array as text', $$dp_logreg_train('patients', 'outcome', 'age,sex', 1, positive => 'ill')$$),
	(26, 'a column that is not open', $$dp_logreg_train('patients', 'outcome', '{age,name}', 1, positive => 'ill')$$),
	(27, 'a column without a domain', $$dp_logreg_train('patients', 'outcome', '{age,remark}', 1, positive => 'ill')$$),
	(28, 'wider bounds than registered', $$dp_logreg_train('patients', 'outcome', '{age,sex}', 1, positive => 'ill', domains => '{"age": [0, 150]}')$$),
	(29, 'a positive that is no value of the type', $$dp_logreg_train('patients', 'smoker', '{age,sex}', 1, positive => 'sometimes')$$),
	(30, 'regression of a text', $$dp_linreg_train('patients', 'outcome', '{age,sex}', 1)$$);
UPDATE mistakes SET who = 'owner' WHERE number = 6;
CREATE FUNCTION tried(call text, who text) RETURNS TABLE (refused boolean, says text) LANGUAGE plpgsql AS $$
DECLARE
	spent float8 := (SELECT sum(epsilon_spent) FROM dp_budgets);
BEGIN
	BEGIN
		EXECUTE format('SET LOCAL ROLE dperm_mistakes_%s', who);
		EXECUTE 'SELECT ' || call;
		says := 'no error';
	EXCEPTION WHEN OTHERS THEN
		says := sqlstate || ' ' || sqlerrm;
	END;
	RESET ROLE;
	refused := says <> 'no error' AND spent = (SELECT sum(epsilon_spent) FROM dp_budgets);
	RETURN NEXT;
END $$;
SET client_min_messages = error;
SET ROLE dperm_mistakes_analyst;
CREATE TEMP TABLE model AS SELECT dp_logreg_train('patients', 'outcome', '{age,sex}', 1, positive => 'ill') AS model;
RESET ROLE;
CREATE TEMP TABLE results AS SELECT m.*, t.* FROM mistakes m, tried(call, who) t;
SELECT number, mistake, CASE WHEN refused THEN 'refused: ' ELSE 'CHARGED: ' END || says AS answer FROM results ORDER BY number;
SELECT count(*) FILTER (WHERE refused) >= 27 AS enough, count(*) FILTER (WHERE refused) AS refused, count(*) AS mistakes FROM results;
RESET client_min_messages;
DROP TABLE results, model, mistakes;
DROP SCHEMA clinic CASCADE;
SELECT dp_budget_drop(budget) FROM dp_budgets WHERE budget IN ('clinic', 'research') ORDER BY budget;
DROP ROLE dperm_mistakes_owner, dperm_mistakes_analyst;
