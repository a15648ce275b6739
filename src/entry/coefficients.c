/*
 * coefficients.c: dp_coefficients, the weights of a model by column.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "base/result_set.h"
#include "column/model_type.h"

PG_FUNCTION_INFO_V1(dp_coefficients);

/* A text datum of some bytes. */
static Datum
text_datum(const DpermText *text)
{
	return PointerGetDatum(cstring_to_text_with_len(text->bytes, text->len));
}

/*
 * dp_coefficients(model): (position, column_name, value, weight) for each
 * coordinate.
 */
Datum
dp_coefficients(PG_FUNCTION_ARGS)
{
	DpermModel *model = dperm_model_type_open(PG_GETARG_DATUM(0));
	const DpermEncoder *encoder = &model->encoder;
	TupleDesc	desc;
	Tuplestorestate *store = dperm_result_set_begin(fcinfo, &desc);

	for (int i = 0; i < dperm_encoder_dim(encoder); i++)
	{
		DpermCoordinate at;
		Datum		values[4] = {Int32GetDatum(i + 1), 0, 0, Float8GetDatum(model->weights[i])};
		bool		nulls[4] = {false, true, true, false};

		if (!dperm_encoder_coordinate(encoder, i, &at))
			elog(ERROR, "coordinate %d is out of range", i);
		if (at.intercept)
		{
			values[2] = CStringGetTextDatum("intercept");
			nulls[2] = false;
		}
		else if (at.kernel)
		{
			/* a kernel mixes all columns */
			values[2] = CStringGetTextDatum(psprintf("kernel feature %d", at.within + 1));
			nulls[2] = false;
		}
		else
		{
			if (at.block->column.len > 0)
			{
				values[1] = text_datum(&at.block->column);
				nulls[1] = false;
			}
			if (at.block->kind == DPERM_BLOCK_CATEGORY)
			{
				values[2] = text_datum(&at.block->categories[at.within]);
				nulls[2] = false;
			}
			else if (at.block->kind == DPERM_BLOCK_VECTOR || at.block->kind == DPERM_BLOCK_BOX)
			{
				values[2] = CStringGetTextDatum(psprintf("[%d]", at.within + 1));
				nulls[2] = false;
			}
		}
		tuplestore_putvalues(store, desc, values, nulls);
	}
	return (Datum) 0;
}
