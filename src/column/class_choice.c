/*
 * class_choice.c: the class of a model that a call asks about.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "base/message.h"
#include "column/class_choice.h"
#include "core/base/classes.h"

/* Bytes of names in a message. */
#define NAMES_SHOWN 200

/* The names of all classes. */
char *
dperm_class_choice_list(const DpermModel *model)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 1; i <= model->loss.classes && list.len <= NAMES_SHOWN; i++)
		appendStringInfo(&list, "%s\"%s\"", i > 1 ? ", " : "", dperm_class_choice_name(model, i));
	return dperm_message_clip(list.data, NAMES_SHOWN);
}

/* The name of a class. */
const char *
dperm_class_choice_name(const DpermModel *model, int number)
{
	return dperm_classes_value(model->classes.bytes, number);
}

/* The number of a class. */
int
dperm_class_choice(const DpermModel *model, const char *name)
{
	bool		several = dperm_model_label(model) == DPERM_LABEL_SEVERAL;
	int			number = 1;

	if (!several && name)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a class can only be specified for a model of several classes"),
				 errhint("Omit class.")));
	if (several && name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the model has several classes"),
				 errdetail("They are %s.", dperm_class_choice_list(model)),
				 errhint("Specify one of them, as in class => '%s'.",
						 dperm_message_clip(dperm_class_choice_name(model, 1), NAMES_SHOWN))));
	if (several)
		number = dperm_classes_find(model->classes.bytes, model->loss.classes, name);
	if (number == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the model has no class \"%s\"", dperm_message_clip(name, NAMES_SHOWN)),
				 errdetail("Its classes are %s.", dperm_class_choice_list(model))));
	return number;
}
