/*
 * core.h: what every room of the core may use: outcomes that depend on arguments,
 * the valid ranges of the learners' parameters, names of an enum's values, labels and
 * lists of classes, and numbers in extended precision. Trusted.
 */
#ifndef DPERM_CORE_H
#define DPERM_CORE_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum DpermStatus
{
	DPERM_OK = 0,
	DPERM_NO_ENTROPY			/* the random source failed */
} DpermStatus;

#define DPERM_EPSILON_MIN 1e-6
#define DPERM_EPSILON_MAX 500	/* if finite; the proof does not hold beyond */
#define DPERM_DELTA_MIN 1e-15	/* unless 0; well above the tail of the noise */
#define DPERM_LAMBDA_MIN 1e-10	/* of the effective Lambda */
#define DPERM_LAMBDA_MAX 1e9	/* of the requested one */
#define DPERM_SLACK_MIN 1e-3	/* share of epsilon; less needs an enormous lambda */
#define DPERM_SLACK_MAX 0.9
#define DPERM_DIM_MAX 5000
/*
 * Of the norm of a prior's weights: fifty thousand times what weights usually
 * have, and not so much that rounding would have to be hidden by more noise.
 */
#define DPERM_PRIOR_NORM_MAX 1e6
#define DPERM_BINS_MAX 1000	/* of a histogram of decisions */
#define DPERM_ROWS_MAX (INT64_C(1) << 33)	/* see core/solve/sums.h: compensated sums */

/* The position of a name, or -1. */
static inline int
dperm_find_name(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

/*
 * The kinds of labels, and how a row holds one: as a double.
 *
 *   two classes   -1 or +1; 0 for none
 *   a number      from -1 to 1, mapped from its bounds; 2 for none
 *   several       the number of the class, from 1 on; 0 for none
 *
 * The loss decides on the kind (core/loss/loss.h). The domain is never read
 * from rows: it is declared, registered or an argument.
 */
typedef enum DpermLabelKind
{
	DPERM_LABEL_TWO = 0,
	DPERM_LABEL_NUMBER = 1,
	DPERM_LABEL_SEVERAL = 2
} DpermLabelKind;

/* The public domain of labels: what is needed to read them. */
typedef struct DpermLabels
{
	DpermLabelKind kind;
	const char *positive;		/* of two classes: the positive value, or NULL */
	double		low;			/* the bounds of a number; equal if they are not known */
	double		high;
	const char *classes;		/* of several: their values, as below */
	int			class_count;	/* of two: their names, the negative one first, or 0 if not known */
} DpermLabels;

/* The label of a row that has none. */
static inline double
dperm_label_kind_none(DpermLabelKind kind)
{
	return kind == DPERM_LABEL_NUMBER ? 2 : 0;
}

/* Is there a label? */
static inline bool
dperm_label_kind_has(DpermLabelKind kind, double label)
{
	return kind == DPERM_LABEL_NUMBER ? fabs(label) <= 1 : label != 0;
}

/*
 * The values of several classes, as bytes: one after the other, each with its zero
 * byte. The first is class 1. Options, requests, models and reports all have them in
 * this form, so that nobody counts or copies them one by one (classes.c).
 */

/*
 * More than any list needs; a request has its domain of labels in so many bytes.
 */
#define DPERM_CLASSES_BYTES 131000

/*
 * NULL if bytes are the values of count classes, else what is wrong: their
 * number, a value that is there twice, a list that is too long.
 */
extern const char *dperm_classes_fault(const char *bytes, size_t len, int count);

/* The value of a class, from 1 to the number of classes. */
extern const char *dperm_classes_value(const char *bytes, int number);

/* Bytes of so many classes. */
extern size_t dperm_classes_size(const char *bytes, int count);

/* The number of a value; 0 if it is none of so many classes. */
extern int	dperm_classes_find(const char *bytes, int count, const char *value);

/*
 * Extended precision: the compiler's numbers of 113 bits, which gcc and clang have on
 * every machine, if need be in software. In memory that others read, and on the wire,
 * such a number is a pair of doubles: the nearest one, and the one nearest to what is
 * left.
 */

/* No wider registers: what is exact or rounded once here would be rounded twice. */
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

/* Memory of the host is aligned for doubles. */
#if LDBL_MANT_DIG == 113
typedef long double DpermExtended __attribute__((aligned(8)));
#elif defined(__SIZEOF_FLOAT128__)
typedef __float128 DpermExtended __attribute__((aligned(8)));
#else
#error "dperm needs numbers of 113 bits: long double or __float128, of gcc or clang"
#endif

static inline DpermExtended
dperm_quad_of(double high, double low)
{
	return (DpermExtended) high + (DpermExtended) low;
}

/* As a pair, with a relative error of at most 2^-106. */
static inline void
dperm_quad_split(DpermExtended x, double *high, double *low)
{
	*high = (double) x;
	*low = (double) (x - (DpermExtended) *high);
}

/* Number i of a vector of dim pairs: all high parts, then all low parts. */
static inline DpermExtended
dperm_quad_get(const double *vector, int dim, int i)
{
	return dperm_quad_of(vector[i], vector[dim + i]);
}

static inline void
dperm_quad_put(double *vector, int dim, int i, DpermExtended x)
{
	dperm_quad_split(x, &vector[i], &vector[dim + i]);
}

/* Define the function that tells the words of an enum, as in JSON, by their numbers. */
#define DPERM_WORDS(function, ...) \
	const char * \
	function(int number) \
	{ \
		static const char *const words[] = {__VA_ARGS__}; \
\
		return words[number]; \
	} \
	extern const char *function(int number)

/* The number of a word, of so many that a function tells, or -1. */
static inline int
dperm_find_word(const char *(*word) (int number), int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(word(i), name) == 0)
			return i;
	return -1;
}

#endif							/* DPERM_CORE_H */
