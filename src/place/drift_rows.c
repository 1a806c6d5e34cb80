/* Draws the rows by which a drift is measured (place/drift_rows.h), and wide ones fewer. */
#include "place/drift_rows.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"

/* Rows that are measured: new ones, of which wide ones are fewer, and those of the fit. */
enum { ROWS_MAX = 2048, ROWS_MIN = 256, ROWS_BYTES = 16 << 20 };
enum { FITTED_MAX = 512, FITTED_MIN = 64, FITTED_BYTES = 4 << 20 };

size_t ny_drift_room(size_t row_bytes)
{
    size_t room = ROWS_MAX;

    while (room > ROWS_MIN && room * row_bytes > ROWS_BYTES)
        room /= 2;
    return room;
}

size_t ny_drift_fitted_rows(size_t row_bytes)
{
    size_t most = FITTED_BYTES / (row_bytes ? row_bytes : 1);

    return most > FITTED_MAX ? FITTED_MAX : most < FITTED_MIN ? FITTED_MIN : most;
}

/* Tells which half of a slice of 2^level rows stands for both; rows that alternate are not all of
 * one kind then. */
static uint64_t half_of(uint64_t slice, unsigned level)
{
    return ny_hash64(level, NY_STREAM_SAMPLE, slice) & 1;
}

/* Returns the row that stands for a slice of 2^level rows. */
static uint64_t drawn_row(uint64_t slice, unsigned level)
{
    for (; level; level--)
        slice = 2 * slice + half_of(slice, level);
    return slice;
}

/* Tells whether a row stands for its slice of 2^level rows. */
static bool is_drawn(uint64_t row, unsigned level)
{
    for (unsigned i = 1; i <= level; i++)
        if ((row >> (i - 1) & 1) != half_of(row >> i, i)) return false;
    return true;
}

size_t ny_drift_draw(uint64_t rows, size_t room, uint64_t *numbers)
{
    unsigned level = 0;
    uint64_t count;

    /* The row that stands for the last slice, which may be cut off, may be missing. */
    for (;; level++) {
        count = rows >> level;
        if (count << level < rows && drawn_row(count, level) < rows) count++;
        if (count <= room) break;
    }
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = drawn_row(i, level);
    return (size_t)count;
}

/* Returns how many rows of a sample an eighth of the budget holds, in any threads the same; 0: not
 * even two. */
static size_t room_of(size_t budget, size_t row_bytes, size_t most)
{
    size_t room = ny_drift_room(row_bytes);

    if (room > most) room = most;
    while (room > 1 && room * row_bytes >= budget / 8)
        room /= 2;
    return room > 1 ? room : 0;
}

void ny_drift_sample_count(struct ny_layout *l, size_t budget, size_t row_bytes, size_t most)
{
    ny_lay(l, NY_MEM_OTHER, room_of(budget, row_bytes, most), row_bytes);
}

void ny_drift_sample_begin(struct ny_drift_sample *sample, struct ny_context *ctx, size_t row_bytes,
                           size_t most)
{
    size_t room = room_of(ny_memory_limit(ctx), row_bytes, most);

    *sample = (struct ny_drift_sample){.ctx = ctx, .row_bytes = row_bytes, .room = room};
    if (room) sample->rows = ny_alloc(ctx, NY_MEM_OTHER, room * row_bytes);
    if (room && !sample->rows) ny_error_clear(ctx); /* rows are placed all the same */
}

void ny_drift_sample_release(struct ny_drift_sample *sample)
{
    if (sample->ctx) ny_free(sample->ctx, sample->rows);
    *sample = (struct ny_drift_sample){0};
}

/* Keeps one row of each two slices, which are all there as the sample is full. */
static void thin_out(struct ny_drift_sample *sample)
{
    sample->level++;
    sample->count /= 2;
    for (size_t i = 0; i < sample->count; i++) {
        size_t from = 2 * i + (size_t)half_of(i, sample->level);

        if (from != i)
            memcpy(sample->rows + i * sample->row_bytes, sample->rows + from * sample->row_bytes,
                   sample->row_bytes);
    }
}

int ny_drift_sample_take(struct ny_drift_sample *sample, const struct ny_tile *tile)
{
    int err = NY_OK;

    for (size_t i = 0; sample->rows && i < tile->rows && err == NY_OK; i++) {
        uint64_t row = tile->first_row + i;

        if (!is_drawn(row, sample->level)) continue;
        if (sample->count == sample->room) thin_out(sample);
        if (!is_drawn(row, sample->level)) continue;
        err = ny_tile_strip(tile, i, 1, sample->rows + sample->count * sample->row_bytes);
        sample->count++;
    }
    return err;
}

int ny_drift_sample_rows(struct ny_drift_sample *sample, const struct ny_columns_spec *spec,
                         struct ny_rows *X, uint64_t first, uint64_t end)
{
    uint64_t *numbers;
    int err;

    if (!sample->rows) return NY_OK;
    numbers = ny_calloc(sample->ctx, NY_MEM_OTHER, sample->room, sizeof(*numbers));
    if (!numbers) return NY_EBUDGET;
    sample->count = ny_drift_draw(end - first, sample->room, numbers);
    for (size_t i = 0; i < sample->count; i++)
        numbers[i] += first;
    err = ny_rows_gather_wide(X, spec->dtype, spec->slots, numbers, sample->count, sample->rows);
    ny_free(sample->ctx, numbers);
    return err;
}

int ny_drift_sample_fitted(struct ny_drift_sample *sample, const struct ny_model *model,
                           struct ny_rows *X)
{
    uint64_t rows = model->fitted.rows, numbers[FITTED_MAX];
    const struct ny_columns_spec *spec = &model->spec;
    struct ny_rows_info points;
    int err = X->ops->info(X, &points);

    if (err || ny_dtype_common(points.dtype, spec->dtype) != spec->dtype ||
        (points.row_slots > 0) != (spec->slots > 0))
        return err;
    /* Fuller rows that have joined since lie behind those of the fit. A shard counts those of all,
     * so that its own may be fuller. */
    if (rows >= points.n && points.row_slots > spec->slots) return NY_OK;
    if (rows > points.n) rows = points.n;
    ny_drift_sample_begin(sample, model->ctx, ny_raw_bytes(spec),
                          ny_drift_fitted_rows(ny_raw_bytes(spec)));
    if (sample->rows) sample->count = rows < sample->room ? (size_t)rows : sample->room;
    for (size_t i = 0; i < sample->count; i++)
        numbers[i] = (uint64_t)((double)i * (double)rows / (double)sample->count);
    return sample->count ? ny_rows_gather_wide(X, spec->dtype, spec->slots, numbers, sample->count,
                                               sample->rows)
                         : NY_OK;
}
