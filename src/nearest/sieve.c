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
        if (!err && reads) err = knn->X->ops->read(knn->X, knn->spec->slots, row, count, raw);
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
    struct ny_layout l = {.ctx = ctx};
    size_t n = (size_t)knn->n;
    int err = ny_columns_new(&coding.columns, knn->spec);

    coding.all.fine = ny_lay(&sieve->own, NY_MEM_TILES, n, sieve->fine * sizeof(int16_t));
    sieve->fine_code = coding.all.fine;
    if (coding.all.fine) ny_sieve_codes_lay(&l, &coding.all, sieve, n);
    if (!err) err = sieve->own.err ? sieve->own.err : l.err;
    if (!err) err = ny_parallel(ctx, knn->workers, code_points, &coding);
    for (unsigned w = 0; w < knn->workers; w++) {
        sieve->error = fmax(sieve->error, sieve->worker[w].error);
        sieve->fine_error = fmax(sieve->fine_error, sieve->worker[w].fine_error);
    }
    if (!err) err = ny_sieve_cells_new(sieve, coding.all.code, nearly);
    ny_layout_free(&l);
    ny_columns_free(coding.columns);
    return err;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Describes codes: bytes that are compared as they are. */
static void describe_codes(struct ny_sieve *sieve)
{
    for (size_t k = 0; sieve->geometry.factor && k < sieve->columns; k++)
        sieve->geometry.factor[k] = 1;
    sieve->code = (struct ny_columns_spec){.ctx = sieve->spec->ctx,
                                           .kernel = &ny_kernel_euclidean,
                                           .params = {.gamma = 1},
                                           .geometry = &sieve->geometry,
                                           .dtype = NY_U8};
}

static void lay(struct ny_layout *l, struct ny_sieve *sieve, unsigned workers)
{
    size_t q = sieve->columns;

    sieve->basis = ny_lay(l, NY_MEM_TILES, sieve->spec->geometry->d, sieve->fine * sizeof(float));
    sieve->geometry = (struct ny_geometry){.d = q,
                                           .centre = ny_lay(l, NY_MEM_TILES, q, sizeof(double)),
                                           .factor = ny_lay(l, NY_MEM_TILES, q, sizeof(double))};
    describe_codes(sieve);
    sieve->worker = ny_lay(l, NY_MEM_TILES, workers, sizeof(*sieve->worker));
    for (unsigned w = 0; sieve->worker && w < workers; w++)
        ny_sieve_worker_lay(l, &sieve->worker[w], sieve->spec, &sieve->code, sieve->fine);
}

void ny_sieve_count(struct ny_layout *l, const struct ny_knn *knn,
                    const struct ny_columns_spec *spec, size_t held, size_t rows, bool points)
{
    const size_t small_bytes = 64 << 10;
    size_t n = (size_t)knn->n, d = spec->geometry->d;
    size_t reading = held < n ? knn->workers * TAKEN_ROWS * ny_raw_bytes(knn->spec) : 0;
    double centre[NY_SIEVE_COLUMNS] = {0}, factor[NY_SIEVE_COLUMNS];
    struct ny_sieve sieve = {.spec = spec,
                             .columns = d < NY_SIEVE_COLUMNS ? d : NY_SIEVE_COLUMNS,
                             .fine = d < NY_SIEVE_FINE ? d : NY_SIEVE_FINE};
    struct ny_sieve_codes all = {0};
    struct ny_layout_mark mark;

    lay(l, &sieve, knn->workers);
    sieve.geometry = (struct ny_geometry){.d = sieve.columns, .centre = centre, .factor = factor};
    describe_codes(&sieve);
    ny_sieve_workers_count(l, knn, spec, &sieve.code);
    ny_held_count(l, knn->spec, n, held, knn->workers);
    ny_lay(l, NY_MEM_TILES, n, sieve.fine * sizeof(int16_t));
    ny_layout_add(l, NY_MEM_TILES, small_bytes);
    ny_columns_count(l, &sieve.code, n);
    ny_sieve_cells_count(l, &sieve.code, n, knn->workers);
    mark = ny_layout_mark(l);
    ny_sieve_basis_count(l, knn);
    ny_layout_back(l, &mark);
    ny_sieve_codes_lay(l, &all, &sieve, n);
    ny_lay_peak(l, NY_MEM_STORE, 1, reading);
    ny_sieve_cells_making_count(l, n);
    ny_layout_back(l, &mark);
    ny_sieve_search_count(l, knn, spec, rows, points ? NY_SIEVE_PILOT : rows);
}

int ny_sieve_new(struct ny_sieve *sieve, const struct ny_knn *knn,
                 const struct ny_columns_spec *spec, size_t held, bool nearly)
{
    size_t d = spec->geometry->d;
    int err;

    *sieve = (struct ny_sieve){.knn = knn,
                               .spec = spec,
                               .columns = d < NY_SIEVE_COLUMNS ? d : NY_SIEVE_COLUMNS,
                               .fine = d < NY_SIEVE_FINE ? d : NY_SIEVE_FINE,
                               .scan = ny_vector()->scan};
    sieve->own.ctx = spec->ctx;
    lay(&sieve->own, sieve, knn->workers);
    err = sieve->own.err;
    for (unsigned w = 0; w < knn->workers && !err; w++) {
        err = ny_columns_new(&sieve->worker[w].own, &sieve->code);
        if (!err) err = ny_one_row_init(&sieve->worker[w].one, spec);
    }
    if (!err) err = ny_held_new(&sieve->held, knn->X, knn->spec, knn->n, held, knn->workers);
    if (!err) err = ny_sieve_basis(sieve);
    return err ? err : make_codes(sieve, nearly);
}

void ny_sieve_release(struct ny_sieve *sieve)
{
    if (!sieve->spec) return;
    for (unsigned w = 0; sieve->worker && w < sieve->knn->workers; w++) {
        ny_columns_free(sieve->worker[w].own);
        ny_one_row_release(&sieve->worker[w].one);
    }
    ny_held_release(&sieve->held);
    ny_columns_free(sieve->cells.centres);
    ny_columns_free(sieve->codes);
    ny_layout_free(&sieve->own);
    *sieve = (struct ny_sieve){0};
}
