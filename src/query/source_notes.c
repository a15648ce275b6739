/*
 * source_notes.c: what a caller should know of a source before its rows are
 * read and charged.
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "base/message.h"
#include "query/source_notes.h"

/* Bytes of a list of columns, and of a value, in a message. */
#define COLUMNS_SHOWN 1000
#define VALUE_SHOWN 100

/* Tell of columns that are no features because they have no domain. */
static void
tell_left_out(const DpermSource *source)
{
	ereport(NOTICE,
			(errmsg("columns without a domain are no features: %s",
					dperm_message_clip(source->left_out, COLUMNS_SHOWN)),
			 source->registration ?
			 errhint("The owner of relation \"%s\" can register domains with dp_protect.",
					 get_rel_name(source->relation)) :
			 errhint("Specify domains, or declare them with CHECK constraints. dp_domains shows "
					 "what to fill in.")));
}

/* Tell of a label whose domain is not known. */
static void
tell_label(const DpermSource *source, const char *positive)
{
	ereport(NOTICE,
			(errmsg("label \"%s\" has no domain: whether it has two classes is not checked",
					source->label_column),
			 positive ? errdetail("Rows are positive if it is \"%s\".",
								  dperm_message_clip(positive, VALUE_SHOWN)) :
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

	/* what is not charged can be tried */
	if (source->registration && !source->label_known)
		tell_label(source, options->positive);
}
