/*
 * encode.h: the public dimension of the vectors that an expression makes.
 */
#ifndef DPERM_ENCODE_H
#define DPERM_ENCODE_H

#include "nodes/params.h"
#include "nodes/primnodes.h"

#include "core/encode/encoder.h"

/*
 * The dimension that an expression declares whatever rows hold, 0 if it
 * declares none. params are those of the query, or NULL.
 */
extern int	dperm_encode_dimension(Node *node, ParamListInfo params);

/*
 * The encoder of an expression that is a call of dp_encode, whose values are
 * what it makes, as they are; false for any other. Blocks are made in the
 * current memory context.
 */
extern bool dperm_encode_encoder(Node *node, ParamListInfo params, DpermEncoder *encoder);

#endif							/* DPERM_ENCODE_H */
