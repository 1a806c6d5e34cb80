/* Reports of imports, into one store or dealt out to shards. */
#include "api/import_private.h"
#include "api/inspect.h"
#include "records/fields.h"

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
    ny_field_set_count(object, "bytes", ny_points_raw_bytes(info));
    ny_field_set_count(object, "compressed_bytes", told->stored_bytes);
    ny_field_set_count(object, "bytes_added", told->bytes_added);
    ny_field_set_number(object, "seconds", told->seconds);
    ny_field_set_peak(object);
    ny_field_set_count(object, "memory_budget_bytes", told->budget);
    return object;
}
