/*
 * Writes the parts of a finished result to files (results/export.h): tables (results/beside.c),
 * names, the model as its image, and a graph (results/graph_export.c). A regular file is there as a
 * whole or not at all (io/writer.h).
 */
#include "results/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "results/beside.h"
#include "results/current.h"
#include "model/extension.h"
#include "results/graph_export.h"
#include "results/names.h"
#include "results/shards.h"
#include "results/stored_model.h"
#include "spectral/method.h"

/* Writes the image of the model, which ny_model_read() reads, to the output. Refuses a result
 * whose model is not in one piece, and says how to place new rows by it. */
static int write_model(struct ny_result *result, const char *output)
{
    size_t bytes = (size_t)ny_field_count(result->record, "model_bytes", 0);
    const char *approx = ny_field_text(result->report, "approx");
    const struct ny_method *method = approx ? ny_method_find(approx) : NULL;
    bool landmarks = ny_field_count(result->report, "landmarks", 0) > 0;
    struct ny_writer *writer = NULL;
    struct ny_model *model = NULL;
    void *image = NULL;
    int err = ny_result_has_model(result->ctx, result->name, ny_record_of(result->record));

    if (err) return err;
    if (!bytes) return ny_result_lacks(result->store, result->name, "model");
    if (method && method->all_rows && landmarks)
        return ny_fail(result->ctx, NY_EUSAGE,
                       "the model of '%s' would be all points of %s; place rows with 'nystream "
                       "transform'",
                       result->name, ny_store_path(result->store));
    err = ny_model_of_result(&model, result->store, result->name);
    if (!err) err = ny_model_take_columns(model, result->store);
    err = ny_result_current(result, NULL, err);
    if (err) goto done;
    bytes = ny_model_save(model, NULL);
    image = ny_alloc(result->ctx, NY_MEM_MODEL, bytes);
    err = NY_EBUDGET;
    if (!image) goto done;
    ny_model_save(model, image);
    err = ny_writer_open(&writer, result->ctx, output, NY_OUT_BYTES, bytes, 0);
    if (!err) err = ny_writer_rows(writer, image, bytes);
    err = ny_writer_commit(writer, err);
done:
    ny_free(result->ctx, image);
    ny_model_free(model);
    return err;
}

/* Writes the names of the rows that the result has (NULL: of all), or those of columns. */
static int write_names(struct ny_store *store, struct ny_result *result, const char *part,
                       const char *output, uint64_t *missing)
{
    struct ny_names_part names;
    int err = ny_names_part_find(&names, store, result, part);

    return err ? err : ny_names_part_export(&names, output, missing);
}

int ny_part_check(struct ny_context *ctx, const char *name)
{
    const char *const *parts = ny_parts();
    char list[288];
    size_t count = 0;

    for (; parts[count]; count++)
        if (strcmp(parts[count], name) == 0) return NY_OK;
    ny_join(parts, count, list, sizeof(list));
    return ny_fail_value(ctx, "part", list, name);
}

int ny_part_export(struct ny_store *store, const char *name, const char *part, const char *output,
                   uint64_t *missing)
{
    const struct ny_beside table = {.end = UINT64_MAX, .missing = missing};
    struct ny_result result;
    int err;

    if (ny_part_find(part)) return ny_part_export_beside(store, name, part, output, &table);
    if (!name) return write_names(store, NULL, part, output, missing);
    err = ny_result_open_any(&result, store, name);
    if (err == NY_OK)
        err = strcmp(part, "graph") == 0 ? ny_graph_export(&result, output)
              : ny_is_names_part(part)   ? write_names(store, &result, part, output, missing)
                                         : write_model(&result, output);
    ny_result_close_any(&result);
    return err;
}
