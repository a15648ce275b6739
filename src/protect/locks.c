/*
 * locks.c: the locks that a call on a protected relation may need, taken before
 * its first row.
 *
 * Everybody sees locks, and an error if the lock table is full. So no lock may
 * depend on what a row contains.
 */
#include "postgres.h"

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
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "protect/protect.h"
#include "relation/relation.h"

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

/* Does the registration of a relation have to do with one of them: with itself, or its table? */
static bool
is_registered(Oid relation, Oid one)
{
	return one == relation || (get_rel_relkind(relation) == RELKIND_VIEW && !has_superclass(one));
}

/*
 * Lock a relation, all relations that it shares rows with, their TOAST tables,
 * some system catalogs and our tables for this process, until it ends or a
 * transaction of it fails. From then on the definition of what it reads does
 * not change, except that partitions may be attached. Returns the relation and
 * those it shares rows with: a plan must read no others. The registration of the
 * relation, and that of the table of a view, is locked, too (registry.c).
 */
List *
dperm_locks_hold(Oid relation)
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
	foreach(cell, held)
		if (is_registered(relation, lfirst_oid(cell)))
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
dperm_locks_let_go(void)
{
	ListCell   *cell;

	foreach(cell, registered)
		dperm_registry_unlock(lfirst_oid(cell), ShareLock);
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
dperm_locks_look(void)
{
	ResourceOwner before = CurrentResourceOwner;

	CurrentResourceOwner = ResourceOwnerCreate(before, "dperm look");
	return before;
}

void
dperm_locks_look_away(ResourceOwner before, bool keep)
{
	ResourceOwner own = CurrentResourceOwner;

	ResourceOwnerRelease(own, RESOURCE_RELEASE_BEFORE_LOCKS, keep, false);
	ResourceOwnerRelease(own, RESOURCE_RELEASE_LOCKS, keep, false);
	ResourceOwnerRelease(own, RESOURCE_RELEASE_AFTER_LOCKS, keep, false);
	CurrentResourceOwner = before;
	ResourceOwnerDelete(own);
}
