/* Pieces of memory that several stages of a fit hold, from which their bytes are made up. */
#include "fit/sizes.h"

#include "spectral/method.h"

/* Headers of blocks, and what has the size of a landmark's row or less. */
static const size_t small_bytes = 256 << 10;

size_t ny_sizes_element(const struct ny_sizes *f)
{
    return ny_precision_bytes(f->settings->precision);
}

size_t ny_sizes_row(const struct ny_sizes *f)
{
    return ny_rows_row_bytes(f->points);
}

size_t ny_sizes_gather(const struct ny_sizes *f, size_t rows)
{
    const size_t wish_bytes = 16;

    return 2 * f->points->block_bytes + rows * wish_bytes + f->points->gather_bytes;
}

size_t ny_sizes_blas(const struct ny_sizes *f, unsigned workers)
{
    size_t order = ny_settings_blas_order(f->settings, f->m);
    size_t bytes = ny_blas_bytes(f->settings->threads, workers, order);

    return bytes > f->blas_bytes ? bytes : f->blas_bytes;
}

size_t ny_sizes_arrays(const struct ny_sizes *f, size_t count)
{
    return count * (size_t)f->points->d * sizeof(double);
}

void ny_sizes_common(struct ny_layout *l, const struct ny_sizes *f, unsigned workers,
                     unsigned readers)
{
    ny_layout_add(l, NY_MEM_PROCESS, ny_memory_of_process(f->job.ctx) + ny_sizes_blas(f, workers));
    ny_layout_add(l, NY_MEM_OTHER, small_bytes + ny_sizes_arrays(f, 2) + f->settings->table_bytes);
    ny_layout_add(l, NY_MEM_STORE, (readers + 2) * f->points->reader_bytes); /* points, results */
}

void ny_sizes_source(struct ny_layout *l, const struct ny_sizes *f, unsigned workers)
{
    const size_t reader_bytes = (size_t)2 << 20;
    size_t widened = f->settings->landmark_points.count ? NY_STRIP_ROWS * ny_sizes_row(f) : 0;

    ny_rows_source_count(l, NY_MEM_STORE, f->points, workers);
    ny_layout_add(l, NY_MEM_STORE, workers * widened + (f->settings->columns ? reader_bytes : 0));
}

void ny_sizes_exact(struct ny_layout *l, const struct ny_sizes *f, unsigned workers)
{
    if (f->settings->precision == NY_PRECISION_F64) ny_columns_exact_count(l, &f->spec, workers);
}

void ny_sizes_earlier(struct ny_layout *l, const struct ny_sizes *f)
{
    if (!f->settings->updates) return;
    ny_lay(l, NY_MEM_DICTIONARY, f->m, 6 * sizeof(uint64_t));
    ny_columns_count(l, &f->spec, f->m);
}

/* Bytes of W. */
static size_t square_of(const struct ny_sizes *f)
{
    bool none = f->settings->method->whole || ny_settings_features(f->settings);

    return none ? 0 : f->m * f->m * sizeof(double);
}

size_t ny_sizes_spare(const struct ny_sizes *f)
{
    return f->settings->method->krylov ? 0 : square_of(f);
}

void ny_sizes_landmarks(struct ny_layout *l, const struct ny_sizes *f, bool with_W)
{
    ny_columns_count(l, &f->spec, f->m);
    ny_lay(l, NY_MEM_DICTIONARY, f->m, sizeof(uint64_t) + 2 * sizeof(double));
    if (with_W) ny_layout_add(l, NY_MEM_SOLVE, square_of(f));
}

void ny_sums_lay(struct ny_layout *l, struct ny_sums_room *room, const struct ny_sums_shape *shape)
{
    ny_tiles_lay(l, &room->tiles, shape->spec, shape->m, shape->precision, shape->workers);
    room->roots = ny_lay(l, NY_MEM_TILES, shape->workers, NY_UNIT_ROWS * sizeof(double));
    room->of_tile = ny_lay(l, NY_MEM_GRAM, shape->workers, sizeof(*room->of_tile));
    room->share = ny_lay(l, NY_MEM_GRAM, shape->workers, sizeof(*room->share));
    for (unsigned w = 0; w < shape->workers; w++) {
        struct ny_sums_share spare, *share = room->share ? &room->share[w] : &spare;

        if (shape->joins)
            share->joined = ny_joined_partial_lay(l, shape->m, shape->joined, shape->gram);
        else
            share->sums = ny_partial_lay(l, shape->m, shape->gram);
        if (shape->width) share->products = ny_krylov_partial_lay(l, shape->m, shape->width);
    }
}

void ny_sizes_sums(struct ny_layout *l, const struct ny_sizes *f, const struct ny_sums_shape *of)
{
    struct ny_sums_shape shape = *of;
    struct ny_sums_room room;

    shape.spec = &f->spec;
    shape.m = f->m;
    shape.precision = f->settings->precision;
    ny_sums_lay(l, &room, &shape);
    ny_sizes_exact(l, f, shape.workers);
}

void ny_problem_count(struct ny_layout *l, const struct ny_sizes *f)
{
    struct ny_problem problem = ny_settings_problem(f->settings, f->m);

    f->settings->method->count(l, &problem, ny_settings_rank(f->settings, f->m));
}
