/*
 * source.c: the relation that a learner reads. Trusted.
 *
 * The caller passes names as data: the relation as written in FROM, columns as
 * plain names. They are looked up in the catalog, and only what was found there
 * goes into the query, quoted and schema-qualified.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lockdefs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/base.h"
#include "column/column.h"
#include "query/source.h"
#include "relation/relation.h"

/*
 * The relation with a name as in FROM, locked against changes of its definition until the
 * end of the transaction; raises an error if it cannot have rows.
 */
Oid
dperm_source_find(const char *name)
{
	Oid			relation = dperm_relation_look_up(name, AccessShareLock, false);

	if (!dperm_domains_has_rows(get_rel_relkind(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot train on \"%s\"", name),
				 errhint("It must be a table, a view, a materialized view or a foreign "
						 "table.")));
	return relation;
}

/* A column by its exact name. */
static DpermColumn *
find_column(const DpermSource *source, DpermColumn *columns, int count, const char *name,
			const char *argument)
{
	for (int i = 0; i < count; i++)
		if (strcmp(columns[i].name, name) == 0)
			return &columns[i];
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
					get_rel_name(source->relation)),
			 strcmp(argument, "label") != 0 && strchr(name, ',') ?
			 errhint("Write several columns in braces, as in %s => '{age,bmi}'.", argument) :
			 errhint("Names in %s are case-sensitive and are not quoted.",
					 argument)));
	return NULL;				/* keep compiler quiet */
}

/* May the caller read a column? */
static bool
may_read_column(Oid relation, AttrNumber number)
{
	return pg_attribute_aclcheck(relation, number, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* May the caller read the columns? */
static bool
may_read_columns(const DpermSource *source, const DpermColumn *label)
{
	if (pg_class_aclcheck(source->relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	for (int i = 0; i < source->block_count; i++)
		if (!may_read_column(source->relation, source->features[i]->number))
			return false;
	return label == NULL || may_read_column(source->relation, label->number);
}

/* What a protected relation allows. */
static void
check_protection(const DpermSource *source, const DpermSourceNames *names,
				 const DpermColumn *label)
{
	const DpermRegistration *registration = source->registration;

	if (label)
		dperm_protection_check_column(registration, label);
	for (int i = 0; i < source->block_count; i++)
	{
		const DpermColumn *column = source->features[i];

		dperm_protection_check_column(registration, column);

		/*
		 * a model has the domains that it was trained with, and its release
		 * costs the same with any of them
		 */
		if (!names->blocks && !dperm_column_known(column))
			dperm_protection_check_block(registration, column, &column->block);
	}
}

/* All columns that have a domain; the others are left out. */
static int
choose_known(DpermSource *source, DpermColumn *columns, int count, const DpermColumn *label,
			 const char *unit, DpermColumn **features)
{
	int			chosen = 0;
	StringInfoData left_out;

	initStringInfo(&left_out);
	for (int i = 0; i < count; i++)
	{
		if (&columns[i] == label || (unit && strcmp(columns[i].name, unit) == 0) ||
			(source->registration && !dperm_protection_lists(source->registration, &columns[i])))
			continue;
		if (dperm_column_known(&columns[i]))
			features[chosen++] = &columns[i];
		else
			appendStringInfo(&left_out, "%s\"%s\"", left_out.len > 0 ? ", " : "", columns[i].name);
	}
	source->left_out = left_out.len > 0 ? left_out.data : NULL;
	if (chosen == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no column of relation \"%s\" has a domain",
						get_rel_name(source->relation)),
				 errhint("Specify domains or add CHECK constraints; dp_domains('%s') shows the "
						 "declared domains.", get_rel_name(source->relation))));
	return chosen;
}

/* The columns that the caller named, or all that have a domain, as features. */
static void
choose_features(DpermSource *source, DpermColumn *columns, int count, const DpermColumn *label,
				const char *unit, char **names)
{
	const char *argument = label ? "features" : "columns";
	DpermColumn **features = palloc(sizeof(*features) * Max(count, source->block_count));

	source->features = features;
	if (names == NULL)
	{
		source->block_count = choose_known(source, columns, count, label, unit, features);
		return;
	}
	for (int i = 0; i < source->block_count; i++)
	{
		features[i] = find_column(source, columns, count, names[i], argument);
		if (features[i] == label)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column \"%s\" is both label and feature", names[i])));
		for (int j = 0; j < i; j++)
			if (features[j] == features[i])
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" appears twice in %s", names[i], argument)));
	}
}

/* Is a block a vector? */
static bool
is_vector(const DpermBlock *block)
{
	return block->kind == DPERM_BLOCK_VECTOR || block->kind == DPERM_BLOCK_BOX;
}

/*
 * Choose the knots of a block: a number has those of its domain, or of the
 * argument, or is open to the rule, a vector those of its domain; a kernel takes
 * numbers as they are.
 */
static void
choose_knots(const DpermColumn *column, const DpermOptions *options, DpermBlock *block)
{
	if (options->kernel.kind != DPERM_KERNEL_LINEAR)
	{
		block->count = dperm_block_elements(block);
		block->each = 0;
		block->knots = NULL;
	}
	else if (dperm_block_is_number(block) && !column->knotted)
	{
		block->count = Max(options->knots, 1);
		block->open = options->knots == 0;
	}
}

/* Raise an error for knots that no feature would get. */
static void
check_knots(DpermColumn **features, int count, const DpermOptions *options)
{
	bool		knotted = false;

	for (int i = 0; i < count; i++)
	{
		if (dperm_block_is_number(&features[i]->block) && !features[i]->knotted)
			return;
		knotted |= features[i]->knotted;
	}
	if (options->knots > 1 ||
		(options->knots == 1 && knotted && options->kernel.kind == DPERM_KERNEL_LINEAR))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("knots apply to none of the features"),
				 errhint("They are for numbers whose domains have no knots of their own.")));
}

/*
 * Encode the features of an open source, or of a copy of one, as options want them, which
 * differ from those that it was opened with in knots, kernel or loss. Those that are given
 * stay as they are.
 */
void
dperm_source_encode(DpermSource *source, const DpermOptions *options)
{
	int			count = source->block_count;

	if (!source->given)
	{
		source->blocks = palloc(sizeof(DpermBlock) * count);
		for (int i = 0; i < count; i++)
		{
			const DpermColumn *column = source->features[i];

			source->blocks[i] = column->block;
			source->blocks[i].column = (DpermText) {column->name, (int) strlen(column->name)};
			choose_knots(column, options, &source->blocks[i]);
		}
		check_knots(source->features, count, options);
	}
	source->spec.loss = dperm_options_loss(options, &source->spec.labels);
	source->spec.encoder = dperm_options_encoder(options, source->blocks, count);
}

/* The names of features that are given as blocks. */
static char **
block_names(const DpermBlock *blocks, int count)
{
	char	  **names = palloc(sizeof(char *) * count);

	for (int i = 0; i < count; i++)
		names[i] = (char *) blocks[i].column.bytes;
	return names;
}

/*
 * Raise an error for a column that is not what a block says: of another kind, or of vectors
 * with another number of elements, which would count as zeros in all rows.
 */
static void
check_block(const DpermSource *source, const DpermColumn *column, const DpermBlock *block,
			const char *where)
{
	if (!dperm_reader_kind_fits(dperm_reader_kind(column->type, block->kind), block->kind))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is of type %s", column->name,
						get_rel_name(source->relation), format_type_be(column->type)),
				 errhint("The column is a %s in the %s.",
						 dperm_encoder_kind_name(block->kind), where)));
	if (dperm_column_known(column) && is_vector(&column->block) && is_vector(block) &&
		dperm_block_elements(&column->block) != dperm_block_elements(block))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the vectors in column \"%s\" of relation \"%s\" have dimension %d",
						column->name, get_rel_name(source->relation),
						dperm_block_elements(&column->block)),
				 errhint("The model has vectors of dimension %d.", dperm_block_elements(block))));
}

/*
 * Features that are given as blocks, those of a model that is evaluated, or of a prior:
 * the columns must match them.
 */
static void
take_blocks(DpermSource *source, const DpermBlock *blocks, const DpermOptions *options)
{
	source->given = true;
	source->blocks = palloc(sizeof(DpermBlock) * source->block_count);
	memcpy(source->blocks, blocks, sizeof(DpermBlock) * source->block_count);
	for (int i = 0; i < source->block_count; i++)
	{
		const DpermColumn *column = source->features[i];

		check_block(source, column, &blocks[i], options->prior ? "prior" : "model");
		if (options->prior && source->registration)
			dperm_protection_check_block(source->registration, column, &blocks[i]);
	}
}

/*
 * How each column is read: the words for the request, and the SQL expression.
 */
static void
make_readers(DpermSource *source)
{
	int			count = source->block_count;
	uint64	   *words = palloc(sizeof(uint64) * count);

	source->columns = palloc(sizeof(char *) * count);
	source->varlena = palloc(sizeof(bool) * count);
	source->spec.readers = words;
	for (int i = 0; i < count; i++)
	{
		const DpermColumn *column = source->features[i];
		const DpermBlock *block = source->given ? &source->blocks[i] : &column->block;
		DpermReaderKind kind = dperm_reader_kind(column->type, block->kind);

		source->columns[i] = psprintf("t.%s", quote_identifier(column->name));
		source->varlena[i] = get_typlen(getBaseType(column->type)) == -1;
		if (!dperm_reader_kind_fits(kind, block->kind))
			elog(ERROR, "column \"%s\" cannot be read", column->name);
		words[i] = dperm_reader_word(kind, block, column->type);
	}
}

/*
 * Raise an error for bounds that are wider than the registered ones, or if the
 * owner has registered none.
 */
static void
check_bounds(const DpermSource *source, const DpermColumn *label, const DpermLabels *labels)
{
	DpermBlock	block = label->block;

	if (labels->low < labels->high)
	{
		block.kind = DPERM_BLOCK_NUMBER;	/* whatever the domain is: categories have no bounds */
		block.low = labels->low;
		block.high = labels->high;
	}
	dperm_protection_check_block(source->registration, label, &block);
}

/*
 * How labels are read; raises an error for a column that cannot be one. A model
 * that is evaluated has its own bounds, and its own kind of labels.
 */
static void
set_label(DpermSource *source, const DpermColumn *label, const DpermOptions *options,
		  bool evaluated)
{
	DpermLabels *labels = &source->spec.labels;
	DpermLabel *reader = &source->label;

	*labels = options->labels;
	if (source->registration && labels->kind == DPERM_LABEL_NUMBER && !evaluated)
		check_bounds(source, label, labels);
	source->label_any_number =
		dperm_label_domain_init(reader, label, dperm_options_may_be_several(options) && !evaluated,
								source->registration != NULL, labels);
	source->label_column = label->name;
	source->label_domain = PointerGetDatum(dperm_label_domain_bytes(labels, reader->type));
}

/* Is a column the label or a feature? */
static bool
is_used(const DpermSource *source, const char *column)
{
	for (int i = 0; i < source->block_count; i++)
		if (strcmp(column, source->features[i]->name) == 0)
			return true;
	return source->label_column && strcmp(column, source->label_column) == 0;
}

/*
 * Make the persons of a column, whose number is returned, the units of a source
 * whose label and features are known.
 */
static AttrNumber
set_unit(DpermSource *source, const char *column)
{
	Oid			relation = source->registration ?
		source->registration->table->relation : source->relation;
	AttrNumber	number = get_attnum(relation, column);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", column,
						get_rel_name(source->relation)),
				 errhint("unit names the column that identifies persons; names are case-sensitive "
						 "and are not quoted.")));
	if (relation == source->relation && is_used(source, column))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unit cannot be the label or a feature"),
				 errhint("unit must be a column that only identifies persons, such as a "
						 "foreign key.")));
	dperm_persons_column(relation, number, &source->unit_type, &source->unit_collation);
	if (!source->registration &&
		pg_class_aclcheck(source->relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		!may_read_column(source->relation, number))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for relation %s", get_rel_name(source->relation)),
				 errhint("Training requires SELECT on the column that identifies persons.")));
	source->unit = psprintf("t.%s", quote_identifier(column));
	return number;
}

/*
 * Where the rows are summed up if they are many. For persons each server must
 * have all of their rows, so that it knows their weights; and equal values must
 * have equal bits, or they might be on different servers.
 */
static void
set_location(DpermSource *source, AttrNumber unit)
{
	Oid			type = unit > 0 ? getBaseType(source->unit_type) : InvalidOid;

	if (unit <= 0)
		source->location = dperm_location_find(source->relation, &source->parts);
	else if ((type == INT2OID || type == INT4OID || type == INT8OID || type == UUIDOID) &&
			 dperm_location_keeps_together(source->relation, unit))
	{
		source->location = DPERM_LOCATION_CITUS;
		source->spec.weighted = true;
	}
}

/* Raise an error unless the caller may use the columns. */
static void
check_columns(const DpermSource *source, const DpermSourceNames *names, const DpermColumn *label)
{
	if (source->registration)
		check_protection(source, names, label);
	else
	{
		/* it is better to find out now than halfway */
		if (!may_read_columns(source, label))
			dperm_protection_raise_denied(source->relation);
		dperm_protection_check_reach(source->relation);
	}
}

/*
 * Find relation and columns and check types, domains and privileges; every mistake is an
 * error here, before any row is read.
 */
void
dperm_source_open(DpermSource *source, const DpermSourceNames *names, const DpermOptions *options)
{
	const DpermRegistration *registration = names->registration;
	const DpermEncoder *prior = options->prior ? &options->prior->encoder : NULL;
	const DpermBlock *given = prior ? prior->blocks : names->blocks;
	char	  **features = names->features;
	const char *unit = names->unit;
	AttrNumber	unit_number = InvalidAttrNumber;
	int			count;
	DpermColumn *columns,
			   *label;

	memset(source, 0, sizeof(*source));
	dperm_location_check_coordinator();
	source->relation =
		registration ? registration->relation : dperm_source_find(names->relation);
	source->from = dperm_relation_name(source->relation);
	source->registration = registration;
	if (registration)
		unit = dperm_protection_unit(registration, unit);
	columns = registration ?
		dperm_protection_columns(registration, names->domains, names->label, &count) :
		dperm_domains_read(source->relation, names->domains, &count);
	label = names->label ? find_column(source, columns, count, names->label, "label") : NULL;
	source->block_count = names->feature_count;
	if (prior)
		dperm_model_type_check_prior_label(options->prior, names->label);
	if (given)
	{
		source->block_count = prior ? prior->block_count : names->block_count;
		features = block_names(given, source->block_count);
	}
	choose_features(source, columns, count, label, registration && registration->view ? NULL : unit,
					features);
	check_columns(source, names, label);
	if (given)
		take_blocks(source, given, options);
	else
		for (int i = 0; i < source->block_count; i++)
			if (!dperm_column_known(source->features[i]))
				dperm_domains_missing(source->features[i]);
	make_readers(source);
	if (label)
		set_label(source, label, options, names->blocks != NULL);
	if (unit)
		unit_number = set_unit(source, unit);
	if (!registration && !names->divides && label)
		set_location(source, unit_number);
	dperm_source_encode(source, options);
}

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

/*
 * Tell in notices which columns features => NULL leaves out, and that the label is a
 * number which may have more than two values. All of this is public. Called once for each
 * call: the sources of several candidates have the same columns.
 */
void
dperm_source_tell(const DpermSource *source)
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

/*
 * Tell that a model is evaluated on the relation that it was trained on. Which one that
 * was is what the model says, which anybody can have written.
 */
void
dperm_source_tell_training(const DpermSource *source, const DpermText *trained_on)
{
	const DpermText from = {source->from, (int) strlen(source->from)};

	if (dperm_host_same_text(&from, trained_on))
		ereport(NOTICE,
				(errmsg("the model was trained on rows of relation \"%s\"",
						get_rel_name(source->relation)),
				 errhint("It may be worse on others: train and evaluate on views that divide "
						 "the rows.")));
}
