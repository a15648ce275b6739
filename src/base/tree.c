/*
 * tree.c: JSON for the core, as jsonb.
 */
#include "postgres.h"

#include <errno.h>
#include <math.h>

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "base/compat.h"
#include "base/host.h"
#include "core/base/host.h"

/* A value in a document. */
static DpermTree
value_of(const JsonbValue *value)
{
	DpermTree	tree = {.kind = DPERM_TREE_NULL};

	switch (value->type)
	{
		case jbvBool:
			tree.kind = DPERM_TREE_BOOL;
			tree.flag = value->val.boolean;
			break;
		case jbvNumeric:
			tree.kind = DPERM_TREE_NUMBER;
			tree.at = value->val.numeric;
			break;
		case jbvString:
			tree.kind = DPERM_TREE_TEXT;
			tree.text = (DpermText) {value->val.string.val, value->val.string.len};
			break;
		case jbvBinary:
			tree.at = value->val.binary.data;
			tree.text.len = value->val.binary.len;
			tree.kind = JsonContainerIsArray(value->val.binary.data) ? DPERM_TREE_LIST :
				DPERM_TREE_OBJECT;
			tree.count = JsonContainerSize(value->val.binary.data);
			break;
		default:
			break;
	}
	return tree;
}

/* A whole document, which the tree points into. A scalar is nothing that anybody expects. */
DpermTree
dperm_tree_of(Jsonb *json)
{
	JsonbValue	value = {
		.type = JB_ROOT_IS_SCALAR(json) ? jbvNull : jbvBinary,
		.val.binary = {.len = VARSIZE(json) - VARHDRSZ, .data = &json->root}
	};

	return value_of(&value);
}

/*
 * Parse what somebody else says is JSON: an error if it is not, a soft one if
 * context asks for that.
 */
bool
dperm_tree_read(Node *context, char *text, DpermTree *out)
{
	Datum		json;

	if (!DirectInputFunctionCallSafe(jsonb_in, text, InvalidOid, -1, context, &json))
		return false;
	*out = dperm_tree_of(DatumGetJsonbP(json));
	return true;
}

bool
dperm_tree_parse(DpermText text, DpermTree *out)
{
	ErrorSaveContext soft = {T_ErrorSaveContext};

	return pg_verifymbstr(text.bytes, text.len, true) &&
		dperm_tree_read((Node *) &soft, pnstrdup(text.bytes, text.len), out);
}

bool
dperm_tree_member(const DpermTree *object, const char *key, DpermTree *out)
{
	JsonbValue	value;

	if (object->kind != DPERM_TREE_OBJECT ||
		getKeyJsonValueFromContainer((JsonbContainer *) object->at, key, strlen(key),
									 &value) == NULL)
		return false;
	*out = value_of(&value);
	return true;
}

DpermTree
dperm_tree_element(const DpermTree *list, int i)
{
	JsonbValue *value = getIthJsonbValueFromContainer((JsonbContainer *) list->at, i);
	DpermTree	tree = value_of(value);

	pfree(value);
	return tree;
}

double
dperm_tree_number(const DpermTree *number)
{
	Datum		exact = PointerGetDatum(number->at);
	double		rounded = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, exact));

	if (rounded != 0)
		return rounded;
	return DatumGetInt32(DirectFunctionCall2(numeric_cmp, exact,
											 NumericGetDatum(int64_to_numeric(0)))) == 0 ? 0 : NAN;
}

bool
dperm_tree_integer(const DpermTree *number, int64_t *out)
{
	char	   *digits =
		DatumGetCString(DirectFunctionCall1(numeric_out, PointerGetDatum(number->at)));
	char	   *end;

	errno = 0;
	*out = strtoi64(digits, &end, 10);
	return errno == 0 && *end == '\0';
}

DpermText
dperm_tree_print(const DpermTree *object)
{
	char	   *text = JsonbToCString(NULL, (JsonbContainer *) object->at, object->text.len);

	return (DpermText) {text, (int) strlen(text)};
}
