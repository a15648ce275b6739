/*
 * registered_columns.c: the columns of a protected relation, with the domains
 * that are registered for it or for the table behind it.
 */
#include "postgres.h"

#include "access/transam.h"
#include "utils/lsyscache.h"

#include "budget/debit.h"
#include "column/domain_json.h"
#include "column/domains.h"
#include "column/encode.h"
#include "protect/protection.h"
#include "protect/registered_columns.h"

/* Does a registration, which may be NULL, say anything about its relation? */
static bool
is_settled(const DpermRegistration *registration)
{
	return registration && registration->budget && !registration->waiting;
}

/* The registration that counts for views of a table; NULL: it has none. */
static const DpermRegistration *
find_behind(Oid table)
{
	const DpermRegistration *registration = dperm_registry_find(table);

	return is_settled(registration) ? registration : NULL;
}

/* Note a registration that was read, or that there is none. */
static void
note_version(List **versions, Oid relation, const DpermRegistration *registration)
{
	DpermVersion *version = palloc(sizeof(*version));

	version->relation = relation;
	version->version = registration ? registration->version : InvalidTransactionId;
	if (versions)
		*versions = lappend(*versions, version);
}

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
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION)
			PG_RE_THROW();
		FlushErrorState();
		*column = before;
		column->known = false;
		column->given = column->misfit = true;
		column->lack = error->message;
	}
	PG_END_TRY();
}

/*
 * Columns with the domains of the catalog, or with these if they are ranges:
 * knots that come without a range are for it.
 */
static DpermColumn *
with_ranges(const DpermColumn *catalog, const DpermColumn *columns, int count)
{
	DpermColumn *result = palloc(sizeof(*result) * Max(count, 1));

	for (int i = 0; i < count; i++)
		result[i] = columns[i].known && dperm_block_is_number(&columns[i].block) ? columns[i] :
																				   catalog[i];
	return result;
}

/* A member of an object, or NULL. */
static JsonbValue *
member_of(JsonbContainer *object, const char *key)
{
	return getKeyJsonValueFromContainer(object, key, strlen(key), NULL);
}

/* Give columns the domains that a registration has for them, if any. */
static void
give_registered(const DpermRegistration *registration, const DpermColumn *catalog,
				DpermColumn *columns, int count)
{
	DpermColumn *own;

	if (registration->domains == NULL)
		return;
	own = with_ranges(catalog, columns, count);
	for (int i = 0; i < count; i++)
	{
		JsonbValue *domain = member_of(&registration->domains->root, own[i].name);

		if (domain == NULL)
			continue;
		read_registered(&own[i], domain);
		columns[i] = own[i];
		columns[i].origin = "registration";
	}
}

/* The columns of a table behind views; none if it has no registered domains. */
static DpermColumn *
columns_behind(Oid table, int *count, List **versions)
{
	const DpermRegistration *registration = find_behind(table);
	DpermColumn *columns;

	note_version(versions, table, registration);
	*count = 0;
	if (registration == NULL || registration->domains == NULL)
		return NULL;
	columns = dperm_domains_read(table, NULL, dperm_encode_dimension, count);
	give_registered(registration, columns, columns, *count);
	return columns;
}

/*
 * Give columns that a view shows unchanged the domains that are registered for
 * the table behind it. They take precedence over the catalog, as they do for
 * the table.
 */
static void
take_over_domains(Oid view, DpermColumn *columns, int count, List **versions)
{
	Oid			table = view;
	DpermColumn *theirs = NULL;
	int			their_count = 0;

	for (int i = 0; i < count; i++)
	{
		if (columns[i].relation == view)
			continue;
		if (columns[i].relation != table)
			theirs = columns_behind(table = columns[i].relation, &their_count, versions);
		for (int j = 0; j < their_count; j++)
			if (theirs[j].given && theirs[j].number == columns[i].home)
			{
				DpermText	name = columns[i].block.column;

				columns[i].known = theirs[j].known;
				columns[i].misfit = theirs[j].misfit;
				columns[i].block = theirs[j].block;
				columns[i].knotted = theirs[j].knotted;
				columns[i].above = theirs[j].above;
				columns[i].value_count = theirs[j].value_count;
				columns[i].block.column = name;
				columns[i].origin = psprintf("registration of \"%s\"", get_rel_name(table));
				columns[i].lack = theirs[j].lack;
			}
	}
}

/*
 * All columns with the domains that are registered for them, and the same as in
 * the catalog.
 */
static DpermColumn *
as_registered(const DpermRegistration *registration, DpermColumn **catalog, int *count,
			  List **versions)
{
	DpermColumn *columns;

	*catalog = dperm_domains_read(registration->relation, NULL, dperm_encode_dimension, count);
	columns = palloc(sizeof(*columns) * Max(*count, 1));
	memcpy(columns, *catalog, sizeof(*columns) * *count);
	note_version(versions, registration->relation, registration);
	take_over_domains(registration->relation, columns, *count, versions);
	give_registered(registration, *catalog, columns, *count);
	return columns;
}

/*
 * Raise an error for knots of a column whose domain is a list of categories,
 * even if its type has numbers.
 */
static void
check_no_knots(const DpermColumn *column, Jsonb *domains)
{
	JsonbValue *domain =
		JB_ROOT_IS_OBJECT(domains) ? member_of(&domains->root, column->name) : NULL;

	if (column->known && column->block.kind == DPERM_BLOCK_CATEGORY && domain &&
		domain->type == jbvBinary && JsonContainerIsObject(domain->val.binary.data) &&
		member_of(domain->val.binary.data, "knots"))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" cannot have knots: its domain is a list of categories",
						column->name),
				 errhint("Omit it from domains, or list some of its categories.")));
}

/*
 * All columns that have not been dropped, with domains that the caller may have
 * narrowed.
 */
DpermColumn *
dperm_registered_columns_read(const DpermRegistration *registration, Jsonb *domains, int *count,
							  List **versions)
{
	DpermColumn *catalog;
	DpermColumn *columns = as_registered(registration, &catalog, count, versions);
	DpermColumn *asked;

	/* a registered domain is not an argument */
	for (int i = 0; i < *count; i++)
		columns[i].given = false;
	if (domains == NULL)
		return columns;
	for (int i = 0; i < *count; i++)
		check_no_knots(&columns[i], domains);
	asked = with_ranges(catalog, columns, *count);
	dperm_domains_give(registration->relation, asked, *count, domains);
	for (int i = 0; i < *count; i++)
		if (asked[i].given && dperm_protection_lists(registration, &columns[i]))
		{
			dperm_protection_check_block(registration, &columns[i], &asked[i].block);
			columns[i].block = asked[i].block;
			columns[i].knotted = asked[i].knotted;
			columns[i].given = true;
		}
	return columns;
}

/* All columns, with the domains that are to be registered. */
DpermColumn *
dperm_registered_columns_replace(Oid relation, const DpermRegistration *before, Jsonb *domains,
								 int *count)
{
	const DpermRegistration nothing = {.relation = relation};
	DpermColumn *catalog;
	DpermColumn *columns =
		as_registered(is_settled(before) ? before : &nothing, &catalog, count, NULL);

	if (domains == NULL)
		return columns;
	columns = with_ranges(catalog, columns, *count);
	for (int i = 0; i < *count; i++)
		columns[i].given = false;
	dperm_domains_give(relation, columns, *count, domains);
	return columns;
}

/* Is a column closed in the table behind a view that shows it? */
bool
dperm_registered_columns_is_closed(Oid view, const DpermColumn *column)
{
	const DpermRegistration *registration =
		column->relation != view ? find_behind(column->relation) : NULL;
	const DpermColumn behind = {.number = column->home};

	return registration && !dperm_protection_lists(registration, &behind);
}
