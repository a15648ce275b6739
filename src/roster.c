/*
 * roster.c: the persons of a relation, by the values of the column that tells them apart.
 *
 * A hash table with chains: values that collide, by chance or by design, cost time and never an error. The hash has a random
 * seed.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "core/privacy/draw.h"
#include "core/privacy/person.h"
#include "roster.h"
#include "rows.h"

/* Persons that there is room for in the beginning. */
#define FIRST_PERSONS 256

struct DpermRoster
{
	MemoryContext context;
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	FmgrInfo	hash;			/* with a seed */
	FmgrInfo	equal;
	uint64		seed;
	int			portions;
	DpermEntropy *entropy;
	int64		count;
	int64		room;			/* a power of two: of persons, and slots of the table */
	DpermPerson *persons;
	int64	   *slots;			/* the first person of each, or -1 */
};

/* Are values that differ different as text, whatever the settings of the session? */
bool
dperm_roster_told_by_text(Oid base)
{
	switch (base)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case NUMERICOID:
		case UUIDOID:
		case NAMEOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BYTEAOID:
		case DATEOID:
		case TIMESTAMPOID:
			return true;
		default:
			return get_typtype(base) == TYPTYPE_ENUM;
	}
}

/* Is a type one whose values can tell persons apart? */
bool
dperm_roster_takes(Oid type)
{
	TypeCacheEntry *entry;

	if (!dperm_roster_told_by_text(getBaseType(type)))
		return false;
	entry = lookup_type_cache(getBaseType(type), TYPECACHE_HASH_EXTENDED_PROC | TYPECACHE_EQ_OPR);

	/* PostgreSQL's own functions, which raise for no value */
	return OidIsValid(entry->hash_extended_proc) && entry->hash_extended_proc < FirstNormalObjectId &&
		OidIsValid(entry->eq_opr) && get_opcode(entry->eq_opr) < FirstNormalObjectId;
}

/* Make the slots anew, for as many as there is room for. */
static void
make_slots(DpermRoster *roster)
{
	if (roster->slots)
		pfree(roster->slots);
	roster->slots = MemoryContextAllocHuge(roster->context, sizeof(int64) * roster->room);
	memset(roster->slots, -1, sizeof(int64) * roster->room);
	for (int64 i = 0; i < roster->count; i++)
	{
		int64	   *slot = &roster->slots[roster->persons[i].hash & (roster->room - 1)];

		roster->persons[i].next = *slot;
		*slot = i;
	}
}

/* Begin a roster. */
DpermRoster *
dperm_roster_make(Oid type, Oid collation, int portions, DpermEntropy *entropy)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dperm roster", ALLOCSET_DEFAULT_SIZES);
	TypeCacheEntry *entry = lookup_type_cache(getBaseType(type), TYPECACHE_HASH_EXTENDED_PROC | TYPECACHE_EQ_OPR);
	DpermRoster *roster = MemoryContextAllocZero(context, sizeof(*roster));

	roster->context = context;
	roster->collation = collation;
	get_typlenbyval(getBaseType(type), &roster->typlen, &roster->typbyval);
	fmgr_info_cxt(entry->hash_extended_proc, &roster->hash, context);
	fmgr_info_cxt(get_opcode(entry->eq_opr), &roster->equal, context);
	roster->portions = portions;
	roster->entropy = entropy;
	roster->seed = dperm_draw_word(entropy);
	roster->room = FIRST_PERSONS;
	roster->persons = MemoryContextAlloc(context, sizeof(DpermPerson) * roster->room);
	make_slots(roster);
	return roster;
}

/* Twice the room. */
static void
grow_roster(DpermRoster *roster)
{
	CHECK_FOR_INTERRUPTS();
	roster->room *= 2;
	roster->persons = repalloc_huge(roster->persons, sizeof(DpermPerson) * roster->room);
	make_slots(roster);
}

/* A hash with a seed. Values that are in the datum itself are equal if their bits are, in all types that there are. */
static uint64
hash_of(DpermRoster *roster, Datum value)
{
	uint64		x;

	if (!roster->typbyval)
		return DatumGetUInt64(FunctionCall2Coll(&roster->hash, roster->collation, value, UInt64GetDatum(roster->seed)));

	/* the finaliser of splitmix64 (Steele, Lea and Flood 2014) */
	x = (uint64) value ^ roster->seed;
	x = (x ^ (x >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Is this the value of a person? */
static bool
is_value_of(DpermRoster *roster, const DpermPerson *person, uint64 hash, Datum value)
{
	if (roster->typbyval)
		return person->value == value;
	return person->hash == hash &&
		DatumGetBool(FunctionCall2Coll(&roster->equal, roster->collation, person->value, value));
}

/* One more person. */
static int64
add_person(DpermRoster *roster, uint64 hash, Datum value)
{
	DpermPerson *person;
	MemoryContext caller;
	int64	   *slot;

	if (roster->count == roster->room)
		grow_roster(roster);
	person = &roster->persons[roster->count];
	slot = &roster->slots[hash & (roster->room - 1)];
	caller = MemoryContextSwitchTo(roster->context);
	*person = (DpermPerson) {.hash = hash, .next = *slot};
	person->value = datumCopy(value, roster->typbyval, roster->typlen);
	if (roster->portions > 0)
		person->portion = (int) dperm_draw_below(roster->entropy, (uint64) roster->portions);
	MemoryContextSwitchTo(caller);
	return *slot = roster->count++;
}

/* The number of the person of a value. */
int64
dperm_roster_enter(DpermRoster *roster, Datum value, bool isnull)
{
	uint64		hash;

	if (isnull)
		return DPERM_NOBODY;
	if (roster->typlen == -1)
	{
		if (dperm_rows_too_large(value, false))
			return DPERM_NOBODY;
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	}
	hash = hash_of(roster, value);
	for (int64 i = roster->slots[hash & (roster->room - 1)]; i >= 0; i = roster->persons[i].next)
		if (is_value_of(roster, &roster->persons[i], hash, value))
			return i;
	return add_person(roster, hash, value);
}

int64
dperm_roster_count(const DpermRoster *roster)
{
	return roster->count;
}

DpermPerson *
dperm_roster_person(const DpermRoster *roster, int64 number)
{
	return &roster->persons[number];
}

/* What a row of each person weighs. */
double *
dperm_roster_weights(const DpermRoster *roster)
{
	double	   *weights = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) * Max(roster->count, 1));

	for (int64 i = 0; i < roster->count; i++)
		weights[i] = roster->persons[i].labelled > 0 ? dperm_person_weight(roster->persons[i].labelled) : 0;
	return weights;
}

/* Forget all. */
void
dperm_roster_free(DpermRoster *roster)
{
	MemoryContextDelete(roster->context);
}
