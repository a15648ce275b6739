--
-- A prior: the regulariser is centred at the weights of another model
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA months;
SET search_path = months, public;
CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$ SELECT max(abs(u - v)) FROM unnest(dp_weights(a), dp_weights(b)) w(u, v) $$;
CREATE FUNCTION with_weights(model dp_model, weights float8[]) RETURNS dp_model LANGUAGE sql AS $$ SELECT jsonb_set(model::jsonb, '{weights}', to_jsonb(weights))::dp_model $$;

-- The minimiser of a program of its own: Newton's method for the mean loss and
-- lambda/2 |f - prior|^2
CREATE TABLE twohundred AS SELECT i * 7 % 11 AS a, (ARRAY['p', 'q'])[1 + i % 2] AS c, i * 31 % 17 + i * 7 % 11 > 13 AS y FROM generate_series(1, 200) i;
CREATE TABLE start AS SELECT with_weights(dp_logreg_train('twohundred', 'y', '{a,c}', 'Infinity', knots => 1, domains => '{"a": [0, 10], "c": ["p", "q"]}'), '{1,-2,0.5,0.25}') AS logreg,
  with_weights(dp_svm_train('twohundred', 'y', '{a,c}', 'Infinity', knots => 1, domains => '{"a": [0, 10], "c": ["p", "q"]}'), '{1,-2,0.5,0.25}') AS svm;
SELECT learner, lambda, round((SELECT max(abs(u - v)) FROM unnest(expected, dp_weights(model)) w(u, v))::numeric, 9) AS distance
FROM start, LATERAL (VALUES
  ('logreg', 0.05, '{1.49353678044,-1.375818260539,0.035470722998,0.409652462459}'::float8[], dp_logreg_train('twohundred', 'y', NULL, 'Infinity', lambda => 0.05, prior => logreg)),
  ('logreg', 2, '{1.020457290248,-1.970720302364,0.482254987272,0.261534684909}', dp_logreg_train('twohundred', 'y', NULL, 'Infinity', lambda => 2, prior => logreg)),
  ('svm', 0.05, '{1.971881040185,-1.168087571423,-0.136450333828,0.445462094749}', dp_svm_train('twohundred', 'y', NULL, 'Infinity', lambda => 0.05, prior => svm)),
  ('svm', 2, '{1.035084733094,-1.959951576739,0.480628729232,0.270677152493}', dp_svm_train('twohundred', 'y', NULL, 'Infinity', lambda => 2, prior => svm))) v(learner, lambda, expected, model);

-- Two months: the features in the order of the prior, curves and all
SELECT setseed(0.29) \gset
CREATE TABLE january (id int PRIMARY KEY, age int CHECK (age BETWEEN 17 AND 90), gain float8, member boolean, ward text CHECK (ward IN ('a', 'b', 'c')), ill text);
INSERT INTO january SELECT i, 17 + (random() * 73)::int, exp(random() * 11.6), i % 3 = 0, (ARRAY['a', 'b', 'c'])[1 + i % 3] FROM generate_series(1, 2000) i;
UPDATE january SET ill = CASE WHEN random() < 1 / (1 + exp(abs(age - 50) / 8.0 - 2 + (ward = 'a')::int)) THEN 'yes' ELSE 'no' END;
CREATE TABLE february (LIKE january INCLUDING ALL, person int);
INSERT INTO february SELECT *, id / 3 FROM january WHERE id % 2 = 0;
\set domains '{"age": {"knots": 6}, "gain": {"range": [0, 99999], "knots": [0, 1000, 99999]}, "ward": ["c", "a"]}'
CREATE TABLE old AS SELECT dp_logreg_train('january', 'ill', '{ward,age,member,gain}', 'Infinity', lambda => 0.001, positive => 'yes', domains => :'domains') AS model,
  dp_svm_train('january', 'ill', '{ward,age,member,gain}', 5, lambda => 0.01, positive => 'yes', domains => :'domains') AS svm,
  dp_logreg_train('january', 'ill', '{age,gain}', 5, lambda => 0.01, positive => 'yes', domains => '{"gain": [0, 99999]}', kernel => 'laplacian', gamma => 2, options => '{"kernel_features": 20, "kernel_seed": 7, "intercept": true}') AS kernel;
SELECT part, new::jsonb -> part = model::jsonb -> part AS same FROM old, dp_logreg_train('february', 'ill', NULL, 1, prior => model) new,
  unnest('{features,intercept,label,positive}'::text[]) part;
SELECT new::jsonb -> 'prior' #- '{norm}' AS prior, abs((new::jsonb -> 'prior' ->> 'norm')::float8 - sqrt((SELECT sum(w * w) FROM unnest(dp_weights(kernel)) w))) < 1e-6 AS norm,
  new::jsonb -> 'kernel' AS kernel, new::text::dp_model::text = new::text AS as_text, (new::jsonb::dp_model)::jsonb = new::jsonb AS as_jsonb
FROM old, dp_logreg_train('february', 'ill', NULL, 1, prior => kernel) new;

-- With a large lambda it is the prior, in every way to train and to read rows
CREATE FUNCTION stays(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE new dp_model; prior dp_model;
BEGIN
  EXECUTE format('SELECT %s, %s FROM old', call, substring(call FROM 'prior => (\w+)')) INTO new, prior;
  RETURN CASE WHEN distance(new, prior) < 1e-3 THEN 'prior' ELSE dp_weights(new)::text || ' is not ' || dp_weights(prior)::text END;
END $$;
CREATE TABLE ways (way int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO ways (call) VALUES
  ($$dp_logreg_train('february', 'ill', NULL, 'Infinity', lambda => 1e6, prior => model)$$),
  ($$dp_logreg_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => model)$$),
  ($$dp_logreg_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => model, delta => 1e-6, neighbours => 'remove', options => '{"method": "objective"}')$$),
  ($$dp_logreg_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => model, options => '{"method": "output"}')$$),
  ($$dp_logreg_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => model, options => '{"method": "output"}', delta => 1e-6)$$),
  ($$dp_logreg_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => model, options => '{"analysis": "paper"}')$$),
  ($$dp_logreg_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => model, options => '{"noise": "ball"}')$$),
  ($$dp_logreg_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => model, unit => 'person')$$),
  ($$dp_logreg_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => model, unit => 'person', delta => 1e-6, options => '{"method": "output"}')$$),
  ($$dp_logreg_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => kernel)$$),
  ($$dp_svm_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => svm)$$),
  ($$dp_svm_train('february', 'ill', NULL, 0.1, lambda => 1e6, prior => svm, options => '{"loss": "smooth_hinge", "h": 0.1}', unit => 'person')$$),
  ($$dp_logreg_tune('february', 'ill', NULL, 0.1, prior => model, candidates => '[{"lambda": 1e6}, {"lambda": 1e7}]')$$),
  ($$dp_logreg_tune('february', 'ill', NULL, 0.1, prior => model, candidates => '[{"lambda": 1e6}, {"lambda": 1e7}]', unit => 'person')$$),
  ($$dp_logreg_tune('february', 'ill', NULL, 0.1, prior => kernel, candidates => '[{"lambda": 1e6}, {"lambda": 1e7}]')$$),
  ($$dp_svm_tune('february', 'ill', NULL, 0.1, prior => svm, candidates => '[{"lambda": 1e6}, {"lambda": 1e6, "h": 0.1}]')$$);
SELECT way, stays(call) FROM ways ORDER BY way;
SET dperm.cache_memory = 0;
SELECT count(*) FROM ways WHERE stays(call) = 'prior';
RESET dperm.cache_memory;

-- A prior leaves less to learn: another default of lambda, but the same claim
SELECT c.lambda_used > d.lambda_used AS lambda, c.epsilon_noise + c.epsilon_slack + c.epsilon_release <= 0.1 + 1e-12 AS epsilon
FROM old, dp_cost('february', 'ill', NULL, 0.1, units => 1000, prior => model, options => '{"method": "objective", "noise": "shaped"}') c,
  dp_cost('february', 'ill', '{ward,age,member,gain}', 0.1, units => 1000, positive => 'yes', domains => :'domains', options => '{"method": "objective", "noise": "shaped"}') d;

-- What the guarantee says
SELECT substring(dp_guarantee(new) FROM 'The regulariser.*add up\.') AS guarantee FROM old, dp_logreg_train('february', 'ill', NULL, 1, prior => model) new;
SELECT substring(dp_guarantee(new) FROM 'The regulariser.*add up\.') AS guarantee FROM old, dp_svm_train('february', 'ill', NULL, 1, prior => svm) new;
SELECT substring(dp_guarantee(dp_logreg_train('february', 'ill', NULL, 1, prior => new)) FROM 'The regulariser.*add up\.') AS guarantee FROM old, dp_logreg_train('february', 'ill', NULL, 2, prior => model) new;
SELECT substring(dp_guarantee(new) FROM 'without noise.*') AS guarantee FROM old, dp_logreg_train('february', 'ill', NULL, 'Infinity', prior => model) new;
CREATE TABLE both_months AS SELECT dp_logreg_train('january', 'ill', '{age}', 0.5, positive => 'yes') AS model;
INSERT INTO both_months SELECT dp_logreg_train('january', 'ill', NULL, 0.25, prior => model) FROM both_months;
SELECT dp_compose(model) -> 'epsilon' AS epsilon FROM both_months;
SELECT dp_compose(model) ? 'not_private_priors' AS exposed FROM both_months;
INSERT INTO both_months SELECT dp_logreg_train('february', 'ill', NULL, 1, prior => old.model) FROM old;
INSERT INTO both_months SELECT dp_logreg_train('february', 'ill', NULL, 1, prior => model) FROM both_months WHERE model::jsonb #>> '{prior,private}' = 'false';
SELECT dp_compose(model) - 'epsilon' AS models, dp_compose(model::jsonb) = dp_compose(model) AS same FROM both_months;
SELECT DISTINCT substring(dp_guarantee(model) FROM 'everything else[^.]*\.') COLLATE "C" AS rest FROM both_months ORDER BY rest;

-- Whatever differs is an error that says so, before a row is read
CREATE VIEW trap AS SELECT id, age, gain, member, ward, CASE WHEN id > 0 THEN 1 / (id - id) ELSE 0 END > 0 AS ill FROM february;
CREATE FUNCTION refusal(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; hint text;
BEGIN
  EXECUTE 'SELECT ' || arguments || ' FROM old';
  RETURN 'trained';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' / ', message, nullif(detail, ''), nullif(hint, ''));
END $$;
SELECT refusal(replace(what, '?', $$'trap', 'ill', NULL, 1, prior => model$$)) FROM unnest(ARRAY[
  $$dp_svm_train(?)$$, $$dp_logreg_train('trap', 'member', NULL, 1, prior => model)$$,
  $$dp_logreg_train('trap', 'ill', '{age,gain,member,ward}', 1, prior => model)$$,
  $$dp_logreg_train('start', 'ill', NULL, 1, prior => model)$$,
  $$dp_logreg_train(?, positive => 'no')$$, $$dp_logreg_train(?, options => '{"intercept": false}')$$, $$dp_logreg_train(?, kernel => 'gaussian')$$,
  $$dp_logreg_train(?, knots => 5)$$,
  $$dp_logreg_train(?, domains => '{"age": [17, 80]}')$$,
  $$dp_logreg_tune(?, candidates => '[{"lambda": 1}, {"knots": 5}]')$$, $$dp_logreg_tune(?, candidates => '[{"intercept": false}]')$$, $$dp_logreg_tune(?, candidates => '[{"kernel": "cauchy"}]')$$,
  $$dp_logreg_tune(?, candidates => '[{"prior": 1}]')$$, $$dp_cost('trap', 'ill', '{age}', 1, prior => model)$$,
  $$dp_logreg_train('trap', 'ill', NULL, 1, prior => kernel, kernel => 'linear')$$, $$dp_logreg_train('trap', 'ill', NULL, 1, prior => kernel, gamma => 1)$$,
  $$dp_logreg_train('trap', 'ill', NULL, 1, prior => kernel, options => '{"kernel_features": 22}')$$, $$dp_logreg_train('trap', 'ill', NULL, 1, prior => kernel, options => '{"kernel_seed": 8}')$$]) what;
-- columns of other types, models that name no column, weights without bounds
CREATE TABLE odd AS SELECT id, age::text, gain, member, ward, ill FROM february;
SELECT refusal($$dp_logreg_train('odd', 'ill', NULL, 1, prior => model)$$);
SELECT refusal($$dp_logreg_train('february', 'ill', NULL, 1, prior => (SELECT dp_logreg(ill = 'yes', ARRAY[age / 100.0], 1) FROM january))$$);
SELECT weight, refusal(format($$dp_logreg_train('february', 'ill', NULL, 1, prior => with_weights(model, ARRAY[%s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]))$$, weight))
  FROM unnest('{999999,1000001,1e300,-1e308,1e-320}'::float8[]) weight;

-- A protected relation: the model travels to the worker as a value, and the
-- ledger names the entry of the prior
SELECT dp_budget_create('months', epsilon => 100);
SELECT dp_protect('january', 'months', unit => 'id', columns => '{age,gain,member,ward,ill}', domains => '{"gain": [0, 99999]}');
CREATE TABLE paid AS SELECT dp_logreg_train('january', 'ill', '{age,ward}', 1, positive => 'yes', domains => '{"age": {"range": [20, 80], "knots": 5}}') AS model;
CREATE TABLE again AS SELECT dp_logreg_train('january', 'ill', NULL, 1, lambda => 1e6, prior => model) AS model FROM paid;
SELECT distance(a.model, p.model) < 1e-3 AS near, a.model::jsonb -> 'features' = p.model::jsonb -> 'features' AS features,
  a.model::jsonb #> '{prior,ledger}' = p.model::jsonb -> 'ledger' AS ledger, a.model::jsonb #> '{prior,private}' AS private FROM again a, paid p;
SELECT dp_logreg_tune('january', 'ill', NULL, 1, prior => model, candidates => '[{"lambda": 1e6}, {"lambda": 1e7}]') IS NOT NULL AS tuned FROM paid;
SELECT function, parameters, details FROM dp_ledger WHERE budget = 'months' AND act = 'charge' ORDER BY entry;
-- what is not within the owner's domains is refused, and nothing is charged
SELECT dp_logreg_train('january', 'ill', NULL, 1, prior => dp_logreg_train('february', 'ill', '{age,ward}', 1, positive => 'yes', domains => '{"age": [0, 90]}'));
SELECT dp_logreg_train('january', 'ill', NULL, 1, prior => dp_logreg_train('february', 'ill', '{age,id}', 1, positive => 'yes', domains => '{"age": [17, 90], "id": [0, 1]}'));
SELECT count(*) FROM dp_ledger WHERE budget = 'months' AND act = 'charge';
SELECT dp_unprotect('january');
SET client_min_messages = warning;
DROP SCHEMA months CASCADE;
