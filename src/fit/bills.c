/* The memory that each stage of a fit allocates. */
#include "results/embedding.h"
#include "fit/footprint_private.h"
#include "fit/gram_noise.h"
#include "spectral/whole.h"
#include "whole/kernel_product.h"
#include "whole/shape.h"
#include "fit/projector.h"
#include "fit/signs.h"
#include "select/draws.h"
#include "spectral/krylov.h"

/* Dirty pages of LMDB and the copy they are made from (store.h: ny_batch_bytes_max). */
static const size_t batch_max = 64 << 20, batch_share = 8;
/* Headers of blocks, and what has the size of a landmark's row or less. */
static const size_t small_bytes = 256 << 10;

static size_t element_of(const struct ny_footprint *f)
{
    return ny_precision_bytes(f->settings->precision);
}

static size_t row_bytes(const struct ny_footprint *f)
{
    return ny_points_row_bytes(f->points);
}

static size_t batch_bytes(size_t limit)
{
    size_t bytes = limit / batch_share < batch_max ? limit / batch_share : batch_max;

    return bytes > NY_CHUNK_BYTES ? bytes : NY_CHUNK_BYTES;
}

/* Dirty pages while an array of so many bytes is put. */
static size_t put_bytes(size_t limit, size_t bytes)
{
    size_t chunks = (bytes / NY_CHUNK_BYTES + 1) * NY_CHUNK_BYTES;

    return chunks < batch_bytes(limit) ? chunks : batch_bytes(limit);
}

/* One block in memory and one in the map, of a gather. */
static size_t gather_bytes(const struct ny_footprint *f, size_t rows)
{
    const size_t wish_bytes = 16;

    return 2 * ny_points_block_bytes(f->points) + rows * wish_bytes;
}

size_t ny_footprint_blas_bytes(const struct ny_footprint *f, unsigned workers)
{
    size_t bytes = ny_blas_bytes(f->settings->threads, workers, f->m);

    return bytes > f->blas_bytes ? bytes : f->blas_bytes;
}

/* `count` arrays of a number a column. */
static size_t arrays_bytes(const struct ny_footprint *f, size_t count)
{
    return count * (size_t)f->points->d * sizeof(double);
}

/* Bytes that all stages hold: the process, BLAS, decoders and the geometry. */
static struct bill common(const struct ny_footprint *f, unsigned workers, unsigned readers)
{
    struct bill bill = {{0}};

    bill.by_purpose[NY_MEM_PROCESS] = NY_PROCESS_BYTES + ny_footprint_blas_bytes(f, workers);
    bill.by_purpose[NY_MEM_OTHER] = small_bytes + arrays_bytes(f, 2);
    bill.by_purpose[NY_MEM_STORE] = ny_reading_bytes(readers + 2); /* of points, and of results */
    return bill;
}

/* Bytes of the source of a pass over the points; for given columns, with the reader's buffers. */
static size_t source_bytes(const struct ny_footprint *f, unsigned workers)
{
    const size_t reader_bytes = (size_t)2 << 20;

    return ny_source_of_points_bytes(f->points, workers) +
           (f->settings->columns_file ? reader_bytes : 0);
}

/* f64 tiles are exact values. */
static size_t exact_bytes(const struct ny_footprint *f)
{
    return f->settings->precision == NY_PRECISION_F64 ? ny_columns_exact_bytes(&f->spec, 1) : 0;
}

/* The machine is measured while nothing else runs. */
struct bill ny_plan_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill bill = common(f, workers, 1);
    size_t held = ny_bill_total(&bill);

    if (limit > held) bill.by_purpose[NY_MEM_OTHER] += ny_calibration_bytes(workers, limit - held);
    return bill;
}

/* The geometry is made from statistics of four arrays, which are read from a record of four. */
struct bill ny_stats_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill bill = common(f, workers, 1);

    bill.by_purpose[NY_MEM_STORE] += gather_bytes(f, 0);
    bill.by_purpose[NY_MEM_OTHER] += arrays_bytes(f, 8);
    if (f->settings->gamma_auto)
        bill.by_purpose[NY_MEM_OTHER] +=
            ny_columns_auto_gamma_bytes((size_t)f->points->d, row_bytes(f), limit);
    return bill;
}

/* Bytes of an update's list of new landmarks and of the landmarks before it. */
static size_t earlier_bytes(const struct ny_footprint *f)
{
    return f->settings->updates ? f->m * (6 * sizeof(uint64_t) + row_bytes(f)) : 0;
}

struct bill ny_select_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill bill = common(f, workers, workers);
    size_t *dictionary = &bill.by_purpose[NY_MEM_DICTIONARY], image = 0;
    const struct ny_rule *rule = f->settings->rule;
    bool certifies = ny_settings_certifies(f->settings);
    struct ny_selection_request request = {.ctx = f->ctx,
                                           .n = f->points->n,
                                           .spec = &f->spec,
                                           .landmarks = f->settings->landmarks,
                                           .dictionary = f->settings->dictionary,
                                           .pilot = f->settings->pilot,
                                           .diagonal = ny_settings_diagonal(f->settings),
                                           .workers = workers};

    *dictionary = 4 * f->m * sizeof(uint64_t) + earlier_bytes(f);
    if (!rule->bytes && !certifies) return bill;
    if (certifies) *dictionary += ny_certify_bytes(&request, f->m);
    if (rule->bytes) {
        size_t own = rule->bytes(&request, f->m) + earlier_bytes(f);

        image = rule->image_bytes(&request, f->m);
        if (*dictionary < own + image) *dictionary = own + image;
    }
    bill.by_purpose[NY_MEM_STORE] +=
        source_bytes(f, workers) + gather_bytes(f, NY_UNIT_ROWS + f->m) + put_bytes(limit, image);
    return bill;
}

/* ---- methods that work on all of K --------------------------------------------------------- */

static struct ny_products products_of(const struct ny_footprint *f)
{
    return ny_products_of(f->settings, f->points->n);
}

/* The products, then what follows from each; both beside their state. */
static struct bill multiply_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill bill = common(f, workers, workers);
    struct ny_products products = products_of(f);
    size_t state = ny_products_state_bytes(&products);

    bill.by_purpose[NY_MEM_OTHER] += state;
    bill.by_purpose[NY_MEM_STORE] += source_bytes(f, workers) + put_bytes(limit, state);
    bill.by_purpose[NY_MEM_TILES] = ny_kernel_product_bytes(&f->spec, f->points->n, products.w,
                                                            f->settings->precision, workers) +
                                    workers * exact_bytes(f);
    bill.by_purpose[NY_MEM_SOLVE] = ny_orthonormalise_bytes(products.r);
    return bill;
}

static struct bill reduce_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    const size_t hashed_bytes = 32 << 10; /* numbers of the rows that decide signs */
    struct bill bill = common(f, workers, 1);
    struct ny_products products = products_of(f);
    size_t r = products.r, reduce = f->settings->method->whole->bytes(r);
    size_t eigen = ny_eigen_top_bytes(r, products.rank);
    size_t roots = (size_t)f->points->n * sizeof(double);
    size_t pairs = ny_settings_pairs(f->settings), map = r * pairs * sizeof(double);
    size_t signs = NY_SIGN_ROWS * pairs * sizeof(double), most = reduce > eigen ? reduce : eigen;

    bill.by_purpose[NY_MEM_OTHER] += ny_products_state_bytes(&products);
    bill.by_purpose[NY_MEM_STORE] +=
        put_bytes(limit, products.divided && map < roots ? roots : map);
    bill.by_purpose[NY_MEM_DICTIONARY] = hashed_bytes;
    bill.by_purpose[NY_MEM_SOLVE] =
        map + r * (r + products.rank + 6) * sizeof(double) + (most > signs ? most : signs);
    if (f->settings->probes && products.centred) {
        bill.by_purpose[NY_MEM_SOLVE] += roots;
        bill.by_purpose[NY_MEM_STORE] += put_bytes(limit, roots);
    }
    return bill;
}

static struct bill write_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill bill = common(f, workers, 1);
    struct ny_products products = products_of(f);
    size_t width = ny_settings_pairs(f->settings) + f->settings->asymmetric;
    struct ny_embedding_layout layout = ny_embedding_layout(f->points->n, width, element_of(f));

    bill.by_purpose[NY_MEM_OTHER] += ny_products_state_bytes(&products);
    bill.by_purpose[NY_MEM_SOLVE] =
        width * (products.r * sizeof(double) + NY_UNIT_ROWS * (sizeof(double) + sizeof(float)));
    bill.by_purpose[NY_MEM_STORE] += 2 * ny_embedding_writer_bytes(&layout, batch_bytes(limit));
    return bill;
}

/* ---- methods with landmarks ---------------------------------------------------------------- */

/* Bytes of W. */
static size_t square_bytes(const struct ny_footprint *f)
{
    return f->settings->method->whole ? 0 : f->m * f->m * sizeof(double);
}

/* Bytes that pass 1 saves when W is dropped and computed again for stage solve. */
size_t ny_footprint_spare_bytes(const struct ny_footprint *f)
{
    return f->settings->method->krylov ? 0 : square_bytes(f);
}

/* Landmarks, W and the shift, which all stages between select and project hold. */
static void add_landmarks(const struct ny_footprint *f, struct bill *bill)
{
    bill->by_purpose[NY_MEM_DICTIONARY] +=
        ny_columns_bytes(&f->spec, f->m) + f->m * (sizeof(uint64_t) + 2 * sizeof(double));
    bill->by_purpose[NY_MEM_SOLVE] += square_bytes(f);
}

/* Landmarks are gathered, then compared with one another, then looked at. */
struct bill ny_prepare_bill(const struct ny_footprint *f, unsigned workers)
{
    struct bill bill = common(f, workers, 1);
    size_t gather = gather_bytes(f, f->m) + f->m * row_bytes(f);
    size_t square = ny_columns_square_bytes(&f->spec, f->m, workers);
    size_t tiles = ny_fit_check_tiles_bytes(&f->spec, f->m);
    size_t choose = ny_settings_forms_gram(f->settings) ? ny_gram_choose_bytes(f->m) : 0;
    size_t *solve = &bill.by_purpose[NY_MEM_SOLVE];

    if (f->settings->method->whole) return bill;
    add_landmarks(f, &bill);
    if (square < tiles) square = tiles;
    *solve += gather > square ? gather : square;
    *solve += choose;
    return bill;
}

/* Each worker's tile and the roots of its degrees. */
static size_t pass_tiles_bytes(const struct ny_footprint *f, unsigned workers)
{
    return workers * (ny_tiles_bytes(&f->spec, f->m, f->settings->precision) + exact_bytes(f) +
                      NY_UNIT_ROWS * sizeof(double));
}

/* Bytes of the small problem beyond W and the accumulator. */
static size_t problem_bytes(const struct ny_footprint *f)
{
    struct ny_problem problem = ny_settings_problem(f->settings, f->m);

    return f->settings->method->bytes(f->m, ny_settings_pairs(f->settings),
                                      ny_settings_rank(f->settings, f->m), &problem);
}

/* Products with the Gram in place of the Gram. */
static void add_products(const struct ny_footprint *f, unsigned workers, size_t limit,
                         struct bill *bill)
{
    struct ny_problem problem = ny_settings_problem(f->settings, f->m);
    size_t width = ny_krylov_width(&problem, f->m);

    bill->by_purpose[NY_MEM_SOLVE] += problem_bytes(f);
    bill->by_purpose[NY_MEM_STORE] += put_bytes(limit, ny_krylov_state_bytes(&problem, f->m));
    bill->by_purpose[NY_MEM_GRAM] =
        workers * (ny_partial_bytes(f->m, NY_GRAM_NONE) + ny_krylov_partial_bytes(f->m, width));
}

/* The loss of f32 Grams is measured before the sums and the workers' shares of them exist. */
static void add_measure(const struct ny_footprint *f, unsigned workers, struct bill *bill)
{
    size_t bytes = ny_fit_measure_bytes(f->m) + workers * ny_fit_measure_worker_bytes(f->m);

    if (f->gram != NY_GRAM_F32 || ny_settings_gram_f64(f->settings, f->points->n)) return;
    if (bill->by_purpose[NY_MEM_GRAM] < bytes) bill->by_purpose[NY_MEM_GRAM] = bytes;
}

/* The bill of pass 1 without W, which is made again for solve where it would cost a worker. */
struct bill ny_accumulate_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill bill = common(f, workers, workers);

    if (f->settings->method->whole) return multiply_bill(f, workers, limit);
    add_landmarks(f, &bill);
    bill.by_purpose[NY_MEM_SOLVE] -= ny_footprint_spare_bytes(f);
    bill.by_purpose[NY_MEM_STORE] += source_bytes(f, workers);
    bill.by_purpose[NY_MEM_TILES] = pass_tiles_bytes(f, workers);
    if (f->settings->method->krylov) {
        add_products(f, workers, limit, &bill);
        return bill;
    }
    bill.by_purpose[NY_MEM_STORE] += put_bytes(limit, ny_accumulator_gram_image_bytes(f->m));
    bill.by_purpose[NY_MEM_GRAM] = ny_accumulator_bytes(f->m) + NY_CHUNK_BYTES +
                                   workers * ny_earlier_partial_bytes(f->settings, f->m, f->gram);
    add_measure(f, workers, &bill);
    bill.by_purpose[NY_MEM_DICTIONARY] += earlier_bytes(f);
    return bill;
}

/* Bytes of an import under way: its read-ahead, and a block as it is, packed, written. */
static size_t arrivals_bytes(const struct ny_footprint *f)
{
    const size_t reader_bytes = (size_t)8 << 20;

    return reader_bytes + 4 * ny_points_block_bytes(f->points);
}

/* The selection comes with the sums of now and of before the landmarks that join, whose
 * coefficients are at most m²/4, and the pass that adds a batch. After it come W and the sums
 * alone. */
struct bill ny_online_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill bill = ny_select_bill(f, workers, limit), prepare = ny_prepare_bill(f, workers);
    size_t sums = ny_accumulator_bytes(f->m);

    bill.by_purpose[NY_MEM_GRAM] = 2 * sums + f->m * (f->m / 4 + 4) * sizeof(double) +
                                   NY_CHUNK_BYTES + workers * ny_partial_bytes(f->m, NY_GRAM_F64);
    bill.by_purpose[NY_MEM_DICTIONARY] += ny_columns_bytes(&f->spec, f->m);
    bill.by_purpose[NY_MEM_TILES] += pass_tiles_bytes(f, workers);
    bill.by_purpose[NY_MEM_STORE] +=
        source_bytes(f, workers) + put_bytes(limit, ny_accumulator_gram_image_bytes(f->m));
    if (f->settings->arrivals) bill.by_purpose[NY_MEM_IO] += arrivals_bytes(f);
    prepare.by_purpose[NY_MEM_GRAM] += sums + NY_CHUNK_BYTES;
    prepare.by_purpose[NY_MEM_DICTIONARY] += f->points->n * sizeof(float); /* residuals */
    return ny_bill_larger(prepare, bill);
}

/* A pass for s beside W, then the problem that gives v = B s. */
struct bill ny_degrees_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill pass = common(f, workers, workers), solve = common(f, workers, 1);

    (void)limit;
    add_landmarks(f, &pass);
    add_landmarks(f, &solve);
    pass.by_purpose[NY_MEM_STORE] += source_bytes(f, workers) + NY_CHUNK_BYTES;
    pass.by_purpose[NY_MEM_GRAM] =
        NY_CHUNK_BYTES + 2 * f->m * sizeof(double) + workers * ny_partial_bytes(f->m, NY_GRAM_NONE);
    pass.by_purpose[NY_MEM_TILES] = pass_tiles_bytes(f, workers);
    solve.by_purpose[NY_MEM_SOLVE] += problem_bytes(f);
    return ny_bill_larger(pass, solve);
}

struct bill ny_solve_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    const struct ny_fit_settings *settings = f->settings;
    struct bill bill = common(f, workers, 1);
    size_t map = f->m * ny_settings_pairs(settings) * sizeof(double), image, solve;
    size_t written = map + f->m * row_bytes(f) + arrays_bytes(f, 2); /* with its geometry */
    size_t model = 2 * written + put_bytes(limit, written);

    if (settings->method->whole) return reduce_bill(f, workers, limit);
    add_landmarks(f, &bill);
    solve = problem_bytes(f);
    if (ny_settings_forms_gram(settings)) {
        bill.by_purpose[NY_MEM_GRAM] = ny_accumulator_bytes(f->m);
        image = ny_accumulator_gram_image_bytes(f->m); /* when it is loaded, before the rest */
        if (solve < image) solve = image;
        image = ny_columns_square_bytes(&f->spec, f->m, workers); /* W made again */
        if (solve < image) solve = image;
    }
    if (settings->method->coordinates) {
        size_t signs = gather_bytes(f, NY_SIGN_ROWS) +
                       ny_signs_bytes(&f->spec, f->m, ny_settings_pairs(settings));

        if (solve < signs) solve = signs;
    }
    bill.by_purpose[NY_MEM_SOLVE] += solve > model ? solve : model;
    bill.by_purpose[NY_MEM_MODEL] = map + f->m * sizeof(double);
    return bill;
}

struct bill ny_project_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    const struct ny_fit_settings *settings = f->settings;
    struct bill bill = common(f, workers, workers);
    struct ny_embedding_layout layout =
        ny_embedding_layout(f->points->n, ny_settings_pairs(settings), element_of(f));
    size_t output = ny_embedding_writer_bytes(&layout, batch_bytes(limit));

    if (settings->method->whole) return write_bill(f, workers, limit);
    if (ny_settings_probe_averages(settings)) {
        layout = ny_embedding_layout(f->points->n, 1, sizeof(double));
        output += ny_embedding_writer_bytes(&layout, batch_bytes(limit));
    }
    bill.by_purpose[NY_MEM_MODEL] = f->m * ny_settings_pairs(settings) * sizeof(double) +
                                    f->m * row_bytes(f) + 2 * f->m * sizeof(double) +
                                    arrays_bytes(f, 2);
    bill.by_purpose[NY_MEM_TILES] = ny_projector_bytes(&f->spec, f->m, ny_settings_pairs(settings),
                                                       settings->precision, workers) +
                                    workers * exact_bytes(f);
    bill.by_purpose[NY_MEM_STORE] += source_bytes(f, workers) + 2 * output;
    return bill;
}

/* ---- probe --------------------------------------------------------------------------------- */

/* The columns are gathered before there are tiles; each worker reads chunks of what is stored. */
struct bill ny_probe_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    const struct ny_fit_settings *settings = f->settings;
    struct ny_columns_spec spec = ny_settings_probe_spec(&f->spec);
    size_t r = settings->probes, p = ny_settings_pairs(settings);
    size_t stored = (p + settings->asymmetric) * element_of(f);
    size_t side =
        NY_UNIT_ROWS * (p * sizeof(double) + stored + sizeof(double)) + 2 * r * sizeof(double);
    size_t gather = gather_bytes(f, r) + r * row_bytes(f);
    size_t pass =
        source_bytes(f, workers) + workers * NY_CHUNK_BYTES +
        put_bytes(limit, 2 * r * sizeof(double)) +
        workers * (ny_tiles_bytes(&spec, r, NY_PRECISION_F64) + ny_columns_exact_bytes(&spec, 1));
    struct ny_footprint widest = *f;
    struct bill bill;

    if (widest.m < r) widest.m = r;
    bill = common(&widest, workers, workers);
    bill.by_purpose[NY_MEM_OTHER] += 2 * r * sizeof(double);
    bill.by_purpose[NY_MEM_DICTIONARY] =
        ny_columns_bytes(&spec, r) + r * (sizeof(uint64_t) + sizeof(struct ny_draw));
    bill.by_purpose[NY_MEM_SOLVE] = r * (p + 3) * sizeof(double);
    bill.by_purpose[NY_MEM_TILES] = workers * side;
    bill.by_purpose[NY_MEM_STORE] += gather > pass ? gather : pass;
    return bill;
}
