/*
 * call_charge.c: what a call over a protected relation is charged, before it
 * reads its first row.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "base/message.h"
#include "core/base/blas.h"
#include "protect/protection.h"
#include "protect/worker.h"
#include "query/source_notes.h"
#include "relation/relation.h"
#include "train/call_charge.h"

/* May a training with a delta be objective perturbation? */
static bool
may_be_objective(const DpermOptions *options)
{
	return options->automatic || options->method == DPERM_METHOD_OBJECTIVE;
}

/*
 * The charge must not depend on the number of rows, which is not known yet: so
 * the slack is a fixed share of epsilon.
 */
void
dperm_call_charge_settle(DpermOptions *options, const DpermSource *source)
{
	if (source->registration && options->delta > 0 && options->slack == 0 &&
		may_be_objective(options))
		options->slack = DPERM_CHARGE_SLACK;
}

/* What a call may release, as far as known before it reads rows. */
static DpermSpend
spend_of(const DpermSource *source, const DpermOptions *options, DpermCallKind kind)
{
	DpermSpend	spend = {
		.neighbours = options->neighbours,
		.unit = source->registration->persons ? DPERM_UNIT_PERSON : DPERM_UNIT_ROW,
		.epsilon = options->epsilon,
		.delta = kind == DPERM_CALL_EVALUATION ? 0 : options->delta
	};

	if (spend.delta == 0)
		return spend;

	/*
	 * separate portions, and a choice: each row is in one portion, but the laws
	 * of the models differ
	 */
	spend.bound = kind == DPERM_CALL_TUNING;
	spend.pure = options->automatic && !options->gaussian_only;
	spend.output =
		options->automatic ? !options->objective_only : options->method == DPERM_METHOD_OUTPUT;
	spend.objective = may_be_objective(options);
	spend.slack = options->slack;
	return spend;
}

/* The charge of a call. */
DpermCharge
dperm_call_charge_charge(const DpermSource *source, const DpermOptions *options, DpermCallKind kind,
						 Oid function)
{
	const DpermRegistration *registration = source->registration;
	DpermCharge charge = {
		.budget = registration->budget,
		.relation = source->relation,
		.version = registration->version,
		.role = GetUserId(),
		.function = get_func_name(function),
		.spend = spend_of(source, options, kind)
	};

	return charge;
}

/*
 * Raise an error if what was checked before the charge has changed: a debit may
 * have to wait. None of this depends on rows.
 */
static void
check_again(const DpermSource *source)
{
	const DpermRegistration *registration = source->registration;
	const DpermRegistration *now = dperm_protection_find(source->relation);

	if (now == NULL || now->version != registration->version ||
		dperm_relation_owner(source->relation) != source->run_as)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the registration of protected relation \"%s\" changed after the call was "
						"charged", get_rel_name(source->relation))));
	dperm_protection_check_shared(registration);
	dperm_protection_check_units(registration);
}

/* Charge a call. */
void
dperm_call_charge(const DpermSource *source, const DpermOptions *options, DpermCallKind kind,
				  Oid function)
{
	DpermCharge charge;

	dperm_source_notes_tell(source, options);
	if (source->registration == NULL)
		return;

	/* load the library first: nothing is charged if that fails */
	if (dperm_encoder_dim(&source->spec.encoder) >= DPERM_BLAS_SMALL)
		(void) dperm_blas();
	charge = dperm_call_charge_charge(source, options, kind, function);
	dperm_worker_charged(dperm_debit(&charge), source->run_as);
	dperm_message_public();
	check_again(source);
	dperm_message_private();
	dperm_worker_reads();
}
