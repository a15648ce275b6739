/*
 * encoder_json.h: read the features and the kernel of a model from its JSON
 * text.
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
 * something is wrong: *why says what, unless the JSON reader stopped, whose own
 * message applies then. dperm_encoder_fault and dperm_encoder_form_names_fault
 * check the result as a whole.
 */
extern bool dperm_encoder_json_features(DpermJson *json, DpermArena *arena, DpermEncoder *out,
										const char **why);
extern bool dperm_encoder_json_kernel(DpermJson *json, DpermKernel *out, const char **why);

/* How many elements the array that was just entered has; reads nothing. */
extern int64_t dperm_encoder_json_count(const DpermJson *json);

/*
 * A string of any length, into the arena. On failure false, and *why unless the
 * JSON reader stopped.
 */
extern bool
dperm_encoder_json_text(DpermJson *json, DpermArena *arena, DpermText *out, const char **why);

#endif							/* DPERM_ENCODER_JSON_H */
