/*
 * source_notes.h: what a caller should know about a source before its rows are
 * read and charged.
 */
#ifndef DPERM_SOURCE_NOTES_H
#define DPERM_SOURCE_NOTES_H

#include "query/source.h"

/*
 * Tell in notices which columns features => NULL leaves out, and that the label
 * is a number which may have more than two values. All of this is public. Called
 * once for each call: the sources of several candidates have the same columns.
 */
extern void dperm_source_notes_tell(const DpermSource *source);

/*
 * Tell that a model to be evaluated was trained on rows of the source: on the
 * source itself, on a relation that it reads, or on one that reads it.
 * trained_on is what the model says, which anybody can have written.
 */
extern void dperm_source_notes_training(const DpermSource *source, const DpermText *trained_on);

#endif							/* DPERM_SOURCE_NOTES_H */
