--
-- Grants: what fixes their rules, and what stays when they are changed, revoked
-- and granted again
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE ROLE dperm_grants_owner;
CREATE ROLE dperm_grants_ana;
CREATE ROLE dperm_grants_ben;
CREATE ROLE dperm_grants_team;
CREATE ROLE dperm_grants_member IN ROLE dperm_grants_team;
CREATE ROLE dperm_grants_gone;
CREATE SCHEMA granted AUTHORIZATION dperm_grants_owner;
GRANT USAGE ON SCHEMA granted TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_budget_create TO dperm_grants_owner;
-- what the table has, for a superuser
CREATE VIEW rules AS SELECT b.budget, g.grantee_name::text AS role, g.revoked IS NOT NULL AS revoked, g.epsilon, g.delta, g.renyi_order,
	g.renyi_order = b.renyi_order AS as_budget, g.spent_epsilon, g.spent_divergence > 0 AS divergence, g.spent_tail > 0 AS tail, g.kept
FROM dperm.grants g JOIN dperm.budgets b ON b.id = g.budget_id WHERE b.owner_name::text = 'dperm_grants_owner' AND b.dropped IS NULL;
RESET client_min_messages;
SET ROLE dperm_grants_owner;
SET search_path = granted, public;
CREATE TABLE visits AS SELECT i % 80 AS age, i % 3 = 0 AS ill FROM generate_series(1, 300) i;
SELECT dp_budget_create('granted', epsilon => 8, delta => 1e-6), dp_budget_create('granted_pure', epsilon => 8), dp_protect('visits', 'granted', domains => '{"age": [0, 80]}') \gset

-- A delta needs an epsilon; before the first charge both can be changed
SELECT dp_grant('granted', 'dperm_grants_ana', delta => 1e-7);
SELECT dp_grant('granted', 'dperm_grants_ana');
SELECT dp_grant('granted', 'dperm_grants_ana', delta => 1e-7);
SELECT dp_grant('granted', 'dperm_grants_ana', epsilon => 1, delta => 1e-7);
SELECT dp_grant('granted', 'dperm_grants_ana', epsilon => 2, delta => 4e-7), dp_grant('granted', 'dperm_grants_ben'), dp_grant('granted', 'dperm_grants_team', epsilon => 0.5), dp_grant('granted_pure', 'dperm_grants_ana', epsilon => 1) \gset
SELECT budget, role, epsilon_granted, delta_granted, epsilon_left, delta_left FROM dp_grants ORDER BY budget, role;
RESET ROLE;
SELECT * FROM rules ORDER BY budget, role;

-- The first charge fixes the order of the divergence, by epsilon and delta, and the delta; without an epsilon they are those of the budget, and without a delta there is none
SET ROLE dperm_grants_ana;
SELECT dp_budget_charge('granted', 0.25), dp_budget_charge('granted_pure', 0.25);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.25, delta => 1e-9) IS NOT NULL AS trained;
SET ROLE dperm_grants_ben;
SELECT dp_budget_charge('granted', 0.125);
SET ROLE dperm_grants_member;
SELECT dp_budget_charge('granted', 0.125);
RESET ROLE;
SELECT * FROM rules ORDER BY budget, role;
SELECT renyi_order = dperm.dperm_budget_order(epsilon, delta) AS by_limits FROM rules WHERE epsilon IS NOT NULL AND renyi_order IS NOT NULL ORDER BY role;
CREATE TABLE fixed AS TABLE rules;
-- It stays, whatever becomes of the limits of the grant and of the budget
SET ROLE dperm_grants_owner;
SELECT dp_grant('granted', 'dperm_grants_ana', epsilon => 6), dp_grant('granted', 'dperm_grants_team', add => 3), dp_grant('granted_pure', 'dperm_grants_ana', epsilon => 0.5), dp_budget_alter('granted', epsilon => 9, delta => 1e-5) \gset
SELECT dp_grant('granted', 'dperm_grants_ana', delta => 1e-5);
SELECT dp_grant('granted', 'dperm_grants_ana', delta => 0);
SELECT dp_grant('granted', 'dperm_grants_team', delta => 1e-5);
SELECT dp_grant('granted', 'dperm_grants_team', epsilon => 3.5, delta => 1e-6);
SELECT dp_grant('granted', 'dperm_grants_ben', epsilon => 1, delta => 1e-5);
SELECT dp_grant('granted', 'dperm_grants_ben', epsilon => 1);
SET ROLE dperm_grants_ana;
SELECT dp_budget_charge('granted', 0.25), dp_budget_charge('granted_pure', 0.25);
SELECT dp_budget_charge('granted_pure', 0.001);
SET ROLE dperm_grants_ben;
SELECT dp_budget_charge('granted', 0.125);
SET ROLE dperm_grants_team;
SELECT dp_budget_charge('granted', 0.125);
RESET ROLE;
SELECT r.budget, r.role, r.epsilon, r.delta, (r.delta, r.renyi_order) IS NOT DISTINCT FROM (f.delta, f.renyi_order) AS fixed, r.spent_epsilon - f.spent_epsilon AS more FROM rules r JOIN fixed f USING (budget, role) ORDER BY budget, role;
SET ROLE dperm_grants_owner;
SELECT budget, role, epsilon_granted, delta_granted, epsilon_spent, delta_spent, round(epsilon_left, 6) AS epsilon_left, delta_left FROM dp_grants ORDER BY budget, role;

-- Revoked, a grant allows nothing and is not shown; granted again, it goes on from its sums, its order and its delta, and limits that are omitted stay
SET ROLE dperm_grants_ben;
SELECT dp_logreg_train('visits', 'ill', 'age', 0.125) IS NOT NULL AS trained;
SET ROLE dperm_grants_owner;
SELECT dp_revoke('granted', 'dperm_grants_ben'), dp_revoke('granted', 'dperm_grants_team') \gset
SELECT dp_revoke('granted', 'dperm_grants_ben');
SELECT role FROM dp_grants ORDER BY role;
SET ROLE dperm_grants_ben;
SELECT dp_budget_charge('granted', 0.001);
SELECT dp_logreg_train('visits', 'ill', 'age', 0.125);
SELECT calls_left FROM dp_cost('visits', 'ill', 'age', 0.125, units => 300);
SELECT count(*) AS known FROM dp_domains('visits') WHERE domain IS NOT NULL;
SELECT (SELECT count(*) FROM dp_grants) AS grants, (SELECT count(*) FROM dp_budgets) AS budgets, (SELECT count(*) FROM dp_protected) AS protected, (SELECT count(*) FROM dp_ledger WHERE role <> current_user) AS of_others, (SELECT count(*) FROM dp_ledger) AS own, (SELECT count(*) FROM dp_releases) AS releases;
SET ROLE dperm_grants_member;
SELECT dp_budget_charge('granted', 0.001);
RESET ROLE;
SELECT role, revoked, epsilon, spent_epsilon FROM rules WHERE budget = 'granted' ORDER BY role;
-- nobody is told of such roles when the table moves to another budget, or that they can read it
SET ROLE dperm_grants_owner;
GRANT SELECT ON visits TO dperm_grants_team;
SELECT dp_protect('visits', 'granted_pure');
SELECT dp_protect('visits', 'granted');
REVOKE SELECT ON visits FROM dperm_grants_team;
SELECT dp_grant('granted', 'dperm_grants_ben');
SELECT dp_grant('granted', 'dperm_grants_team', add => 0.5);
SELECT dp_grant('granted', 'dperm_grants_team', delta => 1e-5);
SELECT act, epsilon, delta, details FROM dp_ledger WHERE budget = 'granted' AND act IN ('grant', 'revoke') ORDER BY entry DESC LIMIT 4;
RESET ROLE;
SELECT r.role, r.revoked, r.epsilon, r.delta, (r.delta, r.renyi_order) = (f.delta, f.renyi_order) AS fixed, r.spent_epsilon, r.kept FROM rules r JOIN fixed f USING (budget, role) WHERE budget = 'granted' ORDER BY role;
SET ROLE dperm_grants_ben;
SELECT dp_budget_charge('granted', 0.7);
SELECT dp_budget_charge('granted', 0.6);
SELECT dp_budget_charge('granted', 0.1);
-- one that was never charged leaves nothing, and one without a limit has none again
SET ROLE dperm_grants_owner;
SELECT dp_grant('granted_pure', 'dperm_grants_ben', epsilon => 1), dp_revoke('granted_pure', 'dperm_grants_ben'), dp_grant('granted_pure', 'dperm_grants_team') \gset
SET ROLE dperm_grants_team;
SELECT dp_budget_charge('granted_pure', 0.25);
SET ROLE dperm_grants_owner;
SELECT dp_revoke('granted_pure', 'dperm_grants_team'), dp_grant('granted_pure', 'dperm_grants_team') \gset
RESET ROLE;
SELECT role, revoked, epsilon, delta, renyi_order, spent_epsilon FROM rules WHERE budget = 'granted_pure' ORDER BY role;

-- A role that is dropped has kept its grant; another role of its name starts from 0
SET ROLE dperm_grants_owner;
SELECT dp_grant('granted', 'dperm_grants_gone', 1) \gset
SET ROLE dperm_grants_gone;
SELECT dp_budget_charge('granted', 0.75);
RESET ROLE;
DROP ROLE dperm_grants_gone;
CREATE ROLE dperm_grants_gone;
SET ROLE dperm_grants_owner;
SELECT dp_revoke('granted', 'dperm_grants_gone');
SELECT count(*) FROM dp_grants WHERE role ~ 'gone';
SELECT dp_grant('granted', 'dperm_grants_gone', 1);
SELECT role, epsilon_spent FROM dp_grants WHERE role ~ 'gone';
SET ROLE dperm_grants_gone;
SELECT dp_budget_charge('granted', 0.75);

-- The rules of the table
RESET ROLE;
SET client_min_messages = error;
CREATE FUNCTION refused(change text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('UPDATE dperm.grants SET %s WHERE id = (SELECT g.id FROM dperm.grants g JOIN dperm.budgets b ON b.id = g.budget_id WHERE b.budget = ''granted'' AND g.grantee_name::text = ''dperm_grants_ana'')', change);
	RETURN 'accepted';
EXCEPTION
	WHEN check_violation OR not_null_violation THEN
		RETURN SQLERRM ~ 'violates (check|not-null) constraint';
END $$;
SELECT change, refused(change) FROM unnest(ARRAY['renyi_order = 1', 'renyi_order = 0', $$renyi_order = 'NaN'$$, $$renyi_order = 'Infinity'$$, 'renyi_order = NULL', 'delta = NULL', 'delta = 0', 'spent_epsilon = 0', 'spent_divergence = -1', 'spent_direct = -1', 'spent_tail = NULL',
	'spent_epsilon = 0, spent_delta = 0, spent_divergence = 0, spent_direct = 0, spent_tail = 0, kept = 0, renyi_order = NULL, epsilon = NULL', 'epsilon = epsilon']) change;

SET ROLE dperm_grants_owner;
SELECT dp_unprotect('visits'), dp_budget_drop('granted'), dp_budget_drop('granted_pure');
RESET ROLE;
SELECT count(*) FROM dperm.grants g JOIN dperm.budgets b ON b.id = g.budget_id WHERE b.owner_name::text = 'dperm_grants_owner';
DROP VIEW rules;
DROP TABLE fixed;
DROP SCHEMA granted CASCADE;
DROP FUNCTION IF EXISTS refused(text);
REVOKE EXECUTE ON FUNCTION dp_budget_create FROM dperm_grants_owner;
DROP ROLE dperm_grants_owner, dperm_grants_ana, dperm_grants_ben, dperm_grants_team, dperm_grants_member, dperm_grants_gone;
