/*
 * climb.c: looks for tables on which the solver takes many steps, and checks
 * that it certifies all the same.
 *
 *	climb [SECONDS [FOLDER [LOSS]]]
 *
 * Random tables are never hard. So this changes a table bit by bit, keeps what
 * makes the solver request more passes, and starts again where that leads no
 * further. With a folder it writes the hardest tables there, in the form of
 * test/corpus/solver; with a loss all tables have that one.
 */
#define TEST_OWN_MAIN
#include "core/base/core.h"
#include "unit/test.h"

#include <stdlib.h>
#include <time.h>

#include "unit/table.h"

#define SECONDS 60
#define PATIENCE 400			/* consecutive changes that did not help */

static TestRandom state;
static int	only = -1;			/* the loss of all tables; -1: any */

static double
normal(void)
{
	return sqrt(-2 * log(1 - test_uniform(&state))) * cos(6.283185307179586 * test_uniform(&state));
}

/* Rows back into the unit ball. */
static void
clip(Table *table)
{
	for (int i = 0; i < table->rows.count; i++)
	{
		double	   *row = table->data + i * table->rows.dim;
		double		norm = sqrt(dperm_dot(table->rows.dim, row, row)) * (1 + 1e-12);

		for (int j = 0; j < table->rows.dim && norm > 1; j++)
			row[j] /= norm;
	}
}

static bool
has_h(const Table *table)
{
	return dperm_loss_entry((int) table->rows.loss.kind)->h_min > 0;
}

static double
least_h(const Table *table)
{
	return dperm_loss_entry((int) table->rows.loss.kind)->h_min;
}

/* A label that follows from a number; none now and then. */
static double
any_label(const Table *table, double from)
{
	int			classes = table->rows.loss.classes;

	if (test_below(&state, 20) == 0)
		return dperm_label_kind_none(dperm_loss_entry((int) table->rows.loss.kind)->label);
	return classes == 0 ? fmin(fmax(from, -1), 1) : 1 + fmin(fmax(floor((from + 1) / 2 * classes), 0), classes - 1);
}

/*
 * A start: columns of very different scales, near duplicates, separable rows
 * with an exception.
 */
static void
make_table(Table *table)
{
	int			n = 2 + test_below(&state, TABLE_ROWS - 1);
	int			d = 1 + test_below(&state, TABLE_DIM);
	double		spread = test_below(&state, 3) * 8 * test_uniform(&state);
	bool		separable = test_below(&state, 2);

	memset(table, 0, sizeof(*table));
	table->rows = (Rows) {.loss = {.kind = (DpermLossKind) (only >= 0 ? only : test_below(&state, DPERM_LOSS_COUNT))}, .dim = d,
		.count = n, .data = table->data};
	if (has_h(table))
		table->rows.loss.h = fmax(least_h(table), test_below(&state, 2) ? 0.01 : pow(10, -2 * test_uniform(&state)));
	if (table->rows.loss.kind == DPERM_LOSS_SOFTMAX)
		table->rows.loss.classes = 3 + test_below(&state, TABLE_CLASSES - 2);
	table->lambda = pow(10, -9 * test_uniform(&state));
	table->method = test_below(&state, 2) ? DPERM_METHOD_OUTPUT : DPERM_METHOD_OBJECTIVE;
	for (int j = 0; j < d; j++)
	{
		double		scale = pow(10, -spread * test_uniform(&state));

		for (int i = 0; i < n; i++)
			table->data[i * d + j] = scale * normal();
	}
	for (int i = 0; i < n; i++)
	{
		double	   *row = table->data + i * d;

		if (i > 0 && test_below(&state, 4) == 0)
			for (int j = 0; j < d; j++)
				row[j] = row[j - d] * (1 + 1e-6 * normal());
		if (separable && row[0] < 0 && i != n / 2)
			for (int j = 0; j < d; j++)
				row[j] = -row[j];
	}
	for (int i = 0; i < n; i++)
		table->labels[i] = any_label(table, separable && i != n / 2 ? table->data[i * d] : normal());
	clip(table);
}

/* A table that differs a little. */
static void
change(Table *table)
{
	int			n = (int) table->rows.count;
	int			d = table->rows.dim;
	double	   *row = table->data + test_below(&state, n) * d;
	int			j = test_below(&state, d);
	double		size = pow(10, -6 * test_uniform(&state));

	switch (test_below(&state, 10))
	{
		case 0:
		case 1:
			row[j] *= 1 + size * normal();
			break;
		case 2:
			for (j = 0; j < d; j++)
				row[j] += size * normal();
			break;
		case 3:
			for (j = 0; j < d; j++)
				row[j] = -row[j];
			break;
		case 4:
			memcpy(row, table->data + test_below(&state, n) * d, sizeof(double) * d);
			break;
		case 5:
			size = exp(3 * normal());
			for (int i = 0; i < n; i++)
				table->data[i * d + j] *= size;
			break;
		case 6:
			table->lambda = fmin(fmax(table->lambda * exp(normal()), DPERM_LAMBDA_MIN), 1);
			break;
		case 7:
			if (has_h(table))
				table->rows.loss.h = fmin(fmax(table->rows.loss.h * exp(0.5 * normal()), least_h(table)), 1);
			else
				table->labels[test_below(&state, n)] = any_label(table, normal());
			break;
		case 8:
			table->labels[test_below(&state, n)] = any_label(table, normal());
			break;
		default:
			size = exp(2 * normal());
			for (j = 0; j < d; j++)
				row[j] *= size;
	}
	clip(table);
}

/* The number of steps on a table; everything that must hold is checked. */
static int64_t
steps_on(const Table *table, TableMode mode, double epsilon)
{
	TableRun	run = table_run(table, epsilon, mode, 7);

	if (!run.calibrated)
		return -1;
	if (!(run.certified && run.status == DPERM_OK && run.gradient <= run.allowed))
	{
		CHECK(run.certified && run.status == DPERM_OK);
		CHECK(run.gradient <= run.allowed);
		table_write(stderr, table);
	}
	return run.asked;
}

int
main(int argc, char **argv)
{
	static const char *const mode_names[] = {"in memory", "streamed"};
	double		seconds = argc > 1 ? atof(argv[1]) : test_rounds(SECONDS);
	const char *folder = argc > 2 ? argv[2] : NULL;
	struct timespec now;
	struct timespec begin;
	int64_t		worst[TABLE_MODES][DPERM_LOSS_COUNT] = {{0}};
	long		tried = 0;
	static Table table;
	static Table other;
	DpermLossKind kind;

	if (argc > 3 && table_loss(argv[3], &kind))
		only = (int) kind;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	state = folder ? (uint64_t) time(NULL) * 2 + 1 : 101;
	test_name = "climb";
	do
	{
		TableMode	mode = (TableMode) test_below(&state, TABLE_MODES);
		double		epsilon = test_below(&state, 3) ? 1 : pow(10, 4 * test_uniform(&state) - 2);
		int64_t		steps;
		int64_t	   *most;

		make_table(&table);
		other = table;
		other.rows.data = other.data;
		steps = steps_on(&table, mode, epsilon);
		for (int patience = PATIENCE; patience > 0; patience--)
		{
			int64_t		more;

			other = table;
			other.rows.data = other.data;
			change(&other);
			if (test_below(&state, 3) == 0)
				change(&other);
			more = steps_on(&other, mode, epsilon);
			tried++;
			if (more > steps)
				patience = PATIENCE;
			if (more >= steps)
			{
				table = other;
				table.rows.data = table.data;
				steps = more;
			}
			clock_gettime(CLOCK_MONOTONIC, &now);
			if (now.tv_sec - begin.tv_sec + 1e-9 * (now.tv_nsec - begin.tv_nsec) > seconds)
				break;
		}
		most = &worst[mode][table.rows.loss.kind];
		if (steps > *most)
		{
			*most = steps;
			if (folder)
			{
				char		name[1000];
				FILE	   *file;

				snprintf(name, sizeof(name), "%s/%s_%s_%dx%d_%ld.txt", folder,
						 dperm_loss_name(table.rows.loss.kind), mode_names[mode], (int) table.rows.count,
						 table.rows.dim, (long) steps);
				file = fopen(name, "w");
				if (file)
				{
					table_write(file, &table);
					fclose(file);
				}
			}
		}
	} while (now.tv_sec - begin.tv_sec + 1e-9 * (now.tv_nsec - begin.tv_nsec) < seconds);
	printf("%ld tables; most steps (%s, %s, %s, %s, %s):", tried, dperm_loss_name(0), dperm_loss_name(1),
		   dperm_loss_name(2), dperm_loss_name(3), dperm_loss_name(4));
	for (int mode = 0; mode < TABLE_MODES; mode++)
	{
		printf(" %s", mode_names[mode]);
		for (int kind = 0; kind < DPERM_LOSS_COUNT; kind++)
			printf(" %ld", (long) worst[mode][kind]);
		printf("%s", mode + 1 < TABLE_MODES ? "," : "\n");
	}
	if (test_complaints > 0)
		test_failed++;
	else
		test_passed++;
	return test_report();
}
