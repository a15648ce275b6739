/*
 * manage_budgets.c: functions for the owners of budgets: dp_budget_create,
 * dp_budget_alter, dp_budget_drop, dp_grant, dp_revoke.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/snapmgr.h"

#include "base/arguments.h"
#include "budget/budget.h"
#include "budget/object_name.h"
#include "core/base/limits.h"
#include "protect/owner_notes.h"
#include "protect/registry.h"
#include "relation/location.h"

PG_FUNCTION_INFO_V1(dp_budget_create);
PG_FUNCTION_INFO_V1(dp_budget_alter);
PG_FUNCTION_INFO_V1(dp_budget_drop);
PG_FUNCTION_INFO_V1(dp_grant);
PG_FUNCTION_INFO_V1(dp_revoke);
PG_FUNCTION_INFO_V1(dperm_budget_left);

/* Check the epsilon of a limit. */
static double
limit_epsilon(double epsilon)
{
	if (!(epsilon >= DPERM_EPSILON_MIN && epsilon <= DPERM_EPSILON_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon of a budget must be between %g "
						"and %d", DPERM_EPSILON_MIN, DPERM_EPSILON_MAX),
				 errhint("epsilon is what all releases may cost together; values up to about 10 "
						 "give some protection.")));
	return epsilon;
}

/* Check the delta of a limit. */
static double
limit_delta(double delta)
{
	if (!(delta == 0 || (delta >= DPERM_DELTA_MIN && delta < 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta of a budget must be 0, or at least %g and less "
						"than 1", DPERM_DELTA_MIN),
				 errhint("delta should be much smaller than 1 divided by the number of rows or "
						 "persons.")));
	return delta;
}

/* The neighbours of all calls that charge a budget. */
static DpermNeighbours
parse_neighbours(const char *name)
{
	int			neighbours = dperm_claim_neighbours_parse(name);

	if (neighbours < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown neighbours \"%s\"", name),
				 errhint("Use 'replace' or 'remove', and the same in all calls that charge the "
						 "budget.")));
	return (DpermNeighbours) neighbours;
}

/* A number argument; false if it is NULL. */
static bool
number_argument(FunctionCallInfo fcinfo, const char *name, double *number)
{
	Datum		value;

	if (!dperm_arguments_get(fcinfo, name, FLOAT8OID, &value))
		return false;
	*number = DatumGetFloat8(value);
	return true;
}

/* A role argument; false if it is NULL. */
static bool
role_argument(FunctionCallInfo fcinfo, const char *name, Oid *role)
{
	Datum		value;

	if (!dperm_arguments_get(fcinfo, name, NAMEOID, &value))
		return false;
	*role = get_role_oid(NameStr(*DatumGetName(value)), false);
	return true;
}

/* The name of a new budget. */
static char *
new_name(FunctionCallInfo fcinfo)
{
	char	   *name = dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED);

	if (name[0] == '\0' || strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("the name of a budget must have between 1 and %d bytes", NAMEDATALEN - 1)));
	return name;
}

/*
 * Raise an error if a budget with this name exists in the newest state, and
 * keep others from creating one until the end of the transaction. There is no
 * unique index on names: a row inserted by somebody during a restore would make
 * it fail.
 */
static void
lock_name(const char *name)
{
	LockDatabaseObject(dperm_own_tables_find("dp_budget_accounts"),
					   DatumGetUInt32(hash_any((const unsigned char *) name, strlen(name))), 0,
					   ExclusiveLock);
	if (dperm_budget_find(name, false))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("budget \"%s\" already exists", name),
				 errhint("Use dp_budget_alter to raise or lower it.")));
}

/* Write a new budget with the values of its line in the ledger. */
static void
write_new_budget(DpermTablesScope *scope, const DpermBudgetLine *line, double order)
{
	Oid			types[] = {TEXTOID, InvalidOid, NUMERICOID, NUMERICOID, FLOAT8OID, TEXTOID,
	INT8OID};
	Datum		values[] = {CStringGetTextDatum(line->budget),
					  dperm_object_name_make(line->role),
					  dperm_own_tables_numeric(*line->epsilon),
					  dperm_own_tables_numeric(*line->delta),
					  Float8GetDatum(order),
					  CStringGetTextDatum(line->neighbours),
					  (Datum) 0};

	types[1] = dperm_object_name_type("dp_budget_accounts", "owner_name");
	lock_name(line->budget);

	/* the next entry is known only once nobody else can create this budget */
	values[6] = Int64GetDatum(dperm_budget_next_entry(line->budget));
	if (dperm_own_tables_query(scope,
							   "INSERT INTO dperm.dp_budget_accounts (budget, owner_name, epsilon, "
							   "delta, renyi_order, neighbours, since)"
							   " VALUES ($1, $2, $3, $4, $5, $6, $7)",
							   lengthof(types), types, values, NULL) != 1)
		elog(ERROR, "could not write budget \"%s\"", line->budget);
}

/* dp_budget_create(budget, epsilon, delta, neighbours) */
Datum
dp_budget_create(PG_FUNCTION_ARGS)
{
	char	   *name = new_name(fcinfo);
	char	   *neighbours = dperm_arguments_required_text(fcinfo, "neighbours", "Use 'replace' or "
		"'remove'.");
	double		epsilon;
	double		delta = 0;
	DpermAmount amounts[2];
	DpermTablesScope scope;
	DpermBudgetLine line = {.budget = name,
							.act = "create",
							.role = GetUserId(),
							.neighbours = neighbours,
							.epsilon = &amounts[0],
							.delta = &amounts[1]};

	if (!number_argument(fcinfo, "epsilon", &epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon must not be null"),
				 errhint("Call dp_budget_create('patients', epsilon => 3).")));
	(void) number_argument(fcinfo, "delta", &delta);
	amounts[0] = dperm_amount_down(limit_epsilon(epsilon), DPERM_EPSILON_DIGITS);
	amounts[1] = dperm_amount_down(limit_delta(delta), DPERM_DELTA_DIGITS);
	(void) parse_neighbours(neighbours);

	dperm_location_check_coordinator();
	dperm_own_tables_enter(&scope);
	write_new_budget(&scope, &line, dperm_filter_order(epsilon, delta));
	dperm_budget_append(&line);
	dperm_own_tables_leave(&scope);
	PG_RETURN_VOID();
}

/*
 * Changing between a budget with a delta and one without: what was spent has
 * been counted in one way or the other.
 */
static void
check_delta_change(const DpermBudget *budget, double delta)
{
	if (dperm_budget_is_charged(budget) && (delta > 0) != (budget->filter.order > 0))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("budget \"%s\" has been charged %s a "
						"delta", budget->name, budget->filter.order > 0 ? "with" : "without"),
				 errhint("Create another budget.")));
}

/* Changing neighbours: what was spent is a promise about the former ones. */
static void
check_neighbours_change(const DpermBudget *budget, DpermNeighbours neighbours)
{
	if (dperm_budget_is_charged(budget) && neighbours != budget->neighbours)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("budget \"%s\" has been charged for neighbours '%s'", budget->name,
						dperm_claim_neighbours_name(budget->neighbours)),
				 errhint("Create another budget.")));
}

/*
 * Write the limits of a budget, its neighbours, and its owner if that changes.
 */
static void
write_budget(DpermTablesScope *scope, const DpermBudget *budget, Oid owner)
{
	Oid			types[] = {TEXTOID, InvalidOid, NUMERICOID, NUMERICOID, FLOAT8OID, TEXTOID};
	Datum		values[] = {CStringGetTextDatum(budget->id),
					  dperm_object_name_make(owner),
					  dperm_own_tables_numeric(budget->filter.epsilon),
					  dperm_own_tables_numeric(budget->filter.delta),
					  Float8GetDatum(budget->filter.order),
					  CStringGetTextDatum(dperm_claim_neighbours_name(budget->neighbours))};

	types[1] = dperm_object_name_type("dp_budget_accounts", "owner_name");
	if (dperm_own_tables_query(scope,
							   "UPDATE dperm.dp_budget_accounts SET owner_name = coalesce($2, "
							   "owner_name), epsilon = $3, delta = $4, renyi_order = $5, "
							   "neighbours = $6 WHERE id = $1::uuid",
							   lengthof(types), types, values,
							   OidIsValid(owner) ? NULL : " n    ") != 1)
		elog(ERROR, "could not write to budget \"%s\"", budget->name);
}

/* A change of a budget. */
typedef struct Change
{
	bool		has_epsilon;
	double		epsilon;
	bool		has_delta;
	double		delta;
	Oid			owner;			/* InvalidOid: unchanged */
	char	   *neighbours;		/* NULL: unchanged */
} Change;

/* The arguments of dp_budget_alter. */
static Change
read_change(FunctionCallInfo fcinfo)
{
	Change		change = {.owner = InvalidOid};

	change.has_epsilon = number_argument(fcinfo, "epsilon", &change.epsilon);
	change.has_delta = number_argument(fcinfo, "delta", &change.delta);
	change.neighbours = dperm_arguments_text(fcinfo, "neighbours");
	if (!role_argument(fcinfo, "owner", &change.owner) && !change.has_epsilon &&
		!change.has_delta && !change.neighbours)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is nothing to alter"),
				 errhint("Specify epsilon, delta, neighbours or owner.")));
	if (change.has_epsilon)
		(void) limit_epsilon(change.epsilon);
	if (change.has_delta)
		(void) limit_delta(change.delta);
	if (change.neighbours)
		(void) parse_neighbours(change.neighbours);
	return change;
}

/* dp_budget_alter(budget, epsilon, delta, owner, neighbours) */
Datum
dp_budget_alter(PG_FUNCTION_ARGS)
{
	char	   *name = dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED);
	Change		change = read_change(fcinfo);
	DpermBudgetLine line = {.budget = name,
							.act = "alter",
							.role = GetUserId(),
							.neighbours = change.neighbours};
	DpermTablesScope scope;
	DpermBudget *budget;

	dperm_own_tables_enter(&scope);
	budget = dperm_budget_get_own(name, line.role);
	if (OidIsValid(change.owner) && !has_privs_of_role(line.role, change.owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be member of role \"%s\"", GetUserNameFromId(change.owner, false))));
	if (change.has_epsilon)
		budget->filter.epsilon = dperm_amount_down(change.epsilon, DPERM_EPSILON_DIGITS);
	if (change.has_delta)
	{
		check_delta_change(budget, change.delta);
		budget->filter.delta = dperm_amount_down(change.delta, DPERM_DELTA_DIGITS);
	}
	if (change.neighbours)
	{
		check_neighbours_change(budget, parse_neighbours(change.neighbours));
		budget->neighbours = parse_neighbours(change.neighbours);
	}

	/* the order is fixed once something has been spent */
	if (!dperm_budget_is_charged(budget))
		budget->filter.order = dperm_filter_order(dperm_amount_double(budget->filter.epsilon),
												  dperm_amount_double(budget->filter.delta));
	write_budget(&scope, budget, change.owner);
	line.epsilon = &budget->filter.epsilon;
	line.delta = &budget->filter.delta;
	if (OidIsValid(change.owner))
		line.details =
			psprintf("owner %s", quote_identifier(GetUserNameFromId(change.owner, false)));
	dperm_budget_append(&line);
	dperm_own_tables_leave(&scope);
	PG_RETURN_VOID();
}

/* dp_budget_drop(budget) */
Datum
dp_budget_drop(PG_FUNCTION_ARGS)
{
	char	   *name = dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED);
	Oid			types[] = {TEXTOID};
	Datum		values[1];
	Oid			role = GetUserId();
	DpermTablesScope scope;
	DpermBudget *budget;
	char	   *charging;

	dperm_own_tables_enter(&scope);
	budget = dperm_budget_get_own(name, role);
	values[0] = CStringGetTextDatum(budget->id);
	charging = dperm_registry_charging(budget);
	if (charging)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot drop budget \"%s\" because protected relations charge it", name),
				 errdetail("One of them is %s.", charging),
				 errhint("Protect them with another budget, or call dp_unprotect.")));
	dperm_budget_note(name, "drop", role, NULL, NULL);
	(void) dperm_own_tables_query(&scope, "DELETE FROM dperm.dp_budget_grants WHERE budget_id = "
										  "$1::uuid", 1, types, values, NULL);
	dperm_registry_forget(&scope, budget);
	if (dperm_own_tables_query(&scope, "DELETE FROM dperm.dp_budget_accounts WHERE id = "
									   "$1::uuid", 1, types, values, NULL) != 1)
		elog(ERROR, "could not drop budget \"%s\"", name);
	dperm_own_tables_leave(&scope);
	PG_RETURN_VOID();
}

/* The role that something is granted to or revoked from. */
static Oid
required_role(FunctionCallInfo fcinfo)
{
	Oid			role;

	if (!role_argument(fcinfo, "role", &role))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("role must not be null")));
	return role;
}

/* The budget of a grant, locked, which must have a delta if the grant has one. */
static const DpermBudget *
granted_budget(const DpermBudgetLine *line)
{
	const DpermBudget *budget = dperm_budget_get_own(line->budget, line->role);

	if (line->delta && dperm_amount_double(*line->delta) > 0 && !(budget->filter.order > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("budget \"%s\" has no delta", budget->name),
				 dperm_budget_is_charged(budget) ?
				 errhint("Omit delta.") :
				 errhint("Omit delta, or give the budget one first, with dp_budget_alter.")));
	return budget;
}

/* An amount in the row that a statement has returned; NULL for NULL. */
static const DpermAmount *
returned_amount(int column)
{
	const char *text = dperm_own_tables_value(0, column);
	DpermAmount *amount = palloc(sizeof(*amount));

	if (text && !dperm_amount_read(text, amount))
		elog(ERROR, "amount \"%s\" cannot be read", text);
	return text ? amount : NULL;
}

/*
 * Write a grant with the limits of its line in the ledger, replacing a former
 * one. Limits that the line does not have are kept, and set there.
 */
static void
write_grant(DpermTablesScope *scope, DpermBudgetLine *line, Oid grantee)
{
	Oid			types[] = {TEXTOID, OIDOID, NUMERICOID, NUMERICOID, TEXTOID,
		dperm_object_name_type("dp_budget_grants", "grantee_name")};
	Datum		values[] = {
		CStringGetTextDatum(line->budget), ObjectIdGetDatum(grantee),
		line->epsilon ? dperm_own_tables_numeric(*line->epsilon) : (Datum) 0,
		line->delta ? dperm_own_tables_numeric(*line->delta) : (Datum) 0,
		CStringGetTextDatum(granted_budget(line)->id),
		dperm_object_name_make(grantee)};
	char		nulls[] = {' ', ' ', line->epsilon ? ' ' : 'n', line->delta ? ' ' : 'n', ' ', ' '};

	/* the budget is locked; a restore may have added a second grant */
	if (dperm_own_tables_query(scope,
							   "WITH former AS (DELETE FROM dperm.dp_budget_grants WHERE "
							   "budget_id = $5::uuid AND grantee = $2 RETURNING epsilon, delta, "
							   "spent_epsilon, spent_delta)"
							   " INSERT INTO dperm.dp_budget_grants (budget_id, budget, "
							   "grantee_name, epsilon, delta, spent_epsilon, spent_delta)"
							   " SELECT $5::uuid, $1, $6, coalesce($3, min(epsilon)), "
							   "coalesce($4, min(delta)), coalesce(sum(spent_epsilon), 0), "
							   "coalesce(sum(spent_delta), 0) FROM former "
							   "RETURNING epsilon, delta",
							   lengthof(types), types, values, nulls) != 1)
		elog(ERROR, "could not write a grant of budget \"%s\"", line->budget);
	line->epsilon = returned_amount(1);
	line->delta = returned_amount(2);
}

/* dp_grant(budget, role, epsilon, delta) */
Datum
dp_grant(PG_FUNCTION_ARGS)
{
	char	   *name = dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED);
	Oid			grantee = required_role(fcinfo);
	DpermBudgetLine line = {.budget = name, .act = "grant", .role = GetUserId()};
	DpermAmount amounts[2];
	double		number;
	DpermTablesScope scope;

	if (number_argument(fcinfo, "epsilon", &number))
	{
		amounts[0] = dperm_amount_down(limit_epsilon(number), DPERM_EPSILON_DIGITS);
		line.epsilon = &amounts[0];
	}
	if (number_argument(fcinfo, "delta", &number))
	{
		amounts[1] = dperm_amount_down(limit_delta(number), DPERM_DELTA_DIGITS);
		line.delta = &amounts[1];
	}
	line.details = psprintf("to %s", quote_identifier(GetUserNameFromId(grantee, false)));

	dperm_own_tables_enter(&scope);
	write_grant(&scope, &line, grantee);
	dperm_budget_append(&line);
	dperm_own_tables_leave(&scope);
	dperm_owner_notes_grantee(grantee, name);
	PG_RETURN_VOID();
}

/* dp_revoke(budget, role) */
Datum
dp_revoke(PG_FUNCTION_ARGS)
{
	Oid			types[] = {TEXTOID, OIDOID};
	char	   *name = dperm_arguments_required_text(fcinfo, "budget", DPERM_BUDGET_REQUIRED);
	Oid			grantee = required_role(fcinfo);
	char	   *grantee_name = GetUserNameFromId(grantee, false);
	Datum		values[] = {(Datum) 0, ObjectIdGetDatum(grantee)};
	Oid			role = GetUserId();
	DpermTablesScope scope;

	dperm_own_tables_enter(&scope);
	values[0] = CStringGetTextDatum(dperm_budget_get_own(name, role)->id);
	if (dperm_own_tables_query(&scope,
							   "DELETE FROM dperm.dp_budget_grants WHERE budget_id = $1::uuid "
							   "AND grantee = $2",
							   lengthof(types), types, values, NULL) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role \"%s\" has no grant of budget \"%s\"", grantee_name, name),
				 errhint("A role that this one is a member of may have one; the owners of the "
						 "budget and of its relations need none.")));
	dperm_budget_note(name, "revoke", role, NULL,
					  psprintf("from %s", quote_identifier(grantee_name)));
	dperm_own_tables_leave(&scope);
	PG_RETURN_VOID();
}

/* A numeric argument as an amount; false if it is not one. */
static bool
amount_argument(FunctionCallInfo fcinfo, int i, DpermAmount *amount)
{
	return dperm_amount_read(DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(i))),
							 amount);
}

/*
 * dperm_budget_left(epsilon, delta, renyi_order, spent_epsilon, spent_delta,
 * spent_divergence, spent_direct, spent_tail)
 */
Datum
dperm_budget_left(PG_FUNCTION_ARGS)
{
	DpermFilter filter = {.order = PG_GETARG_FLOAT8(2)};
	DpermFilterSums spent;

	if (!amount_argument(fcinfo, 0, &filter.epsilon) ||
		!amount_argument(fcinfo, 1, &filter.delta) || !amount_argument(fcinfo, 3, &spent.epsilon) ||
		!amount_argument(fcinfo, 4, &spent.delta) ||
		!amount_argument(fcinfo, 5, &spent.divergence) ||
		!amount_argument(fcinfo, 6, &spent.direct) || !amount_argument(fcinfo, 7, &spent.tail) ||
		!isfinite(filter.order))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(dperm_own_tables_numeric(dperm_filter_left(&filter, &spent)));
}
