/* The tables that 10x Genomics puts beside a matrix: names of cells and of features. */
#ifndef NY_IO_MTX_TABLES_H
#define NY_IO_MTX_TABLES_H

#include <limits.h>

#include "io/reader.h"

enum { NY_MTX_TABLES = 2 };

/* Finds the tables beside a file, that of cells and that of features; an empty path where there is
 * none. */
void ny_mtx_tables_find(const char *path, char tables[NY_MTX_TABLES][PATH_MAX]);
/* Opens the tables that are beside the reader's file, whose rows and columns are known: names of
 * rows go to reader->row_names, names of columns to reader->columns. A file that is not called
 * …matrix.mtx or …matrix.mtx.gz has none. NY_EDATA for a table that has as many names as neither
 * rows nor columns. */
int ny_mtx_tables_open(struct ny_reader *reader);

#endif
