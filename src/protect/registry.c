/*
 * registry.c: the registrations of protected relations.
 *
 * A row of dperm.protected has the OID of its relation, and the numbers of its
 * columns. It is looked up in the newest committed state plus the changes of this
 * transaction, whatever the snapshot of the caller is. dp_protect and
 * dp_unprotect write it (sql/parts/82_internal_protection.sql). In one that has
 * come from a dump names count until it is bound: it belongs to a relation of this
 * name whose owner is the role that is named. A relation of this name that belongs
 * to somebody else is closed. Event triggers follow names, for dumps; where they
 * have not, a relation is closed, too.
 *
 * And the locks that a call on a protected relation may need, taken before its
 * first row: everybody sees locks, and an error if the lock table is full. So no
 * lock may depend on what a row contains.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "protect/protect.h"
#include "relation/relation.h"

#define PROTECTED "protected"

/*
 * Was a row bound in this database, or has it come with its files? The key is
 * looked up once: it is as old as its table.
 */
static bool
is_here(const DpermOwnRows *rows, int row)
{
	static char key[NAMEDATALEN];
	static Oid	table;

	if (table != dperm_own_rows_table("origin"))
	{
		DpermOwnRows origin = dperm_own_rows_find("origin", "id", ObjectIdGetDatum(1), NULL);

		if (origin.count != 1)
			elog(ERROR, "this database has no key");
		strlcpy(key, dperm_own_rows_text(&origin, 0, "key"), sizeof(key));
		table = origin.table;
	}
	return strcmp(dperm_own_rows_text(rows, row, "here"), key) == 0;
}

/* Is a row bound to a relation that exists? */
static bool
is_bound(const DpermOwnRows *rows, int row)
{
	return is_here(rows, row) &&
		SearchSysCacheExists1(RELOID, dperm_own_rows_value(rows, row, "relation"));
}

/* Has a registration ended before this transaction? */
static bool
is_over(const DpermOwnRows *rows, int row)
{
	return dperm_own_rows_value(rows, row, "ended") && !dperm_own_rows_is_fresh(rows, row);
}

/* Does a relation have the name that a row has? */
static bool
has_name(const DpermOwnRows *rows, int row, Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = name ? get_namespace_name(get_rel_namespace(relation)) : NULL;

	return schema && strcmp(name, dperm_own_rows_text(rows, row, "name")) == 0 &&
		strcmp(schema, dperm_own_rows_text(rows, row, "schema")) == 0;
}

/*
 * The row of a relation, alone in the result: that of its OID, of which at most
 * one has not ended; or one that is not bound, and has its name, that of its
 * owner first.
 */
static DpermOwnRows
find_row(Oid relation, Snapshot snapshot)
{
	DpermOwnRows rows =
		dperm_own_rows_find(PROTECTED, "relation", ObjectIdGetDatum(relation), snapshot);
	char	   *name = get_rel_name(relation);
	int			best = -1;

	for (int i = 0; i < rows.count; i++)
		if (is_bound(&rows, i) && !is_over(&rows, i) &&
			(best < 0 || !dperm_own_rows_value(&rows, i, "ended")))
			best = i;
	if (best < 0 && name)
	{
		rows = dperm_own_rows_find(PROTECTED, "name",
								   DirectFunctionCall1(namein, CStringGetDatum(name)), snapshot);
		for (int i = 0; i < rows.count; i++)
			if (!is_bound(&rows, i) && !dperm_own_rows_value(&rows, i, "ended") &&
				has_name(&rows, i, relation) &&
				(best < 0 || dperm_own_rows_role_of(dperm_own_rows_value(&rows, i, "owner_name")) ==
				 dperm_relation_owner(relation)))
				best = i;
	}
	rows.count = best >= 0 ? 1 : 0;
	if (best > 0)
		rows.rows[0] = rows.rows[best];
	return rows;
}

/* The name of a column; NULL if it has been dropped. */
static char *
present_name(Oid relation, AttrNumber number)
{
	char	   *name = get_attname(relation, number, true);

	/* a column that has been dropped has a name by which it is not found */
	return name && get_attnum(relation, name) == number ? name : NULL;
}

/*
 * The number of a column in a row: as it is there, or by name if that is not
 * bound; 0 if the column has been dropped.
 */
static AttrNumber
number_of(const DpermOwnRows *rows, int row, const char *number, const char *name, bool bound,
		  DpermRegistration *registration)
{
	char	   *column = dperm_own_rows_text(rows, row, name);
	AttrNumber	found = bound ? DatumGetInt16(dperm_own_rows_value(rows, row, number)) : 0;
	char	   *present;

	if (found == 0)
		found = get_attnum(registration->relation, column);
	present = found > 0 ? present_name(registration->relation, found) : NULL;
	if (found > 0 && *column && (present == NULL || strcmp(present, column) != 0))
		registration->mixed = true;
	return present ? found : 0;
}

/* Fill in the columns of a registration, in the order of the table. */
static void
find_columns(DpermRegistration *registration, bool bound, Snapshot snapshot)
{
	DpermOwnRows rows = dperm_own_rows_find("protected_columns", "protected",
											dperm_own_rows_uuid(registration->id), snapshot);
	JsonbInState state = {0};

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < rows.count; i++)
	{
		AttrNumber	number = number_of(&rows, i, "number", "name",
										   bound && is_here(&rows, i), registration);
		Datum		domain = dperm_own_rows_value(&rows, i, "domain");

		if (number == 0)
			continue;
		if (DatumGetBool(dperm_own_rows_value(&rows, i, "listed")))
			registration->columns = lappend_int(registration->columns, number);
		if (domain)
		{
			char	   *name = present_name(registration->relation, number);
			JsonbValue	key = {.type = jbvString};
			JsonbValue	value;

			key.val.string.val = name;
			key.val.string.len = strlen(name);
			pushJsonbValue(&state, WJB_KEY, &key);
			JsonbToJsonbValue(DatumGetJsonbP(domain), &value);
			pushJsonbValue(&state, WJB_VALUE, &value);
		}
	}
	list_sort(registration->columns, list_int_cmp);
	pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	registration->domains = JsonbValueToJsonb(state.result);
}

/*
 * Find the budget: its own, or that of its table. A view has been changed by this
 * transaction if its table has.
 */
static void
find_budget(DpermRegistration *registration, DpermOwnRows rows, Snapshot snapshot)
{
	if (registration->view_of)
	{
		rows = dperm_own_rows_find(PROTECTED, "id", dperm_own_rows_uuid(registration->view_of),
								   snapshot);
		if (rows.count == 0)
			return;
		registration->fresh |= dperm_own_rows_is_fresh(&rows, 0);
	}
	if (dperm_own_rows_value(&rows, 0, "budget_id"))
		registration->budget =
			dperm_budget_find(dperm_own_rows_text(&rows, 0, "budget_id"), snapshot);
}

/*
 * The registration of a relation, all of it from one snapshot, in the current
 * memory context; NULL if it has none. One that has ended is found if this
 * transaction has ended it.
 */
DpermRegistration *
dperm_registry_find(Oid relation)
{
	Snapshot	snapshot = dperm_own_rows_newest();
	DpermOwnRows rows = find_row(relation, snapshot);
	DpermRegistration *found = NULL;

	if (rows.count > 0)
	{
		bool		bound = is_bound(&rows, 0);

		found = palloc0(sizeof(*found));
		found->relation = relation;
		found->id = dperm_own_rows_text(&rows, 0, "id");
		found->owner = dperm_own_rows_role_of(dperm_own_rows_value(&rows, 0, "owner_name"));
		found->view_of = dperm_own_rows_text(&rows, 0, "view_of");
		found->ended = dperm_own_rows_value(&rows, 0, "ended") != 0;
		found->fresh = dperm_own_rows_is_fresh(&rows, 0);
		found->foreign = !bound &&
			(found->owner != dperm_relation_owner(relation) ||
			 (get_rel_relkind(relation) == RELKIND_VIEW) != (found->view_of != NULL));
		found->stale = !has_name(&rows, 0, relation);
		found->persons = dperm_own_rows_value(&rows, 0, "unit") != 0;
		if (found->persons)
			found->unit = number_of(&rows, 0, "unit_number", "unit", bound, found);
		found->all_columns = DatumGetBool(dperm_own_rows_value(&rows, 0, "all_columns"));
		find_columns(found, bound, snapshot);
		find_budget(found, rows, snapshot);
	}
	UnregisterSnapshot(snapshot);
	return found;
}

/* Those of the relations that are protected, or whose protection this transaction has ended. */
List *
dperm_registry_among(List *relations)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, relations)
		if (find_row(lfirst_oid(cell), NULL).count > 0)
			found = list_append_unique_oid(found, lfirst_oid(cell));
	return found;
}

/* The lock on a registration. */
static LOCKTAG
lock_tag(Oid relation)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, dperm_own_rows_table(PROTECTED), relation, 0);
	return tag;
}

/*
 * Take it. A call holds it shared, as a lock of its process, from its check until
 * it has the snapshot that it reads with: the registration at the moment of the
 * charge counts. Who changes a registration holds it exclusively to the end of
 * the transaction, and takes it before that on a budget. No lock on the table
 * could do this without making those wait who write to it.
 */
void
dperm_registry_lock(Oid relation, LOCKMODE mode, bool process)
{
	LOCKTAG		tag = lock_tag(relation);

	(void) LockAcquire(&tag, mode, process, false);
}

/* ---------------------------------------------------------------- locks */

/*
 * Lock a relation for this process. PostgreSQL processes invalidation messages
 * when it first takes a lock by name: that happens here, not when a row happens
 * to need the lock.
 */
static void
lock_relation(Oid relation, LOCKMODE mode)
{
	LockRelId	id = {.relId = relation, .dbId = MyDatabaseId};

	LockRelationIdForSession(&id, mode);
	LockRelationOid(relation, mode);
	UnlockRelationOid(relation, mode);
}

/* Lock the indexes of a table. */
static void
lock_indexes(Oid table, LOCKMODE mode)
{
	ListCell   *cell;

	foreach(cell, dperm_relation_oids(IndexRelationId, IndexIndrelidIndexId,
									  Anum_pg_index_indrelid, table, Anum_pg_index_indexrelid))
		lock_relation(lfirst_oid(cell), mode);
}

/* Lock a relation with its indexes and its TOAST table. */
static void
lock_with_values(Oid relation, LOCKMODE mode)
{
	Oid			toast;

	lock_relation(relation, mode);
	lock_indexes(relation, mode);
	toast = dperm_relation_oid_of(RelationRelationId, relation, Anum_pg_class_reltoastrelid);
	if (OidIsValid(toast))
	{
		lock_relation(toast, mode);
		lock_indexes(toast, mode);
	}
}

/*
 * Lock the catalogs that a row can make a process look at, and the table that is
 * written after the charge.
 */
static void
lock_ours(void)
{
	/*
	 * Caches are filled by the first row that needs them: the labels of an enum,
	 * the collation of a comparison, how values of a type are written or, in an
	 * array, compared, and the schema of a type that the error of a row names.
	 * To look at a catalog for the first time takes those that describe it. The
	 * last three say which defaults, constraints and triggers our table has.
	 */
	static const Oid catalogs[] = {
		EnumRelationId, CollationRelationId,
		TypeRelationId, ProcedureRelationId, OperatorRelationId, CastRelationId,
		OperatorClassRelationId, AccessMethodOperatorRelationId, AccessMethodProcedureRelationId,
		NamespaceRelationId,
		RelationRelationId, AttributeRelationId, IndexRelationId, AccessMethodRelationId,
		AttrDefaultRelationId, ConstraintRelationId, TriggerRelationId
	};

	for (int i = 0; i < lengthof(catalogs); i++)
		lock_with_values(catalogs[i], AccessShareLock);

	/*
	 * who waits for it, such as VACUUM FULL, may wait for the session, which waits
	 * for this process: a lock would never be granted
	 */
	lock_with_values(dperm_own_rows_table("releases"), RowExclusiveLock);
}

/* What this process has locked: relations, and registrations of some of them. */
static List *held;
static List *registered;

/*
 * Lock a relation, all relations that it shares rows with, their TOAST tables,
 * some system catalogs and our tables for this process, until it ends or a
 * transaction of it fails. From then on the definition of what it reads does
 * not change, except that partitions may be attached. Returns the relation and
 * those it shares rows with: a plan must read no others. The registration of the
 * relation, and that of the table of a view, is locked, too.
 */
List *
dperm_registry_hold(Oid relation)
{
	MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);
	bool		all = false;
	ListCell   *cell;

	lock_ours();
	lock_with_values(relation, AccessShareLock);
	AcceptInvalidationMessages();
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the protected relation was dropped while it was used")));
	while (!all)
	{
		List	   *reads = dperm_relation_reads(relation);

		all = true;
		/* of a table of Citus, also the shards on this server */
		foreach(cell, list_concat(reads, dperm_location_shards(reads)))
			if (!list_member_oid(held, lfirst_oid(cell)))
			{
				held = lappend_oid(held, lfirst_oid(cell));
				lock_with_values(lfirst_oid(cell), AccessShareLock);
				all = false;
			}
		AcceptInvalidationMessages();
	}
	/* its own registration, and that of the table of a view */
	foreach(cell, held)
		if (lfirst_oid(cell) == relation ||
			(get_rel_relkind(relation) == RELKIND_VIEW && !has_superclass(lfirst_oid(cell))))
		{
			dperm_registry_lock(lfirst_oid(cell), ShareLock, true);
			registered = lappend_oid(registered, lfirst_oid(cell));
		}
	MemoryContextSwitchTo(before);
	return held;
}

/*
 * Let those go on who wait to change the registration: when this process has the
 * snapshot that it reads rows with. After the charge, so nothing is looked up for
 * it.
 */
void
dperm_registry_let_go(void)
{
	ListCell   *cell;

	foreach(cell, registered)
	{
		LOCKTAG		tag = lock_tag(lfirst_oid(cell));

		(void) LockRelease(&tag, ShareLock, true);
	}
}

/*
 * In a session: locks that are taken between these two are released, so that a
 * role without rights on a relation cannot block its owner for the rest of a
 * transaction. An error releases them, too. They are to be kept if planning may
 * have run functions of the caller, as it does for a relation that is not
 * protected: these may have altered something, which stays locked until the end
 * of the transaction.
 */
ResourceOwner
dperm_registry_look(void)
{
	ResourceOwner before = CurrentResourceOwner;

	CurrentResourceOwner = ResourceOwnerCreate(before, "dperm look");
	return before;
}

void
dperm_registry_look_away(ResourceOwner before, bool keep)
{
	ResourceOwner own = CurrentResourceOwner;

	ResourceOwnerRelease(own, RESOURCE_RELEASE_BEFORE_LOCKS, keep, false);
	ResourceOwnerRelease(own, RESOURCE_RELEASE_LOCKS, keep, false);
	ResourceOwnerRelease(own, RESOURCE_RELEASE_AFTER_LOCKS, keep, false);
	CurrentResourceOwner = before;
	ResourceOwnerDelete(own);
}
