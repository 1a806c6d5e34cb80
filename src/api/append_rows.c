/*
 * ny_append_rows: rows in memory into the points of a store. The call is one import: its rows
 * become visible together, and a call of the same rows and labels after a kill goes on behind those
 * that were staged.
 */
#include "api/given.h"
#include "api/options.h"
#include "base/checksum.h"
#include "store/store.h"

/* Says which rows and labels these are, so that a killed call of the same ones is gone on with. */
static uint64_t fingerprint_of(const float *values, uint64_t rows, uint64_t d, const double *labels)
{
    const uint64_t both[2] = {ny_checksum(values, (size_t)(rows * d) * sizeof(*values)),
                              labels ? ny_checksum(labels, (size_t)rows * sizeof(*labels)) : 0};

    return ny_checksum(both, sizeof(both));
}

int ny_append_rows(struct ny_context *context, const char *path, const float *values, uint64_t rows,
                   uint64_t d, const double *labels)
{
    struct ny_ingest_spec spec = {.d = d, .dtype = NY_F32, .labels = labels, .append = true};
    struct ny_rows batch = {
        .values = values, .labels = labels, .count = (size_t)rows, .consumed = rows};
    struct ny_store *store = NULL;
    struct ny_ingest *ingest = NULL;
    struct ny_points_info info;
    uint64_t consumed;
    int err;

    err = NY_GIVEN(context, path, values);
    if (!err) err = ny_given_rows(context, rows, d);
    if (err) return err;
    err = ny_store_create(&store, context, path);
    if (err) goto done;
    err = ny_points_info(store, &info);
    if (err) goto done;
    spec.append = info.n > 0;
    spec.fingerprint = fingerprint_of(values, rows, d, labels);
    err = ny_ingest_begin(&ingest, store, &spec, &consumed);
    if (err == NY_END) err = NY_OK; /* a killed call of the same rows committed all of them */
    if (err || !ingest) goto done;
    if (consumed) { /* what a killed call of the same rows committed */
        batch.values = values + consumed * d;
        batch.labels = labels ? labels + consumed : NULL;
        batch.count = (size_t)(rows - consumed);
    }
    err = ny_ingest_rows(ingest, &batch);
    if (err == NY_OK) err = ny_ingest_commit(ingest);
    if (err) ny_ingest_discard(ingest);
done:
    ny_ingest_free(ingest);
    if (err) ny_store_withdraw(store);
    ny_store_close(store);
    return err;
}
