/*
 * bench_scan.c: the trivial scan, the unit of the benchmark.
 *
 * An aggregate that reads the first element of each vector and adds it up: what
 * it costs to bring every vector of a table to a C function, and nothing more.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(bench_scan_step);

/* bench_scan_step(sum float8, vector float8[]) returns float8 */
Datum
bench_scan_step(PG_FUNCTION_ARGS)
{
	ArrayType  *vector = PG_GETARG_ARRAYTYPE_P(1);
	float8		sum = PG_GETARG_FLOAT8(0);

	if (ARR_NDIM(vector) == 1 && ARR_DIMS(vector)[0] > 0)
		sum += *(float8 *) ARR_DATA_PTR(vector);
	PG_FREE_IF_COPY(vector, 1);
	PG_RETURN_FLOAT8(sum);
}
