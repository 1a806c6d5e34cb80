/* ny_import: checks the files that were named, which are then imported into one store
 * (api/import.c) or dealt out to the shards of one (api/import_dealt.c); and reports of both. */
#include <string.h>

#include "api/given.h"
#include "api/import_private.h"
#include "api/inspect.h"
#include "job/fields.h"

/* A store holds numbers alone, from which kernels, means and widths are computed. */
static int check_nan(struct ny_context *ctx, const struct ny_options *options)
{
    const char *nan = options ? ny_options_text(options, "nan") : NULL;

    if (!nan || strcmp(nan, "keep") != 0) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "--nan keep is for embed and transform; give --nan drop");
}

int ny_import(struct ny_context *context, const char *path, const char *const *files, size_t count,
              const struct ny_options *options, struct ny_report **report)
{
    const struct ny_import_files all = {.names = files, .count = count};
    int err = NY_GIVEN(context, path, files);

    if (report) *report = NULL;
    for (size_t i = 0; !err && i < count; i++)
        err = NY_GIVEN(context, files[i]);
    if (!err) err = check_nan(context, options);
    if (err) return err;
    return options && ny_options_is_set(options, "shards")
               ? ny_import_dealt(context, path, &all, options, report)
               : ny_import_all(context, path, &all, options, report);
}

/* ---- reports -------------------------------------------------------------------------------- */

void ny_import_tell_dropped(json_t *object, const struct ny_import_dropped *dropped)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < dropped->told; i++)
        ny_field_append(rows, json_integer((json_int_t)dropped->first[i]));
    ny_field_set_count(object, "dropped", dropped->rows);
    ny_field_set_json(object, "dropped_rows", rows);
}

json_t *ny_import_report(const struct ny_rows_info *info, const struct ny_import_told *told)
{
    json_t *object = json_object();

    ny_field_set_count(object, "n", info->n);
    ny_field_set_count(object, "d", info->d);
    ny_field_set_text(object, "dtype", ny_dtype_name(info->dtype));
    ny_describe_preparation(object, info);
    ny_field_set_text(object, "format", info->row_slots ? "sparse" : "dense");
    ny_field_set_json(object, "nnz",
                      info->row_slots ? json_integer((json_int_t)info->nnz) : json_null());
    ny_field_set_count(object, "rows", told->rows);
    ny_import_tell_dropped(object, told->dropped);
    ny_field_set_count(object, "values_left_out", told->values_left_out);
    ny_field_set_json(object, "shard", json_null());
    ny_field_set_count(object, "bytes", info->raw_bytes);
    ny_field_set_count(object, "compressed_bytes", told->stored_bytes);
    ny_field_set_count(object, "bytes_added", told->bytes_added);
    ny_field_set_number(object, "seconds", told->seconds);
    ny_field_set_peak(object);
    ny_field_set_count(object, "memory_budget_bytes", told->budget);
    return object;
}
