/*
 * encode.h: the public dimension of the vectors that an expression makes.
 */
#ifndef DPERM_ENCODE_H
#define DPERM_ENCODE_H

#include "nodes/params.h"
#include "nodes/primnodes.h"

/*
 * The dimension that an expression declares whatever rows hold, 0 if it declares none. params are those
 * of the query, or NULL.
 */
extern int	dperm_encode_dimension(Node *node, ParamListInfo params);

#endif							/* DPERM_ENCODE_H */
