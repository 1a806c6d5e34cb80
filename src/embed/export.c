#include "embed/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "embed/coordinates.h"
#include "embed/stored_graph.h"
#include "embed/transform_points.h"
#include "io/writer.h"
#include "spectral/method.h"

enum { PIECE_BYTES = 4 << 20 };

struct source {
    struct ny_context *ctx;
    struct ny_store *store;
    const char *name;
    const json_t *record, *report;
    uint64_t n;
    struct ny_lost lost; /* rows of the store that the result does not number */
    struct ny_coordinates coordinates; /* pairs = 0: a dictionary alone */
    bool f64;
    struct ny_embedding_layout layout;
    double *inverse; /* eigenvectors: 1/√λ̂ where that is stored with them; NULL: 1 */
    void *stored;    /* room for a piece of stored rows where they are wider than what is asked */
    struct ny_salvage *salvage; /* NULL: a damaged row ends the export */
    struct ny_stored_graph graph; /* neighbors = 0: it is none */
    uint64_t next;   /* the row to look at for those of its largest component */
};

/* One part: rows × cols elements, delivered in pieces. */
struct part {
    const char *name;
    enum ny_element element; /* f32: or f64 where the fit is */
    size_t (*columns)(const struct source *source); /* NULL: one item a row */
    int (*fill)(struct source *source, uint64_t first, size_t count, void *out);
    size_t (*count)(const struct source *source); /* 0: this result has none */
    size_t (*grain)(const struct source *source); /* rows damaged together; NULL: none are */
};

static size_t element_of(const struct source *source)
{
    return source->f64 ? sizeof(double) : sizeof(float);
}

static int fill_embedding(struct source *source, uint64_t first, size_t count, void *out)
{
    const struct ny_coordinates *how = &source->coordinates;
    void *rows = ny_coordinates_plain(how) ? out : source->stored;
    int err = ny_embedding_rows(source->store, source->name, &source->layout, first, count, rows);

    if (err == NY_OK && rows != out) ny_coordinates_apply(how, source->f64, rows, count, out);
    return err;
}

/* Û: what is stored, or Y Λ̂^-½. */
static int fill_eigenvectors(struct source *source, uint64_t first, size_t count, void *out)
{
    size_t pairs = source->coordinates.pairs, width = ny_coordinates_width(&source->coordinates);
    int err = ny_embedding_rows(source->store, source->name, &source->layout, first, count,
                                source->stored);

    for (size_t i = 0; err == NY_OK && i < count; i++)
        for (size_t k = 0; k < pairs; k++) {
            double factor = source->inverse ? source->inverse[k] : 1;
            size_t from = i * width + k, to = i * pairs + k;

            if (source->f64)
                ((double *)out)[to] = ((double *)source->stored)[from] * factor;
            else
                ((float *)out)[to] = (float)((double)((float *)source->stored)[from] * factor);
        }
    return err;
}

static int fill_eigenvalues(struct source *source, uint64_t first, size_t count, void *out)
{
    const json_t *values = json_object_get(source->report, "eigenvalues");

    for (size_t k = 0; k < count; k++)
        ((double *)out)[k] = json_number_value(json_array_get(values, (size_t)first + k));
    return NY_OK;
}

static size_t count_landmarks(const struct source *source)
{
    return (size_t)ny_field_count(source->report, "landmarks", 0);
}

/* A blob of one item a row, read piece by piece like an embedding. */
static int fill_from_blob(struct source *source, const char *part, size_t item_bytes,
                          uint64_t first, size_t count, void *out)
{
    struct ny_embedding_layout layout = {ny_record_part(source->record, part), source->n,
                                         item_bytes, NY_CHUNK_BYTES / item_bytes};

    return ny_embedding_rows(source->store, source->name, &layout, first, count, out);
}

static uint64_t place_of(const struct source *source, uint64_t row)
{
    uint64_t run;

    return ny_lost_place(&source->lost, row, &run);
}

static int fill_landmarks(struct source *source, uint64_t first, size_t count, void *out)
{
    uint64_t *rows = out;
    int err = fill_from_blob(source, "landmarks", sizeof(uint64_t), first, count, out);

    for (size_t i = 0; err == NY_OK && i < count; i++)
        rows[i] = place_of(source, rows[i]);
    return err;
}

static int fill_residuals(struct source *source, uint64_t first, size_t count, void *out)
{
    uint64_t measured = ny_field_count(source->record, "selected", source->n);
    size_t known = first + count <= measured ? count
                   : first < measured        ? (size_t)(measured - first)
                                             : 0;

    for (size_t i = known; i < count; i++) /* placed by a frozen update */
        ((float *)out)[i] = INFINITY;
    return known ? fill_from_blob(source, "residuals", sizeof(float), first, known, out) : NY_OK;
}

/* What the store has of each row that the result covers: labels, or else rows of the source. */
static int fill_from_points(struct source *source, uint64_t first, size_t count, void *out,
                            bool labels)
{
    char *at = out;
    int err = NY_OK;

    while (err == NY_OK && count > 0) {
        uint64_t run, row = ny_lost_place(&source->lost, first, &run);
        size_t piece = count < run ? count : (size_t)run;

        err = labels ? ny_points_labels(source->store, row, piece, (double *)(void *)at)
                     : ny_points_source(source->store, row, piece, (uint64_t *)(void *)at);
        at += piece * sizeof(uint64_t);
        first += piece;
        count -= piece;
    }
    return err;
}

static int fill_labels(struct source *source, uint64_t first, size_t count, void *out)
{
    return fill_from_points(source, first, count, out, true);
}

static int fill_source(struct source *source, uint64_t first, size_t count, void *out)
{
    return fill_from_points(source, first, count, out, false);
}

/* All of them; of a graph those of the largest component, which come in order. */
static int fill_rows(struct source *source, uint64_t first, size_t count, void *out)
{
    if (source->graph.neighbors)
        return ny_stored_largest(&source->graph, &source->next, count, out);
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)out)[i] = place_of(source, first + i);
    return NY_OK;
}

static size_t count_eigenvalues(const struct source *source)
{
    return json_array_size(json_object_get(source->report, "eigenvalues"));
}

static size_t count_residuals(const struct source *source)
{
    return json_is_number(json_object_get(source->report, "residual_max")) ? (size_t)source->n : 0;
}

static size_t count_labels(const struct source *source)
{
    struct ny_points_info info;

    return ny_points_info(source->store, &info) == NY_OK && info.labels ? (size_t)source->n : 0;
}

static size_t count_points(const struct source *source)
{
    return (size_t)source->n;
}

static size_t count_rows(const struct source *source)
{
    if (!source->graph.neighbors) return (size_t)source->n;
    return (size_t)ny_field_count(source->report, "largest", 0);
}

static size_t count_embedded(const struct source *source)
{
    return source->coordinates.pairs ? (size_t)source->n : 0;
}

static size_t grain_of_rows(const struct source *source)
{
    return source->layout.chunk_rows;
}

static size_t grain_of_landmarks(const struct source *source)
{
    (void)source;
    return NY_CHUNK_BYTES / sizeof(uint64_t);
}

static size_t grain_of_residuals(const struct source *source)
{
    (void)source;
    return NY_CHUNK_BYTES / sizeof(float);
}

static size_t grain_of_points(const struct source *source)
{
    struct ny_points_info info;

    return ny_points_info(source->store, &info) == NY_OK ? (size_t)info.block_rows : 1;
}

static size_t pairs_of(const struct source *source)
{
    return source->coordinates.pairs;
}

static size_t components_of(const struct source *source)
{
    return ny_coordinates_count(&source->coordinates);
}

static size_t neighbors_of(const struct source *source)
{
    return source->graph.neighbors;
}

static size_t count_listed(const struct source *source)
{
    return source->graph.neighbors ? (size_t)source->n : 0;
}

static int fill_distances(struct source *source, uint64_t first, size_t count, void *out)
{
    return ny_stored_distances(&source->graph, first, count, source->stored, out);
}

static int fill_neighbors(struct source *source, uint64_t first, size_t count, void *out)
{
    return ny_stored_neighbors(&source->graph, first, count, source->stored, out);
}

static int fill_components(struct source *source, uint64_t first, size_t count, void *out)
{
    return ny_stored_components(&source->graph, first, count, out);
}

static const struct part parts[] = {
    {"embedding", NY_OUT_F32, components_of, fill_embedding, count_embedded, grain_of_rows},
    {"eigenvectors", NY_OUT_F32, pairs_of, fill_eigenvectors, count_embedded, grain_of_rows},
    {"eigenvalues", NY_OUT_F64, NULL, fill_eigenvalues, count_eigenvalues, NULL},
    {"landmarks", NY_OUT_U64, NULL, fill_landmarks, count_landmarks, grain_of_landmarks},
    {"residuals", NY_OUT_F32, NULL, fill_residuals, count_residuals, grain_of_residuals},
    {"labels", NY_OUT_F64, NULL, fill_labels, count_labels, grain_of_points},
    {"source", NY_OUT_U64, NULL, fill_source, count_points, grain_of_points},
    {"rows", NY_OUT_U64, NULL, fill_rows, count_rows, NULL},
    {"neighbors", NY_OUT_U64, neighbors_of, fill_neighbors, count_listed, NULL},
    {"distances", NY_OUT_F32, neighbors_of, fill_distances, count_listed, NULL},
    {"components", NY_OUT_U64, NULL, fill_components, count_listed, NULL},
};

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static const char *const names[] = {
    "embedding", "eigenvectors", "eigenvalues", "landmarks",  "residuals", "labels", "source",
    "rows",      "neighbors",    "distances",   "components", "model",     NULL};

const char *const *ny_parts(void)
{
    return names;
}

/* ---- a result opened for reading ---------------------------------------------------------- */

static int open_source(struct source *source, struct ny_store *store, const char *name)
{
    struct ny_points_info points;
    json_t *record;
    const char *precision;
    int err = ny_record_need_done(store, name, &record);

    *source = (struct source){.ctx = ny_store_context(store), .store = store, .name = name};
    if (err) return err;
    source->record = record;
    source->report = json_object_get(record, "report");
    source->n = ny_field_count(source->report, "n", 0);
    err = ny_points_info(store, &points);
    if (err == NY_OK && source->n > points.n)
        err = ny_fail(source->ctx, NY_ESTORE, "'%s' says that it has %llu rows, and %s has %llu",
                      name, (unsigned long long)source->n, ny_store_path(store),
                      (unsigned long long)points.n);
    if (err) return err;
    err = ny_record_lost(source->ctx, record, &source->lost);
    if (err) return err;
    if (ny_stored_graph_of(&source->graph, store, name, record)) {
        source->layout = ny_graph_layout("neighbors", source->n, source->graph.stored);
        return NY_OK;
    }
    err = ny_coordinates_parse(&source->coordinates, source->ctx, record);
    if (err) return err;
    precision = ny_field_text(source->report, "precision");
    source->f64 = precision && strcmp(precision, "f64") == 0;
    if (source->coordinates.pairs)
        source->layout = ny_embedding_layout(
            source->n, ny_coordinates_width(&source->coordinates), element_of(source));
    source->layout.part = ny_record_part(record, "embedding");
    return NY_OK;
}

static void close_source(struct source *source)
{
    ny_lost_release(&source->lost, source->ctx);
    ny_free(source->ctx, source->inverse);
    ny_free(source->ctx, source->stored);
    ny_coordinates_release(&source->coordinates, source->ctx);
    json_decref((json_t *)source->record);
}

/* Maps whose kernel is not divided store Û Λ̂^½. */
static int invert_eigenvalues(struct source *source)
{
    const json_t *values = json_object_get(source->report, "eigenvalues");

    if (source->coordinates.skip) return NY_OK;
    source->inverse =
        ny_calloc(source->ctx, NY_MEM_OTHER, source->coordinates.pairs, sizeof(double));
    if (!source->inverse) return NY_EBUDGET;
    for (size_t k = 0; k < source->coordinates.pairs; k++) {
        double value = json_number_value(json_array_get(values, k));

        source->inverse[k] = value > 0 ? 1 / sqrt(value) : 0;
    }
    return NY_OK;
}

/* Room for `count` stored rows. */
static int reserve_stored(struct source *source, size_t count)
{
    source->stored = ny_calloc(source->ctx, NY_MEM_IO, count, source->layout.row_bytes);
    return source->stored ? NY_OK : NY_EBUDGET;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* How a part is written. */
struct shape {
    enum ny_element element;
    size_t cols; /* 0: one item a row */
    size_t row_bytes;
};

static void mark_missing(const struct shape *shape, void *out, size_t rows)
{
    size_t items = rows * (shape->cols ? shape->cols : 1);

    for (size_t i = 0; i < items; i++)
        switch (shape->element) {
        case NY_OUT_F32: ((float *)out)[i] = NAN; break;
        case NY_OUT_F64: ((double *)out)[i] = NAN; break;
        default: ((uint64_t *)out)[i] = UINT64_MAX;
        }
}

static void note_missing(struct ny_salvage *salvage, uint64_t first, uint64_t end)
{
    struct ny_row_range *last = salvage->count ? &salvage->range[salvage->count - 1] : NULL;

    salvage->rows += end - first;
    if (last && salvage->more == 0 && last->end == first) last->end = end;
    else if (salvage->count < NY_SALVAGE_RANGES)
        salvage->range[salvage->count++] = (struct ny_row_range){first, end};
    else salvage->more++;
}

/* Rows of the part; with a salvage those that cannot be read are marked, as few as are damaged
 * together. */
static int fill_piece(struct source *source, const struct part *part, const struct shape *shape,
                      uint64_t first, size_t count, char *out)
{
    int err = part->fill(source, first, count, out);
    uint64_t last = first + count, grain;

    if (err != NY_ESTORE || !source->salvage || !part->grain) return err;
    ny_error_clear(source->ctx);
    grain = part->grain(source);
    for (uint64_t end; first < last; first = end) {
        end = (first / grain + 1) * grain < last ? (first / grain + 1) * grain : last;
        err = part->fill(source, first, (size_t)(end - first), out);
        if (err == NY_ESTORE) {
            ny_error_clear(source->ctx);
            mark_missing(shape, out, (size_t)(end - first));
            note_missing(source->salvage, first, end);
        } else if (err) return err;
        out += (end - first) * shape->row_bytes;
    }
    return NY_OK;
}

static int copy_pieces(struct source *source, const struct part *part, const struct shape *shape,
                       struct ny_writer *writer)
{
    size_t rows = part->count(source), bytes = ny_memory_limit(source->ctx) / 16;
    size_t piece = (bytes < PIECE_BYTES ? bytes : PIECE_BYTES) / shape->row_bytes;
    void *data;
    int err = NY_OK;

    if (!piece) piece = 1;
    data = ny_calloc(source->ctx, NY_MEM_IO, piece, shape->row_bytes);
    if (!data) return NY_EBUDGET;
    if (part->columns) err = reserve_stored(source, piece);
    for (uint64_t first = 0; first < rows && err == NY_OK; first += piece) {
        size_t count = rows - first < piece ? (size_t)(rows - first) : piece;

        err = ny_check_interrupt(source->ctx);
        if (err == NY_OK) err = fill_piece(source, part, shape, first, count, data);
        if (err == NY_OK && first == 0) err = ny_writer_fits(writer);
        if (err == NY_OK) err = ny_writer_rows(writer, data, count);
    }
    ny_free(source->ctx, data);
    if (err == NY_OK && source->salvage && source->salvage->rows == rows)
        err = ny_fail(source->ctx, NY_ESTORE, "%s of '%s' in %s: no row can be read", part->name,
                      source->name, ny_store_path(source->store));
    return err;
}

static int write_part(struct source *source, const struct part *part, const char *output)
{
    static const size_t sizes[] = {[NY_OUT_F32] = sizeof(float),
                                   [NY_OUT_F64] = sizeof(double),
                                   [NY_OUT_U64] = sizeof(uint64_t)};
    struct shape shape = {part->columns && source->f64 ? NY_OUT_F64 : part->element,
                          part->columns ? part->columns(source) : 0, 0};
    struct ny_writer *writer;
    int err;

    shape.row_bytes = (shape.cols ? shape.cols : 1) * sizes[shape.element];
    if (part->count(source) == 0)
        return ny_fail(source->ctx, NY_EUSAGE, "'%s' in %s has no %s", source->name,
                       ny_store_path(source->store), part->name);
    if (part->fill == fill_eigenvectors && invert_eigenvalues(source)) return NY_EBUDGET;
    err = ny_writer_open(&writer, source->ctx, output, shape.element, part->count(source),
                         shape.cols);
    if (err) return err;
    err = copy_pieces(source, part, &shape, writer);
    if (err) {
        ny_writer_abort(writer);
        return err;
    }
    return ny_writer_commit(writer);
}

/* The model as one file. */
static int write_model(struct source *source, const char *output)
{
    size_t bytes = (size_t)ny_field_count(source->record, "model_bytes", 0);
    const char *approx = ny_field_text(source->report, "approx");
    const struct ny_method *method = approx ? ny_method_find(approx) : NULL;
    bool landmarks = ny_field_count(source->report, "landmarks", 0) > 0;
    struct ny_writer *writer = NULL;
    void *image;
    int err = ny_result_has_model(source->ctx, source->name, source->record);

    if (err) return err;
    if (!bytes)
        return ny_fail(source->ctx, NY_EUSAGE, "'%s' is a dictionary alone: it has no model",
                       source->name);
    if (method && method->all_rows && landmarks)
        return ny_fail(source->ctx, NY_EUSAGE,
                       "the model of '%s' is all points of %s, which %s needs to place others; "
                       "place them with 'nystream transform %s %s'",
                       source->name, ny_store_path(source->store), method->name,
                       ny_store_path(source->store), source->name);
    image = ny_alloc(source->ctx, NY_MEM_MODEL, bytes);
    if (!image) return NY_EBUDGET;
    err = ny_blob_get(source->store, source->name, ny_record_part(source->record, "model").name,
                      image, bytes);
    if (err) goto done;
    err = ny_writer_open(&writer, source->ctx, output, NY_OUT_BYTES, bytes, 0);
    if (err) goto done;
    err = ny_writer_rows(writer, image, bytes);
    if (err) goto done;
    err = ny_writer_commit(writer);
    writer = NULL;
done:
    ny_writer_abort(writer);
    ny_free(source->ctx, image);
    return err;
}

static int export(struct source *source, const char *name, const char *output)
{
    if (strcmp(name, "model") == 0) return write_model(source, output);
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(parts[i].name, name) == 0) return write_part(source, &parts[i], output);
    return ny_fail(source->ctx, NY_EUSAGE, "--part %s: there is no such part; did you mean '%s'?",
                   name, ny_nearest(name, names, PARTS + 1));
}

/* "rows 0 to 99, 300 to 399 and 2 more ranges" */
static void describe_missing(const struct ny_salvage *salvage, char *text, size_t bytes)
{
    size_t used = 0;

    for (size_t i = 0; i < salvage->count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%llu to %llu", i ? ", " : "rows ",
                                 (unsigned long long)salvage->range[i].first,
                                 (unsigned long long)salvage->range[i].end - 1);
    if (salvage->more && used < bytes)
        snprintf(text + used, bytes - used, " and %llu more ranges",
                 (unsigned long long)salvage->more);
}

static void warn_of_missing(const struct source *source, const char *part, const char *output)
{
    const struct ny_salvage *salvage = source->salvage;
    char ranges[512];

    describe_missing(salvage, ranges, sizeof(ranges));
    ny_log(source->ctx, NY_LOG_WARNING,
           "%llu rows of the %s of '%s' are damaged; in %s they are NaN (numbers: 2^64-1): %s",
           (unsigned long long)salvage->rows, part, source->name, output, ranges);
}

int ny_part_export(struct ny_store *store, const char *name, const char *part, const char *output,
                   struct ny_salvage *salvage)
{
    struct source source;
    int err = open_source(&source, store, name);

    source.salvage = salvage;
    if (err == NY_OK) err = export(&source, part, output);
    if (err == NY_OK && salvage && salvage->rows) warn_of_missing(&source, part, output);
    close_source(&source);
    return err;
}

int ny_result_layout(struct ny_store *store, const char *name, struct ny_embedding_layout *layout,
                     size_t *components)
{
    struct source source;
    int err = open_source(&source, store, name);

    *layout = source.layout;
    *components = ny_coordinates_count(&source.coordinates);
    if (err == NY_OK && !source.coordinates.pairs)
        err =
            ny_fail(source.ctx, NY_EUSAGE, "'%s' is a dictionary alone: it has no embedding", name);
    close_source(&source);
    return err;
}

int ny_result_rows32(struct ny_store *store, const char *name, uint64_t first, size_t count,
                     float *rows)
{
    struct source source;
    double *wide = NULL;
    size_t p;
    int err = open_source(&source, store, name);

    if (err) goto done;
    p = ny_coordinates_count(&source.coordinates);
    if (!p || first + count > source.n) {
        err = ny_fail(source.ctx, NY_EUSAGE,
                      "'%s' has %llu rows of %zu components; rows %llu to "
                      "%llu are not in it",
                      name, (unsigned long long)source.n, p, (unsigned long long)first,
                      (unsigned long long)(first + count - 1));
        goto done;
    }
    if (!ny_coordinates_plain(&source.coordinates)) err = reserve_stored(&source, count);
    if (err) goto done;
    if (!source.f64) {
        err = fill_embedding(&source, first, count, rows);
        goto done;
    }
    wide = ny_calloc(source.ctx, NY_MEM_IO, count, p * sizeof(double));
    err = wide ? fill_embedding(&source, first, count, wide) : NY_EBUDGET;
    for (size_t i = 0; err == NY_OK && i < count * p; i++)
        rows[i] = (float)wide[i];
done:
    ny_free(source.ctx, wide);
    close_source(&source);
    return err;
}
