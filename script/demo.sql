-- The story that script/demo tells. Works in any empty database that can
-- CREATE EXTENSION dperm.
\set QUIET on
\set ON_ERROR_STOP on
\pset footer off
SET client_min_messages = warning;

CREATE EXTENSION dperm;

-- 20,000 patients who do not exist. Seeded, so that every run shows the same ones.
SELECT setseed(0.20) \g /dev/null

CREATE FUNCTION pg_temp.normal(mean float8, deviation float8) RETURNS float8
LANGUAGE sql VOLATILE AS
$$ SELECT mean + deviation * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) $$;

CREATE TABLE patients AS
SELECT id, age, bmi, systolic, smoker, admissions, hba1c, creatinine, haemoglobin
FROM (SELECT id,
             round(pg_temp.normal(62, 15))::int AS age,
             round(pg_temp.normal(28.5, 5)::numeric, 1) AS bmi,
             round(pg_temp.normal(134, 18))::int AS systolic,
             random() < 0.24 AS smoker,
             floor(-1.6 * ln(1 - random()))::int AS admissions,
             round((5 + abs(pg_temp.normal(0, 1.7)))::numeric, 1) AS hba1c,
             round(exp(pg_temp.normal(0.05, 0.35))::numeric, 2) AS creatinine,
             round(pg_temp.normal(13.2, 1.7)::numeric, 1) AS haemoglobin
      FROM generate_series(1, 20000) AS id) AS p;

-- The truth that the models have to find: a logistic law of the real values.
ALTER TABLE patients ADD readmitted boolean;
UPDATE patients SET readmitted = random() < 1 / (1 + exp(-(
    -2.2 + 0.05 * (age - 62) + 0.04 * (bmi - 28.5) + 0.02 * (systolic - 134)
    + 0.9 * smoker::int + 0.75 * admissions + 0.35 * (hba1c - 6)
    + 1.2 * (creatinine - 1.1) - 0.3 * (haemoglobin - 13))));

-- The vector: each value scaled by the range a doctor knows beforehand, never by
-- the minimum and maximum of these patients, which are private.
CREATE FUNCTION scaled(value numeric, low numeric, high numeric) RETURNS float8
LANGUAGE sql IMMUTABLE AS
$$ SELECT (2 * (value - low) / (high - low) - 1)::float8 $$;

CREATE FUNCTION features(age numeric, bmi numeric, systolic numeric, smoker boolean,
    admissions numeric, hba1c numeric, creatinine numeric, haemoglobin numeric)
RETURNS float8[] LANGUAGE sql IMMUTABLE AS
$$ SELECT ARRAY[scaled(age, 20, 100), scaled(bmi, 15, 45), scaled(systolic, 80, 190),
                smoker::int, scaled(admissions, 0, 8) + 0.5, scaled(hba1c, 4, 10),
                scaled(creatinine, 0, 2.4), scaled(haemoglobin, 7, 19)] $$;

ALTER TABLE patients ADD x float8[];
UPDATE patients SET x = features(age, bmi, systolic, smoker, admissions, hba1c,
                                 creatinine, haemoglobin);

CREATE VIEW patients_train AS SELECT * FROM patients WHERE id % 5 > 0;
CREATE VIEW patients_test AS SELECT * FROM patients WHERE id % 5 = 0;
VACUUM ANALYZE patients;

\echo
\echo '1. The data: 20,000 patients; 16,000 to train on, 4,000 held out'
\echo '   x holds the eight values, scaled by publicly known clinical ranges'
\echo
SELECT id, age, bmi, systolic, smoker, admissions AS "prior adm.", hba1c, creatinine,
       haemoglobin, readmitted
FROM patients ORDER BY id LIMIT 4;

\echo '2. Training: one model for each privacy budget epsilon (small = more private)'
\echo '   epsilon = Infinity is the ordinary model, without privacy, to compare with;'
\echo '   norm bounds the length of x: the few longer vectors are shortened to it'
\echo
\set ECHO queries
CREATE TABLE models AS
SELECT epsilon,
       dp_logreg_train('patients_train', label => 'readmitted', features => 'x',
                       epsilon => epsilon, dimension => 8, norm => 2) AS model
FROM unnest(ARRAY[0.1, 1, 10, 'Infinity']::float8[]) AS epsilon;
\set ECHO none

\echo
\echo '3. Accuracy on the 4,000 patients that no model has seen'
\echo '   (epsilon 0.1 changes a little from run to run: the noise is the privacy)'
\echo
WITH scores AS (
    SELECT 2 AS place, epsilon, avg((dp_predict(model, x) = readmitted)::int) AS accuracy
    FROM models, patients_test GROUP BY epsilon
    UNION ALL
    SELECT 1, NULL, greatest(avg(readmitted::int), 1 - avg(readmitted::int))
    FROM patients_test)
SELECT CASE WHEN epsilon IS NULL THEN 'always guess the commoner answer'
            WHEN epsilon = 'Infinity' THEN 'logistic regression, NOT PRIVATE'
            ELSE 'logistic regression, private' END AS model,
       coalesce(CASE epsilon WHEN 'Infinity' THEN 'none' ELSE epsilon::text END, '') AS epsilon,
       to_char(100 * accuracy, '990.0 %') AS accuracy
FROM scores ORDER BY place, scores.epsilon;

\echo '4. What the privacy officer files: dp_guarantee(model)'
\echo
\pset tuples_only on
\pset format unaligned
SELECT regexp_replace(dp_guarantee(model), '(.{1,84})( |$)', E'   \\1\n', 'g')
FROM models WHERE epsilon = 1;
\pset format aligned
\pset tuples_only off

\echo '5. A new patient: 71 years, BMI 31, 150 mmHg, smoker, 2 prior admissions'
\echo
\set ECHO queries
SELECT dp_predict(model, v.x) AS readmitted,
       round(dp_predict_prob(model, v.x)::numeric, 2) AS probability
FROM models, features(71, 31, 150, true, 2, 7.4, 1.3, 12.1) AS v(x)
WHERE epsilon = 1;
\set ECHO none
