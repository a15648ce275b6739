/*
 * source_notes.c: what a caller should know about a source before its rows are
 * read and charged.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "base/message.h"
#include "query/source_notes.h"
#include "relation/relation.h"

/* Bytes of a list of columns in a message. */
#define COLUMNS_SHOWN 1000

/* Tell which columns are not features because they have no domain. */
static void
tell_left_out(const DpermSource *source)
{
	ereport(NOTICE,
			(errmsg("columns without a domain are not features: %s",
					dperm_message_clip(source->left_out, COLUMNS_SHOWN)),
			 source->registration ?
			 errhint("The owner of relation \"%s\" can register domains with dp_protect.",
					 get_rel_name(source->relation)) :
			 errhint("Specify domains or declare them with CHECK constraints; dp_domains shows "
					 "what to fill in.")));
}

/* Tell what a caller should know. */
void
dperm_source_notes_tell(const DpermSource *source)
{
	if (source->left_out)
		tell_left_out(source);
	if (source->label_any_number)
		ereport(NOTICE,
				(errmsg("label \"%s\" has no domain: rows are positive if it is above 0",
						source->label_column),
				 errhint("Specify the value of the positive class, as in positive => '1'; for a "
						 "quantity, use dp_linreg_train().")));
}

/* The relation with a schema-qualified name; InvalidOid if there is none. */
static Oid
relation_of_model(const DpermText *name)
{
	List	   *parts;
	Oid			schema;

	if (!SplitIdentifierString(pnstrdup(name->bytes, name->len), '.', &parts) ||
		list_length(parts) != 2)
		return InvalidOid;
	schema = get_namespace_oid(linitial(parts), true);
	return OidIsValid(schema) ? get_relname_relid(lsecond(parts), schema) : InvalidOid;
}

/* Is one of two relations read by the other, or are they the same? */
static bool
share_rows(Oid one, Oid other)
{
	return list_member_oid(dperm_relation_sources(one), other) ||
		list_member_oid(dperm_relation_sources(other), one);
}

/* Tell that a model is evaluated on rows that it was trained on. */
void
dperm_source_notes_training(const DpermSource *source, const DpermText *trained_on)
{
	Oid			trained = trained_on->len > 0 ? relation_of_model(trained_on) : InvalidOid;

	if (!OidIsValid(trained) || !share_rows(source->relation, trained))
		return;
	ereport(NOTICE,
			(errmsg("the model was trained on rows of relation \"%s\"",
					get_rel_name(source->relation)),
			 errhint("It may be worse on others: train and evaluate on views that divide the "
					 "rows.")));
}
