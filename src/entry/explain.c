/*
 * explain.c: dp_explain, what each column contributes to the decision on a row.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/result_set.h"
#include "column/class_choice.h"
#include "column/scorer.h"

PG_FUNCTION_INFO_V1(dp_explain);

/* What a block contributes or, as the last one, the intercept. */
typedef struct Term
{
	int			block;
	bool		intercept;
	double		contribution;
} Term;

/* For qsort: the largest comes first, the intercept last. */
static int
compare_terms(const void *a, const void *b)
{
	const Term *first = a;
	const Term *second = b;

	if (first->intercept != second->intercept)
		return first->intercept - second->intercept;
	if (fabs(first->contribution) != fabs(second->contribution))
		return fabs(first->contribution) > fabs(second->contribution) ? -1 : 1;
	return first->block - second->block;
}

/* One row of the result. */
static void
put_term(Tuplestorestate *store, TupleDesc desc, const DpermScorer *scorer, const Term *term)
{
	const DpermEncoder *encoder = dperm_scorer_encoder(scorer);
	char	   *value = term->intercept ? "intercept" : dperm_scorer_value(scorer, term->block);
	Datum		values[3] = {0, 0, Float8GetDatum(term->contribution)};
	bool		nulls[3] = {true, value == NULL, false};

	if (!term->intercept && encoder->blocks[term->block].column.len > 0)
	{
		const DpermText *column = &encoder->blocks[term->block].column;

		values[0] = PointerGetDatum(cstring_to_text_with_len(column->bytes, column->len));
		nulls[0] = false;
	}
	if (value)
		values[1] = CStringGetTextDatum(value);
	tuplestore_putvalues(store, desc, values, nulls);
}

/* Add what each column contributes to the result. */
static void
put_terms(Tuplestorestate *store, TupleDesc desc, const DpermScorer *scorer, const double *sums)
{
	const DpermEncoder *encoder = dperm_scorer_encoder(scorer);
	const DpermModel *model = dperm_scorer_model(scorer);
	/* a number is never without an intercept: the centre of its bounds */
	bool		intercept = encoder->intercept || dperm_model_label(model) == DPERM_LABEL_NUMBER;
	int			count = encoder->block_count + (intercept ? 1 : 0);
	Term	   *terms = palloc(sizeof(Term) * count);

	for (int i = 0; i < count; i++)
	{
		bool		last = i == encoder->block_count;
		double		sum = !last || encoder->intercept ? sums[i] : 0;

		terms[i] = (Term) {
			.block = i,
			.intercept = last,
			.contribution = dperm_model_unit(model) * sum + (last ? dperm_model_centre(model) : 0)
		};
	}
	qsort(terms, count, sizeof(Term), compare_terms);
	for (int i = 0; i < count; i++)
		put_term(store, desc, scorer, &terms[i]);
}

/*
 * dp_explain(model, features, class): (column_name, value, contribution). No
 * rows if the model or the features are NULL.
 */
Datum
dp_explain(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Tuplestorestate *store = dperm_result_set_begin(fcinfo, &desc);
	DpermScorer *scorer;
	int			class;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	scorer = dperm_scorer_get(fcinfo, dperm_scorer_open_model);
	class = dperm_class_choice(dperm_scorer_model(scorer), PG_ARGISNULL(2) ? NULL :
							   text_to_cstring(PG_GETARG_TEXT_PP(2)));
	put_terms(store, desc, scorer, dperm_scorer_terms(scorer, PG_GETARG_DATUM(1), class));
	return (Datum) 0;
}
