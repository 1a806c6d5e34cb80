/*
 * Warns of labels and names that will be of no use.
 *
 * Labels may look like names of rows, as when a column of ids was given for that of the labels: few
 * rows have a class in common, so that measures and colours by classes tell nothing. Numbers are
 * left alone, since they may be a quantity that differs from row to row. A column of labels may
 * also be empty. And a name that two columns have finds neither of them in a later file.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/import_private.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/number.h"

void ny_import_note_labels(struct ny_import *import, const struct ny_row_batch *batch)
{
    for (size_t i = 0; import->spec.labels && i < batch->count; i++)
        import->unlabelled += isnan(import->labels[i]) ? 1 : 0;
}

void ny_import_warn_unlabelled(const struct ny_import *import)
{
    const char *column = import->reading.label_column;

    if (import->append || !import->unlabelled ||
        import->unlabelled != import->consumed - import->dropped)
        return;
    ny_log(import->ctx, NY_LOG_WARNING,
           "none of the %llu rows has a label: %s%s%s no value in any of them",
           (unsigned long long)import->unlabelled, column ? "column '" : "the labels have",
           column ? column : "", column ? "' has" : "");
}

/* A column and its name. */
struct named {
    const char *name;
    size_t column;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x->column > y->column) - (x->column < y->column);
}

/* Sorts the columns by their names, and warns of one that has the name of an earlier one. */
static void warn_of_twins(struct ny_context *ctx, struct named *columns, size_t count,
                          const char *file)
{
    const struct named *first = NULL;
    size_t twins = 0;
    char more[96] = "";

    qsort(columns, count, sizeof(*columns), by_name);
    for (size_t i = 1; i < count; i++) {
        if (!columns[i].name[0] || strcmp(columns[i - 1].name, columns[i].name) != 0) continue;
        twins++;
        if (!first || columns[i].column < first->column) first = &columns[i];
    }
    if (!first) return;
    if (twins > 1)
        snprintf(more, sizeof(more), ", as %s do%s",
                 ny_counted(twins - 1, "other column", "other columns").text,
                 twins > 2 ? "" : "es");
    ny_log(ctx, NY_LOG_WARNING,
           "%s: column %zu (from 0) has the name of an earlier one, '%s'%s: files whose columns "
           "stand in another order cannot be matched to these by their names later",
           file, first->column, ny_shown(first->name, strlen(first->name)).text, more);
}

void ny_import_warn_columns(const struct ny_import *import, const struct ny_reader *reader,
                            const char *file)
{
    const struct ny_names *names = ny_reader_column_names(reader);
    const char *name = names->text;
    struct named *columns;

    if (!names->count || import->append || import->files > 1) return;
    columns = ny_calloc(import->ctx, NY_MEM_IO, names->count, sizeof(*columns));
    if (!columns) { /* a warning is not worth an import */
        ny_error_clear(import->ctx);
        return;
    }
    for (size_t i = 0; i < names->count; i++, name = ny_names_skip(name, 1))
        columns[i] = (struct named){name, i};
    warn_of_twins(import->ctx, columns, names->count, file);
    ny_free(import->ctx, columns);
}

/* Tells which classes an append adds to those of the store: a word that is misspelt is one. */
static void tell_new(const struct ny_import *import, size_t met)
{
    enum { TOLD = 5 };
    char text[TOLD * (sizeof(struct ny_shown) + 4) + 40] = "";
    const char *const *names;
    size_t count, used = 0;

    ny_classes_names(import->classes, &names, &count);
    if (!import->append || !met || count <= met) return;
    for (size_t i = count - met; i < count && i < count - met + TOLD; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s'%s'", used ? ", " : "",
                                 ny_shown(names[i], strlen(names[i])).text);
    if (met > TOLD) snprintf(text + used, sizeof(text) - used, " and %zu more", met - TOLD);
    ny_log(import->ctx, NY_LOG_NOTE, "%s new among the labels, which %s had not so far: %s",
           ny_counted(met, "class is", "classes are").text, ny_store_path(import->store), text);
}

void ny_import_warn_classes(const struct ny_import *import)
{
    enum { FEW = 20 }; /* rows of which many may well differ */
    size_t met = import->classes ? ny_classes_met(import->classes) : 0;
    const char *column = import->reading.label_column;

    if (import->classes) tell_new(import, met);
    if (import->consumed <= FEW || met <= import->consumed / 2) return;
    ny_log(import->ctx, NY_LOG_WARNING,
           "the labels of %llu rows are %llu different words, like names of rows: %s%s",
           (unsigned long long)import->consumed, (unsigned long long)met,
           column ? "import them again with --id-column "
                  : "labels are for classes that several rows share",
           column ? column : "");
}
