--
-- dp_model and prediction, on models written by hand
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

CREATE TABLE hand (name text PRIMARY KEY, model dp_model NOT NULL);

-- A private logistic regression without an intercept: easy to compute by hand.
INSERT INTO hand VALUES ('logistic', '{"format": 1, "loss": "logistic", "epsilon": 1,
  "rows": 1000, "method": "objective", "analysis": "sharp", "lambda": 0.01,
  "lambda_effective": 0.02, "budget": {"slack": 0.0625, "noise": 0.875, "release": 0.0625},
  "noise_scale": 2.5, "grid": 9.094947017729282e-13, "release_scale": 12345,
  "features": [{"type": "vector", "dimension": 2, "norm": 10}], "intercept": false, "weights": [2, -4]}');

-- A support vector machine with an intercept.
INSERT INTO hand VALUES ('svm', '{"format": 1, "loss": "huber", "h": 0.5, "epsilon": 0.5,
  "rows": 1, "method": "output", "analysis": "paper", "lambda": 0.1,
  "lambda_effective": 0.1, "budget": {"slack": 0, "noise": 0.4375, "release": 0.0625},
  "noise_scale": 1e-300, "grid": 1, "release_scale": 9223372036854775807, "dimension": 3,
  "features": [{"column": "x", "type": "vector", "dimension": 2, "norm": 1}], "intercept": true,
  "weights": [-1, 1, 4]}');

-- A baseline without noise.
INSERT INTO hand VALUES ('baseline', '{"format": 1, "loss": "smooth_hinge", "h": 0.1,
  "epsilon": "Infinity", "rows": 12, "method": "objective", "analysis": "sharp", "lambda": 0,
  "lambda_effective": 1e-9, "budget": {"slack": 0, "noise": 0, "release": 0},
  "noise_scale": 0, "grid": 0, "release_scale": 0, "dimension": 1,
  "features": [{"norm": 1, "dimension": 1, "type": "vector"}], "intercept": false, "weights": [0.1]}');

-- Text and accessors
SELECT name, model FROM hand ORDER BY name;
SELECT name, dp_weights(model) FROM hand ORDER BY name;
SELECT name, dp_guarantee(model) FROM hand ORDER BY name;
SELECT bool_and(model::text::dp_model::text = model::text) AS text_round_trip FROM hand;

-- jsonb, both ways; the smallest and the largest numbers survive
SELECT name, jsonb_pretty(model::jsonb - 'guarantee') AS json FROM hand WHERE name = 'logistic';
SELECT bool_and(model::jsonb::dp_model::text = model::text) AS jsonb_round_trip FROM hand;
SELECT bool_and(model::jsonb ->> 'guarantee' = dp_guarantee(model)) AS same_guarantee FROM hand;
SELECT dp_weights(jsonb_set(model::jsonb, '{weights}',
    '[2.2250738585072014e-308, -1.7976931348623157e308]')::dp_model) FROM hand WHERE name = 'logistic';
SELECT dp_weights(jsonb_set(model::jsonb, '{weights}', '[-0.0, 4.9406564584124654e-324]')::dp_model)
  FROM hand WHERE name = 'logistic';

-- A forged guarantee is not kept
SELECT dp_guarantee(jsonb_set(model::jsonb, '{guarantee}', '"epsilon = 0"')::dp_model)
    = dp_guarantee(model) AS written_anew FROM hand WHERE name = 'baseline';

-- Binary: the stored form is the one that is sent
SELECT dperm.dperm_model_send(model) FROM hand WHERE name = 'baseline';
CREATE TABLE hand_again (LIKE hand);
SELECT current_setting('data_directory') || '/dperm_model_test.bin' AS file \gset
COPY hand TO :'file' (FORMAT binary);
COPY hand_again FROM :'file' (FORMAT binary);
SELECT count(*), bool_and(a.model::text = b.model::text) AS binary_round_trip
  FROM hand a JOIN hand_again b USING (name);

-- Bytes that are not a model: bytea is sent as it is, so it can pose as one
CREATE FUNCTION receive(name text, value bytea, file text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  EXECUTE format('COPY (SELECT %L::text, %L::bytea) TO %L (FORMAT binary)', name, value, file);
  EXECUTE format('COPY hand_again FROM %L (FORMAT binary)', file);
  RETURN 'taken';
EXCEPTION WHEN invalid_binary_representation THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN detail;
WHEN feature_not_supported THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_HINT;
  RETURN SQLERRM || ': ' || detail;
END $$;
SELECT what, receive(what, bytes, :'file') FROM hand, LATERAL (SELECT dperm.dperm_model_send(model)) AS s (b), LATERAL (VALUES
  ('empty', ''), ('magic', overlay(b PLACING '\x00' FROM 1)), ('format', overlay(b PLACING '\x0001' FROM 5)), ('longer', b || '\x00'),
  ('nan', overlay(b PLACING '\x7ff8000000000000' FROM length(b) - 16)), ('features', overlay(b PLACING '\x00000002' FROM 119)), ('same', b)) v (what, bytes)
  WHERE name = 'svm';
-- nor are names that are not text: every name, with a byte that UTF-8 does not have
CREATE TABLE "Zsource" ("Zcolumn" text CHECK ("Zcolumn" IN ('Zvalue', 'other')), "Zlabel" text CHECK ("Zlabel" IN ('Zclass', 'second', 'Zthird')), ill boolean);
INSERT INTO "Zsource" SELECT 'other', 'second', i > 1 FROM generate_series(1, 3) i;
SELECT name, receive('name', overlay(b PLACING '\xff' FROM position(convert_to(name, 'UTF8') IN b)), :'file')
  FROM dperm.dperm_model_send(dp_logreg_train('"Zsource"', 'Zlabel', 'Zcolumn', 'Infinity')) b, unnest('{Zsource,Zcolumn,Zvalue,Zlabel,Zclass,Zthird}'::text[]) name;
SELECT receive('positive', overlay(b PLACING '\xff' FROM position('Zthird'::bytea IN b)), :'file')
  FROM dperm.dperm_model_send(dp_logreg_train('"Zsource"', 'Zlabel', 'Zcolumn', 'Infinity', positive => 'Zthird')) b;
DROP TABLE "Zsource";
\set remove 'rm -f ' :file
COPY (SELECT 1 WHERE false) TO PROGRAM :'remove';

-- Texts that are not models
SELECT outcomes('?::dp_model', $$
  '' | '{}' | '[]' | '{"format": 2, "weights": "in another way"}' | (repeat('[', 1000))
  '"svm"'::jsonb $$);
SELECT outcomes($$ ?::dp_model FROM hand WHERE name = 'svm' $$, $$
  (model::text || 'x') | (model::jsonb - 'intercept') | (model::jsonb #- '{features,0,norm}')
  jsonb_set(model::jsonb, '{dimension}', '2') $$);
SELECT outcomes($$ replace(model::text, ?)::dp_model FROM hand WHERE name = 'svm' $$, $$
  '"rows": 1,', '"rows": 0,' | '"rows": 1,', '"row": 1,'
  '"epsilon": 0.5', '"epsilon": 0.4' | '"epsilon": 0.5', '"epsilon": "Infinity"'
  '[-1, 1, 4]', '[-1, 1]' | '[-1, 1, 4]', '[-1, 1, NaN]' | '[-1, 1, 4]', '[-1, 1, 1e999]' $$);

SELECT replace(model::text, '"rows": 1,', '"rows": 1, "rows": 2,')::dp_model::jsonb -> 'rows' AS the_last_counts FROM hand WHERE name = 'svm';
-- A model that an older version has stored is no damaged one
BEGIN;
CREATE CAST (bytea AS dp_model) WITHOUT FUNCTION;
SELECT outcomes('dp_weights(?)', $$ '\x4450524d0001020000000000000017'::bytea::dp_model | '\x4450524d0002'::bytea::dp_model | '\x00'::bytea::dp_model $$);
ROLLBACK;

-- Prediction, over everything that can hold a vector
SELECT dp_decision(model, '{1,2}'::float8[]) AS float8,
       dp_decision(model, '{1,2}'::float4[]) AS float4,
       dp_decision(model, '{1,2}'::numeric[]) AS "numeric",
       dp_decision(model, '{1,2}'::int2[]) AS int2,
       dp_decision(model, '{1,2}'::int4[]) AS int4,
       dp_decision(model, '{1,2}'::int8[]) AS int8,
       dp_decision(model, '{1,2}') AS literal,
       dp_decision(model, '[5:6]={1,2}'::float8[]) AS bounds
  FROM hand WHERE name = 'logistic';
CREATE DOMAIN vec AS float8[];
CREATE DOMAIN small AS int2;
SELECT dp_decision(model, '{1,2}'::vec) AS over_array,
       dp_decision(model, '{1,2}'::small[]) AS of_elements
  FROM hand WHERE name = 'logistic';
SELECT dp_predict(model, '{1,2}') AS f, dp_predict(model, '{2,-1}') AS t,
       dp_predict(model, '{2,1}') AS zero_is_f
  FROM hand WHERE name = 'logistic';
SELECT round(dp_predict_prob(model, '{1,2}')::numeric, 12) AS prob,
       dp_predict_prob(model, '{2,1}') AS half
  FROM hand WHERE name = 'logistic';

-- The norm bounds what a vector can do: this one is 1000 times too large
SELECT round(dp_decision(model, '{6000,-8000}')::numeric, 9) AS clipped,
       round(dp_decision(model, '{6,-8}')::numeric, 9) AS same
  FROM hand WHERE name = 'logistic';

-- A bad element makes a zero block, so the vector has no usable value
SELECT name, dp_encode(model, x) = dp_encode(model, '{0,0}') AS zero_block, dp_decision(model, x) IS NULL AS nothing, dp_decision(model, '{0,0}') IS NULL AS zeros
  FROM hand, (VALUES ('{1,NULL}'::float8[]), ('{NaN,1}'), ('{1,Infinity}'), ('{NULL,NULL}')) v(x)
  WHERE name <> 'baseline' ORDER BY 1;
SELECT dp_decision(model, '{1,-Infinity}'::float4[]), dp_decision(model, ARRAY[1, NULL]),
       dp_decision(model, ARRAY['NaN', 1]::numeric[]), dp_decision(model, ARRAY[1e400, 1])
  FROM hand WHERE name = 'logistic';
SELECT dp_decision(model, NULL::float8[]) IS NULL AS strict, dp_predict(NULL, '{1,2}') IS NULL AS too
  FROM hand WHERE name = 'logistic';

-- Wrong shapes and types are mistakes of the query
SELECT outcomes($$ dp_decision(model, ?) FROM hand WHERE name = 'logistic' $$, $$
  '{1,2,3}'::float8[] | '{}'::float8[] | '{{1,2}}'::float8[] | '{1,x}' | '{1,2}'::text[]
  '{1,2}'::text | 1.5 | hand $$);
SELECT outcomes($$ dp_predict_prob(model, ?) FROM hand WHERE name = 'svm' $$, $$ '{1,2}' $$);

-- The model changes from row to row, short and long, in line and toasted
CREATE TABLE many (id int PRIMARY KEY, dim int, model dp_model);
INSERT INTO many
  SELECT i, d, jsonb_set(jsonb_set(model::jsonb - 'dimension', '{features,0,dimension}', to_jsonb(d)), '{weights}',
                         (SELECT jsonb_agg(round((sin(i * 1000 + k))::numeric, 9))
                          FROM generate_series(1, d) k))::dp_model
  FROM hand, generate_series(1, 12) i, LATERAL (SELECT (ARRAY[1, 3, 40, 2000])[1 + i % 4] AS d) s
  WHERE name = 'logistic';
SELECT dim, bool_or(pg_column_size(model) > 1500) AS large FROM many GROUP BY dim ORDER BY dim;
CREATE VIEW scored AS
  SELECT r.id AS round, m.id,
         dp_decision(m.model, array_fill(0.01::float8, ARRAY[m.dim])) AS got,
         0.001 * (SELECT sum(w) FROM unnest(dp_weights(m.model)) w) AS expected
  FROM generate_series(1, 3) r(id), many m;
SELECT count(*), bool_and(abs(got - expected) < 1e-9) AS right_model FROM scored;
SELECT count(*), bool_and(abs(got - expected) < 1e-9) AS right_model
  FROM (SELECT * FROM scored ORDER BY id, round) s;
-- one toasted model right after the other
SELECT count(*), count(DISTINCT got), bool_and(abs(got - expected) < 1e-9) AS right_model
  FROM scored WHERE id % 4 = 3;
-- equal in size, different in content, one after the other at the same address
SELECT string_agg(dp_decision(('{"format": 1, "loss": "logistic", "epsilon": "Infinity", "rows": 1,
  "method": "output", "analysis": "sharp", "lambda": 1, "lambda_effective": 1, "budget":
  {"slack": 0, "noise": 0, "release": 0}, "noise_scale": 0, "grid": 0, "release_scale": 0,
  "features": [{"type": "vector", "dimension": 1, "norm": 10}], "intercept": false, "weights": ['
  || i || ']}')::dp_model, '{1}')::numeric(6, 3)::text, ' ' ORDER BY i) AS changing
  FROM generate_series(1, 9) i;
-- a call that fails leaves the next call alone
DO $$
DECLARE
  m dp_model;
  x float8[];
  d float8;
BEGIN
  FOR m, x IN SELECT model, v.x FROM hand, (VALUES ('{1,2}'::float8[]), ('{1}'), (NULL)) v(x)
              ORDER BY name, cardinality(v.x) DESC NULLS LAST LOOP
    BEGIN
      d := dp_decision(m, coalesce(x, '{3,4}'));
      RAISE WARNING '% -> %', x, round(d::numeric, 6);
    EXCEPTION WHEN data_exception THEN
      RAISE WARNING '% -> %', x, SQLERRM;
    END;
  END LOOP;
END $$;

-- How the planner may use them
SELECT proname, provolatile, proparallel, proisstrict FROM pg_proc
  WHERE proname ~ '^dp(erm)?_(model_|predict|decision|weights|guarantee)' ORDER BY proname COLLATE "C";
SELECT typname, typlen, typalign, typstorage FROM pg_type WHERE typname = 'dp_model';

DROP VIEW scored;
DROP TABLE hand, hand_again, many;
DROP FUNCTION receive(text, bytea, text);
DROP DOMAIN vec, small;
