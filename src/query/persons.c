/*
 * persons.c: the persons of a relation, by the values of the column that
 * identifies them. Trusted.
 *
 * A hash table with chains: values that collide, by chance or by design, cost
 * time but never cause an error. The hash has a random seed.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "column/column.h"
#include "query/source.h"
#include "core/privacy/claim.h"
#include "core/privacy/draw.h"

/* Initial number of persons. */
#define FIRST_PERSONS 256

struct DpermPersons
{
	MemoryContext context;
	Oid			type;			/* without domains */
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

/*
 * Do distinct values have distinct text forms, whatever the settings of the
 * session?
 */
static bool
are_told_by_text(Oid base)
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

/* Can values of a type identify persons? */
static bool
takes_type(Oid type)
{
	TypeCacheEntry *entry;

	if (!are_told_by_text(getBaseType(type)))
		return false;
	entry = lookup_type_cache(getBaseType(type), TYPECACHE_HASH_EXTENDED_PROC | TYPECACHE_EQ_OPR);

	/* built-in functions, which raise no error for any value */
	return OidIsValid(entry->hash_extended_proc) &&
		   entry->hash_extended_proc < FirstNormalObjectId && OidIsValid(entry->eq_opr) &&
		   get_opcode(entry->eq_opr) < FirstNormalObjectId;
}

/* The type of a column; raises an error if its values cannot identify persons. */
void
dperm_persons_column(Oid relation, AttrNumber column, Oid *type, Oid *collation)
{
	int32		typmod;

	get_atttypetypmodcoll(relation, column, type, &typmod, collation);
	if (!takes_type(*type) ||
		/* equality would raise an error */
		(type_is_collatable(*type) && !OidIsValid(*collation)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("unit cannot be of type %s", format_type_be(*type)),
				 errhint("Use a column of an integer type, numeric, uuid, text, bytea, an enum, "
						 "date or timestamp.")));
}

/* Rebuild the slots for the current size. */
static void
make_slots(DpermPersons *persons)
{
	if (persons->slots)
		pfree(persons->slots);
	persons->slots = MemoryContextAllocHuge(persons->context, sizeof(int64) * persons->room);
	memset(persons->slots, -1, sizeof(int64) * persons->room);
	for (int64 i = 0; i < persons->count; i++)
	{
		int64	   *slot = &persons->slots[persons->persons[i].hash & (persons->room - 1)];

		persons->persons[i].next = *slot;
		*slot = i;
	}
}

/*
 * Create an empty table in the current memory context, for values of a type. Each person
 * gets one of the portions at random when first entered, from entropy, which stays in
 * use; 0 portions: none.
 */
DpermPersons *
dperm_persons_make(Oid type, Oid collation, int portions, DpermEntropy *entropy)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "dperm persons", ALLOCSET_DEFAULT_SIZES);
	TypeCacheEntry *entry =
		lookup_type_cache(getBaseType(type), TYPECACHE_HASH_EXTENDED_PROC | TYPECACHE_EQ_OPR);
	DpermPersons *persons = MemoryContextAllocZero(context, sizeof(*persons));

	persons->context = context;
	persons->type = getBaseType(type);
	persons->collation = collation;
	get_typlenbyval(persons->type, &persons->typlen, &persons->typbyval);
	fmgr_info_cxt(entry->hash_extended_proc, &persons->hash, context);
	fmgr_info_cxt(get_opcode(entry->eq_opr), &persons->equal, context);
	persons->portions = portions;
	persons->entropy = entropy;
	persons->seed = dperm_draw_word(entropy);
	persons->room = FIRST_PERSONS;
	persons->persons = MemoryContextAlloc(context, sizeof(DpermPerson) * persons->room);
	make_slots(persons);
	return persons;
}

/* Double the size. */
static void
grow_table(DpermPersons *persons)
{
	CHECK_FOR_INTERRUPTS();
	persons->room *= 2;
	persons->persons = repalloc_huge(persons->persons, sizeof(DpermPerson) * persons->room);
	make_slots(persons);
}

/*
 * A hash with a seed. Values passed in the datum itself are equal if their bits
 * are, in all existing types.
 */
static uint64
hash_of(DpermPersons *persons, Datum value)
{
	if (!persons->typbyval)
		return DatumGetUInt64(FunctionCall2Coll(&persons->hash, persons->collation, value,
												UInt64GetDatum(persons->seed)));

	return dperm_bytes_mix((uint64) value ^ persons->seed);
}

/* Is this the value of a person? */
static bool
is_value_of(DpermPersons *persons, const DpermPerson *person, uint64 hash, Datum value)
{
	if (persons->typbyval)
		return person->value == value;
	return person->hash == hash &&
		DatumGetBool(FunctionCall2Coll(&persons->equal, persons->collation, person->value, value));
}

/* Add a person. */
static int64
add_person(DpermPersons *persons, uint64 hash, Datum value)
{
	DpermPerson *person;
	MemoryContext caller;
	int64	   *slot;

	if (persons->count == persons->room)
		grow_table(persons);
	person = &persons->persons[persons->count];
	slot = &persons->slots[hash & (persons->room - 1)];
	caller = MemoryContextSwitchTo(persons->context);
	*person = (DpermPerson) {.hash = hash, .next = *slot};
	person->value = datumCopy(value, persons->typbyval, persons->typlen);
	if (persons->portions > 0)
		person->portion = (int) dperm_draw_below(persons->entropy, (uint64) persons->portions);
	MemoryContextSwitchTo(caller);
	return *slot = persons->count++;
}

/*
 * The number of the person with this value, from 0, or DPERM_NOBODY. Detoasted copies
 * are in the current memory context.
 */
int64
dperm_persons_enter(DpermPersons *persons, Datum value, bool isnull)
{
	uint64		hash;

	if (isnull)
		return DPERM_NOBODY;
	if (persons->typlen == -1)
	{
		if (dperm_reader_too_large(value, false))
			return DPERM_NOBODY;
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	}
	hash = hash_of(persons, value);
	for (int64 i = persons->slots[hash & (persons->room - 1)]; i >= 0; i = persons->persons[i].next)
		if (is_value_of(persons, &persons->persons[i], hash, value))
			return i;
	return add_person(persons, hash, value);
}

/* The number of persons. */
int64
dperm_persons_count(const DpermPersons *persons)
{
	return persons->count;
}

/* One of them: the pointer is valid until another one is entered. */
DpermPerson *
dperm_persons_person(const DpermPersons *persons, int64 number)
{
	return &persons->persons[number];
}

/*
 * The weight of a row of each person, in the current memory context: 1 divided by the
 * number of their labelled rows, rounded down.
 */
double *
dperm_persons_weights(const DpermPersons *persons)
{
	double	   *weights =
		MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) * Max(persons->count, 1));

	for (int64 i = 0; i < persons->count; i++)
		weights[i] = persons->persons[i].labelled > 0 ?
						 dperm_unit_weight(persons->persons[i].labelled) :
						 0;
	return weights;
}

/* Free the table. */
void
dperm_persons_free(DpermPersons *persons)
{
	MemoryContextDelete(persons->context);
}
