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
		for (int mode = 0; mode < TABLE_MODES; mode++)
			for (int method = 0; method < 2; method++)
				for (int k = 0; k < 3; k++)
				{
					static const double epsilons[] = {0.1, 10, INFINITY};
					TableRun	run;

					table.method = (DpermMethod) method;
					run = table_run(&table, epsilons[k], (TableMode) mode, 11);
					if (!run.calibrated)
						continue;
					if (!(run.status == DPERM_OK && run.certified && run.gradient <= run.allowed))
						test_complain(__FILE__, __LINE__, name);
				}
	}
	if (folder)
		closedir(folder);
	CHECK(tables >= 8);
}
