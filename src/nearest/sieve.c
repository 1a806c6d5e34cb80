/* Makes a sieve of the points (nearest/sieve.h): holds them, and makes their codes. */
#include "nearest/sieve.h"

#include <math.h>

#include "base/memory.h"
#include "base/thread.h"
#include "columns/kernels.h"
#include "nearest/sieve_private.h"
#include "stream/rows.h"

/* Points whose codes a worker makes at a time. */
enum { TAKEN_ROWS = 8 * NY_SIEVE_STRIP };

/* ---- codes of the points -------------------------------------------------------------------- */

struct coding {
    struct ny_sieve *sieve;
    struct ny_columns *columns;
    struct ny_sieve_codes all;
};

static int code_points(void *arg, unsigned worker)
{
    const struct coding *coding = arg;
    struct ny_sieve *sieve = coding->sieve;
    struct ny_sieve_worker *own = &sieve->worker[worker];
    const struct ny_knn *knn = sieve->knn;
    const uint64_t step = (uint64_t)knn->workers * TAKEN_ROWS;
    size_t row_bytes = ny_raw_bytes(knn->spec);
    struct ny_context *ctx = knn->spec->ctx;
    bool reads = !ny_held_all(&sieve->held);
    char *raw = ny_alloc(ctx, NY_MEM_STORE, reads ? TAKEN_ROWS * row_bytes : 0);
    int err = raw ? NY_OK : NY_EBUDGET;

    for (uint64_t row = (uint64_t)worker * TAKEN_ROWS; row < knn->n && !err; row += step) {
        size_t count = knn->n - row < TAKEN_ROWS ? (size_t)(knn->n - row) : TAKEN_ROWS;
        const char *at = reads ? raw : ny_held_row(&sieve->held, row);

        err = ny_check_interrupt(ctx);
        if (!err && reads) err = knn->X->ops->read(knn->X, 0, row, count, raw);
        for (size_t i = 0; i < count && !err; i += NY_SIEVE_STRIP) {
            struct ny_sieve_codes out =
                ny_sieve_codes_from(sieve, &coding->all, (size_t)row + i, NY_SIEVE_STRIP);

            ny_sieve_strip(sieve, own, coding->columns, ny_raw_rows(at + i * row_bytes), &out);
            for (size_t k = 0; k < out.count; k++) {
                own->error = fmax(own->error, out.error[k]);
                own->fine_error = fmax(own->fine_error, out.fine_error[k]);
            }
        }
    }
    ny_free(ctx, raw);
    return err;
}

static int make_codes(struct ny_sieve *sieve, bool nearly)
{
    const struct ny_knn *knn = sieve->knn;
    struct ny_context *ctx = knn->spec->ctx;
    struct coding coding = {.sieve = sieve};
    int err = ny_columns_new(&coding.columns, knn->spec);

    if (!err) err = ny_sieve_codes_new(&coding.all, sieve, (size_t)knn->n);
    if (!err) err = ny_parallel(ctx, knn->workers, code_points, &coding);
    for (unsigned w = 0; w < knn->workers; w++) {
        sieve->error = fmax(sieve->error, sieve->worker[w].error);
        sieve->fine_error = fmax(sieve->fine_error, sieve->worker[w].fine_error);
    }
    sieve->fine_code = coding.all.fine;
    coding.all.fine = NULL;
    if (!err) err = ny_sieve_cells_new(sieve, coding.all.code, nearly);
    ny_sieve_codes_release(&coding.all, ctx);
    ny_columns_free(coding.columns);
    return err;
}

/* ---- workers -------------------------------------------------------------------------------- */

static int worker_init(struct ny_sieve_worker *worker, const struct ny_sieve *sieve)
{
    struct ny_context *ctx = sieve->spec->ctx;
    size_t d = sieve->spec->geometry->d, strip = NY_SIEVE_STRIP;
    int err;

    worker->prepared = ny_calloc(ctx, NY_MEM_TILES, d, sizeof(double));
    worker->narrow = ny_calloc(ctx, NY_MEM_TILES, strip * d, sizeof(float));
    worker->parts = ny_calloc(ctx, NY_MEM_TILES, strip * sieve->fine, sizeof(float));
    worker->tile = ny_calloc(ctx, NY_MEM_TILES, strip * NY_WATCH_COLS, sizeof(float));
    worker->raw = ny_calloc(ctx, NY_MEM_TILES, NY_SIEVE_PIECE, ny_raw_bytes(sieve->spec));
    worker->values = ny_calloc(ctx, NY_MEM_TILES, NY_SIEVE_PIECE, sizeof(double));
    worker->visitors = ny_calloc(ctx, NY_MEM_TILES, strip * NY_SIEVE_REACH, sizeof(uint32_t));
    if (!worker->prepared || !worker->narrow || !worker->parts || !worker->tile || !worker->raw ||
        !worker->values || !worker->visitors)
        return NY_EBUDGET;
    err = ny_columns_new(&worker->own, &sieve->code);
    if (!err) err = ny_columns_workspace_new(&worker->in, &sieve->code, strip);
    return err ? err : ny_one_row_init(&worker->one, sieve->spec);
}

static void worker_release(struct ny_sieve_worker *worker, struct ny_context *ctx)
{
    ny_free(ctx, worker->prepared);
    ny_free(ctx, worker->narrow);
    ny_free(ctx, worker->parts);
    ny_free(ctx, worker->tile);
    ny_free(ctx, worker->raw);
    ny_free(ctx, worker->values);
    ny_free(ctx, worker->visitors);
    ny_free(ctx, worker->visits);
    ny_columns_free(worker->own);
    ny_columns_workspace_free(worker->in);
    ny_one_row_release(&worker->one, ctx);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Describes codes: bytes that are compared as they are. */
static int describe_codes(struct ny_sieve *sieve)
{
    struct ny_context *ctx = sieve->spec->ctx;
    size_t q = sieve->columns;
    struct ny_geometry *geometry = &sieve->geometry;

    geometry->d = q;
    geometry->centre = ny_calloc(ctx, NY_MEM_TILES, q, sizeof(double));
    geometry->factor = ny_calloc(ctx, NY_MEM_TILES, q, sizeof(double));
    if (!geometry->centre || !geometry->factor) return NY_EBUDGET;
    for (size_t k = 0; k < q; k++)
        geometry->factor[k] = 1;
    sieve->code = (struct ny_columns_spec){.ctx = ctx,
                                           .kernel = &ny_kernel_euclidean,
                                           .params = {.gamma = 1},
                                           .geometry = geometry,
                                           .dtype = NY_U8};
    return NY_OK;
}

size_t ny_sieve_bytes(const struct ny_knn *knn, const struct ny_columns_spec *spec, size_t held,
                      size_t rows, bool points)
{
    size_t n = (size_t)knn->n, d = spec->geometry->d, row_bytes = ny_raw_bytes(knn->spec);
    double centre[NY_SIEVE_COLUMNS] = {0}, factor[NY_SIEVE_COLUMNS];
    struct ny_geometry geometry = {d < NY_SIEVE_COLUMNS ? d : NY_SIEVE_COLUMNS, centre, factor};
    struct ny_columns_spec code = *spec;
    size_t reading = held < n ? knn->workers * TAKEN_ROWS * row_bytes : 0, making, searching, fine;

    for (size_t k = 0; k < NY_SIEVE_COLUMNS; k++)
        factor[k] = 1;
    code.kernel = &ny_kernel_euclidean;
    code.geometry = &geometry;
    code.dtype = NY_U8;
    fine = d < NY_SIEVE_FINE ? d : NY_SIEVE_FINE;
    making = n * (geometry.d + 2 * sizeof(double)) +
             (reading > ny_sieve_cells_making_bytes(n) ? reading : ny_sieve_cells_making_bytes(n));
    if (making < ny_sieve_basis_bytes(knn)) making = ny_sieve_basis_bytes(knn);
    searching = ny_sieve_search_bytes(knn, spec, &code, rows, points ? NY_SIEVE_PILOT : rows);
    return ny_held_bytes(knn->spec, n, held, knn->workers) + ny_columns_bytes(&code, n) +
           ny_sieve_cells_bytes(&code, n, knn->workers) + d * fine * sizeof(float) +
           n * fine * sizeof(int16_t) + making + searching + ((size_t)64 << 10);
}

int ny_sieve_new(struct ny_sieve *sieve, const struct ny_knn *knn,
                 const struct ny_columns_spec *spec, size_t held, bool nearly)
{
    struct ny_context *ctx = spec->ctx;
    size_t d = spec->geometry->d;
    int err;

    *sieve = (struct ny_sieve){.knn = knn,
                               .spec = spec,
                               .held = {.ctx = ctx},
                               .columns = d < NY_SIEVE_COLUMNS ? d : NY_SIEVE_COLUMNS,
                               .fine = d < NY_SIEVE_FINE ? d : NY_SIEVE_FINE,
                               .scan = ny_vector()->scan};
    sieve->basis = ny_calloc(ctx, NY_MEM_TILES, d, sieve->fine * sizeof(float));
    sieve->worker = ny_calloc(ctx, NY_MEM_TILES, knn->workers, sizeof(*sieve->worker));
    err = sieve->basis && sieve->worker ? describe_codes(sieve) : NY_EBUDGET;
    for (unsigned w = 0; w < knn->workers && !err; w++)
        err = worker_init(&sieve->worker[w], sieve);
    if (!err) err = ny_held_new(&sieve->held, knn->X, knn->spec, knn->n, held, knn->workers);
    if (!err) err = ny_sieve_basis(sieve);
    return err ? err : make_codes(sieve, nearly);
}

void ny_sieve_release(struct ny_sieve *sieve)
{
    struct ny_context *ctx = sieve->spec ? sieve->spec->ctx : NULL;

    if (!ctx) return;
    for (unsigned w = 0; sieve->worker && w < sieve->knn->workers; w++)
        worker_release(&sieve->worker[w], ctx);
    ny_free(ctx, sieve->worker);
    ny_free(ctx, sieve->basis);
    ny_free(ctx, sieve->fine_code);
    ny_held_release(&sieve->held);
    ny_sieve_cells_release(&sieve->cells, ctx);
    ny_columns_free(sieve->codes);
    ny_free(ctx, sieve->geometry.centre);
    ny_free(ctx, sieve->geometry.factor);
    *sieve = (struct ny_sieve){0};
}
