/*
 * test_corpus.c: every table that was ever hard for the solver is certified, in
 * every mode.
 */
#include "unit/test.h"

#include <dirent.h>

#include "unit/table.h"

#ifndef TEST_CORPUS
#define TEST_CORPUS "test/corpus"
#endif

#define FOLDER TEST_CORPUS "/solver"

/* Train on a table in every mode, with every method. */
static void
train_all_ways(Table *table, const char *name)
{
	for (int mode = 0; mode < TABLE_MODES; mode++)
		for (int method = 0; method < 2; method++)
			for (int k = 0; k < 3; k++)
			{
				static const double epsilons[] = {0.1, 10, INFINITY};
				TableRun	run;

				table->method = (DpermMethod) method;
				run = table_run(table, epsilons[k], (TableMode) mode, 11);
				if (!run.calibrated)
					continue;
				if (!(run.status == DPERM_OK && run.certified && run.gradient <= run.allowed))
					test_complain(__FILE__, __LINE__, name);
			}
}

/* Priors as large as they may be, and as small, along and against a row. */
static void
train_with_priors(Table *table, const char *name)
{
	static const double scales[] = {-9e5, -30, 1e-310, 30, 9e5};
	double		prior[TABLE_WEIGHTS];
	int			blocks = dperm_loss_blocks(table->rows.loss);

	for (int i = 0; i < 5; i++)
	{
		for (int j = 0; j < table->rows.dim * blocks; j++)
			prior[j] = scales[i] * (table->data[j / blocks] + (j == 0 ? 1e-3 : 0)) * (1 - 0.3 * (j % blocks));
		table->prior = prior;
		train_all_ways(table, name);
	}
	table->prior = NULL;
}

TEST(certifies_the_corpus)
{
	DIR		   *folder = opendir(FOLDER);
	struct dirent *entry;
	int			tables = 0;

	CHECK(folder != NULL);
	while (folder && (entry = readdir(folder)) != NULL)
	{
		char		name[1000];
		FILE	   *file;
		static Table table;

		if (strstr(entry->d_name, ".txt") == NULL)
			continue;
		snprintf(name, sizeof(name), FOLDER "/%s", entry->d_name);
		file = fopen(name, "r");
		CHECK(file != NULL && table_read(file, &table));
		if (file)
			fclose(file);
		tables++;
		train_all_ways(&table, name);
		train_with_priors(&table, name);
	}
	if (folder)
		closedir(folder);
	CHECK(tables >= 8);
}
