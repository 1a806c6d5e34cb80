/*
 * Opens the sources of an import. Each is read as was asked for, and as the rows are that are
 * there: those of the store, those of the shards beside a new one, or those of the sources before
 * it.
 */
#include "api/import_private.h"

#include "api/inspect.h"
#include "base/memory.h"
#include "io/memory.h"

/* ---- what is there ------------------------------------------------------------------------- */

/* A store keeps the layout that it has. */
static int check_layout(const struct ny_import *import)
{
    const struct ny_rows_info *info = &import->there.points.rows;
    enum ny_reading asked = import->asked.reading.reading;

    if (!info->n || asked == NY_READ_AUTO || (info->row_slots > 0) == (asked == NY_READ_SPARSE))
        return NY_OK;
    return ny_fail_idle(import->ctx, "layout", ny_store_path(import->store));
}

/* Rows to append are prepared as those of the store are; words that say otherwise are refused. */
static int check_preparation(const struct ny_import *import)
{
    const struct ny_prepared *asked = &import->asked.spec.preparation;
    const struct ny_prepared *has = &import->there.points.rows.preparation;
    char rows[NY_PREPARED_WORD_BYTES];

    if (!import->there.points.rows.n) return NY_OK;
    if ((!import->asked.rows_typed || (asked->rows == has->rows && asked->total == has->total)) &&
        (!import->asked.values_typed || asked->values == has->values))
        return NY_OK;
    return ny_fail(
        import->ctx, NY_EUSAGE,
        "the rows of %s have --rows %s --values %s; leave both out, or import into another store",
        ny_store_path(import->store), ny_prepared_rows(has, rows), ny_prepared_values(has));
}

/* Words of labels have the numbers of the store's class names, in the first source and all others.
 */
static int begin_classes(struct ny_import *import)
{
    char **names;
    size_t count;
    int err = ny_points_class_names(import->store, &names, &count);

    if (!err) err = ny_classes_new(&import->classes, import->ctx);
    if (!err) err = ny_classes_know(import->classes, names, count);
    if (!err && import->claim) err = ny_claim_classes(import->claim, import->classes);
    ny_free(import->ctx, names);
    return err;
}

static const char *known(const char *column)
{
    return column[0] ? column : NULL;
}

/* Finds out what is there before the first source. */
static int look(struct ny_import *import)
{
    struct ny_import_there *there = &import->there;
    int err = ny_points_stored(import->store, &there->points);

    if (!err) err = check_layout(import);
    if (!err) err = check_preparation(import);
    if (!err && there->points.rows.n && import->claim)
        err = ny_claim_keep(import->claim, import->store);
    if (!err) err = begin_classes(import);
    if (!err) err = ny_points_import_how(import->store, &there->how);
    if (err) return err;
    there->layout = import->asked.reading.reading;
    there->preparation = import->asked.spec.preparation;
    if (!there->points.rows.n)
        ny_import_follow(import);
    else if (there->points.column_names)
        there->columns = (struct ny_columns_like){.whose = ny_store_path(import->store),
                                                  .count = there->points.rows.d,
                                                  .load = ny_points_all_columns,
                                                  .arg = import->store,
                                                  .label_column = known(there->how.label_column),
                                                  .id_column = known(there->how.id_column)};
    return NY_OK;
}

/* ---- how a source is read ------------------------------------------------------------------ */

/* Rows of a new shard are as wide as those of the others, and their indices begin alike. */
static void read_as_shards(const struct ny_import *import, struct ny_reader_options *reading)
{
    if (!reading->dims) {
        reading->dims = import->there.facts.d;
        reading->dims_of = import->claim->who;
    }
    reading->indices = import->there.facts.indices;
    reading->reading = import->there.layout;
}

/* Rows of a further source are as wide as those of the first one, and of the same type. */
static void read_as_before(const struct ny_import *import, struct ny_reader_options *reading,
                           bool is_file)
{
    if (import->spec.dtype != NY_GENOTYPE) reading->dtype = import->spec.dtype;
    reading->dims = import->spec.d;
    reading->dims_of = is_file ? "the file before it has" : "the table before it has";
    reading->indices = import->spec.indices;
    reading->no_labels = !import->spec.labels;
    if (reading->reading == NY_READ_AUTO)
        reading->reading = import->spec.layout == NY_CSR ? NY_READ_SPARSE : NY_READ_DENSE;
}

/* Rows to append are as wide as the points, which a LIBSVM file does not say by itself, and their
 * indices begin as those of the points do. Text is parsed to f64 where the points are f64. */
static void read_as_points(const struct ny_import *import, struct ny_reader_options *reading)
{
    const struct ny_rows_info *info = &import->there.points.rows;

    reading->reading = info->row_slots ? NY_READ_SPARSE : NY_READ_DENSE;
    if (!import->asked.spec.append) return;
    reading->dims = info->d;
    reading->dims_of = "the store has";
    if (import->there.points.indices) reading->indices = import->there.points.indices;
    if (!reading->dtype && info->stored_dtype == NY_F64) reading->dtype = NY_F64;
}

/* Returns how the next source is read. */
static struct ny_reader_options reading_of(const struct ny_import *import, bool is_file)
{
    const struct ny_import_there *there = &import->there;
    struct ny_reader_options reading = import->asked.reading;

    reading.dtype_follows = !reading.dtype;
    reading.scratch = ny_store_folder(import->store);
    reading.classes = import->classes;
    reading.like = there->columns.whose ? &there->columns : NULL;
    reading.no_labels = there->points.rows.n && !there->points.labels;
    if (ny_import_began(import))
        read_as_before(import, &reading, is_file);
    else if (there->facts.d)
        read_as_shards(import, &reading);
    if (there->points.rows.n) read_as_points(import, &reading);
    return reading;
}

enum ny_indices ny_import_indices(const struct ny_import *import, const struct ny_reader *reader)
{
    enum ny_indices before = reading_of(import, true).indices;

    return before ? before : ny_reader_table(reader)->indices;
}

/* ---- opening ------------------------------------------------------------------------------- */

const char *ny_import_name(struct ny_import_source source)
{
    return source.file ? source.file : ny_memory_name(source.table);
}

/* Refuses genotypes beside other rows, and what cannot be done to them. */
static int check_kind(const struct ny_import *import, struct ny_import_source source,
                      const struct ny_file_table *table)
{
    const struct ny_party there = {.whose = "the file before it",
                                   .traits = {.d = table->d, .dtype = import->spec.dtype}},
                          coming = {.whose = ny_import_name(source),
                                    .traits = {.d = table->d, .dtype = table->dtype}};
    int err = ny_points_check_columns(import->store, &coming);

    if (!err) err = ny_traits_compare(import->ctx, &coming, &there, 0, NULL);
    if (err || table->dtype != NY_GENOTYPE) return err;
    if (import->there.layout == NY_READ_SPARSE)
        return ny_fail_idle(import->ctx, "layout", "genotypes");
    if (!ny_prepares(&import->there.preparation)) return NY_OK;
    return ny_fail_idle(import->ctx, import->asked.rows_typed ? "rows" : "values", "genotypes");
}

int ny_import_open(struct ny_import *import, struct ny_import_source source,
                   struct ny_reader **reader)
{
    int err = ny_import_began(import) ? NY_OK : look(import);
    const struct ny_reader_options reading = reading_of(import, source.file != NULL);

    *reader = NULL;
    if (!err)
        err = source.file ? ny_reader_open(reader, import->ctx, source.file, &reading)
                          : ny_reader_open_memory(reader, import->ctx, source.table, &reading);
    if (err) return err;
    err = check_kind(import, source, ny_reader_table(*reader));
    if (err) ny_reader_close(*reader);
    return err;
}
