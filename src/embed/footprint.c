/* Memory of a fit, stage by stage: the sums of what each stage allocates. */
#include "embed/embedding.h"
#include "embed/plan.h"
#include "embed/projector.h"

/* Code, libraries, stacks and BLAS buffers: measured resident sets, rounded up. */
static const size_t process_bytes = 14 << 20, worker_bytes = 3 << 20;
/* Dirty pages of LMDB and the copy they are made from (store.h: ny_batch_bytes_max). */
static const size_t batch_max = 64 << 20, batch_share = 8;

/* Bytes by purpose of one stage. */
struct bill {
    size_t by_purpose[NY_PURPOSES];
};

static size_t total(const struct bill *bill)
{
    size_t sum = 0;

    for (int p = 0; p < NY_PURPOSES; p++)
        sum += bill->by_purpose[p];
    return sum;
}

static size_t element_of(const struct ny_footprint *f)
{
    return f->settings->precision == NY_PRECISION_F64 ? sizeof(double) : sizeof(float);
}

static size_t row_bytes(const struct ny_footprint *f)
{
    return (size_t)f->points->d * ny_dtype_size(f->points->dtype);
}

static size_t batch_bytes(size_t limit)
{
    return limit / batch_share < batch_max ? limit / batch_share : batch_max;
}

/* Process, geometry, the source's blocks and their mapped pages. */
static struct bill common(const struct ny_footprint *f, unsigned workers)
{
    struct bill bill = {{0}};
    size_t block = (size_t)f->points->block_rows * row_bytes(f);

    bill.by_purpose[NY_MEM_PROCESS] = process_bytes + workers * worker_bytes;
    bill.by_purpose[NY_MEM_OTHER] = 4 * (size_t)f->points->d * sizeof(double);
    bill.by_purpose[NY_MEM_STORE] =
        ny_source_of_points_bytes((size_t)f->points->block_rows, (size_t)f->points->d,
                                  f->points->dtype, workers) +
        workers * block;
    return bill;
}

static struct bill select_bill(const struct ny_footprint *f, unsigned workers)
{
    struct bill bill = common(f, workers);
    struct ny_selection_request request = {.ctx = f->ctx,
                                           .n = f->points->n,
                                           .spec = &f->spec,
                                           .landmarks = f->settings->landmarks,
                                           .dictionary = f->settings->dictionary,
                                           .workers = workers};

    if (f->settings->rule->by_tolerance)
        bill.by_purpose[NY_MEM_DICTIONARY] = ny_greedy_bytes(&request, f->m);
    else
        bill.by_purpose[NY_MEM_DICTIONARY] = 4 * f->m * sizeof(uint64_t);
    return bill;
}

/* Landmarks, W and the shift, which all stages between select and project hold. */
static void add_landmarks(const struct ny_footprint *f, struct bill *bill)
{

    bill->by_purpose[NY_MEM_DICTIONARY] +=
        ny_columns_bytes(&f->spec, f->m) + f->m * (sizeof(uint64_t) + sizeof(double));
    bill->by_purpose[NY_MEM_SOLVE] += f->m * f->m * sizeof(double);
}

static struct bill prepare_bill(const struct ny_footprint *f)
{
    struct bill bill = common(f, 0);
    size_t threads = f->settings->threads, d = (size_t)f->points->d;

    add_landmarks(f, &bill);
    bill.by_purpose[NY_MEM_PROCESS] += threads * worker_bytes;
    bill.by_purpose[NY_MEM_DICTIONARY] += f->m * row_bytes(f);
    if (ny_settings_needs_gram(f->settings))
        bill.by_purpose[NY_MEM_SOLVE] += ny_gram_choose_bytes(f->m);
    bill.by_purpose[NY_MEM_TILES] += threads * NY_STRIP_ROWS * (2 * d + f->m) * sizeof(double);
    return bill;
}

static struct bill accumulate_bill(const struct ny_footprint *f, unsigned workers)
{
    struct bill bill = common(f, workers);

    add_landmarks(f, &bill);
    bill.by_purpose[NY_MEM_GRAM] = ny_accumulator_bytes(f->m) + ny_accumulator_image_bytes(f->m) +
                                   workers * ny_partial_bytes(f->m, NY_GRAM_F64);
    bill.by_purpose[NY_MEM_TILES] =
        workers * ny_tiles_bytes(&f->spec, f->m, f->settings->precision);
    return bill;
}

static struct bill solve_bill(const struct ny_footprint *f)
{
    const struct ny_fit_settings *settings = f->settings;
    struct bill bill = common(f, 0);
    size_t map = f->m * settings->components * sizeof(double);
    size_t rank = ny_settings_rank(settings, f->m);

    add_landmarks(f, &bill);
    bill.by_purpose[NY_MEM_PROCESS] += settings->threads * worker_bytes;
    if (ny_settings_needs_gram(settings)) bill.by_purpose[NY_MEM_GRAM] = ny_accumulator_bytes(f->m);
    bill.by_purpose[NY_MEM_SOLVE] += settings->method->bytes(f->m, settings->components, rank);
    bill.by_purpose[NY_MEM_MODEL] = 3 * map + 2 * f->m * row_bytes(f);
    return bill;
}

static struct bill project_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    const struct ny_fit_settings *settings = f->settings;
    struct bill bill = common(f, workers);
    struct ny_embedding_layout layout =
        ny_embedding_layout(f->points->n, settings->components, element_of(f));
    size_t output = ny_embedding_writer_bytes(&layout, batch_bytes(limit));

    bill.by_purpose[NY_MEM_MODEL] =
        f->m * settings->components * sizeof(double) + f->m * row_bytes(f);
    bill.by_purpose[NY_MEM_TILES] =
        ny_projector_bytes(&f->spec, f->m, settings->components, settings->precision, workers);
    bill.by_purpose[NY_MEM_STORE] += 2 * output;
    return bill;
}

size_t ny_footprint_peak(const struct ny_footprint *footprint, unsigned workers, size_t limit,
                         size_t by_purpose[NY_PURPOSES])
{
    struct bill bills[] = {select_bill(footprint, workers), prepare_bill(footprint),
                           accumulate_bill(footprint, workers), solve_bill(footprint),
                           project_bill(footprint, workers, limit)};
    size_t peak = 0;

    for (size_t stage = 0; stage < sizeof(bills) / sizeof(bills[0]); stage++) {
        size_t bytes = total(&bills[stage]);

        if (stage == 2 && !ny_settings_needs_gram(footprint->settings)) continue;
        if (bytes <= peak) continue;
        peak = bytes;
        for (int p = 0; by_purpose && p < NY_PURPOSES; p++)
            by_purpose[p] = bills[stage].by_purpose[p];
    }
    return peak;
}

unsigned ny_footprint_workers(const struct ny_footprint *footprint, unsigned threads)
{
    size_t limit = ny_memory_limit(footprint->ctx);

    while (threads > 0 && ny_footprint_peak(footprint, threads, limit, NULL) > limit)
        threads--;
    return threads;
}

size_t ny_footprint_minimum(const struct ny_footprint *footprint)
{
    size_t limit = 0;

    /* The buffers that grow with the budget stop growing at a share of it: a few steps settle. */
    for (int step = 0; step < 16; step++) {
        size_t peak = ny_footprint_peak(footprint, 1, limit, NULL);

        if (peak <= limit) break;
        limit = peak;
    }
    return limit;
}
