/*
 * args.h: SQL arguments of the learners, checked before any row is read.
 */
#ifndef DPERM_ARGS_H
#define DPERM_ARGS_H

#include "utils/jsonb.h"

#include "core/mechanism/calibrate.h"
#include "core/encode/encoder.h"

/* Everything a learner is told, apart from where its rows are. */
typedef struct DpermOptions
{
	bool		svm;
	DpermLoss	loss;
	DpermMethod method;
	DpermAnalysis analysis;
	double		epsilon;
	double		lambda;			/* < 0: by the default rule */
	char	   *positive;		/* NULL: not given */
	int			intercept;		/* 0, 1; < 0: not given */
	double		norm;			/* 0: not given */
	int			dimension;		/* 0: not given */
	DpermKernel kernel;			/* features, gamma: 0 if not given */
	bool		has_seed;
	bool		lambda_as_key;	/* may lambda be a key of a jsonb object? */
} DpermOptions;

extern void dperm_options_init(DpermOptions *options, bool svm, double epsilon);

/* Set one option from its SQL form; each raises for a value out of range. */
extern void dperm_options_set_lambda(DpermOptions *options, double lambda);
extern void dperm_options_set_method(DpermOptions *options, const char *name);
extern void dperm_options_set_analysis(DpermOptions *options, const char *name);
extern void dperm_options_set_loss(DpermOptions *options, const char *name);
extern void dperm_options_set_h(DpermOptions *options, double h);
extern void dperm_options_set_norm(DpermOptions *options, double norm);
extern void dperm_options_set_dimension(DpermOptions *options, double dimension);
extern void dperm_options_set_kernel(DpermOptions *options, const char *name);
extern void dperm_options_set_gamma(DpermOptions *options, double gamma);
extern void dperm_options_set_kernel_features(DpermOptions *options, double features);
extern void dperm_options_set_kernel_seed(DpermOptions *options, int64 seed);

/* Set options from a jsonb object whose keys are argument names. */
extern void dperm_options_set_jsonb(DpermOptions *options, Jsonb *json);

/* Fill in the defaults that depend on other options, and refuse what does not go together. */
extern void dperm_options_settle(DpermOptions *options);

/* The encoder of some blocks; raises if there are too many coordinates. */
extern DpermEncoder dperm_options_encoder(const DpermOptions *options,
										  const DpermBlock *blocks, int count);

/* The block of a vector that is no column, or has no domain. Its count may be set later. */
extern DpermBlock dperm_options_vector_block(const DpermOptions *options);

/* Refuse options of which no number of rows makes sense. */
extern void dperm_options_check(const DpermOptions *options, int dim);

/* The setup of the mechanism once the number of rows is known. */
extern DpermSetup dperm_options_setup(const DpermOptions *options, int dim, int64 rows);

#endif							/* DPERM_ARGS_H */
