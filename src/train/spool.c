/*
 * spool.c: encoded rows in a temporary file, to be read in passes.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/wait_event.h"

#include "train/spool.h"

/* Bytes of the buffer, or one row if that is more. */
#define BUFFER_BYTES (512 * 1024)

/*
 * The largest file: the bounds on rounding in sums over rows hold up to this
 * size.
 */
#define FILE_BYTES_MAX ((int64) 1 << 41)

/* Begin a spool. */
DpermSpool *
dperm_spool_make(int words)
{
	DpermSpool *spool = palloc0(sizeof(*spool));

	spool->words = words;
	spool->buffer_rows = Max(BUFFER_BYTES / (sizeof(double) * words), 1);
	spool->buffer = palloc(sizeof(double) * words * spool->buffer_rows);
	spool->file = OpenTemporaryFile(false);
	return spool;
}

/* Bytes of some rows. */
static int
bytes_of(const DpermSpool *spool, int rows)
{
	return (int) (sizeof(double) * spool->words * rows);
}

/* Write the first bytes of the buffer to the file. */
static void
write_at(DpermSpool *spool, off_t at, int bytes)
{
	errno = 0;
	if (FileWrite(spool->file, (char *) spool->buffer, bytes, at, PG_WAIT_EXTENSION) == bytes)
		return;
	if (errno == 0)
		errno = ENOSPC;
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not write to a temporary file: %m")));
}

/* Write the waiting rows to the file. */
static void
write_waiting(DpermSpool *spool)
{
	int			bytes = bytes_of(spool, spool->waiting);

	CHECK_FOR_INTERRUPTS();
	if (bytes == 0)
		return;
	if (spool->at + bytes > FILE_BYTES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the encoded rows take more than 2 terabytes")));
	write_at(spool, spool->at, bytes);
	spool->at += bytes;
	spool->waiting = 0;
}

/* The place for one more row. */
double *
dperm_spool_next(DpermSpool *spool)
{
	if (spool->waiting == spool->buffer_rows)
		write_waiting(spool);
	spool->rows++;
	return spool->buffer + (size_t) spool->words * spool->waiting++;
}

/* Start reading. */
void
dperm_spool_rewind(DpermSpool *spool)
{
	write_waiting(spool);
	spool->at = 0;
	spool->left = spool->rows;
}

/* Replace the owners of rows by their weights. */
static void
weigh(const DpermSpool *spool, int count)
{
	double	   *word = spool->buffer + spool->words - 1;

	for (int i = 0; i < count; i++, word += spool->words)
		*word = *word < 0 ? 0 : spool->weights[(int64) *word];
}

/* Some more rows. */
double *
dperm_spool_read(DpermSpool *spool, int *count)
{
	int			bytes;

	CHECK_FOR_INTERRUPTS();
	*count = (int) Min(spool->left, spool->buffer_rows);
	if (*count == 0)
		return NULL;
	bytes = bytes_of(spool, *count);
	errno = 0;
	if (FileRead(spool->file, (char *) spool->buffer, bytes, spool->at, PG_WAIT_EXTENSION) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file: %m")));
	spool->at += bytes;
	spool->left -= *count;
	if (spool->weights)
		weigh(spool, *count);
	return spool->buffer;
}

/* Change every row. */
void
dperm_spool_change(DpermSpool *spool, void (*change) (void *arg, double *row), void *arg)
{
	const double *weights = spool->weights;
	double	   *rows;
	int			count;

	spool->weights = NULL;		/* the file has owners */
	dperm_spool_rewind(spool);
	while ((rows = dperm_spool_read(spool, &count)) != NULL)
	{
		for (int i = 0; i < count; i++)
			change(arg, rows + (size_t) i * spool->words);
		write_at(spool, spool->at - bytes_of(spool, count), bytes_of(spool, count));
	}
	spool->weights = weights;
}

/* Close the file. */
void
dperm_spool_close(DpermSpool *spool)
{
	if (spool)
		FileClose(spool->file);
}
