/*
 * noise.h: noise in the shape of the data (docs/guarantee.md, "Shapes" and
 * "Groups").
 * Trusted.
 *
 * The shapes of an encoded row are divided into groups, and the epsilon of the
 * noise among the groups. Within a group the noise has a density that falls
 * with the largest of its parts, each measured by its own shape. All of this is
 * public. With several classes the noise of each is drawn by itself, in the
 * same shapes.
 */
#ifndef DPERM_NOISE_H
#define DPERM_NOISE_H

#include "core/encode/encoder.h"
#include "core/privacy/draw.h"

/* The law of the noise, whatever its shape. */
typedef enum DpermNoiseLaw
{
	DPERM_LAW_NORM = 0,			/* density proportional to exp(-N(b)/scale) */
	/* normal, of standard deviation scale times a factor for each shape */
	DPERM_LAW_GAUSSIAN = 1
} DpermNoiseLaw;

#define DPERM_LAW_COUNT 2

typedef struct DpermNoiseGroup
{
	int			first;			/* its shapes */
	int			count;
	int			dim;			/* their coordinates */
	/* of the noise's epsilon; Gaussian: of the squared norm of rows */
	double		share;
} DpermNoiseGroup;

/* As an argument, NULL stands for the ball: N is the Euclidean norm, all factors are 1. */
typedef struct DpermNoise
{
	int			shape_count;
	DpermShape *shapes;			/* those of a group are adjacent */
	int			group_count;
	DpermNoiseGroup *groups;
	double		spread;			/* the mean of |b|^2 at scale 1 */
} DpermNoise;

/*
 * The groups and shares that minimise the noise; shapes cover all coordinates.
 * NULL if the ball is as good.
 */
extern const DpermNoise *
dperm_noise_plan(DpermNoiseLaw law, const DpermShape *shapes, int count);

/* Fill in what follows from the shapes and shares: dimensions and spread. */
extern void dperm_noise_measure(DpermNoiseLaw law, DpermNoise *noise);

/* The mean of |b|^2 at scale 1. */
extern double dperm_noise_spread(DpermNoiseLaw law, const DpermNoise *noise, int dim);

/*
 * The standard deviation of each of dim coordinates at scale 1; no two of them
 * are correlated.
 */
extern void
dperm_noise_deviations(DpermNoiseLaw law, const DpermNoise *noise, int dim, double *out);

/* What is wrong with the claimed noise of dim coordinates, or NULL. */
extern const char *dperm_noise_fault(const DpermNoise *noise, int dim);

/* Draw dim coordinates. */
extern void dperm_noise_draw(DpermEntropy *e, DpermNoiseLaw law, const DpermNoise *noise, int dim,
							 double scale, double *b);

/* |computed - exact| <= this times |exact|, coordinate by coordinate. */
extern double dperm_noise_rounding(int dim);

/*
 * The norm of the noise of all classes, of dim coordinates each, or of one
 * block, is larger than this with probability below 2^-65.
 */
extern double dperm_noise_tail(DpermNoiseLaw law, const DpermNoise *noise, int dim, int blocks,
							   double scale);

#endif							/* DPERM_NOISE_H */
