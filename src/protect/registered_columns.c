/*
 * registered_columns.c: the columns of a protected relation, with the domains
 * that are registered for it, or for the table behind a view.
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "base/message.h"
#include "column/domains.h"
#include "column/label.h"
#include "protect/protection.h"

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
dperm_registered_columns_read(const DpermRegistration *registration, Jsonb *domains,
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
			if (asked[i].block.kind == DPERM_BLOCK_CATEGORY && strcmp(columns[i].name, label) == 0)
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
dperm_registered_columns_replace(const DpermRegistration *before, Jsonb *domains, int *count)
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
