-- What script/demo shows. Works in any empty database in which dperm can be
-- created.
\set QUIET on
\set ON_ERROR_STOP on
\pset footer off
SET client_min_messages = warning;

CREATE EXTENSION dperm;

\echo
\echo '1. The data: 20,000 synthetic patients in an ordinary table with bounds, an enum and a boolean'
\echo
\set ECHO queries
CREATE TYPE ward AS ENUM ('surgery', 'cardiology', 'oncology', 'general');
CREATE TABLE patients (
    id         int PRIMARY KEY,
    age        int     CHECK (age BETWEEN 18 AND 105),
    bmi        numeric CHECK (bmi BETWEEN 12 AND 60),
    systolic   int     CHECK (systolic BETWEEN 70 AND 220),
    creatinine numeric CHECK (creatinine BETWEEN 0 AND 5),
    ward       ward,
    smoker     boolean,
    admissions int     CHECK (admissions BETWEEN 0 AND 8),
    readmitted boolean
);
\set ECHO none

-- Seeded, so that every run shows the same ones.
SELECT setseed(0.20) \g /dev/null
CREATE FUNCTION pg_temp.normal(mean float8, deviation float8, low float8, high float8) RETURNS numeric
LANGUAGE sql VOLATILE AS
$$ SELECT least(greatest(mean + deviation * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()), low), high)::numeric $$;
INSERT INTO patients
SELECT id, round(pg_temp.normal(62, 15, 18, 105)), round(pg_temp.normal(28.5, 5, 12, 60), 1),
       round(pg_temp.normal(134, 18, 70, 220)), round(exp(pg_temp.normal(0.05, 0.35, -3, 1.6)), 2),
       (enum_range(NULL::ward))[1 + floor(4 * random())], random() < 0.24,
       least(floor(-1.6 * ln(1 - random())), 8)
FROM generate_series(1, 20000) AS id;

-- The relation that the models have to learn: logistic in the values.
UPDATE patients SET readmitted = random() < 1 / (1 + exp(-(
    -2.4 + 0.05 * (age - 62) + 0.04 * (bmi - 28.5) + 0.02 * (systolic - 134)
    + 1.2 * (creatinine - 1.1) + 0.9 * smoker::int + 0.75 * admissions
    + CASE ward WHEN 'oncology' THEN 1.2 WHEN 'cardiology' THEN 0.4 WHEN 'surgery' THEN -0.6 ELSE 0 END)));

CREATE VIEW patients_train AS SELECT * FROM patients WHERE id % 5 > 0;
CREATE VIEW patients_test AS SELECT * FROM patients WHERE id % 5 = 0;
VACUUM ANALYZE patients;

\echo
SELECT * FROM patients ORDER BY id LIMIT 4;

\echo '2. Training on 16,000 of them: name the columns and epsilon (smaller is more private).'
\echo '   The possible values come from the declarations above, never from the rows.'
\echo '   epsilon = Infinity trains an ordinary model without privacy, for comparison'
\echo
\set ECHO queries
CREATE TABLE models AS
SELECT epsilon,
       dp_logreg_train('patients_train', label => 'readmitted',
                       features => '{age,bmi,systolic,creatinine,ward,smoker,admissions}',
                       epsilon => epsilon) AS model
FROM unnest(ARRAY[0.1, 1, 10, 'Infinity']::float8[]) AS epsilon;
\set ECHO none

\echo
\echo '3. Accuracy on the 4,000 patients that no model has seen'
\echo '   (at epsilon 0.1 it varies a little from run to run, because of the noise)'
\echo
WITH scores AS (
    SELECT 2 AS place, epsilon, avg((dp_predict(model, p) = readmitted)::int) AS accuracy
    FROM models, patients_test p GROUP BY epsilon
    UNION ALL
    SELECT 1, NULL, greatest(avg(readmitted::int), 1 - avg(readmitted::int))
    FROM patients_test)
SELECT CASE WHEN epsilon IS NULL THEN 'majority class'
            WHEN epsilon = 'Infinity' THEN 'logistic regression, NOT PRIVATE'
            ELSE 'logistic regression, private' END AS model,
       coalesce(CASE epsilon WHEN 'Infinity' THEN 'none' ELSE epsilon::text END, '') AS epsilon,
       to_char(100 * accuracy, '990.0 %') AS accuracy
FROM scores ORDER BY place, scores.epsilon;

\echo '4. What the model has learned'
\echo
\set ECHO queries
SELECT column_name, value, round(weight::numeric, 1) AS weight, round(noise::numeric, 1) AS noise, stands_out
FROM models, dp_coefficients(model) WHERE epsilon = 1;
\set ECHO none

\echo '5. A new patient: any row with these columns, in any order'
\echo
\set ECHO queries
SELECT dp_predict(model, new) AS readmitted, round(dp_predict_prob(model, new)::numeric, 2) AS probability
FROM models, (SELECT 'oncology' AS ward, 71 AS age, 31 AS bmi, 150 AS systolic, 1.3 AS creatinine,
                     true AS smoker, 2 AS admissions) AS new
WHERE epsilon = 1;
\set ECHO none

\echo '6. The guarantee, for your records: dp_guarantee(model)'
\echo
\pset tuples_only on
\pset format unaligned
SELECT regexp_replace(dp_guarantee(model), '(.{1,84})( |$)', E'   \\1\n', 'g')
FROM models WHERE epsilon = 1;
