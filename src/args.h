/*
 * args.h: SQL arguments of the learners, checked before any row is read.
 */
#ifndef DPERM_ARGS_H
#define DPERM_ARGS_H

#include "utils/jsonb.h"

#include "core/calibrate.h"
#include "core/encoder.h"

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
	bool		intercept;
	double		norm;
	int			dimension;		/* 0: not given */
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

/* Set options from a jsonb object whose keys are argument names. */
extern void dperm_options_set_jsonb(DpermOptions *options, Jsonb *json);

/* What only the options together can show to be wrong. */
extern void dperm_options_check(const DpermOptions *options);

/* The encoder and the setup once dimension and number of rows are known. */
extern DpermEncoder dperm_options_encoder(const DpermOptions *options, int dimension);
extern DpermSetup dperm_options_setup(const DpermOptions *options, int dim, int64 rows);

#endif							/* DPERM_ARGS_H */
