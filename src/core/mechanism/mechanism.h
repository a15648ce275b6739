/*
 * mechanism.h: the table of mechanisms.
 *
 * A mechanism turns rows into weights that hide every row: it splits epsilon,
 * draws noise, minimises an objective, and returns what is to be released. A
 * new one is a file and an entry of the table in mechanism.c. Shared code is in
 * calibrate.h (constants), fit.h (order of events, release) and
 * core/solve/minimise.h (the solver).
 */
#ifndef DPERM_MECHANISM_H
#define DPERM_MECHANISM_H

#include <stdbool.h>

#include "core/mechanism/setup.h"
#include "core/privacy/entropy.h"

struct DpermFitting;

typedef struct DpermMechanism
{
	const char *name;			/* in SQL and in models */
	const char *description;	/* in the guarantee */

	/*
	 * what is wrong with a combination of arguments that are each in range, or
	 * NULL; must not depend on the number of rows
	 */
	const char *(*check) (const DpermSetup *s);

	/*
	 * a proxy for the excess risk at a lambda, from public quantities only;
	 * INFINITY if no epsilon is left
	 */
	double		(*risk) (const DpermSetup *s, double lambda);

	/* split the remaining epsilon: set effective lambda and shares */
	void		(*spend) (const DpermSetup *s, DpermCalibration *out);

	/* the resulting scale of the noise */
	double		(*scale) (const DpermSetup *s, const DpermCalibration *cal);

	/*
	 * the certificate and the residual (dperm_calibrate_solver() and more);
	 * returns the largest norm of what is released
	 */
	double		(*bound) (const DpermSetup *s, DpermCalibration *out);

	/*
	 * a bound on the root mean square norm of what the noise adds to the
	 * weights, and so on the mean of the norm
	 */
	double		(*effect) (const DpermSetup *s, const DpermCalibration *cal);

	/* is the noise in the objective, so that curvatures damp it as they damp weights? */
	bool		damped;

	/*
	 * the standard deviation that the noise gives to each weight, class by class
	 * (section "The noise of a weight"); true: exactly, false: a bound
	 */
	bool		(*deviations) (const DpermSetup *s, const DpermCalibration *cal, double *each);

	/* draw the noise: dim doubles, class by class */
	void (*draw)(DpermEntropy *e, const DpermSetup *s, const DpermCalibration *cal, double *noise);

	/*
	 * start to minimise once the noise is drawn; leave in weights what is to be
	 * released
	 */
	void		(*start) (struct DpermFitting *fitting);
	void		(*end) (struct DpermFitting *fitting);
} DpermMechanism;

/* The entry of a method; NULL if there is none. */
extern const DpermMechanism *dperm_mechanism_entry(int method);

extern const char *dperm_mechanism_name(int method);
extern const char *dperm_mechanism_description(DpermMethod method);

/* The entries. */
extern const DpermMechanism dperm_objective;
extern const DpermMechanism dperm_output;

#endif							/* DPERM_MECHANISM_H */
