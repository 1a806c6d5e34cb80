/* The tables that 10x Genomics puts beside a matrix: names of cells and of features. For io/
 * alone. */
#ifndef NY_IO_MTX_TABLES_H
#define NY_IO_MTX_TABLES_H

#include "io/format.h"

/* Opens the tables that are beside the reader's file, whose rows and columns are known: names of
 * rows go to reader->row_names, names of columns to reader->columns. A file that is not called
 * …matrix.mtx or …matrix.mtx.gz has none. NY_EDATA for a table that has as many names as neither
 * rows nor columns. */
int ny_mtx_tables_open(struct ny_reader *reader);

#endif
