/* Values that the type of the store does not have: f64 is rounded to f32, all else is refused. */
#include "store/ingest_private.h"

int ny_ingest_misfit(struct ny_ingest *ingest, uint64_t row, size_t column)
{
    return ny_fail_at(
        ingest->ctx, NY_EDATA, NULL, row,
        "row %llu, column %zu (both from 0): the number is none of %s, the type of %s; round it",
        (unsigned long long)row, column, ny_dtype_name(ingest->dtype), ingest->store->path);
}
