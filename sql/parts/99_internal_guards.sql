--
-- Who may do what in schema dperm. Trusted.
--
-- Nobody but superusers creates anything there, so tables have no rules or
-- policies, and no triggers but ours.

-- Privileges are not enough to write to our tables: pg_write_all_data has them,
-- and GRANT ALL gives them.
CREATE FUNCTION dperm.dperm_table_guard() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF TG_OP = 'TRUNCATE' THEN
		RAISE EXCEPTION 'entries of the ledger cannot be changed or removed'
			USING ERRCODE = 'object_not_in_prerequisite_state';
	ELSIF NOT (SELECT pg_has_role(current_user, c.relowner, 'USAGE') FROM pg_class c WHERE c.oid = TG_RELID) THEN
		RAISE EXCEPTION 'table "%" can only be changed by extension dperm', TG_TABLE_NAME
			USING ERRCODE = 'insufficient_privilege', HINT = 'Use its functions.';
	END IF;
	RETURN NULL;
END $$;
COMMENT ON FUNCTION dperm.dperm_table_guard() IS
	'internal to budgets: only the extension writes its tables, whatever privileges other roles have';

-- A budget that was never charged can be removed, with its entries. What a
-- release is replaced by says that it was deleted.
CREATE FUNCTION dperm.dperm_ledger_guard() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF TG_OP = 'DELETE' AND TG_TABLE_NAME <> 'budgets' THEN
		IF NOT EXISTS (SELECT FROM dperm.budgets b WHERE b.id = OLD.budget_id) THEN
			RETURN OLD;
		END IF;
	END IF;
	RAISE EXCEPTION 'entries of the ledger cannot be changed or removed'
		USING ERRCODE = 'object_not_in_prerequisite_state';
END $$;
COMMENT ON FUNCTION dperm.dperm_ledger_guard() IS
	'internal to dp_ledger: entries are only ever added, and a budget that was charged stays';

-- Rows of logical replication would reset what is spent here to what is spent
-- elsewhere; statement triggers do not fire for them. Other sessions with
-- session_replication_role = replica write as usual: a restore may set it.
CREATE FUNCTION dperm.dperm_replica_guard() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	process text := (SELECT a.backend_type FROM pg_stat_activity a WHERE a.pid = pg_backend_pid());
BEGIN
	IF process LIKE 'logical replication%' THEN
		RETURN NULL;
	ELSIF process IS NULL THEN
		RAISE EXCEPTION 'cannot tell whether a row of table "%" comes from logical replication', TG_TABLE_NAME
			USING ERRCODE = 'insufficient_privilege', HINT = 'The owner of the table must be a superuser, or a member of pg_read_all_stats.';
	END IF;
	RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;
COMMENT ON FUNCTION dperm.dperm_replica_guard() IS
	'internal to budgets: logical replication does not write the tables of the extension';

DO $$
DECLARE
	guarded regclass;
BEGIN
	FOR guarded IN SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'dperm'::regnamespace AND c.relkind = 'r' LOOP
		EXECUTE format('CREATE TRIGGER dperm_table_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s
				FOR EACH STATEMENT EXECUTE FUNCTION dperm.dperm_table_guard();
			CREATE TRIGGER dperm_replica_guard BEFORE INSERT OR UPDATE OR DELETE ON %1$s
				FOR EACH ROW EXECUTE FUNCTION dperm.dperm_replica_guard();
			ALTER TABLE %1$s ENABLE ALWAYS TRIGGER dperm_table_guard, ENABLE REPLICA TRIGGER dperm_replica_guard', guarded);
	END LOOP;
END $$;
CREATE TRIGGER dperm_ledger_guard BEFORE UPDATE OR DELETE ON dperm.ledger FOR EACH ROW EXECUTE FUNCTION dperm.dperm_ledger_guard();
ALTER TABLE dperm.ledger ENABLE ALWAYS TRIGGER dperm_ledger_guard;
CREATE TRIGGER dperm_ledger_guard BEFORE DELETE ON dperm.releases FOR EACH ROW EXECUTE FUNCTION dperm.dperm_ledger_guard();
ALTER TABLE dperm.releases ENABLE ALWAYS TRIGGER dperm_ledger_guard;
CREATE TRIGGER dperm_ledger_guard_update BEFORE UPDATE ON dperm.releases FOR EACH ROW
	WHEN (OLD.failure IS NOT NULL OR NEW.failure IS DISTINCT FROM 'deleted') EXECUTE FUNCTION dperm.dperm_ledger_guard();
ALTER TABLE dperm.releases ENABLE ALWAYS TRIGGER dperm_ledger_guard_update;
CREATE TRIGGER dperm_ledger_guard BEFORE DELETE ON dperm.budgets FOR EACH ROW WHEN (OLD.spent_epsilon > 0) EXECUTE FUNCTION dperm.dperm_ledger_guard();
ALTER TABLE dperm.budgets ENABLE ALWAYS TRIGGER dperm_ledger_guard;

-- Nobody else has any privilege in schema dperm, whatever default privileges
-- have granted.
DO $$
DECLARE
	held record;
BEGIN
	FOR held IN
		SELECT o.object, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
		FROM (SELECT 'SCHEMA dperm' AS object, n.nspowner AS owner, n.nspacl AS acl
				FROM pg_namespace n WHERE n.nspname = 'dperm'
			UNION ALL SELECT 'TABLE ' || c.oid::regclass, c.relowner, c.relacl
				FROM pg_class c WHERE c.relnamespace = 'dperm'::regnamespace
			UNION ALL SELECT 'ROUTINE ' || p.oid::regprocedure, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
				FROM pg_proc p WHERE p.pronamespace = 'dperm'::regnamespace) o, aclexplode(o.acl) a
		WHERE a.grantee <> o.owner
		GROUP BY 1, 2
	LOOP
		EXECUTE format('REVOKE ALL ON %s FROM %s', held.object, held.grantee);
	END LOOP;
END $$;

-- Everybody calls what is called with their own rights: in queries over rows that they may read, here
-- or on another server; by Citus, which asks for the right to call the parts of an aggregate that it runs on several servers;
-- by casts, also those to and from text, which call the type's own functions; and by views and functions for everybody.
GRANT USAGE ON SCHEMA dperm TO PUBLIC;
GRANT SELECT ON dperm.report_fields, dperm.report_largest, dperm.dperm_seen_accounts TO PUBLIC;
DO $$
DECLARE
	part record;
	-- with whatever arguments
	for_all name[] := '{
		dperm_moments_agg,dperm_moments_person_agg,dperm_moments_step,dperm_moments_combine,
		dperm_load_agg,dperm_bounded,dperm_label,dperm_row,dperm_sample,dperm_model_in,dperm_model_out,
		dperm_model_recv,dperm_model_send,dperm_budget_left,dperm_budget_order,dperm_left,dperm_own_roles,dperm_running_key,
		dperm_released,dperm_here,dperm_role_name_out,dperm_role_of}';
BEGIN
	FOR part IN SELECT p.oid::regprocedure AS signature, p.proname AS name FROM pg_proc p WHERE p.pronamespace = 'dperm'::regnamespace LOOP
		IF part.name = ANY (for_all) OR part.name LIKE 'report\_%' THEN
			EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO PUBLIC', part.signature);
		END IF;
		IF part.name ~ '^(dp|report)_' AND obj_description(part.signature, 'pg_proc') IS NULL THEN
			EXECUTE format('COMMENT ON FUNCTION %s IS %L', part.signature,
				'internal to ' || CASE WHEN part.name LIKE 'report\_%' THEN 'dp_report and dp_report_data' ELSE part.name END);
		END IF;
	END LOOP;
END $$;
