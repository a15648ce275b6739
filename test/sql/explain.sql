--
-- What a model says: its weights and their noise, and what each column adds to a score
--

CREATE TABLE people (
    id int PRIMARY KEY,
    income float8 CHECK (income BETWEEN 0 AND 10),
    shoe float8 CHECK (shoe BETWEEN 0 AND 1),
    town text CHECK (town IN ('here', 'there', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8')),
    rich boolean
);
-- nobody lives in r1 to r8, and shoes say nothing
INSERT INTO people
SELECT i, i % 101 / 10.0, i % 7 / 6.0, (ARRAY['here', 'there'])[1 + i % 2], i % 101 / 10.0 > 5 FROM generate_series(1, 20000) i;

-- Output perturbation: exact, by the formulas of the reference
CREATE TABLE outputs AS
SELECT delta, dp_logreg_train('people', 'rich', '{income,shoe,town}', epsilon => 1, delta => delta, method => 'output') AS model
  FROM (VALUES (0), (1e-6)) v (delta);
SELECT delta, count(*), min(noise_kind) AS kind,
       max(abs(noise / ((model::jsonb ->> 'noise_scale')::float8 * CASE delta WHEN 0 THEN sqrt(14) ELSE 1 END) - 1)) < 1e-6 AS right
  FROM outputs, dp_coefficients(model) GROUP BY delta ORDER BY delta;

-- Objective perturbation: a bound. All weights have the same noise here, so it is that of a weight without rows.
SELECT method, noise_kind, count(*),
       max(abs(noise / expected - 1)) < 1e-6 AS right
  FROM (SELECT m ->> 'method' AS method, m::text::dp_model AS model,
               (m ->> 'noise_scale')::float8 * sqrt(4 * 5 / 3.0) * (m -> 'noise_groups' -> 0 -> 'shapes' -> 0 ->> 'radius')::float8
               / ((m ->> 'rows')::float8 * (m ->> 'lambda_effective')::float8) AS expected
          FROM (SELECT dp_logreg_train('people', 'rich', '{income,shoe}', epsilon => 1, method => 'objective')::jsonb AS m OFFSET 0) t) s,
       dp_coefficients(model) GROUP BY method, noise_kind;
-- The same in the ball, and for persons
SELECT max(abs(noise / ((m ->> 'noise_scale')::float8 * sqrt(4) / ((m ->> 'persons')::float8 * (m ->> 'lambda_effective')::float8)) - 1)) < 1e-6 AS right
  FROM (SELECT dp_svm_train('people', 'rich', '{income,shoe}', epsilon => 1, noise => 'ball', unit => 'id')::jsonb AS m OFFSET 0) s, dp_coefficients(m::text::dp_model);
-- No noise
SELECT count(*), max(noise) AS noise, bool_and(noise_kind = 'exact') AS exact, count(*) FILTER (WHERE stands_out) AS stand_out
  FROM dp_coefficients(dp_logreg_train('people', 'rich', '{income,town}', epsilon => 'Infinity'));

-- The order: what stands out most comes first, the intercept last
CREATE TABLE trained AS
SELECT i, dp_logreg_train('people', 'rich', '{income,shoe,town}', epsilon => 4, lambda => 0.002) AS model FROM generate_series(1, 40) i;
CREATE TABLE weights AS
SELECT i, c.*, abs(weight) / noise AS strength FROM trained, ROWS FROM (dp_coefficients(model)) WITH ORDINALITY AS c (position, column_name, value, weight, noise, noise_kind, stands_out, place);
SELECT count(*), count(*) FILTER (WHERE after > strength) AS disordered, bool_and(stands_out = (strength > 2.5)) AS flags
  FROM (SELECT *, lead(strength) OVER (PARTITION BY i ORDER BY place) AS after FROM weights WHERE value IS DISTINCT FROM 'intercept') s;
SELECT DISTINCT place FROM weights WHERE value = 'intercept';

-- A finding stands out. Weights of towns where nobody lives, and of shoes, do not, but by chance, however large they are.
SELECT bool_and(stands_out) AS finding FROM weights WHERE column_name = 'income';
SELECT count(*), avg(stands_out::int) < 0.08 AS rare FROM weights WHERE value ~ '^r' OR column_name = 'shoe';
-- Their noise is what repeated trainings show
SELECT stddev(weight) / min(noise) BETWEEN 0.6 AND 1.6 AS as_large FROM weights WHERE value ~ '^r';
