/*
 * known_tree.h: does a query consist of what this version of dperm knows?
 */
#ifndef DPERM_KNOWN_TREE_H
#define DPERM_KNOWN_TREE_H

#include "nodes/nodes.h"

/*
 * Raise an error for a query or an expression of an object that contains
 * anything else.
 */
extern void dperm_known_tree_check(Node *tree, Oid class, Oid object);

/* Read one that the catalog stores as text, and check it. */
extern Node *dperm_known_tree_read(const char *text, Oid class, Oid object);

/* Is a relation of a kind that is known? */
extern bool dperm_known_tree_relation(char relkind);

#endif							/* DPERM_KNOWN_TREE_H */
