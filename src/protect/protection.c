/*
 * protection.c: the registrations of protected relations, and the rules for a relation
 * that is protected, or shares rows with one that is; and its columns, with the domains
 * that are registered for it, or for the table behind a view. Trusted.
 *
 * A row of dperm.protected has the OID of its relation, and the numbers of its
 * columns. It is looked up in the newest committed state plus the changes of this
 * transaction, whatever the snapshot of the caller is. dp_protect and
 * dp_unprotect write it (sql/parts/82_internal_protection.sql). What has come from
 * a dump is bound by names when it is inserted, and by the next command that changes
 * a relation; until then relations of this name are closed. Event triggers follow
 * names, for dumps; where they have not, a relation is closed, too.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/base.h"
#include "column/column.h"
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
 * one has not ended; or one that is not bound, and has its name.
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
				has_name(&rows, i, relation))
				best = i;
	}
	rows.count = best >= 0 ? 1 : 0;
	if (best > 0)
		rows.rows[0] = rows.rows[best];
	return rows;
}

/* The number of a column in a row; 0 if the column has been dropped, or has another name. */
static AttrNumber
number_of(const DpermOwnRows *rows, int row, const char *number, const char *name,
		  DpermRegistration *registration)
{
	char	   *followed = dperm_own_rows_text(rows, row, name);
	AttrNumber	found = DatumGetInt16(dperm_own_rows_value(rows, row, number));
	char	   *present = found > 0 ? get_attname(registration->relation, found, true) : NULL;
	bool		same = present && strcmp(present, followed) == 0;

	/* one that was dropped as event triggers have seen it has no name */
	registration->renamed |= found > 0 && *followed && !same;
	return same ? found : 0;
}

/* Fill in the columns of a registration, the listed ones in the order of the table. */
static void
find_columns(DpermRegistration *registration, Snapshot snapshot)
{
	DpermOwnRows rows = dperm_own_rows_find("protected_columns", "protected",
											dperm_own_rows_uuid(registration->id), snapshot);

	for (int i = 0; i < rows.count; i++)
	{
		AttrNumber	number = number_of(&rows, i, "number", "name", registration);
		Datum		domain = dperm_own_rows_value(&rows, i, "domain");

		registration->bound &= is_here(&rows, i);
		if (number > 0 && DatumGetBool(dperm_own_rows_value(&rows, i, "listed")))
			registration->columns = lappend_int(registration->columns, number);
		if (number > 0 && domain)
		{
			registration->with_domain = lappend_int(registration->with_domain, number);
			registration->domains = lappend(registration->domains, DatumGetJsonbP(domain));
		}
	}
	list_sort(registration->columns, list_int_cmp);
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
dperm_protection_find(Oid relation)
{
	Snapshot	snapshot = dperm_own_rows_newest();
	DpermOwnRows rows = find_row(relation, snapshot);
	DpermRegistration *found = NULL;

	if (rows.count > 0)
	{
		found = palloc0(sizeof(*found));
		found->relation = relation;
		found->id = dperm_own_rows_text(&rows, 0, "id");
		found->owner = dperm_own_rows_role_of(dperm_own_rows_value(&rows, 0, "owner_name"));
		found->view_of = dperm_own_rows_text(&rows, 0, "view_of");
		found->ended = dperm_own_rows_value(&rows, 0, "ended") != 0;
		found->fresh = dperm_own_rows_is_fresh(&rows, 0);
		found->bound = is_bound(&rows, 0);
		found->renamed = !has_name(&rows, 0, relation);
		found->persons = dperm_own_rows_value(&rows, 0, "unit") != 0;
		if (found->persons)
			found->unit = number_of(&rows, 0, "unit_number", "unit", found);
		found->all_columns = DatumGetBool(dperm_own_rows_value(&rows, 0, "all_columns"));
		find_columns(found, snapshot);
		find_budget(found, rows, snapshot);
	}
	UnregisterSnapshot(snapshot);
	return found;
}

/* Those of the relations that are protected, or whose protection this transaction has ended. */
static List *
registered_among(List *relations)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, relations)
		if (find_row(lfirst_oid(cell), NULL).count > 0)
			found = list_append_unique_oid(found, lfirst_oid(cell));
	return found;
}

/* The lock on a registration. */
LOCKTAG
dperm_protection_tag(Oid relation)
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
dperm_protection_lock(Oid relation, LOCKMODE mode, bool process)
{
	LOCKTAG		tag = dperm_protection_tag(relation);

	(void) LockAcquire(&tag, mode, process, false);
}

/* ---------------------------------------------------------------- rules */

/* Raise an error for the state that relations are in; without a detail it is NULL. */
static __attribute__((noreturn)) void
raise_state(const char *message, const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg_internal("%s", message),
			 detail ? errdetail_internal("%s", detail) : 0,
			 errhint("%s", hint)));
}

/* Raise an error for a relation that is closed: its owner has to decide. */
static void
raise_closed(Oid relation, const char *reason, const char *hint)
{
	raise_state(psprintf("protected relation \"%s\" has been changed, and is closed",
						 get_rel_name(relation)), reason, hint);
}

/* Raise an error for a relation that has become protected, or is no longer. */
void
dperm_protection_raise_changed(Oid relation)
{
	raise_state(psprintf("relation \"%s\" was changed while it was used", get_rel_name(relation)),
				"It has become protected, or is no longer protected.", "Try again.");
}

/* Raise the error for a relation, protected or not, that a caller may not train on. */
void
dperm_protection_raise_denied(Oid relation)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for relation %s", get_rel_name(relation)),
			 errhint("Training requires SELECT on the label and the feature columns, or a grant "
					 "of its budget if it is protected.")));
}

/* Does a relation have the owner who protected it? */
static bool
is_owners(const DpermRegistration *registration)
{
	return registration->bound && OidIsValid(registration->owner) &&
		registration->owner == dperm_relation_owner(registration->relation);
}

/*
 * Raise an error for a caller who may not spend: for who may not even read the
 * relation, the one of any other relation. Whoever owns it may spend, and is told
 * what else is wrong.
 */
static void
check_permitted(const DpermRegistration *registration)
{
	Oid			relation = registration->relation;

	dperm_budget_check_role(GetUserId());
	if (registration->budget ?
		dperm_budget_permits(registration->budget, relation, GetUserId()) :
		has_privs_of_role(GetUserId(), dperm_relation_owner(relation)))
		return;
	if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		dperm_protection_raise_denied(relation);

	/* otherwise nobody can spend, as is said next */
	if (registration->budget && is_owners(registration))
		dperm_budget_raise_denied(registration->budget);
}

/*
 * Raise an error for a caller who may not spend, and for a registration by which
 * nothing can be charged, as far as that is known without the columns and without
 * the table of a view.
 */
void
dperm_protection_check_usable(const DpermRegistration *registration)
{
	const char *name = get_rel_name(registration->relation);

	check_permitted(registration);

	/* a ROLLBACK would undo it, and the training would be charged to nobody */
	if (registration->ended)
		raise_state(psprintf("the protection of relation \"%s\" has been ended by this "
							 "transaction", name), NULL, "Commit first.");
	if (!registration->bound)
		raise_closed(registration->relation, "It has the name of one that was restored, or "
					 "dropped while no event trigger saw it.",
					 "Its owner has to rename it, or to call dp_protect.");
	if (registration->budget == NULL)
		raise_closed(registration->relation, "Its budget is missing.",
					 "Its owner has to call dp_protect.");
	if (!is_owners(registration))
		raise_state(psprintf("protected relation \"%s\" has a different owner than when it was "
							 "protected", name),
					psprintf("Its budget is \"%s\", which was chosen by another role.",
							 registration->budget->name),
					"Its owner has to protect it again with dp_protect, or call dp_unprotect.");
	if (registration->renamed)
		raise_closed(registration->relation, "It, or one of its columns, was renamed while no "
					 "event trigger followed it: they were disabled, or the transaction was older "
					 "than the registration.",
					 "Its owner has to call dp_unprotect, and then dp_protect with all arguments.");
}

/* Can a charge be made by a registration, as far as dperm_protection_check_usable() knows? */
bool
dperm_protection_holds(const DpermRegistration *registration)
{
	return !registration->ended && !registration->renamed && registration->budget &&
		is_owners(registration);
}

/*
 * Find out what a registered view shows, and read the registration of its
 * table. Raises an error if a view cannot be offered any more, or if a relation
 * is closed: it has changed so that its owner has to protect it again.
 */
void
dperm_protection_resolve(DpermRegistration *registration)
{
	Oid			relation = registration->relation;
	DpermRegistration *table;

	registration->table = registration;
	if (registration->view_of == NULL)
	{
		/* PostgreSQL 15 makes a view of an empty table by CREATE RULE */
		if (get_rel_relkind(relation) == RELKIND_VIEW)
			raise_closed(relation, "It has become a view.", "Its owner has to call dp_unprotect.");
		if (has_superclass(relation))
			raise_closed(relation, "It has become a part of another table.",
						 "Its owner has to call dp_unprotect, or detach it.");
		return;
	}
	registration->view = dperm_view_read(relation);
	table = dperm_protection_find(registration->view->table);
	if (table == NULL || !dperm_protection_holds(table) ||
		strcmp(table->id, registration->view_of) != 0 ||
		table->owner != dperm_relation_owner(relation))
		raise_closed(relation, "It is a view, and its table is not the one that it is offered of, "
					 "is closed, or has another owner.",
					 "Its owner has to call dp_protect, or dp_unprotect.");
	dperm_protection_resolve(table);
	registration->table = table;
	registration->persons = table->persons;
	registration->unit = table->unit;
}

/*
 * The registration of a relation that is to be read, or whose reading is to be
 * priced, resolved; NULL if it is not protected. Raises an error if the caller
 * may not spend, if it is closed, if this transaction has ended its protection,
 * or if its table cannot be read for others. reached are the relations that it
 * shares rows with, if they are known.
 */
DpermRegistration *
dperm_protection_open(Oid relation, List *reached)
{
	DpermRegistration *registration = dperm_protection_find(relation);
	Oid			table;

	if (registration == NULL)
		return NULL;
	dperm_protection_check_usable(registration);
	dperm_protection_resolve(registration);
	table = registration->table->relation;
	registration->reached = reached ? reached : dperm_relation_family(table);
	registration->has_parts = has_subclass(table);
	registration->on_cluster = dperm_location_protected_on_citus(table);
	dperm_view_check_table(table);
	dperm_protection_check_family(table, registration->reached);
	return registration;
}

/*
 * Raise an error if a relation, by what it reads, shares rows with a protected
 * one that is a shard of it, or that it is a shard of.
 */
static void
check_shards(Oid relation, List *reached)
{
	List	   *others = registered_among(dperm_location_shards(reached));

	if (list_member_oid(others, relation))
		raise_closed(relation, "It has become a shard in Citus.", "Its owner has to call "
					 "dp_unprotect, and dp_protect for the distributed table.");
	if (others != NIL)
		raise_state(psprintf("relation \"%s\" shares rows with protected relation \"%s\"",
							 get_rel_name(relation), get_rel_name(linitial_oid(others))),
					"One of them is a shard in Citus.",
					"Use the distributed table. Its owner has to protect that, after "
					"dp_unprotect for a shard.");
}

/*
 * A protected relation that one of these is, or shares rows with; InvalidOid if
 * there is none.
 */
static Oid
find_protected(List *relations)
{
	List	   *reached = NIL;
	ListCell   *cell;

	if (relations == NIL)
		return InvalidOid;
	foreach(cell, relations)
		reached = list_concat_unique_oid(reached, dperm_relation_sources(lfirst_oid(cell)));
	check_shards(linitial_oid(relations), reached);
	reached = registered_among(reached);
	return reached == NIL ? InvalidOid : linitial_oid(reached);
}

/*
 * Raise an error for a relation that shares rows with a protected one, or has
 * become one since it was decided which process reads it. The caller is known to
 * have the right to read it.
 */
void
dperm_protection_check_reach(Oid relation)
{
	Oid			found = find_protected(list_make1_oid(relation));

	if (found == relation)
		dperm_protection_raise_changed(relation);
	if (OidIsValid(found))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("relation \"%s\" reads protected relation \"%s\" and is not protected "
						"itself", get_rel_name(relation), get_rel_name(found)),
				 errhint("Train on \"%s\", or on a view that its owner offers of it with "
						 "dp_protect.", get_rel_name(found))));
}

/*
 * Raise an error for a query with an aggregate of ours over relations that are
 * protected, or share rows with one that is: the aggregate is called when they
 * have already been read.
 */
void
dperm_protection_check_query(List *relations)
{
	Oid			found = find_protected(relations);

	if (OidIsValid(found))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("dp_logreg, dp_svm and dp_linreg cannot be charged to the budget of "
						"protected relation \"%s\"", get_rel_name(found)),
				 errhint("Use dp_logreg_train, dp_svm_train or dp_linreg_train.")));
}

/*
 * Raise an error if another table among the relations that a table shares rows
 * with is registered, or a shard of one that is.
 */
void
dperm_protection_check_family(Oid table, List *reached)
{
	ListCell   *cell;

	check_shards(table, reached);
	foreach(cell, reached)
	{
		const DpermRegistration *other =
			lfirst_oid(cell) == table ? NULL : dperm_protection_find(lfirst_oid(cell));

		/* this transaction may have ended its protection */
		if (other && !other->ended && get_rel_relkind(lfirst_oid(cell)) != RELKIND_VIEW)
			raise_state(psprintf("table \"%s\" shares rows with protected table \"%s\"",
								 get_rel_name(table), get_rel_name(lfirst_oid(cell))), NULL,
						"Call dp_unprotect for one of them: only the root of partitions or "
						"children is protected.");
	}
}

/*
 * Is a column open to training? One that a view shows unchanged is if it is open in
 * the table, and an expression is, since its owner wrote it. The unit identifies
 * persons and is not a feature of them.
 */
bool
dperm_protection_lists(const DpermRegistration *registration, const DpermColumn *column)
{
	const DpermRegistration *table = registration->table;
	AttrNumber	number = registration->view ?
		dperm_view_column(registration->view, column->number) : column->number;

	return number == 0 ||
		(table->all_columns ? number != table->unit : list_member_int(table->columns, number));
}

/*
 * Raise an error for a column that is not open to training, or cannot be: by its
 * registered domain, or by its type.
 */
void
dperm_protection_check_column(const DpermRegistration *registration, const DpermColumn *column)
{
	if (!dperm_protection_lists(registration, column))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("column \"%s\" of protected relation \"%s\" is not open to "
						"training", column->name,
						get_rel_name(registration->relation)),
				 registration->view ?
				 errdetail("The column is closed in protected relation \"%s\".",
						   get_rel_name(registration->table->relation)) : 0,
				 errhint("dp_domains shows the open columns, which the owner of the relation "
						 "chooses with dp_protect.")));
	if (column->from == DPERM_DOMAIN_MISFIT)
		raise_state(psprintf("the registered domain of column \"%s\" of protected relation \"%s\" "
							 "no longer fits it", column->name,
							 get_rel_name(registration->relation)),
					psprintf("The cause is the %s.", column->lack),
					"The owner of the relation has to specify domains in dp_protect.");
	dperm_view_check_type(column->name, column->type);
}

/*
 * The unit of a protected relation, by its name, NULL for rows. Raises an error
 * if the caller asks for another one.
 */
char *
dperm_protection_unit(const DpermRegistration *registration, const char *asked)
{
	char	   *unit;

	if (registration->persons && registration->unit == 0)
		raise_state(psprintf("the unit of protected relation \"%s\" has been dropped",
							 get_rel_name(registration->relation)), NULL,
					"The owner of the relation has to protect it again with another unit, in "
					"another budget if this one has been charged.");
	unit = registration->persons ?
		get_attname(registration->table->relation, registration->unit, false) : NULL;
	if (asked && (unit == NULL || strcmp(asked, unit) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the unit of protected relation \"%s\" "
						"is %s", get_rel_name(registration->relation),
						unit ? psprintf("column \"%s\"", unit) : "a row"),
				 errhint("Omit unit.")));
	return unit;
}

/* Raise an error unless a block is within the domain of its column. */
void
dperm_protection_check_block(const DpermRegistration *registration, const DpermColumn *column,
							 const DpermBlock *block)
{
	const char *fault;

	if (!dperm_column_known(column))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of protected relation \"%s\" has no domain", column->name,
						get_rel_name(registration->relation)),
				 errhint("The owner of the relation has to register one with dp_protect, or "
						 "declare it with a CHECK constraint.")));
	fault = dperm_domains_fault(&column->block, block);
	if (fault)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the %s of column \"%s\" is not within that of protected relation "
						"\"%s\"", fault, column->name,
						get_rel_name(registration->relation)),
				 errhint("Domains can be narrowed, not widened; dp_protected and dp_domains show "
						 "them.")));
}

/* -------------------------------------------------------------- columns */

/*
 * Read a registered domain. If it no longer fits the type of its column, only
 * calls that use this column fail. Neither JSON nor the input functions of
 * types that can have a domain hold anything that an error would leave behind.
 */
static void
read_registered(DpermColumn *column, Jsonb *domain, char *origin)
{
	MemoryContext context = CurrentMemoryContext;
	DpermColumn before = *column;
	JsonbValue	value;

	JsonbToJsonbValue(domain, &value);
	PG_TRY();
	{
		dperm_domain_json_parse(column, &value);
		column->from = DPERM_DOMAIN_REGISTERED;
		column->origin = origin;
	}
	PG_CATCH();
	{
		char	   *message = dperm_message_data_error(context);

		*column = before;
		column->from = DPERM_DOMAIN_MISFIT;
		column->lack = psprintf("%s: %s", origin, message);
	}
	PG_END_TRY();
}

/*
 * Give a column the domain that a registration has for it, if any, by its number
 * there.
 */
static void
give_registered(const DpermRegistration *registration, AttrNumber number,
				const DpermColumn *catalog, DpermColumn *column, char *origin)
{
	for (int i = 0; i < list_length(registration->domains); i++)
		if (list_nth_int(registration->with_domain, i) == number)
		{
			*column = *catalog;
			read_registered(column, list_nth(registration->domains, i), origin);
		}
}

/*
 * All columns of a protected relation that have not been dropped, as from
 * dperm_domains_read(): with the domains that are registered, or else declared in the
 * catalog, or narrower ones that the caller specifies. What a view shows of its table
 * unchanged has the domain of there unless it has its own. The registration is
 * resolved. The classes of a label are the caller's to say, if nothing is known
 * about it.
 */
DpermColumn *
dperm_protection_columns(const DpermRegistration *registration, Jsonb *domains,
						 const char *label, int *count)
{
	const DpermRegistration *table = registration->table;
	DpermColumn *catalog = dperm_domains_read(registration->relation, NULL, count);
	DpermColumn *columns = palloc(sizeof(*columns) * Max(*count, 1));

	for (int i = 0; i < *count; i++)
	{
		columns[i] = catalog[i];
		if (registration->view)
			give_registered(table, dperm_view_column(registration->view, columns[i].number),
							&catalog[i], &columns[i],
							psprintf("registration of \"%s\"", get_rel_name(table->relation)));
		give_registered(registration, columns[i].number, &catalog[i], &columns[i],
						"registration");
	}
	if (domains)
		dperm_domains_give(registration->relation, catalog, *count, domains, false);
	for (int i = 0; i < *count; i++)

		/* one that no longer fits is refused when it is used */
		if (catalog[i].from == DPERM_DOMAIN_GIVEN &&
			dperm_protection_lists(registration, &columns[i]) &&
			columns[i].from != DPERM_DOMAIN_MISFIT)
		{
			/* if nothing is known about a label, its classes are the caller's to say */
			if (catalog[i].block.kind == DPERM_BLOCK_CATEGORY && label &&
				strcmp(columns[i].name, label) == 0)
				dperm_label_domain_check(&columns[i], &catalog[i].block);
			else
				dperm_protection_check_block(registration, &columns[i], &catalog[i].block);
			columns[i].block = catalog[i].block;
			columns[i].knotted = catalog[i].knotted;
			columns[i].from = DPERM_DOMAIN_GIVEN;
		}
	return columns;
}
