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
#include "relation/row_sources.h"

/* Bytes of a list of columns, and of a value, in a message. */
#define COLUMNS_SHOWN 1000
#define VALUE_SHOWN 100

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

/* Tell which columns can have categories that the model does not know. */
static void
tell_unknown(const DpermSource *source)
{
	ereport(NOTICE,
			(errmsg("the model does not know all values of columns of relation \"%s\": %s",
					get_rel_name(source->relation),
					dperm_message_clip(source->unknown, COLUMNS_SHOWN)),
			 errdetail("Other values count as no category."),
			 errhint("dp_domains shows the domains of the relation, and dp_coefficients those of "
					 "the model.")));
}

/* Tell that the domain of the label is unknown. */
static void
tell_label(const DpermSource *source, const DpermLabels *labels)
{
	DpermLabelKind kind = source->spec.labels.kind;

	ereport(NOTICE,
			(errmsg("label \"%s\" has no domain: whether it has %s is not checked",
					source->label_column,
					kind == DPERM_LABEL_NUMBER ? "several values within the bounds" :
					kind == DPERM_LABEL_SEVERAL ? "these classes" : "two classes"),
			 kind == DPERM_LABEL_NUMBER ?
			 errdetail("Labels are clamped to the bounds [%.15g, %.15g].", labels->low,
					   labels->high) :
			 kind == DPERM_LABEL_SEVERAL ? errdetail("Rows with any other label add nothing.") :
			 labels->positive ? errdetail("Rows are positive if it is \"%s\".",
										  dperm_message_clip(labels->positive, VALUE_SHOWN)) :
			 errdetail("Rows are positive if it is above 0."),
			 errhint("The owner of relation \"%s\" can register its domain with dp_protect.",
					 get_rel_name(source->relation))));
}

/* Tell what a caller should know. */
void
dperm_source_notes_tell(const DpermSource *source, const DpermOptions *options)
{
	if (source->left_out)
		tell_left_out(source);
	if (source->unknown)
		tell_unknown(source);

	/* a call that is not charged can simply be repeated */
	if (source->registration && !source->label_known)
		tell_label(source, &options->labels);
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
	return list_member_oid(dperm_row_sources_relations(one), other) ||
		list_member_oid(dperm_row_sources_relations(other), one);
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
