/*
 * column.h: values: the columns of relations and what is publicly known about them,
 * datums as values for the encoder, labels, and models applied to rows. Trusted.
 */
#ifndef DPERM_COLUMN_H
#define DPERM_COLUMN_H

#include <math.h>

#include "access/attnum.h"
#include "access/htup.h"
#include "access/tupdesc.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "utils/date.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/options.h"
#include "core/base/core.h"
#include "core/encode/encoder.h"
#include "core/encode/tagged.h"
#include "core/model/model.h"

/*
 * Domains: columns of relations and what is publicly known about their values.
 *
 * Nothing here looks at rows or at statistics about rows: a domain derived from
 * data would leak.
 */

/* Where the domain of a column comes from; from DPERM_DOMAIN_DECLARED on there is one. */
typedef enum DpermDomainFrom
{
	DPERM_DOMAIN_UNUSABLE,		/* the type cannot be a feature at all */
	DPERM_DOMAIN_UNKNOWN,		/* there is none */
	DPERM_DOMAIN_MISFIT,		/* one is registered that does not fit the type */
	DPERM_DOMAIN_DECLARED,		/* the catalog */
	DPERM_DOMAIN_REGISTERED,	/* dp_protect */
	DPERM_DOMAIN_GIVEN			/* the caller */
} DpermDomainFrom;

/*
 * A column of a relation and what is publicly known about its values. An integer
 * or numeric(p,s) column for which the caller specified categories has a CATEGORY
 * block. Categories are the text output of base; those of bpchar have no trailing
 * blanks (dperm_category_length()).
 */
typedef struct DpermColumn
{
	AttrNumber	number;
	char	   *name;
	Oid			type;			/* as declared; may be a domain */
	Oid			base;			/* the base type below all domains */
	int32		typmod;			/* of base */
	DpermDomainFrom from;
	DpermBlock	block;			/* kind is set if usable; the rest if known */
	bool		knotted;		/* does it say how many knots a number has, or each element? */
	int			value_count;	/* values of a number, if the catalog lists them */
	const DpermText *values;
	char	   *origin;			/* where the domain comes from, for people; NULL if unknown */
	char	   *lack;			/* why there is no domain; NULL if the catalog says nothing */
	Oid			relation;		/* the relation with its constraints, found through views */
	AttrNumber	home;			/* its number there */
} DpermColumn;

/* What CHECK constraints say about a column. */
typedef struct DpermSaid
{
	/* of a number or a time, or of each element of a vector; infinite where there is no bound */
	double		low;
	double		high;			/* < low: no value passes */
	int			dimension;		/* of a vector; 0: nothing is said; -1: that of no model */
	int			count;			/* of a list of categories, or of numbers; -1: there is none */
	DpermText  *texts;			/* those of numbers are zero-terminated */
	char	   *origin;			/* the constraints that were used; NULL if none */
} DpermSaid;

/* Is there a domain? */
static inline bool
dperm_column_known(const DpermColumn *column)
{
	return column->from >= DPERM_DOMAIN_DECLARED;
}

/* The length of a category's text: without the blanks that bpchar pads with. */
static inline int
dperm_category_length(bool padded, const char *bytes, int len)
{
	while (padded && len > 0 && bytes[len - 1] == ' ')
		len--;
	return len;
}

/* domains.c: which types can be features, and of which kind */
extern bool dperm_column_kind(Oid base, DpermBlockKind *kind);
extern bool dperm_column_has_text(Oid base);
extern bool dperm_column_is_integer(Oid base);
extern bool dperm_column_is_pgvector(Oid base);
extern bool dperm_column_is_text(Oid base);
extern bool dperm_column_number(Oid type, Datum value, double *out);
extern char *dperm_column_time(Oid type, double usecs, const int *zone);
extern char *dperm_column_shown(const DpermBlock *block, double value);
extern DpermText dperm_column_text(Oid base, Datum value);
extern bool dperm_column_lists(const DpermText *texts, int count, const DpermText *text);
extern bool dperm_column_input(Oid base, int32 typmod, const char *text, Datum *value,
							   char **why);

/* domain_checks.c: what CHECK constraints say */
extern DpermSaid dperm_domain_checks_read(Oid relation, const DpermColumn *column);

/* domain_json.c: domains as JSON: read, and written */
extern void dperm_domain_json_parse(DpermColumn *column, JsonbValue *value);
extern char *dperm_domain_json_example(const DpermColumn *column);
extern void dperm_domain_json_print(StringInfo out, const DpermColumn *column);
extern void dperm_domain_json_template(StringInfo out, const DpermColumn *column);

/* domains.c: the columns of a relation with their domains */
extern DpermColumn *dperm_domains_read(Oid relation, Jsonb *domains, int *count);
extern void dperm_domains_give(Oid relation, DpermColumn *columns, int count, Jsonb *domains,
							   bool may_be_null);
extern _Noreturn void dperm_domains_missing(const DpermColumn *column);
extern Query *dperm_domains_view_query(Relation view);
extern void dperm_domains_declared(Oid relation, DpermColumn *column, int made_dimension);
extern const char *dperm_domains_fault(const DpermBlock *outer, const DpermBlock *inner);
extern bool dperm_domains_has_rows(char relkind);

/*
 * Readers: datums as values for the encoder, without ever raising an error.
 *
 * The contents of a row must not cause an error (it would be a leak): a value
 * that cannot be used is absent, or an unlisted category. NaN and infinities
 * are passed on: the encoder handles them.
 *
 * A reader is made once, from the type of the column and the block that it
 * provides values for; reading does not access the catalog. What a request says
 * about readers is valid on any server: whatever has an OID is looked up where
 * the rows are.
 */

/*
 * The size in bytes of the largest value that is read, uncompressed and
 * including the header. Larger values are not fetched, and count as no
 * category, no label and no vector. This must be a constant: if it depended on
 * arguments, the buffers that a call reads would reveal how a value's size
 * compares with them.
 */
#define DPERM_VALUE_MAX 131072

/* How a column is stored. The numbers are sent in requests: append only. */
typedef enum DpermReaderKind
{
	DPERM_READ_NONE = 0,		/* the type does not fit the block */
	DPERM_READ_INT2,
	DPERM_READ_INT4,
	DPERM_READ_INT8,
	DPERM_READ_FLOAT4,
	DPERM_READ_FLOAT8,
	DPERM_READ_NUMERIC,
	DPERM_READ_BOOL,
	DPERM_READ_DATE,
	DPERM_READ_TIMESTAMP,
	DPERM_READ_TEXT,
	DPERM_READ_BPCHAR,			/* trailing blanks do not count */
	DPERM_READ_ENUM,
	DPERM_READ_FLOAT8_ARRAY,
	DPERM_READ_FLOAT4_ARRAY,
	DPERM_READ_NUMBER_ARRAY,	/* of another number type; prediction only */
	DPERM_READ_VECTOR,			/* pgvector's type */
	/* the text of any type: as stored, or from its output function */
	DPERM_READ_OUTPUT,
	DPERM_READ_TIMESTAMPTZ,		/* stored like the other one, but it means another moment */
	DPERM_READ_TIME_OF_DAY,
	DPERM_READ_LAST = DPERM_READ_TIME_OF_DAY
} DpermReaderKind;

/* What there is to know about the values of a type, looked up once. */
typedef struct DpermStored
{
	Oid			type;			/* InvalidOid: not known, and not needed for its kind */
	DpermReaderKind kind;
	DpermReaderKind element;	/* of an array of numbers */
	int16		len;			/* as in pg_type */
	bool		by_value;
	bool		is_array;
	FmgrInfo	output;
} DpermStored;

/* A hash table of the categories of a block. */
typedef struct categories_hash DpermCategories;

typedef struct DpermReader
{
	DpermReaderKind kind;
	const DpermBlock *block;
	DpermStored stored;
	Oid			expected;		/* OUTPUT: the base type in the request; InvalidOid: any */
	DpermCategories *texts;		/* by text */
	DpermCategories *values;	/* ENUM: by the enum values of the type */
	double	   *vector;			/* room for converted elements */
} DpermReader;

/* A record type, and the columns of its last row. All zero: no type yet. */
typedef struct DpermRecord
{
	Oid			type;
	int32		typmod;
	uint64		version;		/* of the type; desc may be newer, never older */
	TupleDesc	desc;
	Datum	   *datums;			/* one per column, dropped ones included */
	bool	   *nulls;
} DpermRecord;

/* Values of a type. */
extern bool dperm_reader_too_large(Datum value, bool is_array);
extern void dperm_reader_look(DpermStored *stored, Oid type, MemoryContext context);
extern bool dperm_reader_exceeds(const DpermStored *stored, Datum value);
extern double dperm_reader_number(DpermReaderKind kind, Datum datum);
extern const char *dperm_reader_text(DpermStored *stored, Datum value, int *len);
extern const double *dperm_reader_elements(const DpermStored *stored, Datum value, int *count,
										   double *room);

/* What types can be read as. */
extern DpermReaderKind dperm_reader_kind(Oid type, DpermBlockKind kind);
extern DpermReaderKind dperm_reader_kind_natural(Oid type);
extern DpermBlockKind dperm_reader_kind_block(DpermReaderKind kind);
extern bool dperm_reader_kind_fits(uint64 kind, DpermBlockKind block);

/* What requests say. */
extern int	dperm_reader_encoding(const char *bytes, int len);
extern void dperm_reader_check_encoding(int encoding);
extern void dperm_reader_check_type(const char *what, Oid type, Oid expected);
extern bool dperm_reader_text_fits(const char *bytes, size_t len, int encoding);
extern Oid	dperm_reader_common_type(Oid type);
extern uint64 dperm_reader_word(DpermReaderKind kind, const DpermBlock *block, Oid type);
extern bool dperm_reader_word_fits(uint64 word, const DpermBlock *block);
extern void dperm_reader_row_form(StringInfo hex, uint64 word);

/* Categories by their keys. */
extern DpermCategories *dperm_reader_index(const DpermText *keys, int key_count);
extern int	dperm_reader_find(DpermCategories *categories, const char *bytes, int len);

/* Readers. */
extern void dperm_reader_init(DpermReader *reader, DpermReaderKind kind, const DpermBlock *block,
							  Oid type);
extern DpermReader *dperm_reader_make_all(const DpermEncoder *encoder, const uint64 *words);
extern void dperm_reader_bind_columns(DpermReader *readers, int count, TupleDesc desc, int first);
extern void dperm_reader_read(DpermReader *reader, Datum datum, bool isnull, DpermValue *value);
extern void dperm_reader_read_tagged(DpermReader *reader, const DpermTagged *tagged,
									 DpermValue *value);

/* Records. */
extern void dperm_reader_take_record(DpermRecord *record, HeapTupleHeader row);
extern bool dperm_reader_read_record(DpermRecord *record, HeapTupleHeader row);

/*
 * Labels: how their values are read, and what their domain says about that.
 *
 * Two classes. A boolean is positive if it is true, a number if it is above
 * zero. With a positive value, what equals it is positive, and any other value
 * is not. A text or an enum needs one. NaN is no label.
 *
 * Several classes: the number of the class that the value equals; any other
 * value is no label. The positive value is a list of one class, so both find
 * values in the same way: texts by their bytes, numbers by their value in double
 * precision, enums by the OIDs that their values have here.
 *
 * A number is clamped to its bounds and mapped to [-1, 1]; NaN is no label.
 *
 * NULL is no label. Reading never raises an error.
 */

typedef struct DpermLabel
{
	DpermLabelKind kind;
	Oid			type;			/* base type of the values */

	DpermReaderKind reader;
	double		low;			/* of a number */
	double		high;
	bool		listed;			/* of classes: or is positive what is above zero? */
	DpermCategories *values;
} DpermLabel;

/* The label of a number that is one of so many classes; 0 if it is none. */
static inline double
dperm_label_numbered(double number, int class_count)
{
	return number >= 1 && number <= class_count && number == floor(number) ? number : 0;
}

/* Is there one? */
static inline bool
dperm_label_has(const DpermLabel *label, double read)
{
	return dperm_label_kind_has(label->kind, read);
}

extern void dperm_label_init(DpermLabel *label, Oid type, const DpermLabels *labels);
extern double dperm_label_read(const DpermLabel *label, Datum value, bool isnull);
extern bytea *dperm_label_domain_bytes(const DpermLabels *labels, Oid type);
extern int	dperm_label_choose_class(const DpermModel *model, const char *name);
extern const char *dperm_label_class_name(const DpermModel *model, int number);
extern bool dperm_label_domain_init(DpermLabel *label, const DpermColumn *column,
									bool may_be_several, bool protected, DpermLabels *labels);
extern void dperm_label_domain_init_type(DpermLabel *label, Oid type, bool may_be_several,
										 DpermLabels *labels);
extern void dperm_label_domain_check(const DpermColumn *column, const DpermBlock *classes);

/*
 * Models: dp_model as a type, applied to rows, and as the prior of a
 * training.
 *
 * The body of the varlena is the binary form of core/model/model.h, and nothing
 * else.
 */

/* model_type.c: datums */
extern Datum dperm_model_type_make(const DpermModel *model);
extern DpermModel *dperm_model_type_open(Datum value);
extern DpermModel *dperm_model_type_required(FunctionCallInfo fcinfo);
extern void dperm_model_type_name_columns(DpermModel *model, char *name);
extern Datum dperm_model_type_accept(Node *context, DpermTree tree);
extern Datum dperm_model_type_array(const double *numbers, int rows, int columns);

/*
 * scorer.c: a model and the rows it is applied to, prepared once per query
 */
typedef struct DpermScorer DpermScorer;

/* What is applied to rows. */
typedef struct DpermScored
{
	DpermEncoder encoder;
	/* the model of the encoder; NULL: an encoder without weights */
	const DpermModel *model;
} DpermScored;

/*
 * Makes it from the first argument, in the current context. features_type is
 * the type of the second one.
 */
typedef void (*DpermScorerOpener) (Datum value, Oid features_type, DpermScored *out);

extern void dperm_scorer_open_model(Datum value, Oid features_type, DpermScored *out);
extern DpermScorer *dperm_scorer_get(FunctionCallInfo fcinfo, DpermScorerOpener open);
extern const DpermScored *dperm_scorer_scored(const DpermScorer *scorer);
extern bool dperm_scorer_decision(DpermScorer *scorer, Datum features, double *decision);
extern double *dperm_scorer_outputs(DpermScorer *scorer, Datum features);
extern const double *dperm_scorer_terms(DpermScorer *scorer, Datum features, int class);
extern char *dperm_scorer_value(const DpermScorer *scorer, int block);
extern bool dperm_scorer_declared_encoder(Node *node, ParamListInfo params, DpermEncoder *encoder);
extern int	dperm_scorer_declared_dimension(Node *node, ParamListInfo params);

/* model_type.c: may a training have this prior? */
extern void dperm_model_type_prior(FunctionCallInfo fcinfo, DpermOptions *options);
extern void dperm_model_type_check_prior_label(const DpermModel *prior, const char *label);

#endif							/* DPERM_COLUMN_H */
