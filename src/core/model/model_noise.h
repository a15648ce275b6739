/*
 * model_noise.h: the shape of the noise in the forms of a model.
 */
#ifndef DPERM_MODEL_NOISE_H
#define DPERM_MODEL_NOISE_H

#include <stddef.h>

#include "core/base/arena.h"
#include "core/base/json.h"
#include "core/mechanism/noise.h"

/* Binary form; empty for the ball. */
extern size_t dperm_model_noise_size(const DpermNoise *noise);
extern unsigned char *dperm_model_noise_write(const DpermNoise *noise, unsigned char *out);

/*
 * Read exactly len bytes into the arena, for dim coordinates; NULL, else what
 * is wrong.
 */
extern const char *
dperm_model_noise_read(const unsigned char *in, size_t len, int dim, DpermNoiseLaw law,
					   DpermArena *arena, const DpermNoise **out);

/*
 * Read the groups from JSON; false, with *why or json->why, if they are not
 * valid. The caller has to call dperm_noise_measure().
 */
extern bool
dperm_model_noise_parse(DpermJson *json, DpermArena *arena, DpermNoise **out, const char **why);

#endif							/* DPERM_MODEL_NOISE_H */
