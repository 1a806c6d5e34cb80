/*
 * Stores the clusters that an evaluation finds with the result that it judged, and reads them as
 * part "clusters".
 *
 * They belong to the rows that were evaluated: after a full update, or a fit anew, they are gone.
 * A frozen update leaves those rows where they are, and its record keeps the clusters as those to
 * carry to the new rows; they are not current, and count as absent, until that is done
 * (evaluate/carried_clusters.c). There are two parts, of which the record names one. New clusters
 * go into the other, and one batch changes the record and deletes the old ones.
 */
#include "results/clusters.h"

#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "base/text.h"

/* The record's field "clusters": how many there are, of which rows, and in which of two parts, so
 * that a reader of the old ones is not disturbed. */
static const char field[] = "clusters";
static const char *const slots[] = {"clusters.0", "clusters.1"};

/* Tells whether there are clusters of the rows and the generation that the result has now. */
static bool current(const json_t *record)
{
    const json_t *stored = json_object_get(record, field);

    return stored &&
           ny_field_count(stored, "rows", 0) ==
               ny_field_count(json_object_get(record, "report"), "n", 0) &&
           ny_field_count(stored, "generation", 0) == ny_record_generation(record);
}

size_t ny_stored_clusters(const struct ny_result *result)
{
    const json_t *record = result->record;

    return current(record) ? (size_t)ny_field_count(json_object_get(record, field), "count", 0) : 0;
}

const json_t *ny_stored_clusters_figures(const json_t *record)
{
    return current(record) ? json_object_get(json_object_get(record, field), "figures") : NULL;
}

json_t *ny_stored_clusters_told(const json_t *record)
{
    const json_t *stored = json_object_get(record, field);
    const json_t *figures = ny_stored_clusters_figures(record);
    json_t *told;

    if (!current(record)) return NULL;
    told = figures ? json_deep_copy(figures) : json_object();
    ny_field_set_count(told, "clusters", ny_field_count(stored, "count", 0));
    return told;
}

bool ny_stored_clusters_same(const json_t *record, const json_t *other)
{
    json_t *told = ny_stored_clusters_told(record), *others = ny_stored_clusters_told(other);
    bool same = told && others && json_equal(told, others);

    json_decref(told);
    json_decref(others);
    return same;
}

int ny_stored_clusters_digest(struct ny_context *ctx, const json_t *record, uint64_t *digest)
{
    const size_t flags = JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17);
    json_t *told = ny_stored_clusters_told(record);
    char *text = NULL;
    size_t bytes;
    int err = told ? ny_fields_text(ctx, told, flags, &text, &bytes) : NY_OK;

    *digest = text ? ny_checksum(text, bytes) : 0;
    ny_free(ctx, text);
    json_decref(told);
    return err;
}

/* Returns the slot that the record names; a record without clusters counts as slot 1, so that
 * slot 0 is written first. */
static unsigned slot_of(const json_t *record)
{
    return ny_field_count(json_object_get(record, field), "slot", 1) == 1;
}

/* Returns the layout of the clusters of `rows` rows in a slot. */
static struct ny_embedding_layout layout_of(unsigned slot, uint64_t rows)
{
    return (struct ny_embedding_layout){ny_part_of(slots[slot], 0), rows, sizeof(uint32_t),
                                        NY_CHUNK_BYTES / sizeof(uint32_t)};
}

int ny_stored_clusters_unneeded(const json_t *record, ny_part_fn *each, void *user)
{
    bool named =
        current(record) || json_is_true(json_object_get(json_object_get(record, field), "carried"));
    int err = NY_OK;

    for (unsigned slot = 0; !err && slot < sizeof(slots) / sizeof(slots[0]); slot++)
        if (!named || slot != slot_of(record)) err = each(user, slots[slot]);
    return err;
}

int ny_stored_clusters_get(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    struct ny_embedding_layout layout = layout_of(slot_of(result->record), result->rows.count);
    uint32_t *narrow = (uint32_t *)out + count; /* the second half: widened forwards */
    int err = ny_embedding_rows(&result->keep, &layout, first, count, narrow);

    for (size_t i = 0; err == NY_OK && i < count; i++) {
        uint64_t cluster = narrow[i] == UINT32_MAX ? UINT64_MAX : narrow[i]; /* of none */

        memcpy((char *)out + i * sizeof(cluster), &cluster, sizeof(cluster));
    }
    return err;
}

/* Sets the field of the record, and takes over the figures. Its rows and generation are what
 * current() compares. */
static void describe(json_t *record, const struct ny_result *result, size_t count, unsigned slot,
                     json_t *figures)
{
    json_t *stored = json_object();

    ny_field_set_count(stored, "count", count);
    ny_field_set_count(stored, "rows", result->n);
    ny_field_set_count(stored, "generation", ny_record_generation(result->record));
    ny_field_set_count(stored, "slot", slot);
    if (figures) ny_field_set_json(stored, "figures", figures);
    ny_field_set_json(record, field, stored);
}

/* Commits a record whose clusters are now in this slot, and deletes those in the other one. */
static int commit(const struct ny_keep *keep, struct ny_batch *batch, const json_t *record,
                  unsigned slot)
{
    int err = ny_record_put(keep, batch, record);

    if (err == NY_OK) err = keep->ops->drop(keep, batch, slots[!slot]);
    if (err == NY_OK) return keep->ops->commit(batch);
    keep->ops->cancel(batch);
    return err;
}

/* Stores the clusters, under the lock of the NAME. The record is read again, because the result
 * may have been made anew while it was evaluated without the lock: then its clusters are those
 * of other rows. */
static int put(const struct ny_result *result, const uint32_t *cluster, size_t count,
               const json_t *figures)
{
    struct ny_batch *batch;
    json_t *record = NULL;
    unsigned slot;
    int err = ny_record_need_done_held(result->store, result->name, &record);

    if (err) return err;
    if (!ny_record_same(ny_record_of(record), ny_record_of(result->record))) {
        err = ny_fail_changed(result->ctx, result->name);
        goto done;
    }
    slot = !slot_of(record);
    err = ny_keep_put(&result->keep, slots[slot], cluster,
                      (size_t)result->rows.count * sizeof(*cluster));
    if (err) goto done;
    describe(record, result, count, slot, json_incref((json_t *)figures));
    err = result->keep.ops->begin(&result->keep, &batch);
    if (!err) err = commit(&result->keep, batch, record, slot);
done:
    json_decref(record);
    return err;
}

int ny_stored_clusters_put(const struct ny_result *result, const uint32_t *cluster, size_t count,
                           const json_t *figures)
{
    struct ny_name_lock *lock = NULL;
    int err;

    if (ny_store_read_only(result->store)) {
        ny_log(result->ctx, NY_LOG_WARNING, "%s cannot be written: the clusters are not stored",
               ny_store_path(result->store));
        return NY_OK;
    }
    err = ny_name_lock(&lock, result->store, result->name);
    if (err == NY_OK) err = put(result, cluster, count, figures);
    ny_name_unlock(lock);
    if (err != NY_EBUSY && !(err == NY_EIO && ny_store_replaced(result->store))) return err;
    ny_log(result->ctx, NY_LOG_WARNING, "the clusters are not stored: %s",
           ny_context_message(result->ctx));
    ny_error_clear(result->ctx);
    return NY_OK;
}

/* ---- carried to the rows that a frozen update adds ------------------------------------------ */

void ny_stored_clusters_pass_on(const json_t *result, json_t *record)
{
    json_t *stored = json_object_get(result, field);

    if (!current(result) && !json_is_true(json_object_get(stored, "carried"))) return;
    stored = json_deep_copy(stored);
    ny_field_set_json(stored, "carried", json_true());
    ny_field_set_json(record, field, stored);
}

size_t ny_carried_clusters(const struct ny_result *result, uint64_t *rows)
{
    const json_t *stored = json_object_get(result->record, field);

    *rows = ny_field_count(stored, "rows", 0);
    if (!json_is_true(json_object_get(stored, "carried")) || *rows > result->n) return 0;
    return (size_t)ny_field_count(stored, "count", 0);
}

int ny_carried_clusters_open(const struct ny_result *result, struct ny_embedding_writer *writer)
{
    return ny_embedding_writer_new(writer, &result->keep,
                                   layout_of(!slot_of(result->record), result->n), 0);
}

int ny_carried_clusters_flush(struct ny_embedding_writer *writer)
{
    struct ny_batch *batch;
    int err = ny_embedding_batch(writer, NULL, &batch);

    return err ? err : writer->keep.ops->commit(batch);
}

int ny_carried_clusters_end(const struct ny_result *result, struct ny_embedding_writer *writer,
                            size_t count, const uint64_t *sizes)
{
    unsigned slot = !slot_of(result->record);
    json_t *record = json_deep_copy(result->record), *figures, *list;
    struct ny_batch *batch;
    int err;

    if (!record) return ny_fields_no_memory(result->ctx);
    figures = json_incref(json_object_get(json_object_get(record, field), "figures"));
    list = json_object_get(figures, "cluster_sizes");
    for (size_t c = 0; c < count && c < json_array_size(list); c++)
        json_integer_set(json_array_get(list, c), (json_int_t)sizes[c]);
    describe(record, result, count, slot, figures);
    err = ny_embedding_batch(writer, NULL, &batch);
    if (!err) err = commit(&result->keep, batch, record, slot);
    json_decref(record);
    return err;
}
