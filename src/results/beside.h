/* Tables of a result's parts: as they are; with a header, and with names of rows and labels as
 * columns before the numbers, by which a spreadsheet or a data frame joins the rows; of some of the
 * rows; without rows that are damaged. */
#ifndef NY_RESULTS_BESIDE_H
#define NY_RESULTS_BESIDE_H

#include "results/export.h"

/* The columns before the numbers of a row, a first line with the names of all columns, and which
 * rows are wanted. */
struct ny_beside {
    bool ids, labels, clusters, header;
    bool ranged;         /* some of the rows: */
    uint64_t first, end; /* rows first … end − 1; end UINT64_MAX: to the last one */
    uint64_t *missing;   /* damaged rows are marked and counted here; NULL: one is NY_ESTORE */
    uint64_t spread; /* the table has so many rows, those of the file that was imported: each row
                      * stands where it stood there, and the others are NaN; 0: it has not */
};

/* Reads "ids", "labels", "clusters", "header" or several of them, with commas between, for all
 * rows; a table of samples has ids and header also where the list is NULL. NY_EUSAGE for other
 * words, and where the output is no text table. */
int ny_beside_parse(struct ny_beside *beside, struct ny_context *ctx, const char *list,
                    const char *output);
/* Exports a part of a result, or of the points (name NULL), to a text table, or to any table where
 * nothing stands beside the numbers: the name of the row, its label (its word where classes have
 * words, empty where it is missing), its cluster, then the part. The lines of axes, mean and
 * features have the names of columns. NY_EUSAGE for parts that have no line for each row, unless a
 * header of all rows is all that is wanted, for clusters before clusters, and where there are no
 * such names, labels, clusters or rows. */
int ny_part_export_beside(struct ny_store *store, const char *name, const char *part,
                          const char *output, const struct ny_beside *beside);

#endif
