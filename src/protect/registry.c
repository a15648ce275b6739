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
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
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
	bool		any = false;

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
			any = true;
		}
	}
	list_sort(registration->columns, list_int_cmp);
	pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	if (any)
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

/* Let go of one of a process. */
void
dperm_registry_unlock(Oid relation, LOCKMODE mode)
{
	LOCKTAG		tag = lock_tag(relation);

	(void) LockRelease(&tag, mode, true);
}
