-- Pages of dp_report, written to the folder :folder: of models and budgets as
-- owners and analysts see them, and of names that are markup.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
CREATE EXTENSION dperm;
SELECT setseed(0.3);
CREATE ROLE pages_hospital;
CREATE ROLE pages_ana;
CREATE ROLE pages_ben;
GRANT CREATE ON SCHEMA public TO pages_hospital;
GRANT EXECUTE ON FUNCTION dp_budget_create TO pages_hospital;
SET ROLE pages_hospital;
CREATE TABLE visits (person_id int, age int CHECK (age BETWEEN 18 AND 100), bmi numeric CHECK (bmi BETWEEN 15 AND 45),
    ward text CHECK (ward IN ('surgery', 'cardiology', 'oncology', 'geriatrics', 'neurology')), smoker boolean,
    admitted date CHECK (admitted BETWEEN '2020-01-01' AND '2024-12-31'), readmitted boolean);
INSERT INTO visits
SELECT i, age, bmi, ward, smoker, date '2020-01-01' + (1825 * random())::int,
       random() < 1 / (1 + exp(2.8 - abs(age - 45) / 15.0 - abs(bmi - 24) / 6 - smoker::int - (ward = 'oncology')::int + (ward = 'neurology')::int))
  FROM (SELECT i, floor(18 + 80 * random()) AS age, 16 + 26 * random() AS bmi, (ARRAY['surgery', 'cardiology', 'oncology', 'geriatrics', 'neurology'])[ceil(5 * random())] AS ward,
               random() < 0.25 AS smoker FROM generate_series(1, 60000) i) s;
CREATE VIEW visits_train AS SELECT * FROM visits WHERE person_id % 5 > 0;
CREATE VIEW visits_test AS SELECT * FROM visits WHERE person_id % 5 = 0;
SELECT dp_budget_create('patients', epsilon => 6);
SELECT dp_protect('visits', budget => 'patients', unit => 'person_id'), dp_protect('visits_train'), dp_protect('visits_test');
SELECT dp_grant('patients', 'pages_ana', epsilon => 4);
SELECT dp_grant('patients', 'pages_ben', epsilon => 1);
RESET ROLE;
SET SESSION AUTHORIZATION pages_ana;
CREATE TEMPORARY TABLE trained AS
SELECT dp_logreg_train('visits_train', 'readmitted', '{age,bmi,ward,smoker,admitted}', epsilon => 2, purpose => 'Plan the number of beds for patients who return within 30 days') AS model;
SELECT count(*) FROM trained, dp_evaluate(model, 'visits_test', epsilon => 0.5, purpose => 'quality') e;
SELECT count(*) FROM trained, dp_roc(model, 'visits_test', epsilon => 0.5) e;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION pages_ben;
SELECT dp_budget_charge('patients', 0.25, purpose => 'table 2 of the annual report');
RESET SESSION AUTHORIZATION;

\pset format unaligned
\pset tuples_only on
SET ROLE pages_hospital;
\o :folder/model.html
SELECT dp_report(model, title => 'Readmission within 30 days', curator => 'Example Hospital') FROM dp_releases WHERE model IS NOT NULL;
\o :folder/budget.html
SELECT dp_report('patients', purpose => 'Research and planning');
SET ROLE pages_ben;
\o :folder/budget_of_analyst.html
SELECT dp_report('patients');
RESET ROLE;
\o :folder/markup.html
CREATE TABLE "<script>" ("<b>&""'" int CHECK ("<b>&""'" BETWEEN 0 AND 9), name_without_any_space_that_is_as_long_as_names_can_be text CHECK (name_without_any_space_that_is_as_long_as_names_can_be IN ('</svg><script>alert(1)</script>', '&lt;')), label boolean);
INSERT INTO "<script>" SELECT i % 10, '&lt;', i % 10 > 5 FROM generate_series(1, 1000) i;
SELECT dp_report(m, '[{"metric": "</td><script>alert(1)</script>", "value": 1e308}]', repeat('</title><script>alert(1)</script>', 9), repeat('x', 999) || U&'\202E<img src="http://example.com/">')
  FROM dp_svm_train('"<script>"', 'label', NULL, 1) m;
\o :folder/vector.html
SELECT dp_report(dp_logreg(i % 2 = 0, array_fill(0.01, ARRAY[300]), 'Infinity')) FROM generate_series(1, 50) i;
\o
SELECT dp_unprotect('visits');
DROP OWNED BY pages_hospital, pages_ana, pages_ben;
DROP ROLE pages_hospital, pages_ana, pages_ben;
