/*
 * Warns of labels that look like names of rows, as when a column of ids was given for that of the
 * labels: few rows have a class in common, so that measures and colours by classes tell nothing.
 * Numbers are left alone, since they may be a quantity that differs from row to row.
 */
#include "api/import_private.h"

void ny_import_warn_classes(const struct ny_import *import)
{
    enum { FEW = 20 }; /* rows of which many may well differ */
    size_t met = import->classes ? ny_classes_met(import->classes) : 0;
    const char *column = import->reading.label_column;

    if (import->consumed <= FEW || met <= import->consumed / 2) return;
    ny_log(import->ctx, NY_LOG_WARNING,
           "the labels of %llu rows are %llu different words, like names of rows: %s%s",
           (unsigned long long)import->consumed, (unsigned long long)met,
           column ? "import them again with --id-column "
                  : "labels are for classes that several rows share",
           column ? column : "");
}
