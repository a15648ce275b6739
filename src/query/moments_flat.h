/*
 * moments_flat.h: the flat form of dperm_moments, the state of a pass as a SQL
 * value.
 */
#ifndef DPERM_MOMENTS_FLAT_H
#define DPERM_MOMENTS_FLAT_H

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "core/encode/encoder.h"
#include "core/loss/loss.h"
#include "core/solve/pass.h"

/* What a pass is told about the rows, apart from its order and its weights. */
typedef struct DpermPassSpec
{
	DpermLoss	loss;
	DpermEncoder encoder;
	const uint64 *readers;		/* one word per block, see dperm_reader_word() */
	const char *positive;		/* the positive value of labels that are no booleans, or NULL */
	bool		weighted;		/* are the units persons, whose rows have weights in a pass? */
	/* of a digest of the rows, or 0: none; passes that count have none */
	uint64		seed;
	/*
	 * the base type of such labels if it is the same on all servers, or
	 * InvalidOid
	 */
	Oid			label_type;
} DpermPassSpec;

/*
 * The flat value of a request: no rows yet. Weights are in the order of
 * core/layout.h; low parts are those of a careful pass, else NULL.
 */
extern Datum dperm_moments_flat_request(const DpermPassSpec *spec, DpermPassOrder order,
								   const double *weights, const double *weights_low);

/*
 * The flat value of a request to count rows by what a model decides on them;
 * spec has no say but for encoder and readers. Weights are those of the model,
 * in its order; bins as in core/solve/pass.h.
 */
extern Datum dperm_moments_flat_count(const DpermPassSpec *spec, const double *weights, int bins);

/*
 * Open a value that a pass returned; *words points into it (or into a detoasted
 * copy).
 */
extern void dperm_moments_flat_open(Datum value, DpermPass *pass, const uint64 **words);

/* Raise unless a value that a pass returned answers a request. */
extern void dperm_moments_flat_check_answer(Datum value, Datum request);

/* Raise the error for an answer to another question. */
extern void dperm_moments_flat_wrong_answer(void) __attribute__((noreturn));

/*
 * The number of units of what a pass returned that counts, and its counts, so
 * many; all are 0 if there was no row.
 */
extern int64 dperm_moments_flat_counts(Datum value, int64 *counts, int count);

/*
 * The flat form: aligned like a double, so that the words can be read in place.
 */
typedef struct DpermFlat
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int32		padding;
	uint64		words[FLEXIBLE_ARRAY_MEMBER];
} DpermFlat;

#define DPERM_FLAT_SIZE(count) (offsetof(DpermFlat, words) + sizeof(uint64) * (count))
#define DPERM_FLAT_WORDS(flat) ((VARSIZE(flat) - offsetof(DpermFlat, words)) / sizeof(uint64))

/*
 * A flat value out of any datum; a copy only where the datum is not flat
 * already.
 */
extern DpermFlat *dperm_moments_flat_get(Datum value);

/* A zeroed flat value with room for count words. */
extern DpermFlat *dperm_moments_flat_make(size_t count);

/* Check a flat value and read its header. */
extern void dperm_moments_flat_read(const DpermFlat *flat, DpermPass *pass);

/*
 * Write the bytes of the encoder and of the positive value, each with zeros up
 * to the end of a word.
 */
extern void dperm_moments_flat_put_bytes(DpermFlat *flat, const DpermPass *pass,
										 const unsigned char *form, const char *positive);

/* The positive value in palloc'd memory, or NULL. */
extern char *dperm_moments_flat_positive(const DpermFlat *flat, const DpermPass *pass);

/*
 * Decode the encoder into palloc'd memory and check the readers, and what is
 * said about labels: NULL, or what is wrong.
 */
extern const char *dperm_moments_flat_open_encoder(const DpermFlat *flat, const DpermPass *pass,
										   DpermEncoder *encoder);

/* Raise the error for a flat value that cannot be ours. */
extern void dperm_moments_flat_corrupted(void);

#endif							/* DPERM_MOMENTS_FLAT_H */
