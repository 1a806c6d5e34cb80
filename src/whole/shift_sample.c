/* The shift of f32 tiles against rows that are not landmarks: means over a few hashed points. */
#include "whole/kernel_product.h"

#include "base/random.h"

/* The mean of so many values is off by an eighth of what they spread: that is all a shift has to
 * take away. */
enum { SAMPLE_ROWS = 64 };

struct ny_shift_sample {
    struct ny_layout own;
    struct ny_columns *columns;
    void *raw;                               /* SAMPLE_ROWS */
    struct ny_columns_workspace **workspace; /* one a worker */
    float *C;                                /* workers × NY_UNIT_ROWS × SAMPLE_ROWS */
};

/* Row by row: they lie anywhere. */
static int read_sample(struct ny_source *points, uint64_t seed, void *rows)
{
    size_t row_bytes = ny_row_bytes(points->dtype, points->d, points->slots);
    int err = NY_OK;

    for (size_t i = 0; i < SAMPLE_ROWS && err == NY_OK; i++) {
        double place = ny_hash01(seed, NY_STREAM_SAMPLE, i) * (double)points->n;
        struct ny_tile tile = {.source = points, .first_row = (uint64_t)place, .rows = 1};

        err = ny_tile_strip(&tile, 0, 1, (char *)rows + i * row_bytes);
    }
    return err;
}

static struct ny_shift_sample *lay(struct ny_layout *l, const struct ny_columns_spec *spec,
                                   unsigned workers)
{
    struct ny_shift_sample spare, *sample = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);

    *sample = (struct ny_shift_sample){.columns = NULL};
    sample->raw = ny_lay(l, NY_MEM_TILES, SAMPLE_ROWS, ny_raw_bytes(spec));
    sample->workspace = ny_lay(l, NY_MEM_TILES, workers, sizeof(*sample->workspace));
    sample->C = ny_lay(l, NY_MEM_TILES, workers, NY_UNIT_ROWS * SAMPLE_ROWS * sizeof(float));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_columns_workspace *workspace = ny_columns_workspace_lay(l, spec, NY_STRIP_ROWS);

        if (sample->workspace) sample->workspace[w] = workspace;
    }
    ny_columns_count(l, spec, SAMPLE_ROWS);
    return ny_laid(l, sample);
}

int ny_shift_sample_new(struct ny_shift_sample **out, const struct ny_columns_spec *spec,
                        struct ny_source *points, uint64_t seed, unsigned workers)
{
    struct ny_layout own = {.ctx = spec->ctx};
    struct ny_shift_sample *sample = lay(&own, spec, workers);
    int err;

    *out = NULL;
    if (!sample) return ny_layout_end(&own);
    sample->own = own;
    err = read_sample(points, seed, sample->raw);
    if (err) goto done;
    err = ny_columns_new(&sample->columns, spec);
    if (err == NY_OK)
        err = ny_columns_append(sample->columns, ny_raw_rows(sample->raw), SAMPLE_ROWS);
    if (err) goto done;
    *out = sample;
    sample = NULL;
done:
    ny_shift_sample_free(sample);
    return err;
}

void ny_shift_sample_free(struct ny_shift_sample *sample)
{
    struct ny_layout own;

    if (!sample) return;
    ny_columns_free(sample->columns);
    own = sample->own;
    ny_layout_free(&own);
}

void ny_shift_sample_count(struct ny_layout *l, const struct ny_columns_spec *spec,
                           unsigned workers)
{
    lay(l, spec, workers);
}

int ny_shift_sample_means(struct ny_shift_sample *sample, const struct ny_tile *tile, double *a)
{
    float *at = sample->C + (size_t)tile->worker * NY_UNIT_ROWS * SAMPLE_ROWS;
    struct ny_matrix32 C = ny_matrix32(at, NY_UNIT_ROWS, SAMPLE_ROWS);
    int err = ny_columns_tile(sample->columns, sample->workspace[tile->worker], tile, C, NULL);

    for (size_t i = 0; i < tile->rows && err == NY_OK; i++) {
        double sum = 0;

        for (size_t j = 0; j < SAMPLE_ROWS; j++)
            sum += (double)at[i * SAMPLE_ROWS + j];
        a[i] = sum / SAMPLE_ROWS;
    }
    return err;
}
