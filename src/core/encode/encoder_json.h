/*
 * encoder_json.h: the features and the kernel of a model out of its JSON text.
 */
#ifndef DPERM_ENCODER_JSON_H
#define DPERM_ENCODER_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/json.h"
#include "core/encode/encoder.h"
#include "core/encode/kernel.h"

/*
 * The array of features, into the arena, and the object of the kernel. False if
 * something is wrong: *why says what, unless the reader stopped and says so
 * itself. Whether the whole makes an encoder is for dperm_encoder_fault and
 * dperm_encoder_form_names_fault.
 */
extern bool dperm_encoder_json_features(DpermJson *json, DpermArena *arena, DpermEncoder *out,
										const char **why);
extern bool dperm_encoder_json_kernel(DpermJson *json, DpermKernel *out, const char **why);

/* How many elements the array has that was just entered; reads nothing. */
extern int64_t dperm_encoder_json_count(const DpermJson *json);

/*
 * A string of any length, into the arena; false, and *why if it is not the
 * reader's fault.
 */
extern bool
dperm_encoder_json_text(DpermJson *json, DpermArena *arena, DpermText *out, const char **why);

#endif							/* DPERM_ENCODER_JSON_H */
