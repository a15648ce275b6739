--
-- Administration of budgets: the functions that pass the caller on to those in
-- schema dperm, what the tables there hold, and who sees what in the views
--
\pset format unaligned
\pset footer off
\set ECHO none
SET client_min_messages = warning;
CREATE ROLE dperm_adm_owner;
CREATE ROLE dperm_adm_second;
CREATE ROLE dperm_adm_ana;
CREATE ROLE dperm_adm_ben;
CREATE ROLE dperm_adm_team;
CREATE ROLE dperm_adm_member IN ROLE dperm_adm_team;
CREATE ROLE dperm_adm_monitor IN ROLE pg_monitor;
CREATE ROLE dperm_adm_stranger;
CREATE SCHEMA adm AUTHORIZATION dperm_adm_owner;
GRANT USAGE, CREATE ON SCHEMA adm TO PUBLIC;
RESET client_min_messages;
SET search_path = adm, public;
\set ECHO all

--
-- Who calls, and with which arguments
--
SET ROLE dperm_adm_owner;
SELECT dp_budget_create('adm', 4, 1e-6);
SELECT outcomes('dp_budget_create(?)', $$
	NULL, 1 | '', 1 | repeat('x', 64), 1
	'x', NULL
	'x', 1, NULL, NULL
	'x', 1, neighbours => 'both'
	'x', 0 | 'x', -1 | 'x', 'NaN' | 'x', 'Infinity' | 'x', 501
	'x', 1, 1 | 'x', 1, -1 | 'x', 1, 1e-300 | 'x', 1, 'NaN'
	'adm', 1 $$);
SELECT outcomes('dp_budget_alter(?)', $$
	NULL, 1 | 'adm' | 'adm', NULL, NULL, NULL, NULL, NULL
	'adm', 1, add => 1
	'adm', 0 | 'adm', add => -1 | 'adm', add => 'NaN' | 'adm', add => 500
	'adm', delta => 1
	'adm', owner => 'nobody here'
	'adm', owner => 'dperm_adm_second'
	'adm', neighbours => 'both'
	'none', 1 $$);
SELECT outcomes('dp_grant(?)', $$
	NULL, 'dperm_adm_ana' | 'adm', NULL | NULL, NULL
	'adm', 'nobody here'
	'adm', 'dperm_adm_ana', add => 1
	'adm', 'dperm_adm_ana', 1, add => 1
	'adm', 'dperm_adm_ana', 0 | 'adm', 'dperm_adm_ana', 1, 1
	'none', 'dperm_adm_ana' $$);
SELECT outcomes('dp_revoke(?)', $$ NULL, 'dperm_adm_ana' | 'adm', NULL | NULL, NULL | 'adm', 'nobody here' | 'adm', 'dperm_adm_ana' | 'none', 'dperm_adm_ana' $$);
SELECT outcomes('dp_budget_drop(?)', $$ NULL | 'none' $$);
SELECT outcomes('dp_release_drop(?)', $$ NULL, NULL | NULL, 1 | 'adm', NULL | 'adm', 1 | 'adm', -1 | 'none', 1 $$);
SELECT outcomes('dp_cancel(?)', $$ NULL, NULL | NULL, 1 | 'adm', NULL | 'adm', 1 | 'adm', -1 | 'none', 1 $$);
SELECT outcomes('dp_budget_prune(?)', $$ NULL | now() $$);
-- what is NULL or omitted is the default, or stays
SELECT dp_budget_create(budget => 'adm plain', epsilon => 1);
SELECT dp_budget_create('adm null', 1, NULL);
SELECT dp_budget_alter('adm plain', NULL, 1e-9, NULL, NULL, NULL);
SELECT dp_grant('adm plain', 'dperm_adm_ana', NULL, NULL, NULL);
SELECT budget, owner, neighbours, unit, epsilon, delta FROM dp_budgets ORDER BY budget;
SELECT * FROM dp_grants;
SELECT dp_budget_drop('adm null'), dp_budget_drop('adm plain');

-- Errors name no function in schema dperm, but those of the caller
\set SHOW_CONTEXT always
SELECT dp_grant('none', 'dperm_adm_ana');
\echo :LAST_ERROR_SQLSTATE
SELECT dp_budget_create('adm', 1);
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE t (x int CHECK (x BETWEEN 0 AND 9), y boolean);
SELECT dp_protect('t', 'none');
\echo :LAST_ERROR_SQLSTATE
CREATE FUNCTION calls(query text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
END $$;
SELECT calls($$SELECT dp_grant('none', 'dperm_adm_ana')$$);
\set SHOW_CONTEXT errors

-- The caller is the current user: by SET ROLE, in a function with the rights of
-- another role, and in one that this calls; also after an error that is caught
RESET ROLE;
\set ECHO none
CREATE FUNCTION of_second(query text, OUT during text, OUT after text) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
	EXECUTE query;
	after := current_user;
EXCEPTION WHEN OTHERS THEN
	during := SQLERRM;
	after := current_user;
END $$;
ALTER FUNCTION of_second OWNER TO dperm_adm_second;
CREATE FUNCTION of_owner(query text, OUT during text, OUT after text) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
	SELECT s.during INTO during FROM adm.of_second(query) s;
	PERFORM dp_budget_create('adm outer', 1);
	after := current_user;
END $$;
ALTER FUNCTION of_owner OWNER TO dperm_adm_owner;
\set ECHO all
SET ROLE dperm_adm_stranger;
SELECT * FROM of_second($$SELECT dp_budget_create('adm definer', 1)$$);
SELECT * FROM of_second($$SELECT dp_budget_drop('adm')$$);
SELECT * FROM of_owner($$SELECT dp_budget_create('adm nested', 1)$$);
SELECT * FROM of_second($$SELECT dp_grant('adm outer', 'dperm_adm_ana')$$);
SELECT dp_budget_create('adm set role', 1);
SELECT current_user;
RESET ROLE;
SELECT dp_budget_create('adm super', 1);
SELECT budget, owner FROM dp_budgets WHERE budget LIKE 'adm %' ORDER BY budget;
SELECT budget, role, act FROM dp_ledger WHERE budget LIKE 'adm %' ORDER BY at DESC LIMIT 5;
-- not in a read-only transaction
BEGIN READ ONLY;
SELECT dp_budget_create('adm read only', 1);
ROLLBACK;
-- and as any other command it is undone by ROLLBACK
BEGIN;
SELECT dp_budget_create('adm undone', 1), dp_budget_alter('adm super', add => 1), dp_budget_drop('adm outer');
ROLLBACK;
SELECT count(*) FROM dp_budgets WHERE budget = 'adm undone' OR budget = 'adm super' AND epsilon > 1;
SELECT count(dp_budget_drop(budget)) AS dropped FROM unnest('{adm definer,adm nested,adm outer,adm set role,adm super}'::text[]) budget;

-- Without EXECUTE nobody creates budgets
BEGIN;
REVOKE EXECUTE ON FUNCTION dp_budget_create FROM PUBLIC;
SET ROLE dperm_adm_stranger;
SELECT dp_budget_create('adm none', 1);
ROLLBACK;

-- What functions in schema dperm must not have: names that mean something else
-- elsewhere, text that is composed and executed, the rights of somebody else, or
-- callers. A body that was parsed has no names any more
\set ECHO none
CREATE VIEW inner_functions AS
	SELECT p.oid::regprocedure::text COLLATE "C" AS function, p.*, regexp_replace(regexp_replace(prosrc, '''([^'']|'''')*''', '', 'g'), '--[^\n]*', '', 'g') AS code, lanname
	FROM pg_proc p JOIN pg_language l ON l.oid = prolang WHERE pronamespace = 'dperm'::regnamespace AND lanname <> 'c';
GRANT SELECT ON inner_functions TO PUBLIC;
\set ECHO all
SELECT count(*) > 30 AS many, count(*) FILTER (WHERE lanname NOT IN ('sql', 'plpgsql', 'internal')) AS others FROM inner_functions WHERE prokind = 'f';
SELECT function FROM inner_functions WHERE prokind = 'f' AND prosqlbody IS NULL AND (proconfig IS NULL OR NOT 'search_path=pg_catalog, pg_temp' = ANY (proconfig));
SELECT function FROM inner_functions WHERE code ~* '\mexecute\M';
SELECT function FROM inner_functions WHERE prosecdef ORDER BY 1;
SELECT function FROM inner_functions WHERE prokind = 'f' AND prorettype <> ALL ('{trigger,event_trigger}'::regtype[]) AND has_function_privilege('public', oid, 'EXECUTE') ORDER BY 1;
-- the same queries find what they are for
BEGIN;
CREATE FUNCTION dperm.careless(relation text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$ DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM ' || relation INTO n; RETURN n; END $$;
SELECT function, proconfig, code ~* '\mexecute\M' AS executes, prosecdef, has_function_privilege('public', oid, 'EXECUTE') AS public FROM inner_functions WHERE proname = 'careless';
ROLLBACK;
-- called by somebody, each of them is refused before it does anything
CREATE FUNCTION called(function regproc, arguments text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT %s(%s)', function, arguments);
	RETURN 'returned';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SET ROLE dperm_adm_stranger;
SELECT called(oid, (SELECT string_agg(format('NULL::%s', t::regtype), ', ') FROM unnest(proargtypes) t)) AS outcome, count(*) > 15 AS many
	FROM inner_functions WHERE prokind = 'f' AND NOT has_function_privilege(oid, 'EXECUTE') AND prorettype <> ALL ('{trigger,event_trigger}'::regtype[]) GROUP BY 1;
SELECT dperm.dp_budget_drop('dperm_adm_owner'::regrole, 'adm');
RESET ROLE;

--
-- Limits that are added to, that stay, and that are larger than the budget
--
SET ROLE dperm_adm_owner;
SELECT dp_budget_create('adm limits', 0.1);
SELECT dp_budget_alter('adm limits', add => 0.2);
SELECT dp_budget_alter('adm limits', epsilon => 0.3);
SELECT dp_budget_alter('adm limits', 0.3, 0, 'dperm_adm_owner', 'replace');
SELECT dp_grant('adm limits', 'dperm_adm_ana', 0.1);
SELECT dp_grant('adm limits', 'dperm_adm_ana', 0.1);
SELECT dp_grant('adm limits', 'dperm_adm_ana');
SELECT dp_grant('adm limits', 'dperm_adm_ana', add => 0.1);
SELECT dp_grant('adm limits', 'dperm_adm_ana', add => 0.2);
SELECT dp_grant('adm limits', 'dperm_adm_ben');
SELECT dp_grant('adm limits', 'dperm_adm_ben', add => 0.2);
SELECT dp_grant('adm limits', 'dperm_adm_ben', delta => 1e-9);
SELECT role, epsilon_granted, epsilon_left FROM dp_grants WHERE budget = 'adm limits' ORDER BY role;
SELECT entry, act, epsilon, delta, details FROM dp_ledger WHERE budget = 'adm limits' ORDER BY entry;

--
-- Rows of all kinds: charges by the owner and by grants, failures, and what was
-- administered. What C writes has to obey what the tables declare
--
SELECT dp_grant('adm', 'dperm_adm_ana', 2, 1e-7), dp_grant('adm', 'dperm_adm_ben'), dp_grant('adm', 'dperm_adm_team', 1);
INSERT INTO t SELECT i % 10, i % 10 > 4 FROM generate_series(1, 200) i;
CREATE TABLE persons (id int, x float8[], y boolean);
ALTER TABLE persons ALTER x SET STORAGE EXTERNAL;
INSERT INTO persons SELECT i, array_fill(0.01::float8, '{400}'), i % 3 = 0 FROM generate_series(1, 50) i;
CREATE VIEW of_t AS SELECT x * 2 AS twice, y FROM t WHERE x > 1;
SELECT dp_budget_create('adm persons', 100, neighbours => 'remove');
SELECT dp_grant('adm persons', 'dperm_adm_ben');
SELECT dp_protect('t', 'adm'), dp_protect('of_t', domains => '{"twice": [0, 20]}'), dp_protect('persons', 'adm persons', unit => 'id', domains => '{"x": {"dimension": 400}}');
SET client_min_messages = error;
CREATE TABLE models AS SELECT dp_logreg_train('t', 'y', 'x', 0.5, purpose => 'of the owner') AS model;
GRANT SELECT ON models TO PUBLIC;
SELECT dp_budget_charge('adm', 0.125, 1e-8, 'of the owner');
SET ROLE dperm_adm_ana;
SELECT dp_logreg_train('t', 'y', 'x', 0.25, purpose => 'of ana') IS NOT NULL AS trained, dp_svm_train('of_t', 'y', 'twice', 0.25, lambda => 1e-8) IS NOT NULL AS svm, dp_logreg_tune('t', 'y', 'x', 0.25, candidates => '[{"lambda": 0.1}, {"lambda": 1}]') IS NOT NULL AS tuned;
SELECT count(*) > 0 AS evaluated FROM models, dp_evaluate(model, 't', epsilon => 0.125);
SELECT dp_budget_charge('adm', 0.0625, purpose => 'of ana');
SET ROLE dperm_adm_member;
SELECT count(*) > 0 AS evaluated FROM models, dp_roc(model, 't', epsilon => 0.125);
SELECT dp_logreg_train('t', 'y', 'x', 2);
SET ROLE dperm_adm_ben;
SELECT dp_logreg_train('persons', 'y', 'x', 3, neighbours => 'remove') IS NOT NULL AS trained;
-- the rows cannot be read after the charge
RESET ROLE;
SELECT reltoastrelid AS toast FROM pg_class WHERE oid = 'persons'::regclass \gset
SELECT relfilenode AS file FROM pg_class WHERE oid = :toast \gset
UPDATE pg_class SET relfilenode = 1 WHERE oid = :toast;
SET ROLE dperm_adm_ben;
SELECT result FROM outcome($$SELECT dp_logreg_train('persons', 'y', 'x', 3, neighbours => 'remove')$$);
RESET ROLE;
UPDATE pg_class SET relfilenode = :file WHERE oid = :toast;
RESET client_min_messages;
SELECT release, count(*) FROM dp_ledger WHERE budget LIKE 'adm%' AND act = 'charge' GROUP BY 1 ORDER BY 1;

\set ECHO none
-- The rules that the tables of schema dperm declare, and those that they cannot,
-- each as a query for the rows that break it, in the tables of any schema
CREATE FUNCTION rules(data text) RETURNS TABLE (rule text, query text) LANGUAGE sql AS $$
	WITH ours AS (SELECT c.oid, c.relname, format('%I.%I', data, c.relname) AS rows FROM pg_class c WHERE c.relnamespace = 'dperm'::regnamespace AND c.relkind = 'r' AND c.relname <> 'origin')
	SELECT format('%s: %s', o.relname, pg_get_constraintdef(k.oid)), format('SELECT count(*) FROM %s WHERE NOT %s', o.rows, pg_get_expr(k.conbin, k.conrelid))
	FROM ours o JOIN pg_constraint k ON k.conrelid = o.oid WHERE k.contype = 'c'
	UNION ALL
	SELECT format('%s: %s of %s', r.child, r.keys, r.parent), format('SELECT count(*) FROM %1$I.%2$I c WHERE num_nulls(%3$s) = 0 AND NOT EXISTS (SELECT FROM %1$I.%4$I p WHERE (%3$s) = (%5$s))',
		data, r.child, 'c.' || replace(r.keys, ', ', ', c.'), r.parent, 'p.' || replace(r.parents, ', ', ', p.'))
	FROM (VALUES ('grants', 'budget_id', 'budgets', 'id'), ('ledger', 'budget_id', 'budgets', 'id'), ('releases', 'budget_id, entry', 'ledger', 'budget_id, entry'), ('protected', 'budget_id', 'budgets', 'id'),
		('protected', 'view_of', 'protected', 'id'), ('protected_columns', 'protected', 'protected', 'id')) r(child, keys, parent, parents)
	UNION ALL
	SELECT format('%s: %s', o.relname, regexp_replace(pg_get_indexdef(i.indexrelid), ' INDEX \S+ ON \S+ USING btree', '')),
		format('SELECT count(*) FROM (SELECT FROM %s WHERE num_nulls(%s) = 0 AND %s GROUP BY %s HAVING count(*) > 1) twice', o.rows, n.names, coalesce(pg_get_expr(i.indpred, i.indrelid), 'true'), n.names)
	FROM ours o JOIN pg_index i ON i.indrelid = o.oid, LATERAL (SELECT string_agg(pg_get_indexdef(i.indexrelid, g, true), ', ') AS names FROM generate_series(1, i.indnkeyatts) g) n
	WHERE i.indisunique
	UNION ALL
	SELECT format('%s: %I IS NOT NULL', o.relname, a.attname), format('SELECT count(*) FROM %s WHERE %I IS NULL', o.rows, a.attname)
	FROM ours o JOIN pg_attribute a ON a.attrelid = o.oid WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull
	UNION ALL
	SELECT format('%s: %I = %s', o.relname, a.attname, pg_get_expr(d.adbin, d.adrelid)), format('SELECT count(*) FROM %s WHERE %I IS DISTINCT FROM %s', o.rows, a.attname, pg_get_expr(d.adbin, d.adrelid))
	FROM ours o JOIN pg_attribute a ON a.attrelid = o.oid JOIN pg_attrdef d ON d.adrelid = o.oid AND d.adnum = a.attnum WHERE a.attgenerated = 's'
	-- sums and numbers
	UNION ALL
	SELECT format('budgets: %s is that of the charges', v.spent), format('SELECT count(*) FROM %I.budgets b WHERE b.%I <> (SELECT coalesce(sum(e.%I), 0) FROM %1$I.ledger e WHERE e.budget_id = b.id AND e.act = ''charge'')', data, v.spent, v.charged)
	FROM (VALUES ('spent_epsilon', 'epsilon'), ('spent_delta', 'delta'), ('spent_divergence', 'divergence'), ('spent_direct', 'direct'), ('spent_tail', 'tail')) v(spent, charged)
	UNION ALL
	SELECT v.rule, format(v.query, data) FROM (VALUES
		('ledger: no gaps in a budget', 'SELECT count(*) FROM %I.budgets b WHERE (b.since, b.entry, b.entry - b.since + 1) IS DISTINCT FROM (SELECT (min(e.entry), max(e.entry), count(*)) FROM %1$I.ledger e WHERE e.budget_id = b.id)'),
		('ledger: no gaps in a name', 'SELECT count(*) FROM (SELECT FROM %I.ledger e GROUP BY e.budget HAVING (min(e.entry), max(e.entry)) <> (1, count(*))) n'),
		('ledger: the name of its budget', 'SELECT count(*) FROM %I.ledger e JOIN %1$I.budgets b ON b.id = e.budget_id WHERE e.budget <> b.budget'),
		('ledger: not more than the budget', 'SELECT count(*) FROM %I.budgets b JOIN %1$I.ledger e ON e.budget_id = b.id AND e.entry = b.entry WHERE e.act = ''charge'' AND e.epsilon_left > b.epsilon'),
		('releases: of charges', 'SELECT count(*) FROM %I.releases k JOIN %1$I.ledger e USING (budget_id, entry) WHERE e.act <> ''charge'' OR e.relation IS NULL OR e.actor <> k.payer'),
		('releases: something or a reason', 'SELECT count(*) FROM %I.releases k WHERE num_nonnulls(k.model, k.metrics, k.failure) <> 1'),
		('grants: kept is at least how many there are', 'SELECT count(*) FROM %I.grants g WHERE g.kept < (SELECT count(*) FROM %1$I.releases k WHERE k.grant_id = g.id AND k.failure IS NULL)'),
		('grants: spent by those who have it', 'SELECT count(*) FROM %I.budgets b WHERE (SELECT sum(g.spent_epsilon) FROM %1$I.grants g WHERE g.budget_id = b.id) > b.spent_epsilon')) v(rule, query)
$$;
CREATE FUNCTION broken(data text) RETURNS TABLE (rule text, rows bigint) LANGUAGE plpgsql AS $$
DECLARE
	one record;
BEGIN
	FOR one IN SELECT * FROM adm.rules(data) LOOP
		EXECUTE one.query INTO rows;
		rule := one.rule;
		RETURN NEXT;
	END LOOP;
END $$;
\set ECHO all
SELECT count(*) > 80 AS many, count(DISTINCT split_part(rule, ':', 1)) AS tables FROM rules('dperm');
SELECT * FROM broken('dperm') WHERE rows > 0;
-- not vacuous: in a copy, each rule is broken by some fault
\set ECHO none
CREATE SCHEMA copies;
CREATE TABLE copies.budgets AS SELECT * FROM dperm.budgets WHERE budget LIKE 'adm%';
CREATE TABLE copies.grants AS SELECT * FROM dperm.grants WHERE budget_id IN (SELECT id FROM copies.budgets);
CREATE TABLE copies.ledger AS SELECT * FROM dperm.ledger WHERE budget_id IN (SELECT id FROM copies.budgets);
CREATE TABLE copies.releases AS SELECT * FROM dperm.releases WHERE budget_id IN (SELECT id FROM copies.budgets);
CREATE TABLE copies.protected AS SELECT * FROM dperm.protected WHERE schema = 'adm';
CREATE TABLE copies.protected_columns AS SELECT * FROM dperm.protected_columns WHERE protected IN (SELECT id FROM copies.protected);
CREATE FUNCTION planted(fault text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	found text[];
BEGIN
	EXECUTE fault;
	found := ARRAY(SELECT rule FROM adm.broken('copies') WHERE rows > 0);
	RAISE EXCEPTION USING ERRCODE = 'P0099';
EXCEPTION WHEN SQLSTATE 'P0099' THEN
	RETURN found;
END $$;
CREATE VIEW faults AS
	SELECT format('INSERT INTO copies.%I SELECT * FROM copies.%1$I', c.relname) AS fault FROM pg_class c WHERE c.relnamespace = 'copies'::regnamespace AND c.relkind = 'r'
	UNION ALL SELECT format('UPDATE copies.%I SET %I = NULL', c.relname, a.attname)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.relnamespace = 'copies'::regnamespace AND c.relkind = 'r'
	UNION ALL SELECT format('UPDATE copies.%s SET %s', v.relation, f.fault) FROM (VALUES
		('budgets', $$budget = ''|epsilon = 0|delta = -1|delta = 1|renyi_order = -1|neighbours = 'none'|unit = 'none'|since = 0|entry = since - 2|spent_epsilon = -1|spent_delta = -1|spent_divergence = -1|spent_direct = -1|spent_tail = -1|owner = 0::oid::regrole$$),
		('grants', $$epsilon = 0|delta = -1|delta = 1|renyi_order = 1|spent_divergence = -1|spent_direct = -1|spent_tail = -1|spent_epsilon = -1|spent_epsilon = 1000|spent_delta = -1|kept = -1|kept = 0|budget_id = gen_random_uuid()|grantee = 0::oid::regrole$$),
		('ledger', $$entry = -1|entry = entry + 1|act = 'none'|neighbours = 'none'|unit = 'none'|epsilon = 0|delta = -1|delta = 1|divergence = -1|direct = -1|tail = -1|epsilon_left = -1|epsilon_left = 1000|grant_left = -1|epsilon = NULL|epsilon_left = NULL|budget_id = gen_random_uuid()|actor = 0::oid::regrole|budget = concat(budget, 'x')$$),
		('releases', $$budget_id = gen_random_uuid()|entry = entry + 100|payer = 0::oid::regrole|failure = 'none'$$),
		('protected', $$view_of = id|budget_id = NULL|unit = 'none'|ended = now()|ended_by = 'none'|budget_id = gen_random_uuid()|view_of = gen_random_uuid()$$),
		('protected_columns', $$protected = gen_random_uuid()|listed = false, domain = NULL$$)) v(relation, list), regexp_split_to_table(v.list, '\|') f(fault);
\set ECHO all
SELECT * FROM broken('copies') WHERE rows > 0;
SELECT count(*) > 100 AS many FROM faults;
SELECT rule AS never_broken FROM rules('copies') EXCEPT SELECT unnest(planted(fault)) FROM faults;
SET client_min_messages = warning;
DROP SCHEMA copies CASCADE;
RESET client_min_messages;

-- Entries stay as they are, whoever tries, and so does a budget that was charged
SET client_min_messages = warning;
CREATE VIEW refused AS SELECT query, result FROM unnest('{UPDATE dperm.ledger SET details = NULL,DELETE FROM dperm.ledger,TRUNCATE dperm.ledger CASCADE,DELETE FROM dperm.releases,UPDATE dperm.releases SET failure = NULL,TRUNCATE dperm.releases,
	DELETE FROM dperm.budgets WHERE spent_epsilon > 0,TRUNCATE dperm.budgets CASCADE}'::text[]) query, outcome(query);
SELECT result, count(*) FROM refused GROUP BY 1;
BEGIN;
SET LOCAL session_replication_role = replica;
SELECT result, count(*) FROM refused GROUP BY 1;
ROLLBACK;
RESET client_min_messages;
-- one that was not can be deleted, with its entries
BEGIN;
DELETE FROM dperm.budgets WHERE budget = 'adm limits';
SELECT count(*) FROM dp_ledger WHERE budget = 'adm limits';
ROLLBACK;

--
-- A table that moves to another budget leaves grants behind
--
SET ROLE dperm_adm_owner;
SELECT dp_budget_create('adm next', 4);
SELECT dp_grant('adm next', 'dperm_adm_ana');
BEGIN;
SELECT dp_protect('t', 'adm next');
SELECT budget, act, relation FROM dp_ledger WHERE relation = 'adm.t' AND act <> 'charge' ORDER BY at DESC, budget LIMIT 2;
SELECT dp_grant('adm next', 'dperm_adm_ben'), dp_grant('adm next', 'dperm_adm_team');
SELECT dp_protect('t', 'adm');
ROLLBACK;
-- who does not own the former budget is not told who has grants of it
RESET ROLE;
BEGIN;
ALTER TABLE t OWNER TO dperm_adm_second;
SET LOCAL ROLE dperm_adm_second;
SELECT dp_budget_create('adm second', 1), dp_protect('t', 'adm second');
ROLLBACK;

--
-- Roles that are dropped
--
CREATE ROLE dperm_adm_gone;
CREATE ROLE dperm_adm_leaver;
SET ROLE dperm_adm_owner;
SELECT dp_grant('adm', 'dperm_adm_gone', 1);
SET ROLE dperm_adm_gone;
SELECT dp_budget_charge('adm', 0.0625);
SET ROLE dperm_adm_leaver;
SELECT dp_budget_create('adm left', 1);
SELECT dp_grant('adm left', 'dperm_adm_ana', 0.5);
RESET ROLE;
DROP ROLE dperm_adm_gone, dperm_adm_leaver;
-- one that gets the name has neither the grant nor the budget
CREATE ROLE dperm_adm_gone;
CREATE ROLE dperm_adm_leaver;
SET ROLE dperm_adm_gone;
SELECT dp_budget_charge('adm', 0.0625);
SELECT (SELECT count(*) FROM dp_budgets) AS budgets, (SELECT count(*) FROM dp_grants) AS grants, (SELECT count(*) FROM dp_ledger) AS entries;
SET ROLE dperm_adm_leaver;
SELECT result FROM unnest(ARRAY['dp_budget_alter(''adm left'', 2)', 'dp_budget_drop(''adm left'')', 'dp_grant(''adm left'', ''dperm_adm_ben'')', 'dp_budget_charge(''adm left'', 0.1)', 'dp_budget_create(''adm left'', 1)']) call, outcome('SELECT ' || call);
SELECT (SELECT count(*) FROM dp_budgets) AS budgets, (SELECT count(*) FROM dp_ledger) AS entries;
-- the owner revokes the grant, by the name that the role had
SET ROLE dperm_adm_owner;
SELECT role, epsilon_spent FROM dp_grants WHERE budget = 'adm' ORDER BY role;
SELECT dp_revoke('adm', 'dperm_adm_gone');
SELECT dp_revoke('adm', 'dperm_adm_gone');
SELECT count(*) FROM dp_grants WHERE role ~ 'gone';
SELECT act, role, details FROM dp_ledger WHERE budget = 'adm' ORDER BY entry DESC LIMIT 1;
-- grants of the budget still hold, and a superuser manages it
SET ROLE dperm_adm_ana;
SELECT owner, granted_to, epsilon_left FROM dp_budgets WHERE budget = 'adm left';
SELECT dp_budget_charge('adm left', 0.125);
RESET ROLE;
SELECT dp_budget_alter('adm left', add => 1);
SELECT dp_grant('adm left', 'dperm_adm_ana', add => 1);
SELECT dp_budget_alter('adm left', owner => 'dperm_adm_second');
SET ROLE dperm_adm_second;
SELECT budget, owner, epsilon, epsilon_spent FROM dp_budgets;
SELECT entry, act, role, details FROM dp_ledger WHERE budget = 'adm left' ORDER BY entry;
SELECT dp_budget_drop('adm left');
RESET ROLE;
DROP ROLE dperm_adm_gone, dperm_adm_leaver;

--
-- A budget that was dropped, and another one of its name
--
SET ROLE dperm_adm_owner;
SELECT dp_budget_create('adm again', 4);
SELECT dp_grant('adm again', 'dperm_adm_ana'), dp_grant('adm again', 'dperm_adm_ben');
SELECT dp_budget_charge('adm again', 0.5, purpose => 'of the owner');
SET ROLE dperm_adm_ana;
SELECT dp_budget_charge('adm again', 0.25, purpose => 'of ana');
RESET ROLE;
\set ECHO none
CREATE FUNCTION seen(budget text) RETURNS TABLE (role text, entries text, purposes text, budgets bigint, grants bigint, report text) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH role IN ARRAY '{dperm_adm_owner,dperm_adm_second,dperm_adm_ana,dperm_adm_ben,dperm_adm_monitor,dperm_adm_stranger}'::text[] LOOP
		PERFORM set_config('role', role, true);
		SELECT string_agg(l.entry::text, ' ' ORDER BY l.entry), string_agg(l.purpose, ', ' ORDER BY l.entry) INTO entries, purposes FROM public.dp_ledger l WHERE l.budget = $1;
		SELECT count(*) INTO budgets FROM public.dp_budgets b WHERE b.budget = $1;
		SELECT count(*) INTO grants FROM public.dp_grants g WHERE g.budget = $1;
		report := (SELECT CASE WHEN o.result ~ '^<!DOCTYPE' THEN (SELECT string_agg(DISTINCT m[1], ', ') FROM regexp_matches(o.result, '>(of the owner|of ana|of the second)<', 'g') m) ELSE o.result END FROM public.outcome(format('SELECT dp_report(%L)', $1)) o);
		RETURN NEXT;
	END LOOP;
	PERFORM set_config('role', 'none', true);
END $$;
\set ECHO all
SELECT * FROM seen('adm again');
SET ROLE dperm_adm_owner;
SELECT dp_budget_drop('adm again');
RESET ROLE;
-- its last owner sees what there was, and nobody sees more than before
SELECT * FROM seen('adm again');
-- the other one continues the numbers
SET ROLE dperm_adm_second;
SELECT dp_budget_create('adm again', 1);
SELECT dp_budget_charge('adm again', 0.125, purpose => 'of the second');
RESET ROLE;
SELECT * FROM seen('adm again');
SELECT entry, act, role FROM dp_ledger WHERE budget = 'adm again' ORDER BY entry;
-- also when that is dropped, and the first one's owner creates the third
SET ROLE dperm_adm_second;
SELECT dp_budget_drop('adm again');
SET ROLE dperm_adm_owner;
SELECT dp_budget_create('adm again', 1);
RESET ROLE;
SELECT role, entries, purposes FROM seen('adm again');
SELECT * FROM broken('dperm') WHERE rows > 0;

--
-- Views: who reads all statistics sees balances and no releases; names join
--
SET ROLE dperm_adm_monitor;
SELECT budget, owner, granted_to, epsilon, epsilon_spent, epsilon_left FROM dp_budgets WHERE budget = 'adm';
SELECT role, epsilon_granted, epsilon_spent FROM dp_grants WHERE budget = 'adm' ORDER BY role;
SELECT act, count(*) FROM dp_ledger WHERE budget = 'adm' GROUP BY act ORDER BY act;
SELECT (SELECT count(*) FROM dp_releases) AS releases, (SELECT count(*) FROM dp_protected) AS protected;
SELECT result FROM unnest(ARRAY['dp_budget_alter(''adm'', 2)', 'dp_budget_charge(''adm'', 0.1)', 'dp_release_drop(''adm'', 7)', 'dp_cancel(''adm'', 7)']) call, outcome('SELECT ' || call);
SET ROLE dperm_adm_owner;
CREATE TABLE "select" AS TABLE t;
SELECT dp_protect('"select"', 'adm', domains => '{"x": [0, 9]}');
SET ROLE dperm_adm_ana;
SET client_min_messages = error;
SELECT dp_logreg_train('"select"', 'y', 'x', 0.0625) IS NOT NULL AS trained;
RESET client_min_messages;
SELECT budget, epsilon_granted, epsilon_spent FROM dp_grants WHERE role = current_user ORDER BY budget;
SELECT relation, p.owner, l.role, l.function, k.model IS NOT NULL AS model, g.epsilon_granted, b.epsilon AS of FROM dp_ledger l JOIN dp_releases k USING (budget, entry, role, function, relation) JOIN dp_protected p USING (budget, relation)
	JOIN dp_grants g USING (budget, role) JOIN dp_budgets b USING (budget, owner) WHERE role = current_user AND budget = 'adm' ORDER BY entry;
SELECT relation, closed FROM dp_protected WHERE to_regclass(relation) IS NOT NULL ORDER BY relation COLLATE "C";
SET ROLE dperm_adm_owner;
SELECT b.budget, count(DISTINCT g.role) AS roles, count(DISTINCT p.relation) AS relations FROM dp_budgets b LEFT JOIN dp_grants g USING (budget) LEFT JOIN dp_protected p USING (budget, owner) WHERE owner = current_user GROUP BY 1 ORDER BY 1;
SELECT dp_unprotect('"select"');

--
-- Calls: who may cancel one is told that it does not run; for others there is none
--
RESET ROLE;
BEGIN;
GRANT dperm_adm_owner TO dperm_adm_second;
SET LOCAL ROLE dperm_adm_second;
CREATE TABLE seconds AS TABLE t;
CREATE VIEW "seconds' view" AS SELECT * FROM seconds;
SELECT dp_protect('seconds', 'adm', domains => '{"x": [0, 9]}'), dp_protect('"seconds'' view"');
RESET ROLE;
REVOKE dperm_adm_owner FROM dperm_adm_second;
COMMIT;
SET ROLE dperm_adm_team;
SET client_min_messages = error;
SELECT count(dp_logreg_train(r, 'y', 'x', 0.03125)) AS trained FROM unnest('{t,seconds,"\"seconds'' view\""}'::text[]) r;
SELECT dp_budget_charge('adm', 0.03125);
RESET client_min_messages;
RESET ROLE;
CREATE FUNCTION who_cancels() RETURNS TABLE (relation text, roles text) LANGUAGE plpgsql AS $$
DECLARE
	r name;
	l record;
	told text;
BEGIN
	FOR l IN SELECT e.entry, e.relation FROM dp_ledger e WHERE e.budget = 'adm' AND e.act = 'charge' ORDER BY e.entry DESC LIMIT 4 LOOP
		relation := l.relation;
		roles := '';
		FOREACH r IN ARRAY '{dperm_adm_owner,dperm_adm_second,dperm_adm_ana,dperm_adm_ben,dperm_adm_team,dperm_adm_member,dperm_adm_monitor,dperm_adm_stranger,superuser}'::name[] LOOP
			EXECUTE format('SET LOCAL ROLE %I', CASE WHEN r = 'superuser' THEN session_user ELSE r END);
			SELECT o.result INTO told FROM outcome(format('SELECT dp_cancel(%L, %s)', 'adm', l.entry)) o;
			IF told = format('55000: entry %s of budget "adm" is not running', l.entry) THEN
				roles := concat_ws(' ', nullif(roles, ''), replace(r, 'dperm_adm_', ''));
			ELSIF told <> format('42704: entry %s of budget "adm" is not a call that you may cancel', l.entry) THEN
				roles := told;
			END IF;
		END LOOP;
		RESET ROLE;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM who_cancels();
-- members of these roles, too; but not the owner of a relation that has another name by now, or is no longer protected
BEGIN;
GRANT dperm_adm_owner TO dperm_adm_stranger;
GRANT dperm_adm_second TO dperm_adm_monitor;
SELECT * FROM who_cancels();
ROLLBACK;
BEGIN;
ALTER TABLE seconds RENAME TO other;
CREATE TABLE seconds ();
SELECT * FROM who_cancels();
SELECT count(dp_unprotect('other')) AS unprotected;
SELECT * FROM who_cancels();
ROLLBACK;
-- an old snapshot could miss the entry
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT dp_cancel('adm', 1);
ROLLBACK;
-- What has neither a release nor a process is lost, for those who see what became of it
CREATE VIEW ends AS SELECT CASE WHEN pg_has_role(current_user, 'dperm_adm_second', 'USAGE') THEN 'superuser' ELSE current_user END AS role, count(*) FILTER (WHERE release = 'kept') > 0 AS kept, string_agg(release, ', ' ORDER BY entry) FILTER (WHERE release <> 'kept') AS not_kept FROM dp_ledger WHERE budget = 'adm';
SELECT * FROM ends;
BEGIN;
ALTER EVENT TRIGGER dperm_after_command DISABLE;
ALTER TABLE dperm.releases DISABLE TRIGGER dperm_ledger_guard;
DELETE FROM dperm.releases k USING dperm.ledger e WHERE e.budget_id = k.budget_id AND e.entry = k.entry AND e.relation = 'adm.seconds';
GRANT SELECT ON ends TO PUBLIC;
SELECT * FROM ends;
SET LOCAL ROLE dperm_adm_monitor;
SELECT * FROM ends;
SET LOCAL ROLE dperm_adm_member;
SELECT * FROM ends;
SET LOCAL ROLE dperm_adm_ben;
SELECT * FROM ends;
ROLLBACK;
SET ROLE dperm_adm_second;
SELECT dp_unprotect('seconds');

--
-- Releases that are kept: who paid can delete them, and a grant keeps so many
--
SET ROLE dperm_adm_ana;
SELECT min(entry) AS one, max(entry) AS other FROM dp_releases WHERE role = current_user AND budget = 'adm' AND model IS NOT NULL \gset
SELECT entry AS owners FROM dp_ledger WHERE budget = 'adm' AND role = 'dperm_adm_owner' AND act = 'charge' ORDER BY entry LIMIT 1 \gset
SET ROLE dperm_adm_owner;
SELECT result = format('42704: entry %s of budget "adm" has no release that you have paid for', :one) AS refused FROM outcome(format('SELECT dp_release_drop(%L, %s)', 'adm', :one));
SET ROLE dperm_adm_ben;
SELECT result = format('42704: entry %s of budget "adm" has no release that you have paid for', :one) AS refused FROM outcome(format('SELECT dp_release_drop(%L, %s)', 'adm', :one));
SET ROLE dperm_adm_ana;
SELECT result ~ '^42704' AS refused FROM outcome(format('SELECT dp_release_drop(%L, %s)', 'adm', :owners));
SELECT dp_release_drop('adm', :one);
SELECT result ~ '^42704' AS refused FROM outcome(format('SELECT dp_release_drop(%L, %s)', 'adm', :one));
SELECT l.epsilon, l.purpose, l.release, k.model IS NULL AND k.metrics IS NULL AS nothing, k.failure FROM dp_ledger l JOIN dp_releases k USING (budget, entry) WHERE budget = 'adm' AND entry = :one;
-- a member of the role that paid, too; the budget's owner what they paid themselves
SET ROLE dperm_adm_owner;
SELECT dp_release_drop('adm', :owners);
SELECT entry AS members FROM dp_releases WHERE role = 'dperm_adm_member' \gset
RESET ROLE;
BEGIN;
GRANT dperm_adm_member TO dperm_adm_second;
SET LOCAL ROLE dperm_adm_second;
SELECT dp_release_drop('adm', :members);
ROLLBACK;
SELECT * FROM broken('dperm') WHERE rows > 0;
-- beyond so many, a call is refused before it is charged
UPDATE dperm.grants SET kept = 10000 WHERE grantee = 'dperm_adm_ana'::regrole AND budget_id = (SELECT id FROM dperm.budgets WHERE budget = 'adm' AND dropped IS NULL);
INSERT INTO dperm.releases (budget_id, entry, payer_name, grant_id) SELECT g.budget_id, 1000000 + i, g.grantee_name, g.id FROM dperm.grants g, generate_series(1, 10000 - (SELECT count(*) FROM dperm.releases k WHERE k.grant_id = g.id AND k.failure IS NULL)) i WHERE g.kept = 10000;
SET ROLE dperm_adm_ana;
SET client_min_messages = error;
SELECT epsilon_spent AS before FROM dp_grants WHERE budget = 'adm' \gset
SELECT dp_logreg_train('t', 'y', 'x', 0.03125);
\echo :LAST_ERROR_SQLSTATE
SELECT epsilon_spent - :before AS charged FROM dp_grants WHERE budget = 'adm';
-- not so what keeps nothing, and others
SELECT dp_budget_charge('adm', 0.03125);
SET ROLE dperm_adm_member;
SELECT dp_logreg_train('t', 'y', 'x', 0.03125) IS NOT NULL AS trained;
-- one that is deleted makes room for one
SET ROLE dperm_adm_ana;
SELECT dp_release_drop('adm', :other);
SELECT dp_logreg_train('t', 'y', 'x', 0.03125) IS NOT NULL AS trained;
SELECT result ~ '^54000' AS refused FROM outcome($$SELECT dp_logreg_train('t', 'y', 'x', 0.03125)$$);
RESET client_min_messages;
RESET ROLE;
ALTER EVENT TRIGGER dperm_after_command DISABLE;
ALTER TABLE dperm.releases DISABLE TRIGGER dperm_ledger_guard;
DELETE FROM dperm.releases WHERE entry > 1000000;
ALTER TABLE dperm.releases ENABLE ALWAYS TRIGGER dperm_ledger_guard;
ALTER EVENT TRIGGER dperm_after_command ENABLE ALWAYS;

--
-- Budgets that were never charged can be removed, if they are old
--
BEGIN;
SET LOCAL ROLE dperm_adm_owner;
SELECT dp_budget_create('adm old', 1), dp_grant('adm old', 'dperm_adm_ana'), dp_budget_create('adm new', 1), dp_budget_create('adm open', 1), dp_budget_create('adm reused', 1), dp_budget_drop('adm reused'), dp_budget_create('adm reused', 1), dp_budget_create('adm ended', 1), dp_budget_drop('adm ended');
CREATE TABLE guarded (x int CHECK (x BETWEEN 0 AND 9), y boolean);
SELECT dp_protect('guarded', 'adm open');
SAVEPOINT s;
SELECT dp_budget_prune();
ROLLBACK TO s;
RESET ROLE;
UPDATE dperm.budgets SET created = now() - interval '31 days' WHERE budget LIKE 'adm%' AND budget <> 'adm new' AND (budget <> 'adm reused' OR dropped IS NOT NULL);
SELECT dp_budget_prune() AS pruned;
SELECT budget, dropped IS NULL AS there, spent_epsilon > 0 AS charged FROM dperm.budgets WHERE budget LIKE 'adm%' ORDER BY 1, since;
SELECT count(*) FROM dperm.ledger WHERE budget IN ('adm old', 'adm ended');
SELECT * FROM broken('dperm') WHERE rows > 0;
-- not an earlier one of a name that is in use, whose entries have the first numbers
SELECT dp_budget_prune('-infinity') AS pruned, dp_budget_prune(now() - interval '60 days') AS none;
UPDATE dperm.budgets SET created = now() - interval '31 days' WHERE budget = 'adm reused';
SELECT dp_budget_prune(NULL) AS later, dp_budget_prune(NULL) AS earlier, dp_budget_prune(NULL) AS none;
SELECT * FROM broken('dperm') WHERE rows > 0;
ROLLBACK;

--
-- With many budgets of others, nothing reads them all
--
\set ECHO none
-- rows of our tables that a query reads, by its plan
CREATE FUNCTION rows_read(plan jsonb) RETURNS numeric LANGUAGE sql AS $$
	WITH RECURSIVE node (node) AS (SELECT plan UNION ALL SELECT child FROM node, jsonb_array_elements(node -> 'Plans') child)
	SELECT coalesce(sum((node ->> 'Actual Loops')::numeric * ((node ->> 'Actual Rows')::numeric + coalesce((node ->> 'Rows Removed by Filter')::numeric, 0) + coalesce((node ->> 'Rows Removed by Index Recheck')::numeric, 0))), 0)
	FROM node WHERE node ? 'Relation Name' AND node ->> 'Schema' = 'dperm'
$$;
CREATE FUNCTION read_by(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN adm.rows_read(plan #> '{0,Plan}');
END $$;
-- and those that statements in functions have read, as PostgreSQL counts them
CREATE FUNCTION fetched_by(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables WHERE schemaname = 'dperm');
BEGIN
	EXECUTE query;
	RETURN (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables WHERE schemaname = 'dperm') - before;
END $$;
\set ECHO all
BEGIN;
WITH made AS (INSERT INTO dperm.budgets (budget, owner_name, epsilon, delta, renyi_order, neighbours, since, entry)
	SELECT 'adm many ' || i, 'dperm_adm_stranger', 1, 0, 0, 'replace', 1, 1 FROM generate_series(1, 20000) i RETURNING id, budget),
granted AS (INSERT INTO dperm.grants (budget_id, grantee_name) SELECT id, 'dperm_adm_team' FROM made)
INSERT INTO dperm.ledger (budget_id, budget, entry, act, actor_name, role) SELECT id, budget, 1, 'create', 'dperm_adm_stranger', 'dperm_adm_stranger' FROM made;
CREATE TABLE many (x int);
ALTER TABLE many OWNER TO dperm_adm_owner;
INSERT INTO dperm.protected (schema, name, owner_name, budget_id, all_columns) SELECT 'adm', b.budget, 'dperm_adm_stranger', b.id, true FROM dperm.budgets b WHERE b.budget LIKE 'adm many %';
UPDATE dperm.protected SET relation = 4000000000 + substr(name, 10)::bigint, here = dperm.dperm_here() WHERE name LIKE 'adm many %';
ANALYZE dperm.budgets, dperm.grants, dperm.ledger, dperm.releases, dperm.protected, dperm.protected_columns;
SET LOCAL ROLE dperm_adm_stranger;
-- what reads all of them is seen
SELECT read_by('SELECT * FROM dp_budgets') >= 20000 AS of_stranger, fetched_by('SELECT * FROM dp_budgets') >= 20000 AS counted;
SET LOCAL ROLE dperm_adm_ana;
SELECT view AS reads_many, n FROM (SELECT view, read_by('SELECT * FROM ' || view) AS n FROM unnest('{dp_budgets,dp_grants,dp_ledger,dp_releases,dp_protected}'::text[]) view) r WHERE n >= 20000;
SELECT view AS reads_many, n FROM (SELECT view, read_by(format('SELECT * FROM %s WHERE budget = %L', view, 'adm')) AS n FROM unnest('{dp_budgets,dp_grants,dp_ledger,dp_releases,dp_protected}'::text[]) view) r WHERE n >= 20000;
SELECT call AS fetches_many, n FROM (SELECT call, fetched_by('SELECT ' || call) AS n FROM unnest(ARRAY['dp_report(''adm'')', 'dp_report_data(''adm'')', 'dp_report(model) FROM models', 'count(*) FROM dp_ledger', 'count(*) FROM dp_cost(''t'', ''y'', ''x'', 1, units => 100)', format('dp_release_drop(''adm'', entry) FROM (SELECT entry FROM dp_releases WHERE role = %L AND failure IS NULL LIMIT 1) e', current_user)]) call) r WHERE n >= 20000;
SET LOCAL ROLE dperm_adm_owner;
SELECT view AS reads_many, n FROM (SELECT view, read_by('SELECT * FROM ' || view) AS n FROM unnest('{dp_budgets,dp_grants,dp_ledger,dp_releases,dp_protected}'::text[]) view) r WHERE n >= 20000;
SET LOCAL client_min_messages = error;
SELECT command AS fetches_many, n FROM (SELECT command, fetched_by(command) AS n FROM unnest('{CREATE TABLE bystander (a int),ALTER TABLE bystander ADD b int,ALTER TABLE bystander RENAME TO still,CREATE TYPE kind AS (a int),ALTER TYPE kind ADD ATTRIBUTE b int,CREATE VIEW over AS SELECT a FROM still,DROP TABLE still CASCADE,DROP TYPE kind}'::text[]) command) r WHERE n >= 20000;
SELECT call AS fetches_many, n FROM (SELECT call, fetched_by('SELECT ' || call) AS n FROM unnest(ARRAY['dp_budget_create(''adm one'', 1)', 'dp_budget_alter(''adm one'', add => 1)', 'dp_grant(''adm one'', ''dperm_adm_ana'', 1)', 'dp_grant(''adm one'', ''dperm_adm_ana'', add => 1)',
	'dp_protect(''many'', ''adm one'', domains => ''{"x": [0, 1]}'')', 'dp_protect(''many'', ''adm next'')', 'dp_unprotect(''many'')', 'dp_revoke(''adm one'', ''dperm_adm_ana'')', 'dp_budget_drop(''adm one'')', 'dp_report(''adm'')']) WITH ORDINALITY c(call, n)) r WHERE n >= 20000;
ROLLBACK;
-- for the other tests: statistics of what is not there any more would mislead them
VACUUM (ANALYZE) dperm.budgets, dperm.grants, dperm.ledger, dperm.releases, dperm.protected, dperm.protected_columns;

SET client_min_messages = warning;
DROP SCHEMA adm CASCADE;
SELECT count(dp_budget_drop(budget)) AS dropped FROM dp_budgets WHERE budget LIKE 'adm%';
DROP ROLE dperm_adm_owner, dperm_adm_second, dperm_adm_ana, dperm_adm_ben, dperm_adm_member, dperm_adm_team, dperm_adm_monitor, dperm_adm_stranger;
