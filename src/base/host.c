/*
 * host.c: services of the server for the core.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/host.h"
#include "base/message.h"
#include "core/base/limits.h"
#include "core/encode/fourier.h"
#include "core/mechanism/calibrate.h"

/* Let the server interrupt the core. */
static void
check_interrupts(void *arg)
{
	CHECK_FOR_INTERRUPTS();
}

const DpermPoll dperm_host_interrupts = {check_interrupts, NULL};

/* Random bits that cannot be seeded. */
bool
dperm_host_random(void *arg, void *bytes, size_t count)
{
	return pg_strong_random(bytes, count);
}

/* Raise the error for a status of the core. */
void
dperm_host_check_status(DpermStatus status)
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

/* Calibrate, or raise an error. */
DpermCalibration
dperm_host_calibrate(const DpermSetup *setup)
{
	DpermCalibration calibration;
	const char *why;

	if (dperm_calibrate(setup, &calibration, &why) != DPERM_OK)
	{
		/* depends only on arguments and the number of units */
		dperm_message_public();
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot train with these parameters: %s", why),
				 strcmp(why, DPERM_LAMBDA_TOO_SMALL) == 0 ? errhint("Omit lambda to use the "
				 	"default for this number of rows.") : 0));
	}
	return calibration;
}

/* Check an encoder and return it, or raise an error. */
DpermEncoder
dperm_host_check_encoder(DpermEncoder encoder)
{
	const char *fault = dperm_encoder_fault(&encoder);

	if (fault)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot encode these features: %s", fault),
				 errhint("All columns together can have at most %d coordinates, one for each "
						 "number, category and vector element.",
						 DPERM_DIM_MAX - 1)));
	return encoder;
}

/* The frequencies of an encoder's kernel. */
double *
dperm_host_frequencies(const DpermEncoder *encoder)
{
	int			linear = dperm_encoder_linear_dim(encoder);
	double	   *frequencies;

	if (encoder->kernel.kind == DPERM_KERNEL_LINEAR)
		return NULL;
	frequencies = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) *
										 dperm_fourier_size(&encoder->kernel, linear));
	dperm_fourier_make(&encoder->kernel, linear, frequencies, &dperm_host_interrupts);
	return frequencies;
}

/*
 * Make a feed for an encoder, sharing the frequencies of another feed if they
 * are the same.
 */
void
dperm_host_feed(DpermFeed *feed, const DpermEncoder *encoder, const DpermFeed *like)
{
	bool		same = like && like->linear == dperm_encoder_linear_dim(encoder) &&
		dperm_kernel_equal(&like->encoder->kernel, &encoder->kernel);

	dperm_feed_init(feed, encoder, same ? like->frequencies : dperm_host_frequencies(encoder),
					palloc(sizeof(int) * dperm_encoder_dim(encoder)),
					MemoryContextAllocExtended(CurrentMemoryContext,
											   sizeof(double) * Max(dperm_feed_room(encoder), 1),
											   MCXT_ALLOC_HUGE));
}
