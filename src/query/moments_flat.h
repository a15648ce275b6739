/*
 * moments_flat.h: the flat form of dperm_moments, the state of a pass as a SQL
 * value.
 */
#ifndef DPERM_MOMENTS_FLAT_H
#define DPERM_MOMENTS_FLAT_H


#include "base/compat.h"
#include "core/encode/encoder.h"
#include "core/loss/loss.h"
#include "core/solve/pass.h"

/* What a pass is told about the rows, apart from its order and its weights. */
typedef struct DpermPassSpec
{
	DpermLoss	loss;
	DpermEncoder encoder;
	const uint64 *readers;		/* one word per block, see dperm_reader_word() */
	/* the domain of labels; the positive value only if they are not booleans */
	DpermLabels labels;
	bool		weighted;		/* are the units persons, whose rows have weights in a pass? */
	/* of a digest of the rows, 0: none; passes that count have none */
	uint64		seed;
	/*
	 * the base type of such labels if it is the same on all servers, else
	 * InvalidOid
	 */
	Oid			label_type;
} DpermPassSpec;

/*
 * The flat value of a request, without rows. Weights are in the order of
 * core/layout.h; second is their low parts in a careful pass, and the direction
 * in a product, else NULL.
 */
extern Datum dperm_moments_flat_request(const DpermPassSpec *spec, DpermPassOrder order,
								   const double *weights, const double *second);

/*
 * The flat value of a request to count rows by the decisions of a model; only
 * the encoder, the readers and the labels of spec are used. Weights are those of the model,
 * in its order; bins as in core/solve/pass.h.
 */
extern Datum dperm_moments_flat_count(const DpermPassSpec *spec, const double *weights, int bins);

/*
 * Open a value that a pass returned; *words points into it (or into a detoasted
 * copy).
 */
extern void dperm_moments_flat_open(Datum value, DpermPass *pass, const uint64 **words);

/* Raise an error unless a value that a pass returned answers a request. */
extern void dperm_moments_flat_check_answer(Datum value, Datum request);

/* Raise the error for an answer to another request. */
extern void dperm_moments_flat_wrong_answer(void) __attribute__((noreturn));

/*
 * The number of units in the result of a pass that counts, and its counts; all
 * are 0 if there were no rows.
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

/* Any datum as a flat value; copied only if it is not flat already. */
extern DpermFlat *dperm_moments_flat_get(Datum value);

/* A zeroed flat value with room for count words. */
extern DpermFlat *dperm_moments_flat_make(size_t count);

/* Check a flat value and read its header. */
extern void dperm_moments_flat_read(const DpermFlat *flat, DpermPass *pass);

/*
 * Write the bytes of the encoder and of the domain of labels, each padded with
 * zeros to a whole word.
 */
extern void dperm_moments_flat_put_bytes(DpermFlat *flat, const DpermPass *pass,
										 const void *form, const DpermLabels *labels);

/* The domain of labels, with the positive value or the classes in palloc'd memory. */
extern DpermLabels dperm_moments_flat_labels(const DpermFlat *flat, const DpermPass *pass);

/*
 * Decode the encoder into palloc'd memory, and check the readers and the
 * description of labels. Returns NULL, or what is wrong.
 */
extern const char *dperm_moments_flat_open_encoder(const DpermFlat *flat, const DpermPass *pass,
										   DpermEncoder *encoder);

/* Raise the error for a flat value that cannot be ours. */
extern void dperm_moments_flat_corrupted(void);

#endif							/* DPERM_MOMENTS_FLAT_H */
