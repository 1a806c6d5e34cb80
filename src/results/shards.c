/*
 * Results of all shards of a store (results/shards.h).
 *
 * A fit over shards leaves in each of them an ordinary result of its own rows, with the same model;
 * so do fits that place rows by one model. Whether models are the same is seen by their bytes,
 * which are read once: rows of different maps are no columns of one table. The shard that was read
 * last stays open, as rows are mostly read in order.
 */
#include "results/shards.h"

#include "results/clusters.h"
#include "results/current.h"
#include "results/keep.h"

#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "model/landmark_points.h"
#include "shards/shards.h"

struct ny_result_span {
    uint64_t *first;         /* row of the whole with which each shard begins; the end */
    uint64_t *then;          /* as the fit has numbered them */
    size_t k;                /* the shard that is open, */
    struct ny_store *store;  /* and its store; NULL: none is */
    struct ny_result result; /* that of the shard */
    json_t *report;          /* that of the last shard, with the rows of the whole */
    uint64_t *fit;           /* a number for the fit that each shard has the result of */
    uint64_t model;          /* digest of the one by which all shards have placed their rows */
    bool clustered;          /* one evaluation of all shards has found their clusters */
    bool same_clusters;      /* the shard that is open had those of the last when it was opened */
};

/* ---- the result of one shard --------------------------------------------------------------- */

/* Lets go of the shard that is open. */
static void close_shard(struct ny_result_span *span)
{
    if (!span->store) return;
    span->result.stored = NULL; /* these two are lent by the whole */
    span->result.inverse = NULL;
    ny_result_close(&span->result);
    ny_store_close(span->store);
    span->store = NULL;
}

/* Opens the k-th shard's result by a handle of its own, as the set may close its stores. */
static int open_shard(struct ny_result *whole, size_t k)
{
    struct ny_result_span *span = whole->span;
    struct ny_store *store;
    int err;

    if (span->store && span->k == k) return NY_OK;
    close_shard(span);
    err = ny_set_store(whole->store, k, &store);
    if (!err) err = ny_store_open(&span->store, whole->ctx, ny_store_path(store));
    if (err) return err;
    span->k = k;
    err = ny_result_open(&span->result, span->store, whole->name);
    span->same_clusters = !err && ny_stored_clusters_same(whole->record, span->result.record);
    if (err) close_shard(span); /* the next call tries again */
    return err;
}

/* ---- do they belong together --------------------------------------------------------------- */

void ny_together_add(struct ny_together *whole, const json_t *record)
{
    const json_t *sharded = json_object_get(record, "sharded");
    const char *text = ny_field_text(record, "id");
    uint64_t id = text ? ny_checksum(text, strlen(text)) : 0;
    bool done = record && ny_field_is(record, "stage", "done");

    whole->lacking += !record;
    whole->unfinished += !done;
    if (!sharded || !done) return;
    whole->torn |= whole->shards && id != whole->id;
    whole->id = id;
    whole->of = (size_t)ny_field_count(sharded, "shards", 0);
    whole->shards++;
}

bool ny_together_joined(const struct ny_together *whole, size_t count)
{
    return whole->lacking && whole->shards && whole->of + whole->lacking <= count;
}

int ny_result_together(struct ny_store *set, const char *name, bool *lacking,
                       struct ny_together *whole)
{
    int err = NY_OK;

    for (int try = 0; try < 2; try++) { /* it may be made anew meanwhile */
        *whole = (struct ny_together){0};
        for (size_t k = 0; !err && k < ny_store_set(set)->count; k++) {
            size_t before = whole->unfinished;
            struct ny_store *store;
            json_t *record = NULL;

            err = ny_set_store(set, k, &store);
            if (!err) err = ny_record_load(store, name, &record);
            ny_together_add(whole, record);
            if (lacking) lacking[k] = whole->unfinished > before;
            json_decref(record);
        }
        if (err || !whole->torn) return err;
    }
    return ny_fail(ny_store_context(set), NY_ESTORE,
                   "shards of %s have '%s' of different fits; make it again with --restart",
                   ny_store_path(set), name);
}

/* Refuses a result that not all shards have. */
static int check_there(struct ny_store *set, const char *name)
{
    struct ny_context *ctx = ny_store_context(set);
    size_t count = ny_store_set(set)->count, missing;
    struct ny_together whole = {0};
    int err = ny_result_together(set, name, NULL, &whole);

    missing = whole.unfinished;
    if (!err && missing == count && count > 0) {
        json_t *record = NULL;

        err = ny_record_need_done(set, name, &record);
        json_decref(record);
    }
    if (!err && ny_together_joined(&whole, count))
        return ny_fail(ctx, NY_EUSAGE, "'%s' lacks shards of %s that have joined since; update it",
                       name, ny_store_path(set));
    if (!err && missing)
        err = ny_fail(ctx, NY_EUSAGE,
                      "'%s' is not finished in %zu of the %zu shards of %s; run the command again",
                      name, missing, count, ny_store_path(set));
    return err;
}

/* Tells whether a result is a selection of landmarks from the rows of all shards. */
static bool is_selection(const struct ny_result *one)
{
    return strcmp(ny_record_kind(one->record), "dictionary") == 0 &&
           json_object_get(one->record, "sharded");
}

/* Computes a digest over the bytes of a model, or of the landmarks of a selection; 0: the result
 * has none. */
static int digest_model(struct ny_result *result, uint64_t *digest)
{
    bool points = ny_landmark_points_of(ny_record_of(result->record)).count > 0;
    const char *name = !is_selection(result) ? "model" : points ? "landmark-points" : "landmarks";
    struct ny_part part = ny_record_part(ny_record_of(result->record), name);

    *digest = 0;
    return ny_part_digest(&result->keep, part.name, digest);
}

/* Refuses what one shard, in the store `whole`, has for itself alone. */
static int check_kind(const char *whole, const struct ny_result *one)
{
    const char *kind =
        one->graph.neighbors || one->rows.component ? "graph" : ny_record_kind(one->record);

    if (strcmp(kind, "fit") == 0 || is_selection(one)) return NY_OK;
    return ny_fail(one->ctx, NY_EUSAGE,
                   "'%s' is another %s in each shard of %s; give the path of one", one->name, kind,
                   whole);
}

int ny_result_digest(struct ny_result *result, uint64_t *digest)
{
    int err = check_kind("the store", result);

    if (!err) err = digest_model(result, digest);
    if (err || *digest) return err;
    return ny_result_lacks(result->store, result->name, "model");
}

/* Compares the result of one shard with that of the whole, and with those before it. */
static int check_shard(struct ny_result *whole)
{
    struct ny_result_span *span = whole->span;
    uint64_t digest;
    int err = check_kind(ny_store_path(whole->store), &span->result);

    if (!err) err = digest_model(&span->result, &digest);
    if (err) return err;
    if (span->k == 0) span->model = digest;
    if (digest == span->model && digest && span->result.f64 == whole->f64 &&
        span->result.layout.row_bytes == whole->layout.row_bytes)
        return NY_OK;
    return ny_fail(whole->ctx, NY_EUSAGE,
                   "shards of %s have '%s' of different models, or of none; give the path of one",
                   ny_store_path(whole->store), whole->name);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Returns a number by which another fit of the same name, or an update of it, is told. */
static uint64_t fit_of(const json_t *record)
{
    const char *id = ny_field_text(record, "id");
    uint64_t parts[2] = {id ? ny_checksum(id, strlen(id)) : 0, ny_record_generation(record)};

    return ny_checksum(parts, sizeof(parts));
}

/* Looks at the results of all shards, and counts their rows. */
static int measure(struct ny_result *whole)
{
    struct ny_result_span *span = whole->span;
    uint64_t n = 0;
    int err = NY_OK;

    span->clustered = true;
    for (size_t k = 0; !err && k < ny_store_set(whole->store)->count; k++) {
        err = open_shard(whole, k);
        if (!err) err = check_shard(whole);
        if (err) return err;
        span->fit[k] = fit_of(span->result.record);
        span->first[k + 1] = span->first[k] + span->result.rows.count;
        span->then[k] = ny_field_count(json_object_get(span->result.record, "sharded"), "first",
                                       span->first[k]);
        n += span->result.n;
        if (!span->same_clusters) span->clustered = false;
    }
    whole->n = n;
    return NY_OK;
}

void ny_report_rows_now(json_t *told, const json_t *report, const uint64_t before[2], bool own)
{
    uint64_t worst = ny_field_count(report, "residual_max_row", UINT64_MAX);
    uint64_t moved = ny_field_count(report, "drift_largest_first", UINT64_MAX);

    if (worst != UINT64_MAX && worst >= before[0])
        ny_field_set_count(told, "residual_max_row", before[1] + (worst - before[0]));
    if (moved != UINT64_MAX && own)
        ny_field_set_count(told, "drift_largest_first", before[1] + (moved - before[0]));
}

/* Makes the last shard's result, which is open, that of the whole. Clusters that an evaluation of
 * a shard alone has found are not those of the whole. */
static int widen(struct ny_result *whole)
{
    struct ny_result_span *span = whole->span;
    const struct ny_set *set = ny_store_set(whole->store);
    uint64_t rows = span->first[set->count];

    if (!span->clustered) json_object_del((json_t *)whole->record, "clusters");
    ny_lost_release(&whole->rows.lost, whole->ctx);
    whole->rows = (struct ny_result_rows){
        .store = whole->store, .name = whole->name, .n = whole->n, .count = rows};
    whole->layout.rows = rows;
    span->report = json_copy((json_t *)whole->report);
    if (!span->report) return ny_fields_no_memory(whole->ctx);
    ny_field_set_count(span->report, "n", whole->n);
    for (size_t k = 0; json_object_get(whole->record, "sharded") && k < set->count; k++)
        ny_report_rows_now(span->report, whole->report,
                           (const uint64_t[2]){span->then[k], set->first[k]}, k + 1 == set->count);
    whole->report = span->report;
    return ny_fields_check(whole->ctx);
}

int ny_result_open_any(struct ny_result *result, struct ny_store *store, const char *name)
{
    const struct ny_set *set = ny_store_set(store);
    struct ny_store *last;
    struct ny_result_span *span;
    int err;

    if (!set) return ny_result_open(result, store, name);
    *result = (struct ny_result){.ctx = ny_store_context(store), .store = store, .name = name};
    err = check_there(store, name);
    if (!err) err = ny_set_store(store, set->count - 1, &last);
    if (!err) err = ny_result_open(result, last, name);
    result->store = result->rows.store = store; /* the set closes the last one when it likes */
    result->keep = ny_store_keep(store, name);
    if (err) return err;
    span = ny_calloc(result->ctx, NY_MEM_OTHER, 1,
                     sizeof(*span) + (3 * set->count + 1) * sizeof(*span->first));
    if (!span) return NY_EBUDGET;
    span->first = (uint64_t *)(void *)(span + 1);
    span->fit = span->first + set->count + 1;
    span->then = span->fit + set->count;
    result->span = span;
    err = measure(result);
    return err ? err : widen(result);
}

void ny_result_close_any(struct ny_result *result)
{
    if (result->span) close_shard(result->span);
    if (result->span) json_decref(result->span->report);
    ny_free(result->ctx, result->span);
    result->span = NULL;
    ny_result_close(result);
}

int ny_result_of_points(struct ny_result *result, struct ny_store *store)
{
    struct ny_points_state state;
    struct ny_rows_info info = {0};
    int err = ny_points_state(store, &state);

    if (!err) err = ny_points_info(store, &info);
    *result = (struct ny_result){.ctx = ny_store_context(store),
                                 .store = store,
                                 .name = "points",
                                 .n = info.n,
                                 .d = (size_t)info.d,
                                 .dtype = info.dtype,
                                 .rows = {.store = store, .n = info.n, .count = info.n},
                                 .points = state};
    return err;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Returns the shard that has a row of the whole. */
static size_t shard_of(const struct ny_result *whole, uint64_t row)
{
    return ny_range_of(whole->span->first, ny_store_set(whole->store)->count, row);
}

/* Tells whether a row of one result is as wide as one of the other, in every part. */
static bool has_rows_of(const struct ny_result *one, const struct ny_result *other)
{
    const struct ny_coordinates *a = &one->coordinates, *b = &other->coordinates;

    return one->f64 == other->f64 && a->pairs == b->pairs && a->skip == b->skip &&
           a->asymmetric == b->asymmetric;
}

/* Reads rows of the shard that is open, and numbers them as the whole does. */
static int fill_shard(struct ny_result *whole, const struct ny_result_part *part, uint64_t first,
                      size_t count, void *out)
{
    const struct ny_set *set = ny_store_set(whole->store);
    struct ny_result_span *span = whole->span;
    bool rows = strcmp(part->name, "rows") == 0, source = strcmp(part->name, "source") == 0;
    uint64_t *numbers = out, begin = rows ? set->first[span->k] : set->source[span->k];
    int err;

    if (!has_rows_of(&span->result, whole) || fit_of(span->result.record) != span->fit[span->k] ||
        span->result.rows.count != span->first[span->k + 1] - span->first[span->k])
        return ny_fail(whole->ctx, NY_EUSAGE, "'%s' of %s was made again; open it again",
                       whole->name, ny_store_path(whole->store));
    if (part->count(&span->result) != span->result.rows.count)
        return ny_result_lacks(whole->store, whole->name, part->name);
    if (strcmp(part->name, "clusters") == 0 && !span->same_clusters)
        return ny_fail_changed(whole->ctx, whole->name);
    span->result.stored = whole->stored;
    span->result.inverse = whole->inverse;
    err = part->fill(&span->result, first, count, out);
    err = ny_result_current(&span->result, part, err);
    for (size_t i = 0; !err && (rows || source) && i < count; i++)
        if (numbers[i] != UINT64_MAX) numbers[i] += begin;
    return err;
}

/* Reads what is not of each row. Landmarks are told by the numbers that their rows have now. */
static int fill_of_all(struct ny_result *result, const struct ny_result_part *part, uint64_t first,
                       size_t count, void *out)
{
    int err = ny_result_current(result, part, part->fill(result, first, count, out));
    const struct ny_result_span *span = result->span;
    const struct ny_set *set = ny_store_set(result->store);
    uint64_t *rows = out;

    if (err || !span || strcmp(part->name, "landmarks") != 0) return err;
    for (size_t i = 0; i < count; i++)
        if (rows[i] < result->rows.count)
            rows[i] = ny_row_now(span->then, set->first, set->count, rows[i]);
    return NY_OK;
}

/* Reads the landmarks of a selection from the shards that have their rows. */
static int fill_selected(struct ny_result *result, const struct ny_result_part *part,
                         uint64_t first, size_t count, void *out)
{
    bool f64 = ny_result_element(result, part) == NY_OUT_F64;
    const struct ny_landmark_points as = {count, f64 ? NY_F64 : NY_F32, 0, result->d};
    uint64_t *rows = ny_calloc(result->ctx, NY_MEM_IO, count, sizeof(*rows));
    int err =
        rows ? fill_of_all(result, ny_part_find("landmarks"), first, count, rows) : NY_EBUDGET;

    if (!err) err = ny_landmark_points_gather(ny_store_rows(result->store), &as, rows, out);
    ny_free(result->ctx, rows);
    return err;
}

int ny_part_fill(struct ny_result *result, const struct ny_result_part *part, uint64_t first,
                 size_t count, void *out)
{
    size_t row_bytes, done = 0;
    int err = NY_OK;

    if (result->span && is_selection(result) && strcmp(part->name, "landmark-points") == 0 &&
        !ny_landmark_points_of(ny_record_of(result->record)).count)
        return fill_selected(result, part, first, count, out);
    if (!result->span || !part->by_row) return fill_of_all(result, part, first, count, out);
    row_bytes = ny_output_bytes(ny_result_element(result, part)) *
                (part->columns ? part->columns(result) : 1);
    while (!err && done < count) {
        size_t k = shard_of(result, first + done);
        uint64_t at = first + done - result->span->first[k];
        uint64_t left = result->span->first[k + 1] - (first + done);
        size_t piece = left < count - done ? (size_t)left : count - done;

        err = open_shard(result, k);
        if (!err) err = fill_shard(result, part, at, piece, (char *)out + done * row_bytes);
        done += piece;
    }
    return err;
}

/* Cuts rows `row` … end − 1 where rows of the store that are lost end: others of the same block
 * came in behind them, and can be read. */
static uint64_t cut_at_lost(struct ny_store *store, uint64_t row, uint64_t end)
{
    struct ny_lost lost;

    if (ny_points_lost(store, &lost)) ny_error_clear(ny_store_context(store));
    for (size_t i = 0; i < lost.count; i++)
        if (lost.range[i].end > row && lost.range[i].end < end) end = lost.range[i].end;
    ny_lost_release(&lost, ny_store_context(store));
    return end;
}

uint64_t ny_part_grain_end(const struct ny_result *result, const struct ny_result_part *part,
                           uint64_t row)
{
    uint64_t grain = part->grain(result), begin = 0, end;
    size_t k;

    if (!result->span || !part->by_row)
        return cut_at_lost(result->store, row, (row / grain + 1) * grain);
    k = shard_of(result, row);
    begin = result->span->first[k];
    end = begin + ((row - begin) / grain + 1) * grain;
    return end < result->span->first[k + 1] ? end : result->span->first[k + 1];
}

/* ---- embeddings in memory ------------------------------------------------------------------ */

/* Opens the result of the k-th shard as it is now; *same: it has the rows that the whole has. */
static int open_again(const struct ny_result *whole, size_t k, struct ny_result *shard, bool *same)
{
    const struct ny_result_span *span = whole->span;
    struct ny_store *store;
    uint64_t model = 0;
    int err = ny_set_store(whole->store, k, &store);

    *shard = (struct ny_result){0};
    if (!err) err = ny_result_open(shard, store, whole->name);
    if (!err) err = digest_model(shard, &model);
    *same =
        !err && model == span->model && shard->rows.count == span->first[k + 1] - span->first[k];
    return err;
}

int ny_result_put_clusters(const struct ny_result *result, const uint32_t *cluster, size_t count,
                           const json_t *figures)
{
    const struct ny_result_span *span = result->span;
    bool same = true;
    int err = NY_OK;

    if (!span) return ny_stored_clusters_put(result, cluster, count, figures);
    /* All shards are looked at before any of them gets clusters: an evaluation takes long, and an
     * update may have added rows meanwhile. */
    for (size_t i = 0, shards = ny_store_set(result->store)->count; i < 2 * shards && same; i++) {
        struct ny_result shard;
        size_t k = i % shards;

        err = open_again(result, k, &shard, &same);
        if (!err && same && i >= shards)
            err = ny_stored_clusters_put(&shard, cluster + span->first[k], count, figures);
        ny_result_close(&shard);
        if (err) break;
    }
    if (!err && !same)
        ny_log(result->ctx, NY_LOG_WARNING, "the clusters are not stored: '%s' was made again",
               result->name);
    return err;
}

int ny_result_layout(struct ny_store *store, const char *name, struct ny_embedding_layout *layout,
                     size_t *components)
{
    struct ny_result result;
    int err = ny_result_open_any(&result, store, name);

    *layout = result.layout;
    *components = ny_coordinates_count(&result.coordinates);
    if (err == NY_OK && !result.coordinates.pairs) err = ny_result_lacks(store, name, "embedding");
    ny_result_close_any(&result);
    return err;
}

int ny_result_fill32(struct ny_result *result, uint64_t first, size_t count, float *rows)
{
    const struct ny_result_part *embedding = ny_part_find("embedding");
    const double *wide = result->stored;
    size_t numbers = count * embedding->columns(result);
    int err =
        ny_part_fill(result, embedding, first, count, result->f64 ? result->stored : (void *)rows);

    for (size_t i = 0; !err && result->f64 && i < numbers; i++)
        rows[i] = (float)wide[i];
    return err;
}

int ny_result_rows32(struct ny_store *store, const char *name, uint64_t first, size_t count,
                     float *rows)
{
    struct ny_result result;
    size_t p;
    int err = ny_result_open_any(&result, store, name);

    p = err ? 0 : ny_coordinates_count(&result.coordinates);
    if (!err && (!p || count > result.rows.count || first > result.rows.count - count))
        err = ny_fail(result.ctx, NY_EUSAGE, "'%s' has %llu rows, not %zu from row %llu on", name,
                      (unsigned long long)result.rows.count, count, (unsigned long long)first);
    if (!err) err = ny_result_prepare(&result, ny_part_find("embedding"), count);
    if (!err) err = ny_result_fill32(&result, first, count, rows);
    ny_result_close_any(&result);
    return err;
}
