/*
 * encode.h: the public dimension of the vectors that an expression produces.
 */
#ifndef DPERM_ENCODE_H
#define DPERM_ENCODE_H

#include "nodes/params.h"
#include "nodes/primnodes.h"

#include "core/encode/encoder.h"

/*
 * The dimension that an expression has for any row, 0 if that is not known.
 * params are those of the query, or NULL.
 */
extern int	dperm_encode_dimension(Node *node, ParamListInfo params);

/*
 * The encoder of an expression whose value is that of a call of dp_encode,
 * unchanged; false for any other expression. Blocks are allocated in the
 * current memory context.
 */
extern bool dperm_encode_encoder(Node *node, ParamListInfo params, DpermEncoder *encoder);

#endif							/* DPERM_ENCODE_H */
