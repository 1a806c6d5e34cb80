/* Values that the type of the store does not have, as messages tell of them: f64 is rounded to f32,
 * all else is refused. */
#include "store/ingest_private.h"

int ny_ingest_misfit(struct ny_ingest *ingest, uint64_t row, size_t column, double value)
{
    return ny_fail_at(
        ingest->ctx, NY_EDATA, NULL, row,
        "row %llu, column %zu (both from 0): %.17g is not a value of %s, the type of %s; import "
        "into another store, or round it",
        (unsigned long long)row, column, value, ny_dtype_name(ingest->dtype), ingest->store->path);
}

void ny_ingest_rounded(struct ny_ingest *ingest, uint64_t row, size_t column, double value)
{
    const char *type = ny_dtype_name(ingest->dtype);

    if (ingest->rounded_told) return;
    ingest->rounded_told = true;
    ny_log(ingest->ctx, NY_LOG_WARNING,
           "values are rounded to %s, the type of %s: the first is %.17g in row %llu, column %zu "
           "(both from 0); "
           "--dtype %s says that this is meant, and a new store with --dtype %s keeps them",
           type, ingest->store->path, value, (unsigned long long)row, column, type,
           ny_dtype_name(ingest->spec.dtype));
}
