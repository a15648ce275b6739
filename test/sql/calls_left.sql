--
-- How many calls a budget allows: dp_cost says it, and it is so
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE ROLE dperm_calls_owner;
CREATE ROLE dperm_calls_analyst;
CREATE ROLE dperm_calls_stranger;
CREATE ROLE dperm_calls_team;
CREATE ROLE dperm_calls_member IN ROLE dperm_calls_team;
CREATE ROLE dperm_calls_bare NOINHERIT IN ROLE dperm_calls_team;
CREATE SCHEMA calls AUTHORIZATION dperm_calls_owner;
GRANT USAGE ON SCHEMA calls TO PUBLIC;
SET ROLE dperm_calls_owner;
SET search_path = calls, public;
CREATE TABLE visits AS SELECT i % 80 AS age, i % 3 = 0 AS ill FROM generate_series(1, 300) i;
SELECT dp_budget_create('calls', epsilon => 3, delta => 1e-6), dp_budget_create('calls_few', epsilon => 0.5, delta => 1e-6), dp_budget_create('calls_pure', epsilon => 1);
SELECT dp_protect('visits', 'calls', domains => '{"age": [0, 80]}');
SELECT dp_grant('calls', 'dperm_calls_analyst', epsilon => 0.35), dp_grant('calls_few', 'dperm_calls_analyst');

-- A call that brings a delta uses it, whatever the number of rows, and is not charged for pure noise
SELECT method, delta, delta_charged, calls_left >= 550 AS many FROM dp_cost('visits', 'ill', 'age', 0.1, 300, delta => 1e-9);
SELECT count(*) FILTER (WHERE delta = 0) AS pure FROM generate_series(0, 8) k, dp_cost('visits', 'ill', 'age', 0.1, (10 ^ k)::bigint, delta => 1e-9);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, delta => 1e-9)::jsonb ->> 'delta' AS delta;
-- the same where nothing is charged
CREATE TABLE free AS TABLE visits;
SELECT dp_logreg_train('free', 'ill', 'age', 0.1, delta => 1e-9, domains => '{"age": [0, 80]}')::jsonb ->> 'delta' AS delta;
-- each method and law has its own number; output perturbation without a delta costs less with more weights
SELECT method, delta, calls_left > 20 AS some, calls_left > 500 AS many FROM (VALUES ('objective', 0), ('objective', 1e-9), ('output', 0), ('output', 1e-9)) v(m, d), LATERAL dp_cost('visits', 'ill', 'age', 0.1, 300, method => v.m, delta => v.d, noise => 'ball') c ORDER BY 1, 2;
SELECT kernel_features, calls_left > 500 AS many FROM (VALUES (2), (200)) v(kernel_features), LATERAL dp_cost('visits', 'ill', 'age', 0.1, 300, method => 'output', kernel => 'gaussian', kernel_features => v.kernel_features) c ORDER BY 1;

-- a tuning trains several models and chooses one, so the law of its noise is not known: it costs more than a training with the same noise
SELECT calls_left AS before FROM dp_cost('visits', 'ill', 'age', 0.1, 300, method => 'output', delta => 1e-9) \gset
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, method => 'output', delta => 1e-9) IS NOT NULL AS trained;
SELECT calls_left AS later, :before - calls_left AS fewer FROM dp_cost('visits', 'ill', 'age', 0.1, 300, method => 'output', delta => 1e-9) \gset
\echo :fewer
SELECT dp_logreg_tune('visits', 'ill', 'age', 0.1, method => 'output', delta => 1e-9, candidates => '[{"lambda": 0.1}, {"lambda": 1}]') IS NOT NULL AS tuned;
SELECT :later - calls_left > 10 AS many_fewer FROM dp_cost('visits', 'ill', 'age', 0.1, 300, method => 'output', delta => 1e-9);

-- A grant that allows fewer calls than the budget
SET ROLE dperm_calls_analyst;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, 300, delta => 1e-9);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, delta => 1e-9) IS NOT NULL AS trained FROM generate_series(1, 3);
SELECT calls_left, epsilon_left FROM dp_cost('visits', 'ill', 'age', 0.1, 300, delta => 1e-9);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, delta => 1e-9);
-- and one of delta
SET ROLE dperm_calls_owner;
SELECT dp_grant('calls', 'dperm_calls_analyst', epsilon => 3, delta => 2.5e-8);
SET ROLE dperm_calls_analyst;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, 300, delta => 1e-9);
-- with two grants, the calls that the one allows which the next call is charged to: the role's own, as long as it has enough
SET ROLE dperm_calls_owner;
SELECT dp_grant('calls', 'dperm_calls_team', epsilon => 0.55);
SELECT dp_grant('calls', 'dperm_calls_member', epsilon => 0.25);
SET ROLE dperm_calls_member;
SELECT epsilon, calls_left, epsilon_left FROM (VALUES (0.1), (0.25), (0.3)) v(epsilon), LATERAL dp_cost('visits', 'ill', 'age', v.epsilon, 300, delta => 1e-9) c ORDER BY 1;
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, delta => 1e-9) IS NOT NULL AS trained FROM generate_series(1, 2);
SELECT role, epsilon_spent FROM dp_grants ORDER BY role::text;
SELECT calls_left, epsilon_left FROM dp_cost('visits', 'ill', 'age', 0.1, 300, delta => 1e-9);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, delta => 1e-9) IS NOT NULL AS trained FROM generate_series(1, 5);
SELECT calls_left, epsilon_left FROM dp_cost('visits', 'ill', 'age', 0.1, 300, delta => 1e-9);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, delta => 1e-9);
-- nothing for a role without a grant
SET ROLE dperm_calls_stranger;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, 300);
-- nor for a member of a role that does not have its privileges
SET ROLE dperm_calls_bare;
SELECT dp_logreg_train('visits', 'ill', 'age', 0.01);
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.01, 300);
SET ROLE dperm_calls_team;
SELECT dp_logreg_train('visits', 'ill', 'age', 0.01) IS NOT NULL AS trained;

-- So many calls are accepted, and one more is not: with a delta, and by sums
SET ROLE dperm_calls_owner;
SELECT dp_unprotect('visits');
SELECT dp_protect('visits', 'calls_few', domains => '{"age": [0, 80]}');
SET ROLE dperm_calls_analyst;
SELECT calls_left AS calls FROM dp_cost('visits', 'ill', 'age', 0.12, 300, delta => 1e-9) \gset
SELECT :calls > 4 AS more_than_sums, count(dp_logreg_train('visits', 'ill', 'age', 0.12 + 0 * i, delta => 1e-9)) = :calls AS accepted FROM generate_series(1, :calls) i;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.12, 300, delta => 1e-9);
\set VERBOSITY terse
SELECT dp_logreg_train('visits', 'ill', 'age', 0.12, delta => 1e-9);
SET ROLE dperm_calls_owner;
SELECT dp_unprotect('visits');
SELECT dp_protect('visits', 'calls_pure', domains => '{"age": [0, 80]}');
SELECT epsilon, calls_left FROM (VALUES (1e-6), (0.1), (0.3), (1), (1.1)) v(epsilon), LATERAL dp_cost('visits', 'ill', 'age', v.epsilon, 300) c ORDER BY 1;
-- a delta that the budget does not have
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, 300, delta => 1e-9);

SELECT dp_unprotect('visits');
SELECT dp_budget_drop('calls'), dp_budget_drop('calls_few'), dp_budget_drop('calls_pure');
RESET ROLE;
DROP SCHEMA calls CASCADE;
DROP OWNED BY dperm_calls_owner, dperm_calls_analyst;
DROP ROLE dperm_calls_owner, dperm_calls_analyst, dperm_calls_stranger, dperm_calls_member, dperm_calls_bare, dperm_calls_team;
