/*
 * Tells in what an append reads its rows otherwise than the import before: without labels or names,
 * which cannot be given later, or with rows that have few values. A night that differs from the one
 * before is a warning. One like it is not: there labels may be missing on purpose.
 */
#include <stdio.h>
#include <string.h>

#include "api/import_private.h"
#include "io/number.h"

/* Tells that rows have no labels or no names, unlike those of the store. */
static void tell_missing(const struct ny_import *import, uint64_t n, const char *what,
                         const char *column)
{
    const char *path = ny_store_path(import->store);
    char from[sizeof(struct ny_shown) + 80] = "";

    if (column[0])
        snprintf(from, sizeof(from), ", which the import before this one took from column '%s'",
                 ny_shown(column, strlen(column)).text);
    ny_log(import->ctx, column[0] ? NY_LOG_WARNING : NY_LOG_NOTE,
           "the rows of %s have %ss%s, but these rows have none; to give them some, take them out "
           "again ('nystream truncate %s --keep %llu') and import them with --%s-column",
           path, what, from, path, (unsigned long long)n, what[0] == 'n' ? "id" : what);
}

void ny_import_tell_changed(const struct ny_import *import, const struct ny_points_info *info,
                            const struct ny_file_table *table)
{
    const struct ny_import_how *last = &import->how_last;

    if (info->labels && !table->labels)
        tell_missing(import, info->n, "label", last->label_column);
    if (info->names && !table->names && last->id_column[0])
        tell_missing(import, info->n, "name", last->id_column);
    if (last->min_values && !import->min_values)
        ny_log(import->ctx, NY_LOG_WARNING,
               "the import before this one had --min-values %llu, and this one has no "
               "--min-values: rows with fewer values are added, too",
               (unsigned long long)last->min_values);
}
