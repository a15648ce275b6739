/*
 * known_tree.h: does a query consist of what this version of dperm knows?
 */
#ifndef DPERM_KNOWN_TREE_H
#define DPERM_KNOWN_TREE_H

#include "nodes/nodes.h"

extern void dperm_known_tree_check(Node *tree, Oid class, Oid object);
extern Node *dperm_known_tree_read(const char *text, Oid class, Oid object);
extern bool dperm_known_tree_relation(char relkind);

#endif							/* DPERM_KNOWN_TREE_H */
