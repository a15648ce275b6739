/*
 * noise.h: noise in the shape of the data (docs/guarantee.md, "Shapes" and "Groups").
 *
 * The shapes of an encoded row are divided into groups, and the epsilon of the noise among the groups. Within a group the
 * noise has a density that falls with the largest of its parts, each measured by its own shape. All of it is public.
 */
#ifndef DPERM_NOISE_H
#define DPERM_NOISE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/arena.h"
#include "core/encode/shape.h"
#include "core/privacy/entropy.h"

typedef struct DpermNoiseGroup
{
	int			first;			/* its shapes */
	int			count;
	int			dim;			/* their coordinates */
	double		share;			/* of the epsilon of the noise */
} DpermNoiseGroup;

/* Where functions take one, NULL stands for the ball: density proportional to exp(-|b|/scale). */
typedef struct DpermNoise
{
	int			shape_count;
	DpermShape *shapes;			/* those of a group one after another */
	int			group_count;
	DpermNoiseGroup *groups;
	double		spread;			/* the mean of |b|^2 at scale 1 */
} DpermNoise;

/* Bytes of arena that planning takes for so many shapes. */
extern size_t dperm_noise_room(int shapes);

/*
 * The groups and shares that make the noise least; shapes cover all coordinates. NULL when the ball is as good, in which case
 * nothing of the arena is in use.
 */
extern const DpermNoise *dperm_noise_plan(const DpermShape *shapes, int count, DpermArena *arena);

/* Fill in what follows from the shapes and shares: dimensions and spread. */
extern void dperm_noise_measure(DpermNoise *noise);

/* The mean of |b|^2 at scale 1. */
extern double dperm_noise_spread(const DpermNoise *noise, int dim);

/* What is wrong with noise of dim coordinates that somebody claims to have used, or NULL. */
extern const char *dperm_noise_fault(const DpermNoise *noise, int dim);

/* Draw dim coordinates. */
extern void dperm_noise_draw(DpermEntropy *e, const DpermNoise *noise, int dim, double scale, double *b);

/* |computed - exact| <= this times |exact|, coordinate by coordinate. */
extern double dperm_noise_rounding(int dim);

/* |b| is larger than this with probability below 2^-65. */
extern double dperm_noise_tail(const DpermNoise *noise, int dim, double scale);

#endif							/* DPERM_NOISE_H */
