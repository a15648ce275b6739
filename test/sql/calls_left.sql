--
-- How many calls a budget allows: dp_cost says it, and it is so
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE ROLE dperm_calls_owner;
CREATE ROLE dperm_calls_analyst;
CREATE ROLE dperm_calls_small;
CREATE ROLE dperm_calls_sums;
CREATE ROLE dperm_calls_free;
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
SELECT method, delta, delta_charged, calls_left >= 550 AS many FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9);
SELECT count(*) FILTER (WHERE delta = 0) AS pure FROM generate_series(0, 8) k, dp_cost('visits', 'ill', 'age', 0.1, units => (10 ^ k)::bigint, delta => 1e-9);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, delta => 1e-9)::jsonb ->> 'delta' AS delta;
-- the same where nothing is charged
CREATE TABLE free AS TABLE visits;
SELECT dp_logreg_train('free', 'ill', 'age', 0.1, delta => 1e-9, domains => '{"age": [0, 80]}')::jsonb ->> 'delta' AS delta;
-- each method and law has its own number; output perturbation without a delta costs less with more weights
SELECT method, delta, calls_left > 20 AS some, calls_left > 500 AS many FROM (VALUES ('objective', 0), ('objective', 1e-9), ('output', 0), ('output', 1e-9)) v(m, d), LATERAL dp_cost('visits', 'ill', 'age', 0.1, units => 300, options => jsonb_strip_nulls(jsonb_build_object('method', v.m, 'noise', 'ball')), delta => v.d) c ORDER BY 1, 2;
SELECT kernel_features, calls_left > 500 AS many FROM (VALUES (2), (200)) v(kernel_features), LATERAL dp_cost('visits', 'ill', 'age', 0.1, units => 300, options => jsonb_strip_nulls(jsonb_build_object('method', 'output', 'kernel_features', v.kernel_features)), kernel => 'gaussian') c ORDER BY 1;

-- a tuning trains several models and chooses one, so the law of its noise is not known: it costs more than a training with the same noise
SELECT calls_left AS before FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, options => '{"method": "output"}', delta => 1e-9) \gset
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, options => '{"method": "output"}', delta => 1e-9) IS NOT NULL AS trained;
SELECT calls_left AS later, :before - calls_left AS fewer FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, options => '{"method": "output"}', delta => 1e-9) \gset
\echo :fewer
SELECT dp_logreg_tune('visits', 'ill', 'age', 0.1, options => '{"method": "output"}', delta => 1e-9, candidates => '[{"lambda": 0.1}, {"lambda": 1}]') IS NOT NULL AS tuned;
SELECT :later - calls_left > 10 AS many_fewer FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, options => '{"method": "output"}', delta => 1e-9);

-- A grant is counted by the rules of budgets, too: one that allows fewer calls than the budget allows as many as dp_cost says, more than sums would, and no more
SET ROLE dperm_calls_analyst;
SELECT calls_left AS calls FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9) \gset
SELECT :calls AS calls, count(dp_logreg_train('visits', 'ill', 'age', 0.1 + 0 * i, delta => 1e-9)) = :calls AS accepted FROM generate_series(1, :calls) i;
SELECT calls_left, epsilon_left FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, delta => 1e-9);
-- raised, it goes on from its sums; its delta was that of the budget, and stays
SET ROLE dperm_calls_owner;
SELECT dp_grant('calls', 'dperm_calls_analyst', delta => 2.5e-8);
SELECT dp_grant('calls', 'dperm_calls_analyst', epsilon => 0.5, delta => 1e-6);
SET ROLE dperm_calls_analyst;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9);
-- one with a smaller delta allows fewer; one without any adds epsilons up, and has no delta
SET ROLE dperm_calls_owner;
SELECT dp_grant('calls', 'dperm_calls_small', epsilon => 0.35, delta => 1e-8), dp_grant('calls', 'dperm_calls_sums', epsilon => 0.35, delta => 0);
SET ROLE dperm_calls_small;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9);
SET ROLE dperm_calls_sums;
SELECT d AS delta, calls_left, epsilon_left, epsilon_left_after FROM (VALUES (0), (1e-9)) v(d), LATERAL dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => v.d) c ORDER BY 1;
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1) IS NOT NULL AS trained FROM generate_series(1, 3);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.05, delta => 1e-9);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.05) IS NOT NULL AS to_the_last;
-- with two grants, the calls that the one allows which the next call is charged to: the role's own, as long as it has enough
SET ROLE dperm_calls_owner;
SELECT dp_grant('calls', 'dperm_calls_team', epsilon => 0.55);
SELECT dp_grant('calls', 'dperm_calls_member', epsilon => 0.25);
SET ROLE dperm_calls_member;
SELECT epsilon, calls_left, epsilon_left FROM (VALUES (0.1), (0.25), (0.3)) v(epsilon), LATERAL dp_cost('visits', 'ill', 'age', v.epsilon, units => 300, delta => 1e-9) c ORDER BY 1;
SELECT calls_left AS calls FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9) \gset
SELECT count(dp_logreg_train('visits', 'ill', 'age', 0.1 + 0 * i, delta => 1e-9)) = :calls AS accepted FROM generate_series(1, :calls) i;
SELECT role, epsilon_spent FROM dp_grants ORDER BY role::text;
SELECT calls_left AS calls, epsilon_left FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9) \gset
SELECT :calls AS calls, :epsilon_left AS epsilon_left, count(dp_logreg_train('visits', 'ill', 'age', 0.1 + 0 * i, delta => 1e-9)) = :calls AS accepted FROM generate_series(1, :calls) i;
SELECT role, epsilon_spent FROM dp_grants ORDER BY role::text;
SELECT calls_left, epsilon_left < 0.1 AS less FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9);
\set VERBOSITY terse
SELECT dp_logreg_train('visits', 'ill', 'age', 0.1, delta => 1e-9);
\set VERBOSITY default
-- nothing for a role without a grant
SET ROLE dperm_calls_stranger;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300);
-- nor for a member of a role that does not have its privileges
SET ROLE dperm_calls_bare;
SELECT dp_logreg_train('visits', 'ill', 'age', 0.01);
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.01, units => 300);
SET ROLE dperm_calls_team;
SELECT dp_logreg_train('visits', 'ill', 'age', 0.01) IS NOT NULL AS trained;

-- So many calls are accepted, and one more is not: with a delta, and by sums
SET ROLE dperm_calls_owner;
SELECT dp_unprotect('visits');
SELECT dp_protect('visits', 'calls_few', domains => '{"age": [0, 80]}');
SET ROLE dperm_calls_analyst;
SELECT calls_left AS calls FROM dp_cost('visits', 'ill', 'age', 0.12, units => 300, delta => 1e-9) \gset
SELECT :calls > 4 AS more_than_sums, count(dp_logreg_train('visits', 'ill', 'age', 0.12 + 0 * i, delta => 1e-9)) = :calls AS accepted FROM generate_series(1, :calls) i;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.12, units => 300, delta => 1e-9);
\set VERBOSITY terse
SELECT dp_logreg_train('visits', 'ill', 'age', 0.12, delta => 1e-9);
SET ROLE dperm_calls_owner;
SELECT dp_unprotect('visits');
SELECT dp_protect('visits', 'calls_pure', domains => '{"age": [0, 80]}');
SELECT epsilon, calls_left FROM (VALUES (1e-6), (0.1), (0.3), (1), (1.1)) v(epsilon), LATERAL dp_cost('visits', 'ill', 'age', v.epsilon, units => 300) c ORDER BY 1;
-- a delta that the budget does not have
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9);

-- A grant of most of a budget allows nearly what the budget does: by sums, it would allow 44 calls here
SELECT dp_budget_create('calls_many', epsilon => 8, delta => 1e-6);
SELECT dp_unprotect('visits');
SELECT dp_protect('visits', 'calls_many', domains => '{"age": [0, 80]}');
SELECT dp_grant('calls_many', 'dperm_calls_analyst', epsilon => 5), dp_grant('calls_many', 'dperm_calls_small', epsilon => 8), dp_grant('calls_many', 'dperm_calls_free');
SET ROLE dperm_calls_analyst;
SELECT dp_logreg_train('visits', 'ill', 'age', e, delta => 1e-9) IS NOT NULL AS trained FROM unnest('{0.5,0.1}'::float8[]) e;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9);
SET ROLE dperm_calls_small;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9);
SET ROLE dperm_calls_free;
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.1, units => 300, delta => 1e-9);

-- The same by the formulas of docs/guarantee.md, "Budgets", for calls without a delta, each of which has the divergence of
-- randomised response: as many as (A) or (B) allows, with the order and the delta that the grant has got
RESET ROLE;
CREATE VIEW calls.granted AS SELECT g.*, b.renyi_order AS budget_order FROM dperm.grants g JOIN dperm.budgets b ON b.id = g.budget_id WHERE b.budget = 'calls_many' AND g.grantee_name::text = 'dperm_calls_analyst';
CREATE FUNCTION calls.response(epsilon float8, a float8) RETURNS float8 LANGUAGE sql RETURN ln((exp(a * epsilon) + exp((1 - a) * epsilon)) / (1 + exp(epsilon))) / (a - 1);
CREATE FUNCTION calls.most(epsilon float8, delta float8, a float8) RETURNS float8 LANGUAGE sql RETURN epsilon + (ln(11 * delta / 16) - (a - 1) * ln(a - 1) + a * ln(a)) / (a - 1);
CREATE TABLE calls.formulas AS SELECT call, greatest(floor((g.epsilon - g.spent_epsilon)::float8 / call + 1e-9),
	floor((calls.most(g.epsilon::float8, g.delta::float8, g.renyi_order) - g.spent_divergence::float8) / calls.response(call, g.renyi_order))) AS calls
FROM calls.granted g, unnest('{0.001,0.01,0.03,0.1,0.5,2,4.4,4.5}'::float8[]) call;
GRANT SELECT ON calls.formulas TO PUBLIC;
CREATE TABLE calls.before AS TABLE calls.granted;
SET ROLE dperm_calls_analyst;
SELECT f.call, f.calls, c.calls_left FROM calls.formulas f, LATERAL dp_cost('visits', 'ill', 'age', f.call, units => 300, options => '{"method": "objective"}') c ORDER BY 1;
-- what is written is what it takes by the grant's own order; the tail of a release with a delta is in its delta
SELECT dp_budget_charge('calls_many', 0.25);
RESET ROLE;
SELECT g.epsilon, g.delta, g.renyi_order = b.renyi_order AS same_order, g.renyi_order <> g.budget_order AS own_order, g.spent_epsilon, g.spent_delta,
	abs((g.spent_divergence - b.spent_divergence)::float8 / calls.response(0.25, g.renyi_order) - 1) < 1e-8 AS divergence, g.spent_tail::float8 / 2 ^ -64 BETWEEN 1 AND 1.001 AS tail, g.spent_direct = 3 * g.spent_tail AS direct
FROM calls.granted g, calls.before b;
SET ROLE dperm_calls_owner;

SELECT dp_unprotect('visits');
SELECT dp_budget_drop('calls_many'), dp_budget_drop('calls'), dp_budget_drop('calls_few'), dp_budget_drop('calls_pure');
RESET ROLE;
DROP SCHEMA calls CASCADE;
DROP OWNED BY dperm_calls_owner, dperm_calls_analyst;
DROP ROLE dperm_calls_owner, dperm_calls_analyst, dperm_calls_small, dperm_calls_sums, dperm_calls_free, dperm_calls_stranger, dperm_calls_member, dperm_calls_bare, dperm_calls_team;
