--
-- Administration of budgets. Trusted.
--
-- Each function locks the row of the budget before it reads or writes anything of
-- the budget, as a charge does. What a caller may do is decided by the role that
-- is passed on: current_user is the owner of the extension here.

-- Within the bounds of core/base/core.h, and with the digits of core/mechanism/charge.h.
CREATE FUNCTION dperm.dperm_budget_limit(value float8, is_delta boolean) RETURNS numeric
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1
AS $$
BEGIN
	IF NOT is_delta AND NOT value BETWEEN 1e-6 AND 500 THEN
		RAISE EXCEPTION 'epsilon of a budget must be between 1e-06 and 500'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'epsilon is what all releases may cost together; values up to about 10 give some protection.';
	ELSIF is_delta AND value <> 0 AND NOT (value >= 1e-15 AND value < 1) THEN
		RAISE EXCEPTION 'delta of a budget must be 0, or at least 1e-15 and less than 1'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'delta should be much smaller than 1 divided by the number of rows or persons.';
	END IF;
	RETURN trim_scale(trunc(value::text::numeric, CASE WHEN is_delta THEN 24 ELSE 12 END));
END $$;
COMMENT ON FUNCTION dperm.dperm_budget_limit(float8, boolean) IS
	'internal to dp_budget_create: a limit as an exact amount, not above what the user wrote; or an error';

CREATE FUNCTION dperm.dperm_role(role oid) RETURNS dperm.dperm_role_name
	LANGUAGE sql STABLE PARALLEL SAFE
	RETURN pg_get_userbyid($1)::text::dperm.dperm_role_name;
COMMENT ON FUNCTION dperm.dperm_role(oid) IS 'internal to budgets: a role as our tables have it';

-- Whoever does not own a budget must not lock it.
CREATE FUNCTION dperm.dperm_own_budget(caller oid, budget text) RETURNS dperm.budgets
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	found dperm.budgets;
BEGIN
	IF $2 IS NULL THEN
		RAISE EXCEPTION 'budget must not be null'
			USING ERRCODE = 'null_value_not_allowed', HINT = 'It is the name of a budget, as in dp_budgets.';
	END IF;
	FOR locked IN 0..1 LOOP
		IF locked = 0 THEN
			SELECT * INTO found FROM dperm.budgets b WHERE b.budget = $2 AND b.dropped IS NULL;
		ELSE
			SELECT * INTO found FROM dperm.budgets b WHERE b.id = found.id AND b.dropped IS NULL FOR UPDATE;
		END IF;
		IF found.id IS NULL THEN
			RAISE EXCEPTION 'budget "%" does not exist', $2
				USING ERRCODE = 'undefined_object', HINT = 'dp_budgets lists budgets; dp_budget_create creates one, for roles that a superuser has granted EXECUTE on it.';
		ELSIF NOT pg_has_role(caller, found.owner, 'USAGE') THEN
			RAISE EXCEPTION 'must be owner of budget "%"', $2 USING ERRCODE = 'insufficient_privilege';
		END IF;
	END LOOP;
	RETURN found;
END $$;
COMMENT ON FUNCTION dperm.dperm_own_budget(oid, text) IS
	'internal to budgets: the budget of this name, locked, or an error unless the caller owns it';

CREATE FUNCTION dperm.dperm_note(caller oid, budget dperm.budgets, act text, relation text DEFAULT NULL,
	details text DEFAULT NULL, epsilon numeric DEFAULT NULL, delta numeric DEFAULT NULL, neighbours text DEFAULT NULL) RETURNS void
	LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH numbered AS (UPDATE dperm.budgets b SET entry = b.entry + 1 WHERE b.id = ($2).id RETURNING b.id, b.budget, b.entry)
	INSERT INTO dperm.ledger (budget_id, budget, entry, act, actor_name, role, relation, details, epsilon, delta, neighbours)
	SELECT n.id, n.budget, n.entry, $3, dperm.dperm_role($1), pg_get_userbyid($1), $4,
		CASE WHEN octet_length($5) > 8192 THEN left($5, 2048) || '...' ELSE $5 END, $6, $7, $8
	FROM numbered n;
END;
COMMENT ON FUNCTION dperm.dperm_note(oid, dperm.budgets, text, text, text, numeric, numeric, text) IS
	'internal to dp_ledger: write the next entry of a budget, which is locked';

-- DROP EXTENSION would remove the ledger. This view is no member of the
-- extension, and depends on its schema: so DROP EXTENSION fails, and names it.
CREATE FUNCTION dperm.dperm_keep_ledger() RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF to_regclass('dperm.ledger_is_kept') IS NULL THEN
		LOCK TABLE dperm.budgets IN SHARE UPDATE EXCLUSIVE MODE;
		IF to_regclass('dperm.ledger_is_kept') IS NULL THEN
			CREATE VIEW dperm.ledger_is_kept AS SELECT 1 AS ledger_is_kept;
			COMMENT ON VIEW dperm.ledger_is_kept IS 'keeps DROP EXTENSION dperm from removing the ledger; drop it to mean that';
		END IF;
	END IF;
END $$;
COMMENT ON FUNCTION dperm.dperm_keep_ledger() IS 'internal to dp_budget_create: from the first budget on, DROP EXTENSION fails';

CREATE FUNCTION dperm.dperm_check_neighbours(neighbours text) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF $1 IS NULL THEN
		RAISE EXCEPTION 'neighbours must not be null'
			USING ERRCODE = 'null_value_not_allowed', HINT = 'Use ''replace'' or ''remove''.';
	ELSIF $1 NOT IN ('replace', 'remove') THEN
		RAISE EXCEPTION 'unknown neighbours "%"', $1
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Use ''replace'' or ''remove'', and the same in all calls that charge the budget.';
	END IF;
END $$;
COMMENT ON FUNCTION dperm.dperm_check_neighbours(text) IS 'internal to budgets: raise an error for unknown neighbours';

-- Who waits for a name that another transaction has taken may wait for ever.
CREATE FUNCTION dperm.dp_budget_create(caller oid, budget text, epsilon float8, delta float8, neighbours text) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s'
AS $$
DECLARE
	limits numeric[] := ARRAY[dperm.dperm_budget_limit(epsilon, false), dperm.dperm_budget_limit(coalesce(delta, 0), true)];
	made dperm.budgets;
BEGIN
	IF $2 IS NULL THEN
		RAISE EXCEPTION 'budget must not be null'
			USING ERRCODE = 'null_value_not_allowed', HINT = 'It is the name of a budget, as in dp_budgets.';
	ELSIF octet_length($2) NOT BETWEEN 1 AND 63 THEN
		RAISE EXCEPTION 'the name of a budget must have between 1 and 63 bytes' USING ERRCODE = 'invalid_name';
	END IF;
	PERFORM dperm.dperm_check_neighbours(neighbours);
	IF limits[1] IS NULL THEN
		RAISE EXCEPTION 'epsilon must not be null'
			USING ERRCODE = 'null_value_not_allowed', HINT = 'Call dp_budget_create(''patients'', epsilon => 3).';
	END IF;
	IF EXISTS (SELECT FROM dperm.budgets b WHERE b.budget = $2 AND b.dropped IS NULL) THEN
		RAISE unique_violation;
	END IF;
	PERFORM dperm.dperm_keep_ledger();
	INSERT INTO dperm.budgets (budget, owner_name, epsilon, delta, renyi_order, neighbours, since, entry)
	SELECT $2, dperm.dperm_role(caller), limits[1], limits[2], dperm.dperm_budget_order(limits[1], limits[2]), $5, coalesce(max(e.entry), 0) + 1, coalesce(max(e.entry), 0)
	FROM dperm.ledger e WHERE e.budget = $2
	RETURNING * INTO made;
	PERFORM dperm.dperm_note(caller, made, 'create', epsilon => limits[1], delta => limits[2], neighbours => $5);
EXCEPTION
	WHEN unique_violation THEN
		RAISE EXCEPTION 'budget "%" already exists', $2
			USING ERRCODE = 'duplicate_object', HINT = 'Use dp_budget_alter to raise or lower it.';
	WHEN lock_not_available THEN
		RAISE EXCEPTION 'a transaction that has not ended is creating budget "%", or the first one', $2
			USING ERRCODE = 'lock_not_available', HINT = 'Try again, or use another name.';
END $$;

CREATE FUNCTION dperm.dp_budget_alter(caller oid, budget text, epsilon float8, delta float8, owner name, neighbours text, add float8) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	limits numeric[] := ARRAY[dperm.dperm_budget_limit(epsilon, false), dperm.dperm_budget_limit(delta, true), dperm.dperm_budget_limit(add, false)];
	before dperm.budgets;
	after dperm.budgets;
	heir oid := CASE WHEN $5 IS NOT NULL THEN dperm.dperm_existing_role($5) END;
BEGIN
	IF num_nonnulls(epsilon, delta, $5, $6, add) = 0 THEN
		RAISE EXCEPTION 'there is nothing to alter'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Specify epsilon, delta, neighbours, owner or add.';
	ELSIF num_nonnulls(epsilon, add) = 2 THEN
		RAISE EXCEPTION 'epsilon and add cannot be given together'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'epsilon is the new limit; add is added to the limit.';
	END IF;
	IF $6 IS NOT NULL THEN
		PERFORM dperm.dperm_check_neighbours($6);
	END IF;
	before := dperm.dperm_own_budget(caller, $2);
	after := before;
	IF heir IS NOT NULL AND NOT pg_has_role(caller, heir, 'USAGE') THEN
		RAISE EXCEPTION 'must be member of role "%"', $5 USING ERRCODE = 'insufficient_privilege';
	END IF;
	after.epsilon := coalesce(limits[1], dperm.dperm_budget_limit((before.epsilon + limits[3])::float8, false), before.epsilon);
	after.delta := coalesce(limits[2], before.delta);
	after.neighbours := coalesce($6, before.neighbours);
	after.owner_name := coalesce(dperm.dperm_role(heir), before.owner_name);
	-- the order is fixed once something has been spent, in one way or the other
	IF before.spent_epsilon = 0 THEN
		after.renyi_order := dperm.dperm_budget_order(after.epsilon, after.delta);
	ELSIF (after.delta > 0) <> (before.renyi_order > 0) THEN
		RAISE EXCEPTION 'budget "%" has been charged % a delta', $2, CASE WHEN before.renyi_order > 0 THEN 'with' ELSE 'without' END
			USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Create another budget.';
	ELSIF after.neighbours <> before.neighbours THEN
		RAISE EXCEPTION 'budget "%" has been charged for neighbours ''%''', $2, before.neighbours
			USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Create another budget.';
	END IF;
	IF (after.epsilon, after.delta, after.neighbours, coalesce(heir, before.owner)) = (before.epsilon, before.delta, before.neighbours, before.owner) THEN
		RAISE NOTICE 'nothing of budget "%" has changed', $2;
		RETURN;
	END IF;
	UPDATE dperm.budgets b SET epsilon = after.epsilon, delta = after.delta, renyi_order = after.renyi_order, neighbours = after.neighbours, owner_name = after.owner_name
	WHERE b.id = before.id;
	PERFORM dperm.dperm_note(caller, after, 'alter', epsilon => after.epsilon, delta => after.delta, neighbours => $6, details => 'owner ' || quote_ident($5));
END $$;

CREATE FUNCTION dperm.dp_budget_drop(caller oid, budget text) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	dropped dperm.budgets := dperm.dperm_own_budget(caller, $2);
	charging text;
BEGIN
	PERFORM dperm.dperm_bind();
	SELECT format('%I.%I', p.schema, p.name) INTO charging FROM dperm.protected p
	WHERE p.budget_id = dropped.id AND p.ended IS NULL AND (EXISTS (SELECT FROM pg_class c WHERE c.oid = p.relation AND p.here = dperm.dperm_here())
		OR EXISTS (SELECT FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid WHERE n.nspname = p.schema AND c.relname = p.name AND c.relowner = dperm.dperm_role_of(p.owner_name)))
	ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'cannot drop budget "%" because protected relations charge it', $2
			USING ERRCODE = 'dependent_objects_still_exist', DETAIL = format('One of them is %s.', charging),
			HINT = 'Protect them with another budget, or call dp_unprotect.';
	END IF;
	PERFORM dperm.dperm_note(caller, dropped, 'drop');
	DELETE FROM dperm.grants g WHERE g.budget_id = dropped.id;
	-- what this transaction has ended stays, so that it cannot train uncharged
	DELETE FROM dperm.protected p WHERE p.budget_id = dropped.id AND (p.ended IS NULL OR p.ended < now());
	UPDATE dperm.budgets b SET dropped = clock_timestamp() WHERE b.id = dropped.id;
END $$;

-- What is protected while this waits counts: so the rows are locked first, but not
-- those that are in use.
CREATE FUNCTION dperm.dp_budget_prune(caller oid, before timestamptz) RETURNS bigint
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	unused uuid[] := ARRAY(SELECT b.id FROM dperm.budgets b WHERE b.spent_epsilon = 0 AND b.created < coalesce($2, now() - interval '30 days') FOR UPDATE SKIP LOCKED);
	pruned bigint;
BEGIN
	DELETE FROM dperm.budgets b WHERE b.id = ANY (unused)
		AND NOT EXISTS (SELECT FROM dperm.protected p WHERE p.budget_id = b.id AND (p.ended IS NULL OR p.ended >= now()))
		AND NOT EXISTS (SELECT FROM dperm.budgets l WHERE l.budget = b.budget AND l.since > b.since);
	GET DIAGNOSTICS pruned = ROW_COUNT;
	RETURN pruned;
END $$;
COMMENT ON FUNCTION dperm.dp_budget_prune(oid, timestamptz) IS 'internal to dp_budget_prune: their ledgers go with them, but entries of a name keep their numbers';

CREATE FUNCTION dperm.dperm_existing_role(role name) RETURNS oid
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	found oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = $1);
BEGIN
	IF $1 IS NULL THEN
		RAISE EXCEPTION 'role must not be null'
			USING ERRCODE = 'null_value_not_allowed', HINT = 'It is the name of a role, as in pg_roles.';
	ELSIF found IS NULL THEN
		RAISE EXCEPTION 'role "%" does not exist', $1 USING ERRCODE = 'undefined_object';
	END IF;
	RETURN found;
END $$;
COMMENT ON FUNCTION dperm.dperm_existing_role(name) IS 'internal to dp_grant: a role by name, or an error';

CREATE FUNCTION dperm.dp_grant(caller oid, budget text, role name, epsilon float8, delta float8, add float8) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	limits numeric[] := ARRAY[dperm.dperm_budget_limit(epsilon, false), dperm.dperm_budget_limit(delta, true), dperm.dperm_budget_limit(add, false)];
	receiver oid := dperm.dperm_existing_role($3);
	granted dperm.budgets;
	before dperm.grants;
	after dperm.grants;
BEGIN
	IF num_nonnulls(epsilon, add) = 2 THEN
		RAISE EXCEPTION 'epsilon and add cannot be given together'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'epsilon is the new limit; add is added to the limit.';
	END IF;
	granted := dperm.dperm_own_budget(caller, $2);
	IF limits[2] > 0 AND granted.renyi_order = 0 THEN
		RAISE EXCEPTION 'budget "%" has no delta', $2
			USING ERRCODE = 'invalid_parameter_value', HINT = CASE WHEN granted.spent_epsilon > 0 THEN 'Omit delta.' ELSE 'Omit delta, or give the budget one first, with dp_budget_alter.' END;
	END IF;
	SELECT * INTO before FROM dperm.grants g WHERE g.budget_id = granted.id AND g.grantee = receiver::regrole FOR UPDATE;
	IF add IS NOT NULL AND before.epsilon IS NULL THEN
		RAISE EXCEPTION 'role "%" has no limit of budget "%" that could be added to', $3, $2
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Specify epsilon.';
	END IF;
	after.epsilon := coalesce(limits[1], dperm.dperm_budget_limit((before.epsilon + limits[3])::float8, false), before.epsilon);
	after.delta := coalesce(limits[2], before.delta);
	IF limits[2] IS NOT NULL AND after.epsilon IS NULL THEN
		RAISE EXCEPTION 'a grant with a delta needs an epsilon'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Specify epsilon, or omit delta.';
	ELSIF before.spent_epsilon > 0 AND after.delta <> before.delta THEN
		RAISE EXCEPTION 'the delta of the grant of budget "%" to "%" is %, as it was when the grant was first charged', $2, $3, trim_scale(before.delta)
			USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Omit delta. A larger epsilon allows more releases with a delta, too.';
	END IF;
	IF before.id IS NULL THEN
		DELETE FROM dperm.grants g WHERE g.budget_id = granted.id AND g.grantee_name::text = 'pg_dropped:' || $3;
		INSERT INTO dperm.grants (budget_id, grantee_name, epsilon, delta) VALUES (granted.id, dperm.dperm_role(receiver), after.epsilon, after.delta);
	ELSIF before.revoked IS NULL AND (after.epsilon, after.delta) IS NOT DISTINCT FROM (before.epsilon, before.delta) THEN
		RAISE NOTICE 'nothing of the grant of budget "%" to "%" has changed', $2, $3
			USING HINT = 'What was spent is not reset. add => 1 adds to the limit of epsilon.';
		RETURN;
	ELSE
		UPDATE dperm.grants g SET epsilon = after.epsilon, delta = after.delta, revoked = NULL WHERE g.id = before.id;
	END IF;
	IF before.revoked IS NOT NULL THEN
		RAISE NOTICE 'role "%" has spent epsilon % of the grant of budget "%" that was revoked', $3, trim_scale(before.spent_epsilon), $2
			USING HINT = 'The grant goes on from there. Limits that are omitted stay, too.';
	END IF;
	after.delta := CASE WHEN after.epsilon IS NOT NULL THEN after.delta END;
	PERFORM dperm.dperm_note(caller, granted, 'grant', details => 'to ' || quote_ident($3), epsilon => after.epsilon, delta => after.delta);
	IF after.epsilon > granted.epsilon OR after.delta > granted.delta THEN
		RAISE NOTICE 'the grant is larger than budget "%", which has epsilon % and delta %', $2, trim_scale(granted.epsilon), trim_scale(granted.delta)
			USING HINT = 'The budget is the limit of all of its grants together.';
	END IF;
	PERFORM dperm.dperm_bind();
	PERFORM dperm.dperm_warn_readers(r.relations, ARRAY[receiver]) FROM (SELECT array_agg(DISTINCT s.relation) AS relations
		FROM dperm.protected p, unnest(dperm.dperm_row_sources(p.relation)) s(relation)
		WHERE p.budget_id = granted.id AND p.ended IS NULL AND p.here = dperm.dperm_here()) r;
END $$;

-- A role that was dropped has kept its grant, by the name that it had. A grant
-- that was charged is kept, so that the role does not start from 0 if it gets one
-- again.
CREATE FUNCTION dperm.dp_revoke(caller oid, budget text, role name) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	granted dperm.budgets;
BEGIN
	IF $3 IS NULL THEN
		RAISE EXCEPTION 'role must not be null'
			USING ERRCODE = 'null_value_not_allowed', HINT = 'It is the name of a role, as in pg_roles.';
	END IF;
	granted := dperm.dperm_own_budget(caller, $2);
	UPDATE dperm.grants g SET revoked = clock_timestamp() WHERE g.budget_id = granted.id AND g.revoked IS NULL AND g.grantee_name::text IN ($3::text, 'pg_dropped:' || $3);
	IF NOT FOUND THEN
		PERFORM dperm.dperm_existing_role($3);
		RAISE EXCEPTION 'role "%" has no grant of budget "%"', $3, $2
			USING ERRCODE = 'undefined_object', HINT = 'A role that this one is a member of may have one; the owners of the budget and of its relations need none.';
	END IF;
	DELETE FROM dperm.grants g WHERE g.budget_id = granted.id AND g.revoked IS NOT NULL AND g.spent_epsilon = 0;
	PERFORM dperm.dperm_note(caller, granted, 'revoke', details => 'from ' || quote_ident($3));
END $$;

-- Whoever may not cancel it does not learn whether there is such an entry. The
-- budget is not locked: who paid need not own it, and nobody waits for an
-- administrator here.
CREATE FUNCTION dperm.dp_cancel(caller oid, budget text, entry bigint) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	cancelled dperm.ledger;
	process integer;
BEGIN
	IF num_nulls($2, $3) > 0 THEN
		RAISE EXCEPTION '% must not be null', CASE WHEN $2 IS NULL THEN 'budget' ELSE 'entry' END
			USING ERRCODE = 'null_value_not_allowed', HINT = 'They are those of a call, as in dp_ledger.';
	ELSIF pg_is_in_recovery() THEN
		RAISE EXCEPTION 'calls cannot be cancelled during recovery'
			USING ERRCODE = 'read_only_sql_transaction', HINT = 'Connect to the primary server.';
	END IF;
	-- the owner of a relation that was renamed since, or that is charged to another budget by now, is not found
	SELECT e.* INTO cancelled FROM dperm.ledger e JOIN dperm.budgets b ON b.id = e.budget_id
	WHERE e.budget = $2 AND e.entry = $3 AND e.act = 'charge' AND e.relation IS NOT NULL
		AND (pg_has_role(caller, e.actor, 'USAGE') OR pg_has_role(caller, b.owner, 'USAGE')
			OR EXISTS (SELECT FROM dperm.protected p JOIN dperm.protected t ON t.id = coalesce(p.view_of, p.id) JOIN pg_class c ON c.oid = p.relation
				WHERE format('%I.%I', p.schema, p.name) = e.relation AND t.budget_id = b.id AND t.ended IS NULL AND p.here = dperm.dperm_here() AND pg_has_role(caller, c.relowner, 'USAGE')));
	IF NOT FOUND THEN
		RAISE EXCEPTION 'entry % of budget "%" is not a call that you may cancel', $3, $2
			USING ERRCODE = 'undefined_object', HINT = 'dp_ledger lists calls. Whoever has paid for one may cancel it, and so may the owners of the budget and of the relation.';
	END IF;
	SELECT r.pid INTO process FROM dperm.dperm_running r WHERE r.key = dperm.dperm_running_key(cancelled.budget_id, cancelled.entry);
	IF NOT FOUND OR NOT pg_cancel_backend(process) THEN
		RAISE EXCEPTION 'entry % of budget "%" is not running', $3, $2
			USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'dp_ledger shows its release.';
	END IF;
END $$;

CREATE FUNCTION dperm.dp_release_drop(caller oid, budget text, entry bigint) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF num_nulls($2, $3) > 0 THEN
		RAISE EXCEPTION '% must not be null', CASE WHEN $2 IS NULL THEN 'budget' ELSE 'entry' END
			USING ERRCODE = 'null_value_not_allowed', HINT = 'They are those of a release, as in dp_releases.';
	END IF;
	-- no lock but that on the release: who has paid need not own the budget
	UPDATE dperm.releases k SET model = NULL, metrics = NULL, failure = 'deleted' FROM dperm.ledger e
	WHERE e.budget = $2 AND e.entry = $3 AND k.budget_id = e.budget_id AND k.entry = e.entry AND k.failure IS NULL AND pg_has_role(caller, k.payer, 'USAGE');
	IF NOT FOUND THEN
		RAISE EXCEPTION 'entry % of budget "%" has no release that you have paid for', $3, $2
			USING ERRCODE = 'undefined_object', HINT = 'dp_releases lists them.';
	END IF;
END $$;
