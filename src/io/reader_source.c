/* Rows of a reader as a source: they come once, in order. A whole unit is fetched when it is taken,
 * into the taking worker's buffer. */
#include "io/reader_source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/layout.h"
#include "io/reader.h"
#include "stream/left_out.h"
#include "stream/row_ids.h"

/* A worker's unit, as read. */
struct unit {
    char *values;       /* dense rows, or */
    struct ny_csr rows; /* sparse ones */
    char *row; /* the values of one on its way to a record, in the type that is handed out */
};

struct reader_source {
    struct ny_source base;
    struct ny_layout own;
    struct ny_reader *reader;
    enum ny_dtype read_dtype;
    struct ny_prepared preparation;
    bool sparse;      /* as read */
    size_t row_bytes; /* of a dense row, as read */
    size_t unit_rows; /* that a buffer holds */
    unsigned workers;
    struct unit *unit;
    struct ny_left_out *left_out; /* NULL: nobody asks, */
    struct ny_row_ids *ids;       /* likewise */
    bool begun;                   /* a unit was taken */
};

/* Writes down which rows of the file were left out before and between those of a batch, or up to
 * its end. */
static int note_left_out(const struct reader_source *source, const struct ny_row_batch *batch,
                         int err)
{
    int noted = NY_OK;

    if (!source->left_out || (err && err != NY_END)) return err;
    for (size_t i = 0; !err && !noted && i < batch->count; i++)
        noted = ny_left_out_reach(source->left_out, batch->source[i]);
    if (err == NY_END) noted = ny_left_out_reach(source->left_out, batch->consumed);
    return noted ? noted : err;
}

/* Row i of the unit as it was read. */
static struct ny_sparse row_read(const struct reader_source *source, const struct unit *unit,
                                 size_t i)
{
    if (source->sparse) return ny_csr_row(&unit->rows, i);
    return (struct ny_sparse){.count = source->base.d,
                              .value = unit->values + i * source->row_bytes};
}

/* Adds the text of a label: its word, its number, or nothing where it is missing. */
static int add_label(const struct reader_source *source, double label, struct ny_names *texts)
{
    struct ny_context *ctx = source->base.ctx;
    const char *const *words;
    char number[40];
    size_t count;

    ny_reader_class_names(source->reader, &words, &count);
    if (isnan(label)) return ny_names_add_empty(texts, ctx, 1);
    if (label >= 0 && label < (double)count)
        return ny_names_add(texts, ctx, words[(size_t)label], strlen(words[(size_t)label]));
    return ny_names_add(texts, ctx, number,
                        (size_t)ny_decimal_print(number, sizeof(number), "%.17g", label));
}

/* Hands on what stands before each row: its name, its label, or both. */
static int note_ids(const struct reader_source *source, const struct ny_names *names,
                    const double *labels, size_t rows)
{
    struct ny_names texts = {0};
    const char *name = names->text;
    int err = NY_OK;

    if (!source->ids->labels) return ny_row_ids_add(source->ids, names);
    for (size_t i = 0; !err && i < rows; i++) {
        if (source->ids->ids) {
            err = ny_names_append(&texts, source->base.ctx, name, 1);
            name = ny_names_skip(name, 1);
        }
        if (!err) err = add_label(source, labels[i], &texts);
    }
    if (!err) err = ny_row_ids_add(source->ids, &texts);
    ny_names_release(&texts, source->base.ctx);
    return err;
}

/* Goes to the first unit of a pass that is resumed. */
static int skip_to(struct reader_source *source, uint64_t unit)
{
    return ny_reader_skip(source->reader, unit * NY_UNIT_ROWS, 0);
}

/* Reads the next unit into the buffer of the worker, from as many batches as that takes. */
static int take(struct ny_source *base, struct ny_tile *tile)
{
    struct reader_source *source = (struct reader_source *)base;
    struct unit *unit = &source->unit[tile->worker];
    uint64_t numbers[NY_UNIT_ROWS];
    double labels[NY_UNIT_ROWS];
    struct ny_names names = {0};
    int err = NY_OK;

    tile->rows = 0;
    unit->rows.rows = 0;
    if (!source->begun && tile->unit) err = skip_to(source, tile->unit);
    source->begun = true;
    while (tile->rows < source->unit_rows && err == NY_OK) {
        struct ny_row_batch batch = {.values = unit->values + tile->rows * source->row_bytes,
                                     .source = source->left_out ? numbers : NULL,
                                     .names = source->ids && source->ids->ids ? &names : NULL,
                                     .labels = source->ids ? labels + tile->rows : NULL,
                                     .sparse = source->sparse ? &unit->rows : NULL};

        err = ny_reader_next(source->reader, source->unit_rows - tile->rows, &batch);
        err = note_left_out(source, &batch, err);
        if (err == NY_OK) tile->rows += batch.count;
    }
    if (err == NY_END && tile->rows > 0) err = NY_OK;
    if (!err && source->ids) err = note_ids(source, &names, labels, tile->rows);
    ny_names_release(&names, base->ctx);
    return err;
}

/* The values of row `number`, prepared or converted to the type that is handed out. */
static int hand_out(const struct reader_source *source, struct ny_sparse row, uint64_t number,
                    void *out)
{
    const struct ny_source *base = &source->base;
    size_t k;

    if (!ny_prepares(&source->preparation)) {
        ny_dtype_widen(source->read_dtype, row.value, base->dtype, out, row.count);
        return NY_OK;
    }
    k = ny_prepare_row(&source->preparation, source->read_dtype, row.value, row.count, base->dtype,
                       out);
    if (k == row.count) return NY_OK;
    return ny_fail_at(base->ctx, NY_EDATA, NULL, number,
                      "row %llu (from 0) cannot be prepared by --values %s; leave it out",
                      (unsigned long long)number, ny_prepared_values(&source->preparation));
}

/* One row as a record; `number` is for messages. */
static int record(const struct reader_source *source, const struct unit *unit, size_t i,
                  uint64_t number, void *out)
{
    const struct ny_source *base = &source->base;
    struct ny_sparse row = row_read(source, unit, i);
    int err;

    if (source->sparse && row.count <= base->slots) {
        err = hand_out(source, row, number, unit->row);
        row.value = unit->row;
        if (!err) ny_sparse_pack(out, base->slots, base->dtype, row);
        return err;
    }
    if (!source->sparse) {
        err = hand_out(source, row, number, unit->row);
        if (err || ny_sparse_from_dense(unit->row, base->d, base->dtype, out, base->slots))
            return err;
    }
    return NY_BUG(base->ctx);
}

/* Hands out rows of the unit of the worker, or of whom it helps, converted. */
static int strip(struct ny_source *base, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    const struct reader_source *source = (const struct reader_source *)base;
    struct unit unit = source->unit[tile->whole ? tile->whole->worker : tile->worker];
    size_t bytes = ny_row_bytes(base->dtype, base->d, base->slots);
    int err = NY_OK;

    unit.row = source->unit[tile->worker].row;
    if (!base->slots && !ny_prepares(&source->preparation)) {
        ny_dtype_widen(source->read_dtype, unit.values + first * source->row_bytes, base->dtype,
                       rows, count * base->d);
        return NY_OK;
    }
    for (size_t i = 0; i < count && err == NY_OK; i++) {
        uint64_t number = tile->first_row + first + i;
        char *out = (char *)rows + i * bytes;

        err = base->slots ? record(source, &unit, first + i, number, out)
                          : hand_out(source, row_read(source, &unit, first + i), number, out);
    }
    return err;
}

static void release(struct ny_source *base)
{
    struct reader_source *source = (struct reader_source *)base;

    for (unsigned w = 0; source->unit && w < source->workers; w++)
        ny_csr_release(&source->unit[w].rows, base->ctx);
    ny_layout_free(&source->own);
    ny_free(base->ctx, source);
}

/* Sparse rows take what room they need when they come. */
static int allocate(struct reader_source *source)
{
    size_t values = source->sparse ? source->base.slots : source->base.d;
    struct ny_layout *l = &source->own;

    source->own.ctx = source->base.ctx;
    source->unit = ny_lay(l, NY_MEM_IO, source->workers, sizeof(*source->unit));
    for (unsigned w = 0; source->unit && w < source->workers; w++) {
        struct unit *unit = &source->unit[w];

        unit->rows.dtype = source->read_dtype;
        unit->values =
            ny_lay(l, NY_MEM_IO, source->sparse ? 0 : source->row_bytes, source->unit_rows);
        unit->row = ny_lay(l, NY_MEM_IO, values, ny_dtype_size(source->base.dtype));
    }
    return l->err;
}

void ny_source_note_left_out(struct ny_source *source, struct ny_left_out *list)
{
    ((struct reader_source *)source)->left_out = list;
    source->n = 0; /* fewer than the file has */
}

void ny_source_note_ids(struct ny_source *source, struct ny_row_ids *ids)
{
    ((struct reader_source *)source)->ids = ids;
}

void ny_source_prepare(struct ny_source *source, const struct ny_prepared *how)
{
    ((struct reader_source *)source)->preparation = *how;
}

int ny_source_of_reader(struct ny_source **out, struct ny_context *ctx, struct ny_reader *reader,
                        const struct ny_raw_shape *shape, unsigned workers)
{
    static const struct ny_source_ops ops = {.take = take, .strip = strip, .free = release};
    const struct ny_file_table *table = ny_reader_table(reader);
    struct reader_source *source;
    int err;

    *out = NULL;
    source = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*source));
    if (!source) return NY_EBUDGET;
    source->reader = reader;
    source->read_dtype = table->dtype;
    source->sparse = table->layout == NY_CSR;
    source->row_bytes = (size_t)table->d * ny_dtype_size(table->dtype);
    source->unit_rows = ny_source_unit_rows(shape->n);
    source->workers = workers;
    source->base = (struct ny_source){
        .ops = &ops,
        .ctx = ctx,
        .dtype = shape->dtype,
        .d = (size_t)table->d,
        .slots = shape->slots,
        .n = table->rows == NY_ROWS_UNKNOWN ? 0 : table->rows,
        .stored_bytes_per_row =
            source->sparse ? (double)(table->nnz * (sizeof(uint32_t) + ny_dtype_size(table->dtype)))
                           : (double)source->row_bytes,
    };
    err = allocate(source);
    if (err)
        release(&source->base);
    else
        *out = &source->base;
    return err;
}
