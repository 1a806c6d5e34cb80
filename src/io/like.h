/*
 * Columns by their names: the rows of a file that join others have the columns of these, in their
 * order, whatever else the file has. So the next file of a series is read right without the first
 * one's options, and also if a program has written its columns in another order. For io/ alone.
 */
#ifndef NY_IO_LIKE_H
#define NY_IO_LIKE_H

#include "io/format.h"

/* A column of points of a file. */
struct ny_like_column {
    const char *name;
    size_t column; /* its number there, from 0 */
};

#define NY_LIKE_NONE SIZE_MAX /* the file has no such column */

/* Finds the columns of options.like, by their names as they are, among `count` columns of points of
 * the file, and logs which of these are left out: found[i] is the number of the one that is called
 * as column i there. Nothing is guessed where a name is that of two columns, or where options list
 * columns and these are others: *matched is false, and the columns stay as they came. In columns
 * that the file lacks, rows that stay sparse are 0, and genotypes missing: found[i] is NY_LIKE_NONE
 * there, which is logged. NY_EDATA, with their names, where other rows lack some, or the file all.
 */
int ny_like_match(struct ny_reader *reader, const struct ny_like_column *columns, size_t count,
                  size_t *found, bool *matched);

/* Matches all columns of a file whose names are in reader->columns: these are then those of
 * options.like, and reader->place says where each column of the file is among them. Does nothing
 * without options.like, or without names. */
int ny_like_place(struct ny_reader *reader);

#endif
