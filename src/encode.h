/*
 * encode.h: dp_encode, a row as the vector that a learner sees.
 */
#ifndef DPERM_ENCODE_H
#define DPERM_ENCODE_H

/*
 * The length of the vectors that a call of dp_encode makes, from its first argument and the type of its second one; 0 if
 * the function is another.
 */
extern int	dperm_encode_length(Oid function, Datum value, Oid features_type);

#endif							/* DPERM_ENCODE_H */
