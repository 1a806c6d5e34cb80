/*
 * Names of columns in an import. They are those of a store that holds no points yet, and are
 * compared with those of any other, and of the files before. They are written just before the
 * import becomes visible; what a kill leaves of them is dropped by the next import, as nothing
 * speaks of them.
 */
#include <string.h>

#include "store/ingest_private.h"

/* Compares names with those of the store, or of the files before. */
static int compare(struct ny_ingest *ingest, const struct ny_party *coming)
{
    struct ny_names has = {0};
    struct ny_party there = {.whose = ingest->store->path, .columns = &has};
    int err = NY_OK;

    if (ingest->base.flags & NY_FLAG_COLUMNS)
        err = ny_points_all_columns(ingest->store, &has);
    else
        there = (struct ny_party){.whose = "the files before it", .columns = &ingest->columns};
    there.traits.d = ingest->base.d;
    there.traits.columns = ny_names_digest(there.columns);
    if (!err) err = ny_traits_compare(ingest->ctx, coming, &there, NY_SAME_COLUMNS, NULL);
    ny_names_release(&has, ingest->ctx);
    return err;
}

int ny_ingest_column_names(struct ny_ingest *ingest, const struct ny_names *names, const char *from)
{
    const struct ny_party coming = {
        .whose = from,
        .file = from,
        .traits = {.d = ingest->base.d, .columns = ny_names_digest(names)},
        .columns = names};
    int err = NY_OK;

    if (names->count != ingest->base.d)
        err = NY_BUG(ingest->ctx);
    else if ((ingest->base.flags & NY_FLAG_COLUMNS) || ingest->columns.count)
        err = compare(ingest, &coming);
    else if (ingest->base.n == 0)
        err = ny_names_append(&ingest->columns, ingest->ctx, names->text, names->count);
    if (err) ingest->failed = err;
    return err;
}

/* Puts one entry. */
static int put_columns(struct ny_ingest *ingest, const struct ny_names_entry *entry,
                       const char *text, size_t bytes)
{
    struct ny_want as =
        ny_points_want(ingest->store, entry->kind, entry->number, entry->count, bytes);
    struct ny_packed packed;
    int err = ny_ingest_names_reserve(ingest, bytes);

    if (err) return err;
    packed = ny_frame_pack(&as.frame, text, ingest->names.room.at);
    return ny_ingest_put_packed(ingest, &as.key, &packed);
}

int ny_ingest_columns_put(struct ny_ingest *ingest)
{
    const char *text = ingest->columns.text;
    int err = NY_OK;

    if (!ingest->columns.count) return NY_OK;
    for (uint64_t number = 0; !err && number < ny_column_entries(ingest->base.d); number++) {
        const struct ny_names_entry entry = ny_column_entry(ingest->base.d, number);
        const char *end = ny_names_skip(text, entry.count);

        err = put_columns(ingest, &entry, text, (size_t)(end - text));
        text = end;
    }
    return err;
}
