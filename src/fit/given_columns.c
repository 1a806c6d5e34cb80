#include "fit/given_columns.h"

#include <string.h>

#include "io/reader.h"
#include "io/reader_source.h"

static int open_file(struct ny_context *ctx, const char *path, struct ny_reader **reader)
{
    struct ny_reader_options options = {0};

    return ny_reader_open(reader, ctx, path, &options);
}

int ny_given_columns_shape(struct ny_context *ctx, const struct ny_fit_settings *settings,
                           struct ny_rows_info *points)
{
    const struct ny_file_table *table;
    struct ny_reader *reader;
    int err;

    if (!settings->columns_file) return NY_OK;
    err = open_file(ctx, settings->columns_file, &reader);
    if (err) return err;
    table = ny_reader_table(reader);
    if (table->d != settings->landmarks)
        err = ny_fail_at(
            ctx, NY_EDATA, settings->columns_file, NY_NO_LINE,
            "%s has %llu columns, but there are %zu landmarks; give one column for each landmark",
            settings->columns_file, (unsigned long long)table->d, settings->landmarks);
    else if (table->rows != NY_ROWS_UNKNOWN && table->rows != points->n)
        err = ny_fail_at(ctx, NY_EDATA, settings->columns_file, NY_NO_LINE,
                         "%s has %llu rows, but the store has %llu", settings->columns_file,
                         (unsigned long long)table->rows, (unsigned long long)points->n);
    points->d = table->d;
    points->dtype = table->dtype;
    points->row_slots = 0;
    points->block_rows = NY_UNIT_ROWS;
    ny_reader_close(reader);
    return err;
}

/* Copies the rows of the batch that are landmarks to their places. */
static void pick(const struct ny_fit *fit, const char *batch, uint64_t first, size_t count,
                 char *rows)
{
    size_t row_bytes = (size_t)fit->job.points.d * ny_dtype_size(fit->job.points.dtype);

    for (size_t j = 0; j < fit->m; j++)
        if (fit->rows[j] >= first && fit->rows[j] < first + count)
            memcpy(rows + j * row_bytes, batch + (fit->rows[j] - first) * row_bytes, row_bytes);
}

int ny_given_columns_gather(struct ny_fit *fit, void *rows)
{
    size_t row_bytes = (size_t)fit->job.points.d * ny_dtype_size(fit->job.points.dtype);
    struct ny_row_batch batch = {.values =
                                     ny_calloc(fit->job.ctx, NY_MEM_IO, NY_STRIP_ROWS, row_bytes)};
    struct ny_reader *reader = NULL;
    uint64_t first = 0;
    int err =
        batch.values ? open_file(fit->job.ctx, fit->settings->columns_file, &reader) : NY_EBUDGET;

    while (err == NY_OK) {
        err = ny_reader_next(reader, NY_STRIP_ROWS, &batch);
        if (err) break;
        pick(fit, batch.values, first, batch.count, rows);
        first += batch.count;
    }
    if (err == NY_END && first != fit->job.points.n)
        err = ny_fail_at(fit->job.ctx, NY_EDATA, fit->settings->columns_file, NY_NO_LINE,
                         "%s has %llu rows, but the store has %llu", fit->settings->columns_file,
                         (unsigned long long)first, (unsigned long long)fit->job.points.n);
    ny_reader_close(reader);
    ny_free(fit->job.ctx, batch.values);
    return err == NY_END ? NY_OK : err;
}

int ny_fit_open_source(struct ny_fit *fit, uint64_t first_unit, uint64_t rows,
                       struct ny_source **source)
{
    int err;

    *source = NULL;
    if (!fit->settings->columns_file) {
        err = ny_rows_source(ny_store_rows(fit->job.store), rows, (size_t)fit->job.points.row_slots,
                             fit->job.workers, source);
        return err ? err
                   : ny_source_widen(source, *source, fit->job.points.dtype, fit->job.workers);
    }
    err = open_file(fit->job.ctx, fit->settings->columns_file, &fit->columns_reader);
    if (err == NY_OK && first_unit)
        err = ny_reader_skip(fit->columns_reader, first_unit * NY_UNIT_ROWS, 0);
    if (err) return err;
    return ny_source_of_reader(source, fit->job.ctx, fit->columns_reader,
                               &(struct ny_raw_shape){.dtype = fit->job.points.dtype},
                               fit->job.workers);
}

void ny_fit_close_source(struct ny_fit *fit, struct ny_source *source)
{
    ny_source_free(source);
    ny_reader_close(fit->columns_reader);
    fit->columns_reader = NULL;
}
