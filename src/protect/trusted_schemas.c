/*
 * trusted_schemas.c: where the names in bodies of functions may be looked for.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_ts_config.h"
#include "catalog/pg_ts_dict.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "protect/trusted_schemas.h"

/*
 * Is a role no stranger? Who owns a database is not: by default it owns schema
 * public.
 */
static bool
is_trusted(Oid role, Oid owner)
{
	return role == owner || role == ROLE_PG_DATABASE_OWNER || superuser_arg(role);
}

/* Can only trusted roles put objects into a schema? */
static bool
is_closed(Oid schema, Oid owner)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	bool		isnull;
	Datum		privileges;
	Acl		   *acl;
	bool		closed;

	if (!HeapTupleIsValid(tuple))
		return false;
	closed = is_trusted(((Form_pg_namespace) GETSTRUCT(tuple))->nspowner, owner);
	privileges = SysCacheGetAttr(NAMESPACEOID, tuple, Anum_pg_namespace_nspacl, &isnull);
	acl = isnull ? NULL : DatumGetAclPCopy(privileges);
	for (int i = 0; acl && i < ACL_NUM(acl); i++)
		if (ACL_DAT(acl)[i].ai_privs & ACL_CREATE)
			closed = closed && is_trusted(ACL_DAT(acl)[i].ai_grantee, owner);
	ReleaseSysCache(tuple);
	return closed;
}

/* The catalogs of objects that are found by name in a schema. */
static const struct
{
	Oid			catalog;
	AttrNumber	schema;
	AttrNumber	owner;
}			named[] = {
	{ProcedureRelationId, Anum_pg_proc_pronamespace, Anum_pg_proc_proowner},
	{TypeRelationId, Anum_pg_type_typnamespace, Anum_pg_type_typowner},
	{OperatorRelationId, Anum_pg_operator_oprnamespace, Anum_pg_operator_oprowner},
	{RelationRelationId, Anum_pg_class_relnamespace, Anum_pg_class_relowner},
	{CollationRelationId, Anum_pg_collation_collnamespace, Anum_pg_collation_collowner},
	{ConversionRelationId, Anum_pg_conversion_connamespace, Anum_pg_conversion_conowner},
	{TSConfigRelationId, Anum_pg_ts_config_cfgnamespace, Anum_pg_ts_config_cfgowner},
	{TSDictionaryRelationId, Anum_pg_ts_dict_dictnamespace, Anum_pg_ts_dict_dictowner}
};

/* Do all objects of a schema in one of these belong to trusted roles? */
static bool
has_own_objects(int which, Oid schema, Oid owner)
{
	Relation	catalog = table_open(named[which].catalog, AccessShareLock);
	bool		own = true;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, named[which].schema, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(schema));
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 1, &key);
	while (own && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;

		own = is_trusted(DatumGetObjectId(heap_getattr(tuple, named[which].owner,
													   RelationGetDescr(catalog), &isnull)),
						 owner);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return own;
}

/*
 * Is a schema trusted? Only superusers and extensions put something into those
 * of initdb, but for public.
 */
bool
dperm_trusted_schemas_has(Oid schema, Oid owner)
{
	if (schema < FirstNormalObjectId && schema != PG_PUBLIC_NAMESPACE)
		return true;
	if (!is_closed(schema, owner))
		return false;
	for (int i = 0; i < lengthof(named); i++)
		if (!has_own_objects(i, schema, owner))
			return false;
	return true;
}

/* An extension of a stranger. */
char *
dperm_trusted_schemas_foreign_extension(Oid owner)
{
	Relation	catalog = table_open(ExtensionRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	char	   *found = NULL;
	HeapTuple	tuple;

	while (found == NULL && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_extension form = (Form_pg_extension) GETSTRUCT(tuple);

		if (!is_trusted(form->extowner, owner) &&
			!has_privs_of_role(form->extowner, ROLE_PG_DATABASE_OWNER))
			found = pstrdup(NameStr(form->extname));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return found;
}
