/*
 * mechanism.h: the table of mechanisms.
 *
 * A mechanism turns rows into weights that hide every row: it splits epsilon,
 * draws noise, has an objective minimised, and hands over what is to be
 * released. A new one is a file and an entry of the table in mechanism.c. What
 * all share is in calibrate.h (constants), fit.h (order of events, release) and
 * core/solve/minimise.h (the tool that solves).
 */
#ifndef DPERM_MECHANISM_H
#define DPERM_MECHANISM_H

#include <stdbool.h>

#include "core/mechanism/setup.h"
#include "core/privacy/entropy.h"
#include "core/solve/solver.h"

struct DpermFitting;

typedef struct DpermMechanism
{
	const char *name;			/* in SQL and in models */
	const char *description;	/* in the guarantee */

	/*
	 * what is wrong with arguments that are in range by themselves, or NULL;
	 * does not look at the number of rows
	 */
	const char *(*check) (const DpermSetup *s);

	/*
	 * a proxy of the excess risk at a lambda, of public quantities alone;
	 * INFINITY where there is no epsilon left
	 */
	double		(*risk) (const DpermSetup *s, double c, double lambda);

	/*
	 * split what is left of epsilon: effective lambda and shares; c is the
	 * curvature of the loss
	 */
	void		(*spend) (const DpermSetup *s, double c, DpermCalibration *out);

	/* the scale of the noise that follows */
	double		(*scale) (const DpermSetup *s, const DpermCalibration *cal);

	/*
	 * the certificate and the residual (dperm_calibrate_solver() and more);
	 * returns the largest norm of what is released
	 */
	double		(*bound) (const DpermSetup *s, double c, DpermCalibration *out);

	/*
	 * a bound on the root mean square norm of what the noise adds to the
	 * weights, and so on the mean of the norm
	 */
	double		(*effect) (const DpermSetup *s, const DpermCalibration *cal);

	/* draw the noise: dim doubles */
	void (*draw)(DpermEntropy *e, const DpermSetup *s, const DpermCalibration *cal, double *noise);

	/*
	 * over the questions and answers of core/solve/solver.h: begin with the
	 * noise drawn; ask; leave weights to be released
	 */
	void		(*start) (struct DpermFitting *fitting);
	bool		(*next) (struct DpermFitting *fitting, DpermAsk *ask);
	void		(*end) (struct DpermFitting *fitting);
} DpermMechanism;

/* The entry of a method; NULL for a number that is none. */
extern const DpermMechanism *dperm_mechanism_entry(int method);

extern const char *dperm_mechanism_name(DpermMethod method);
extern const char *dperm_mechanism_description(DpermMethod method);
extern bool dperm_mechanism_parse(const char *name, DpermMethod *method);

/* The entries. */
extern const DpermMechanism dperm_objective;
extern const DpermMechanism dperm_output;

#endif							/* DPERM_MECHANISM_H */
