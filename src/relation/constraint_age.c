/*
 * constraint_age.c: do constraints hold for the rows that the active snapshot
 * sees?
 *
 * The catalog is read in its current state, but rows as of the snapshot. In
 * between, another session may have deleted duplicates and created a unique
 * index. So a constraint is a proof only if the snapshot sees it, too. A
 * catalog row that has changed for any other reason also counts as new: the
 * call is then rejected, but succeeds in a new transaction.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "relation/constraint_age.h"

/* Is a catalog row visible to the active snapshot? */
bool
dperm_constraint_age_tuple(HeapTuple tuple)
{
	Snapshot	snapshot = GetActiveSnapshot();
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

	/* a cursor's snapshot may be older than changes of its own transaction */
	if (TransactionIdIsCurrentTransactionId(xmin))
		return HeapTupleHeaderGetCmin(tuple->t_data) < snapshot->curcid;
	return !XidInMVCCSnapshot(xmin, snapshot);
}

/*
 * Were all of a table's partitions attached by then? Attaching one changes its
 * row in pg_class.
 */
bool
dperm_constraint_age_partitions(Oid relation)
{
	bool		result = true;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relation, AccessShareLock, NULL))
	{
		HeapTuple	tuple;

		if (lfirst_oid(cell) == relation)
			continue;
		tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(cell)));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for relation %u", lfirst_oid(cell));
		result = result && dperm_constraint_age_tuple(tuple);
		ReleaseSysCache(tuple);
	}
	return result;
}

/*
 * Has a primary key been valid since then, in the table and all of its
 * partitions?
 */
bool
dperm_constraint_age_key(Oid constraint)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	Form_pg_constraint form;
	HeapTuple	index;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", constraint);
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	index = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(form->conindid));
	if (!HeapTupleIsValid(index))
		elog(ERROR, "cache lookup failed for index %u", form->conindid);

	/* the index of a partitioned table is valid once all partitions have it */
	result = dperm_constraint_age_tuple(tuple) && ((Form_pg_index) GETSTRUCT(index))->indisvalid &&
		dperm_constraint_age_tuple(index) && dperm_constraint_age_partitions(form->conrelid);
	ReleaseSysCache(index);
	ReleaseSysCache(tuple);
	return result;
}
