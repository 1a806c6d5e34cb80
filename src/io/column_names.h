/*
 * Names of columns from a file of their own, one a line (option column-names), for formats that
 * have none: npz, libsvm, npy and others. For io/ alone.
 */
#ifndef NY_IO_COLUMN_NAMES_H
#define NY_IO_COLUMN_NAMES_H

#include "io/format.h"

/* Reads the names of all columns of the file into reader->columns, and finds those of
 * options.like among them (ny_like_place()); does nothing where no file of names is given.
 * `columns`: so many must be there, else NY_EDATA with both numbers; 0: the file does not say. */
int ny_column_names_read(struct ny_reader *reader, uint64_t columns);
/* Forgets the names of the columns that are not kept; `keep` has one flag for each name. */
void ny_column_names_keep(struct ny_reader *reader, const bool *keep);
/* Forgets the names of columns from table.d on. */
void ny_column_names_cut(struct ny_reader *reader);

#endif
