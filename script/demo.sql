-- What script/demo shows. Works in any empty database in which dperm can be
-- created, as a superuser. psql -v report=FILE names the file of the report.
\set QUIET on
\set ON_ERROR_STOP on
\pset footer off
SET client_min_messages = warning;
\if :{?report}
\else
    \set report dperm-report.html
\endif

CREATE EXTENSION dperm;
SELECT format('CREATE ROLE %I', role) FROM unnest('{hospital,ana}'::text[]) role
WHERE to_regrole(role) IS NULL \gexec
GRANT CREATE ON SCHEMA public TO hospital;
CREATE SCHEMA notes AUTHORIZATION ana;
SET ROLE hospital;

\echo
\echo '1. A hospital has 100,000 synthetic patients, in an ordinary table'
\echo
\set ECHO queries
CREATE TYPE ward AS ENUM ('surgery', 'cardiology', 'oncology', 'general');
CREATE TABLE patients (
    id         int PRIMARY KEY,
    age        int     CHECK (age BETWEEN 18 AND 105),
    bmi        numeric CHECK (bmi BETWEEN 12 AND 60),
    systolic   int     CHECK (systolic BETWEEN 70 AND 220),
    ward       ward,
    smoker     boolean,
    admissions int     CHECK (admissions BETWEEN 0 AND 8),
    readmitted boolean,
    days       int     CHECK (days BETWEEN 0 AND 30),
    goes_to    text    CHECK (goes_to IN ('home', 'rehab', 'nursing home'))
);
\set ECHO none

-- Seeded, so that every run shows the same ones.
SELECT setseed(0.20) \g /dev/null
CREATE FUNCTION pg_temp.normal(mean float8, deviation float8, low float8, high float8) RETURNS numeric
LANGUAGE sql VOLATILE AS
$$ SELECT least(greatest(mean + deviation * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()), low), high)::numeric $$;
INSERT INTO patients
SELECT id, round(pg_temp.normal(62, 15, 18, 105)), round(pg_temp.normal(28.5, 5, 12, 60), 1),
       round(pg_temp.normal(134, 18, 70, 220)), (enum_range(NULL::ward))[1 + floor(4 * random())],
       random() < 0.24, least(floor(-1.6 * ln(1 - random())), 8)
FROM generate_series(1, 100000) AS id;

-- What the models have to learn: both low and high blood pressure are bad.
UPDATE patients SET readmitted = random() < 1 / (1 + exp(-(
    -2.8 + 0.05 * (age - 62) + 0.04 * (bmi - 28.5) + 0.0025 * (systolic - 130) ^ 2 + 0.9 * smoker::int + 0.75 * admissions
    + CASE ward WHEN 'oncology' THEN 1.2 WHEN 'cardiology' THEN 0.4 WHEN 'surgery' THEN -0.6 ELSE 0 END)));

UPDATE patients SET days = least(30, 1 + age / 15 + 2 * admissions + 6 * (ward = 'surgery')::int + floor(4 * random())),
    goes_to = CASE WHEN age + 30 * random() > 95 THEN 'nursing home' WHEN ward = 'surgery' AND age > 45 THEN 'rehab' ELSE 'home' END;

\echo
SELECT * FROM patients ORDER BY id LIMIT 3;

\echo '2. A superuser lets the hospital create budgets. The hospital protects its table with one, offers two'
\echo '   views of it, and grants a part to Ana. The possible values of a column come from the declarations'
\echo '   above, never from the rows'
\echo
RESET ROLE;
\set ECHO queries
GRANT EXECUTE ON FUNCTION dp_budget_create TO hospital;
SET ROLE hospital;
SELECT dp_budget_create('patients', epsilon => 3) \g /dev/null
SELECT dp_protect('patients', budget => 'patients', unit => 'id') \g /dev/null
CREATE VIEW patients_train AS SELECT * FROM patients WHERE id % 5 > 0;
CREATE VIEW patients_test AS SELECT * FROM patients WHERE id % 5 = 0;
SELECT dp_protect('patients_train'), dp_protect('patients_test') \g /dev/null
SELECT dp_grant('patients', 'ana', epsilon => 2.5) \g /dev/null
\set ECHO none

\echo
\echo '3. Ana cannot read a single row, but she can look at their distribution and train: epsilon is what it costs'
\echo
SET ROLE ana;
SET search_path = notes, public;
\set ON_ERROR_STOP off
\set ECHO queries
SELECT * FROM patients_train;
\set ECHO none
\set ON_ERROR_STOP on
SELECT 1 / (:'SQLSTATE' = '42501')::int \g /dev/null
\echo 'One call counts every column, with noise'
\echo
\set ECHO queries
SELECT column_name, item, coalesce(value, low || ' to ' || high) AS value, round(count) AS count, round(count_low) AS low, round(count_high) AS high
FROM dp_summary('patients_train', epsilon => 0.25, purpose => 'a first look')
WHERE column_name IN ('age', 'systolic', 'ward', 'smoker') AND item <> 'interval' AND share NOT IN (0.05, 0.25, 0.75, 0.95);
\set ECHO none
\echo
\set ECHO queries
CREATE TABLE models AS
SELECT dp_logreg_train('patients_train', label => 'readmitted',
                       features => '{age,bmi,systolic,ward,smoker,admissions}',
                       epsilon => 1, purpose => 'whom to call') AS model;
SELECT dp_predict(model, new) AS readmitted, round(dp_predict_prob(model, new)::numeric, 2) AS probability
FROM models, (SELECT 'oncology' AS ward, 71 AS age, 31 AS bmi, 170 AS systolic, true AS smoker, 2 AS admissions) AS new;
\set ECHO none

\echo '4. What the model has learned: a curve for each number. Low and high blood pressure are both bad'
\echo
\set ECHO queries
SELECT round(value::numeric) AS systolic, round(score::numeric, 1) AS score, round(noise::numeric, 1) AS noise,
       repeat('#', greatest(0, round(8 * (score - min(score) OVER ())))::int) AS curve
FROM models, dp_curve(model, 'systolic');
\set ECHO none

\echo '5. How good it is, on patients whom it has not seen: noisy figures with 95 % intervals'
\echo
\set ECHO queries
CREATE TABLE evaluation AS
SELECT e.* FROM models, dp_evaluate(model, 'patients_test', epsilon => 0.5, purpose => 'whom to call') e;
\set ECHO none
SELECT metric, round(value::numeric, 3) AS value, round(low::numeric, 3) AS low, round(high::numeric, 3) AS high FROM evaluation;

\echo '6. Other questions: where does a patient go, and after how many days?'
\echo
\set ECHO queries
CREATE TABLE more AS
SELECT dp_logreg_train('patients_train', label => 'goes_to', features => '{age,ward,admissions}', epsilon => 0.25) AS goes_to,
       dp_linreg_train('patients_train', label => 'days', features => '{age,ward,admissions}', epsilon => 0.25) AS days;
SELECT age, ward, dp_predict_class(goes_to, new) AS goes_to, round(dp_predict_value(days, new)) AS days
FROM more, (VALUES (88, 'oncology', 3), (60, 'surgery', 0), (30, 'general', 1)) AS new (age, ward, admissions);
\set ECHO none

\echo '7. What was spent stays spent. The owner sees it, and so does Ana'
\echo
\set ECHO queries
SELECT budget, epsilon_granted, epsilon_spent, epsilon_left FROM dp_grants;
\set ECHO none

\echo '8. The report, for whoever has to approve the model: guarantee, curves, evaluation, ledger'
\echo
\pset tuples_only on
\pset format unaligned
\o :report
SELECT dp_report(model, evaluation => (SELECT jsonb_agg(e) FROM evaluation e), title => 'Readmission within 30 days',
                 curator => 'A synthetic hospital') FROM models;
\o
\echo '   Open in a browser:' :report
\echo
