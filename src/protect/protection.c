/*
 * protection.c: the rules for a relation that is protected, or shares rows with
 * one that is; and its columns, with the domains that are registered for it, or
 * for the table behind a view.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

#include "base/base.h"
#include "column/column.h"
#include "protect/protect.h"
#include "relation/relation.h"

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
	return !registration->foreign && OidIsValid(registration->owner) &&
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
	if (registration->foreign)
		raise_state(psprintf("relation \"%s\" has the name of a protected relation of another "
							 "role", name),
					"That registration was restored, and waits for its relation.",
					"Rename this one, or protect it with dp_protect.");
	if (registration->budget == NULL)
		raise_state(psprintf("the budget of protected relation \"%s\" is missing", name), NULL,
					"The owner of the relation has to protect it again with dp_protect.");
	if (!is_owners(registration))
		raise_state(psprintf("protected relation \"%s\" has a different owner than when it was "
							 "protected", name),
					psprintf("Its budget is \"%s\", which was chosen by another role.",
							 registration->budget->name),
					"Its owner has to protect it again with dp_protect, or call dp_unprotect.");
	if (registration->stale || registration->mixed)
		raise_closed(registration->relation, "It, or one of its columns, was renamed while no "
					 "event trigger followed it: they were disabled, or the transaction was older "
					 "than the registration.", registration->mixed ?
					 "Its owner has to call dp_unprotect, and then dp_protect with all arguments." :
					 "Its owner has to call dp_protect.");
}

/* Can a charge be made by a registration, as far as dperm_protection_check_usable() knows? */
bool
dperm_protection_holds(const DpermRegistration *registration)
{
	return !registration->ended && !registration->stale && !registration->mixed &&
		registration->budget && is_owners(registration);
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
	table = dperm_registry_find(registration->view->table);
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
	DpermRegistration *registration = dperm_registry_find(relation);
	Oid			table;

	if (registration == NULL)
		return NULL;
	dperm_protection_check_usable(registration);
	dperm_protection_resolve(registration);
	table = dperm_protection_table(registration);
	registration->reached = reached ? reached : dperm_relation_family(table);
	registration->has_parts = has_subclass(table);
	registration->on_cluster = dperm_location_protected_on_citus(table);
	dperm_view_check_table(table);
	dperm_protection_check_family(table, registration->reached);
	return registration;
}

/* The table that a registration is about, which is resolved. */
Oid
dperm_protection_table(const DpermRegistration *registration)
{
	return registration->table ? registration->table->relation : registration->relation;
}

/*
 * Raise an error if a relation, by what it reads, shares rows with a protected
 * one that is a shard of it, or that it is a shard of.
 */
static void
check_shards(Oid relation, List *reached)
{
	List	   *others = dperm_registry_among(dperm_location_shards(reached));

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
 * there is none. Most databases protect nothing.
 */
static Oid
find_protected(List *relations)
{
	List	   *reached = NIL;
	ListCell   *cell;

	if (relations == NIL || !dperm_own_rows_any("protected", NULL, NULL, 0))
		return InvalidOid;
	foreach(cell, relations)
		reached = list_concat_unique_oid(reached, dperm_relation_sources(lfirst_oid(cell)));
	check_shards(linitial_oid(relations), reached);
	reached = dperm_registry_among(reached);
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
			lfirst_oid(cell) == table ? NULL : dperm_registry_find(lfirst_oid(cell));

		/* this transaction may have ended its protection */
		if (other && !other->ended && get_rel_relkind(lfirst_oid(cell)) != RELKIND_VIEW)
			raise_state(psprintf("table \"%s\" shares rows with protected table \"%s\"",
								 get_rel_name(table), get_rel_name(lfirst_oid(cell))), NULL,
						"Call dp_unprotect for one of them: only the root of partitions or "
						"children is protected.");
	}
}

/*
 * Is a column open to training, here and behind? The unit identifies persons and
 * is not a feature of them.
 */
bool
dperm_protection_lists(const DpermRegistration *registration, const DpermColumn *column)
{
	if (OidIsValid(column->closed_in))
		return false;
	if (registration->view_of)
		return true;
	return registration->all_columns ? column->number != registration->unit :
		list_member_int(registration->columns, column->number);
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
				 OidIsValid(column->closed_in) ?
				 errdetail("The column is closed in protected relation \"%s\".",
						   get_rel_name(column->closed_in)) : 0,
				 errhint("dp_domains shows the open columns, which the owner of the relation "
						 "chooses with dp_protect.")));
	dperm_protection_check_fit(registration->relation, column);
	dperm_view_check_type(column->name, column->type);
}

/* Raise an error for a column whose registered domain does not fit its type. */
void
dperm_protection_check_fit(Oid relation, const DpermColumn *column)
{
	if (column->from == DPERM_DOMAIN_MISFIT)
		raise_state(psprintf("the registered domain of column \"%s\" of protected relation \"%s\" "
							 "no longer fits it", column->name, get_rel_name(relation)),
					psprintf("The cause is the %s: %s.", column->origin, column->lack),
					"The owner of the relation has to specify domains in dp_protect.");
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
		get_attname(dperm_protection_table(registration), registration->unit, false) : NULL;
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

	dperm_protection_check_fit(registration->relation, column);
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
read_registered(DpermColumn *column, JsonbValue *domain)
{
	MemoryContext context = CurrentMemoryContext;
	DpermColumn before = *column;

	PG_TRY();
	{
		dperm_domain_json_parse(column, domain);
		column->from = DPERM_DOMAIN_REGISTERED;
	}
	PG_CATCH();
	{
		char	   *message = dperm_message_data_error(context);

		*column = before;
		column->from = DPERM_DOMAIN_MISFIT;
		column->lack = message;
	}
	PG_END_TRY();
}

/* A member of an object, or NULL. */
static JsonbValue *
member_of(JsonbContainer *object, const char *key)
{
	return getKeyJsonValueFromContainer(object, key, strlen(key), NULL);
}

/* The domain of a column in a JSON object, or NULL. */
static JsonbValue *
domain_in(Jsonb *domains, const char *column)
{
	return domains && JB_ROOT_IS_OBJECT(domains) ? member_of(&domains->root, column) : NULL;
}

/* A member of a domain that is an object, or NULL. */
static JsonbValue *
detail_in(JsonbValue *domain, const char *key)
{
	return domain && domain->type == jbvBinary &&
		JsonContainerIsObject(domain->val.binary.data) ?
		member_of(domain->val.binary.data, key) : NULL;
}

/*
 * What a column is before it gets a domain: knots and a scale without a range are for
 * the range that it has by now, and so is a norm for vectors of the dimension; for
 * others it is as in the catalog.
 */
static DpermColumn
column_before(const DpermColumn *catalog, const DpermColumn *column, JsonbValue *domain)
{
	bool		knots = (detail_in(domain, "knots") || detail_in(domain, "scale")) &&
		!detail_in(domain, "range") &&
		(dperm_block_is_number(&column->block) || column->block.kind == DPERM_BLOCK_BOX);
	bool		norm = detail_in(domain, "norm") && !detail_in(domain, "dimension") &&
		column->block.kind == DPERM_BLOCK_VECTOR;

	return dperm_column_known(column) && (knots || norm) ? *column : *catalog;
}

/*
 * Give a column the domain that a registration has for it, if any; name is what
 * it is called there.
 */
static void
give_registered(const DpermRegistration *registration, const char *name,
				const DpermColumn *catalog, DpermColumn *column, char *origin)
{
	JsonbValue *domain = domain_in(registration->domains, name);

	if (domain == NULL)
		return;
	*column = column_before(catalog, column, domain);
	read_registered(column, domain);
	column->origin = origin;
}

/*
 * Give a column of a view what the table says of the column that it shows
 * unchanged: its domain, and whether it is open. An expression is open, since
 * its owner wrote it.
 */
static void
give_shown(const DpermRegistration *registration, DpermColumn *catalog, DpermColumn *column)
{
	const DpermRegistration *table = registration->table;
	DpermColumn there = {.number = dperm_view_column(registration->view, column->number)};

	if (there.number == 0)
		return;
	if (!dperm_protection_lists(table, &there) || there.number == table->unit)
		catalog->closed_in = table->relation;
	give_registered(table, get_attname(table->relation, there.number, false), catalog, column,
					psprintf("registration of \"%s\"", get_rel_name(table->relation)));
	column->closed_in = catalog->closed_in;
}

/*
 * All columns with the domains that are registered for them, and the same as in
 * the catalog. Registered domains take precedence over the catalog.
 */
static DpermColumn *
as_registered(const DpermRegistration *registration, DpermColumn **catalog, int *count)
{
	DpermColumn *columns;

	*catalog = dperm_domains_read(registration->relation, NULL, count);
	columns = palloc(sizeof(*columns) * Max(*count, 1));
	for (int i = 0; i < *count; i++)
	{
		columns[i] = (*catalog)[i];
		if (registration->view)
			give_shown(registration, &(*catalog)[i], &columns[i]);
		give_registered(registration, columns[i].name, &(*catalog)[i], &columns[i],
						"registration");
	}
	return columns;
}

/* Give columns, in place of their domains, those of an argument. */
static DpermColumn *
give_asked(Oid relation, const DpermColumn *catalog, const DpermColumn *columns, int count,
		   Jsonb *domains, bool may_be_null)
{
	DpermColumn *asked = palloc(sizeof(*asked) * Max(count, 1));

	for (int i = 0; i < count; i++)
		asked[i] = column_before(&catalog[i], &columns[i], domain_in(domains, columns[i].name));
	dperm_domains_give(relation, asked, count, domains, may_be_null);
	return asked;
}

/*
 * All columns of a protected relation that have not been dropped, as from
 * dperm_domains_read(): with the domains that are registered or declared in the
 * catalog, or narrower ones that the caller specifies. The registration is
 * resolved: what a view shows of its table unchanged is closed if it is closed
 * there, and has the domain of there unless it has its own. The classes of a
 * label are the caller's to say, if nothing is known about it.
 */
DpermColumn *
dperm_protection_columns(const DpermRegistration *registration, Jsonb *domains,
							  const char *label, int *count)
{
	DpermColumn *catalog;
	DpermColumn *columns = as_registered(registration, &catalog, count);
	DpermColumn *asked;

	if (domains == NULL)
		return columns;
	asked = give_asked(registration->relation, catalog, columns, *count, domains, false);
	for (int i = 0; i < *count; i++)

		/* one that no longer fits is refused when it is used */
		if (asked[i].from == DPERM_DOMAIN_GIVEN &&
			dperm_protection_lists(registration, &columns[i]) &&
			columns[i].from != DPERM_DOMAIN_MISFIT)
		{
			/* if nothing is known about a label, its classes are the caller's to say */
			if (asked[i].block.kind == DPERM_BLOCK_CATEGORY && label &&
				strcmp(columns[i].name, label) == 0)
				dperm_label_domain_check(&columns[i], &asked[i].block);
			else
				dperm_protection_check_block(registration, &columns[i], &asked[i].block);
			columns[i].block = asked[i].block;
			columns[i].knotted = asked[i].knotted;
			columns[i].from = DPERM_DOMAIN_GIVEN;
		}
	return columns;
}

/*
 * The same for dp_protect, with domains that are to be registered in place of
 * those of the same columns before; null removes one. Knots without a range are
 * for the range that the column had.
 */
DpermColumn *
dperm_protection_replace(const DpermRegistration *before, Jsonb *domains, int *count)
{
	DpermColumn *catalog;
	DpermColumn *columns = as_registered(before, &catalog, count);

	/* what removes a domain may widen it */
	for (int i = 0; i < *count && before->view == NULL; i++)
	{
		JsonbValue *domain = domain_in(domains, columns[i].name);

		if (domain && domain->type == jbvNull && dperm_column_known(&columns[i]) &&
			dperm_column_known(&catalog[i]) &&
			dperm_domains_fault(&columns[i].block, &catalog[i].block))
			ereport(NOTICE,
					(errmsg("column \"%s\" has the domain of the catalog again, which is not "
							"within the one that was registered", columns[i].name)));
	}
	return give_asked(before->relation, catalog, columns, *count, domains, true);
}
