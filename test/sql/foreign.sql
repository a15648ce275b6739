--
-- Training on a foreign table. Without contrib's file_fdw there is nothing to
-- test
--
\set ECHO errors
\pset format unaligned
\pset footer off
SELECT count(*) = 0 AS skip FROM pg_available_extensions WHERE name = 'file_fdw' \gset
\if :skip
\quit
\endif
SET client_min_messages = warning;
CREATE SCHEMA foreign_test;
SET search_path = foreign_test, public;

CREATE TABLE patients AS
  SELECT i % 5 IN (0, 3) AS sick, ARRAY[sin(i), cos(2 * i), sin(i * i)] AS x, i % 7 AS k FROM generate_series(1, 200) i;
SELECT current_setting('data_directory') || '/dperm_foreign_test.csv' AS file \gset
\set remove 'rm -f ' :file
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
COPY (SELECT sick, x, k FROM patients) TO :'file' (FORMAT csv);
CREATE FOREIGN TABLE foreign_patients (sick boolean, x float8[], k int) SERVER files OPTIONS (filename :'file', format 'csv');
-- the same rows give the same model, whether they are kept in memory or read
-- again
CREATE TABLE models (source text, cache text, model dp_model);
CREATE PROCEDURE train() LANGUAGE sql AS $$
  INSERT INTO models SELECT source, current_setting('dperm.cache_memory'),
    dp_logreg_train(source, 'sick', '{x,k}', 'Infinity', domains => '{"x": {"dimension": 3}, "k": [0, 6]}')
  FROM unnest('{patients,foreign_patients}'::text[]) source
$$;
SET dperm.cache_memory = '64MB';
CALL train();
SET dperm.cache_memory = 0;
CALL train();
SELECT count(*), max(abs(v - w)) < 1e-9 AS same
  FROM models a, models b, LATERAL unnest(dp_weights(a.model), dp_weights(b.model)) u(v, w);

-- labels of several classes, and numbers
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS
  'SELECT max(abs(v - w)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)';
CREATE PROCEDURE compare() LANGUAGE plpgsql AS $$
BEGIN
  ASSERT distance(dp_logreg_train('patients', 'k', 'x', 'Infinity', domains => '{"k": {"categories": ["5", "0", "3"]}, "x": {"dimension": 3}}'),
    dp_logreg_train('foreign_patients', 'k', 'x', 'Infinity', domains => '{"k": {"categories": ["5", "0", "3"]}, "x": {"dimension": 3}}')) < 1e-9;
  ASSERT distance(dp_linreg_train('patients', 'k', 'x', 'Infinity', domains => '{"k": [1, 6], "x": {"dimension": 3}}'),
    dp_linreg_train('foreign_patients', 'k', 'x', 'Infinity', domains => '{"k": [1, 6], "x": {"dimension": 3}}')) < 1e-9;
END $$;
CALL compare();
RESET dperm.cache_memory;
CALL compare();

-- and its rows can be predicted
SELECT count(*), count(*) FILTER (WHERE dp_predict(model, f) = dp_predict(model, p)) AS same
  FROM models, foreign_patients f JOIN patients p USING (x) WHERE source = 'patients' AND cache = '0';

COPY (SELECT 1 WHERE false) TO PROGRAM :'remove';
DROP EXTENSION file_fdw CASCADE;
DROP SCHEMA foreign_test CASCADE;
