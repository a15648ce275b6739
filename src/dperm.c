/*
 * dperm.c: module entry, settings, and what the server lends to the core.
 */
#include "postgres.h"

#include <limits.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "budget.h"
#include "core/base/limits.h"
#include "core/encode/fourier.h"
#include "core/mechanism/calibrate.h"
#include "dperm.h"
#include "message.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

int			dperm_aggregate_memory = 256 * 1024;
int			dperm_cache_memory = 256 * 1024;
int			dperm_call_timeout;
int			dperm_pull_memory = 16 * 1024;
bool		dperm_progress = false;

/* Called once per backend, when the library is loaded. */
void
_PG_init(void)
{
	dperm_tables_init();

	DefineCustomIntVariable("dperm.aggregate_memory",
							"Memory that dp_logreg() and dp_svm() may use for the rows of one group.",
							"A group that needs more raises an error. dp_logreg_train() and dp_svm_train() have no such limit.",
							&dperm_aggregate_memory,
							256 * 1024, 64, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.cache_memory",
							"Memory that training may use to keep the rows it has read.",
							"If the rows do not fit, training keeps a smaller, rounded form of them or of a sample in this memory or in 48 MB, whichever is more, and reads the rows again in further passes: from the table or, where it may be read only once, from a temporary file.",
							&dperm_cache_memory,
							256 * 1024, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.pull_memory",
							"Size up to which training brings the rows of other servers here.",
							"The size is that of the rows as training keeps them. Passes over more rows run on the servers that have them, if they can.",
							&dperm_pull_memory,
							16 * 1024, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dperm.call_timeout",
							"Sets how long a call on a protected relation may read and compute.",
							"It is charged before. 0 turns this off.",
							&dperm_call_timeout,
							0, 0, INT_MAX, PGC_SUSET, GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("dperm.progress",
							 "Reports the progress of training in messages of level INFO.",
							 "The messages depend only on the number of rows, or not even on that where persons are protected, and on the number of candidates.",
							 &dperm_progress,
							 false,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("dperm");
#else
	EmitWarningsOnPlaceholders("dperm");
#endif
}

/* Let the server interrupt the core. */
static void
check_interrupts(void *arg)
{
	CHECK_FOR_INTERRUPTS();
}

const DpermPoll dperm_interrupts = {check_interrupts, NULL};

/* Random bits that cannot be seeded. */
bool
dperm_strong_random(void *arg, void *bytes, size_t count)
{
	return pg_strong_random(bytes, count);
}

/* The error for a status of the core. */
void
dperm_check_status(DpermStatus status)
{
	switch (status)
	{
		case DPERM_OK:
			return;
		case DPERM_NO_ENTROPY:
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate random values")));
			break;
		case DPERM_NOT_CERTIFIED:
		case DPERM_BAD_ARGUMENT:
		case DPERM_BAD_FORMAT:
			break;
	}
	elog(ERROR, "unexpected status %d", (int) status);
}

/* Calibrate, or raise. */
DpermCalibration
dperm_checked_calibration(const DpermSetup *setup)
{
	DpermCalibration calibration;
	const char *why;

	/* from arguments and the number of units alone */
	dperm_message_public();
	if (dperm_calibrate(setup, &calibration, &why) != DPERM_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot train with these parameters: %s", why),
				 strcmp(why, DPERM_LAMBDA_TOO_SMALL) == 0 ? errhint("Omit lambda to use the default for this number of rows.") : 0));
	dperm_message_private();
	return calibration;
}

/* The encoder itself, or raise. */
DpermEncoder
dperm_checked_encoder(DpermEncoder encoder)
{
	const char *fault = dperm_encoder_fault(&encoder);

	if (fault)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot encode these features: %s", fault),
				 errhint("All columns together can have at most %d coordinates, one for each number, category and vector element.",
						 DPERM_DIM_MAX - 1)));
	return encoder;
}

/* The frequencies of an encoder's kernel. */
double *
dperm_frequencies(const DpermEncoder *encoder)
{
	int			linear = dperm_encoder_linear_dim(encoder);
	double	   *frequencies;

	if (encoder->kernel.kind == DPERM_KERNEL_LINEAR)
		return NULL;
	frequencies = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
										 dperm_fourier_size(&encoder->kernel, linear));
	dperm_fourier_make(&encoder->kernel, linear, frequencies, &dperm_interrupts);
	return frequencies;
}

/* Make a feed for an encoder, with the frequencies of another one if they are the same. */
void
dperm_feed_make(DpermFeed *feed, const DpermEncoder *encoder, const DpermFeed *like)
{
	bool		same = like && like->linear == dperm_encoder_linear_dim(encoder) &&
		dperm_kernel_equal(&like->encoder->kernel, &encoder->kernel);

	dperm_feed_init(feed, encoder, same ? like->frequencies : dperm_frequencies(encoder),
					palloc(sizeof(int) * dperm_encoder_dim(encoder)),
					MemoryContextAllocExtended(CurrentMemoryContext,
											   sizeof(double) * Max(dperm_feed_room(encoder), 1),
											   MCXT_ALLOC_HUGE));
}
