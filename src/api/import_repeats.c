/*
 * Tells of rows that are appended once more.
 *
 * By their names, which are compared with those of the rows that the store has. A set keeps a hash
 * of each new name, and the names of the store pass by it before the commit, those of its last rows
 * where there are very many.
 *
 * And by their values, where the import before added as many rows: both are read from the store,
 * piece by piece, up to the first difference. Other rows differ in the first piece, so that only
 * rows that are the same cost more than a look at one block of each. They are read behind the
 * commit: by then a failure to compare them is none of the import.
 */
#include <string.h>

#include "api/import_private.h"
#include "base/checksum.h"
#include "base/memory.h"

/* Rows of the store whose names are read, and how many at a time. */
enum { LOOKED_AT = 16000000, PIECE = 65536, FIRST_ROOM = 4096 };
/* Bytes of rows that are compared at a time. One row alone may come again by chance. */
enum { COMPARED_BYTES = 1 << 20, COMPARED_LEAST = 2 };

/* A hash has bit 0 free, for whether its name was found; 0: the place is free. */
static uint64_t hash_of(const char *name, size_t length)
{
    uint64_t hash = ny_checksum(name, length) & ~(uint64_t)1;

    return hash ? hash : 2;
}

/* The place of a hash, or the free one where it belongs. */
static uint64_t *place_of(const struct ny_import_repeats *set, uint64_t hash)
{
    size_t at = (size_t)(hash >> 1) & (set->room - 1);

    while (set->hash[at] && (set->hash[at] | 1) != (hash | 1))
        at = (at + 1) & (set->room - 1);
    return set->hash + at;
}

/* Doubles the room; without memory for that, names are not compared. */
static void grow(struct ny_import *import)
{
    struct ny_import_repeats *set = &import->repeats, old = *set;
    size_t bytes;

    set->room = old.room ? 2 * old.room : FIRST_ROOM;
    bytes = set->room * sizeof(*set->hash);
    set->hash = bytes < ny_memory_left(import->ctx) / 4
                    ? ny_calloc(import->ctx, NY_MEM_IO, 1, bytes)
                    : NULL;
    set->off = !set->hash;
    if (set->off) ny_error_clear(import->ctx);
    for (size_t i = 0; i < old.room && !set->off; i++)
        if (old.hash[i]) *place_of(set, old.hash[i]) = old.hash[i];
    ny_free(import->ctx, old.hash);
}

void ny_import_note_names(struct ny_import *import, const struct ny_row_batch *batch)
{
    struct ny_import_repeats *set = &import->repeats;
    const char *name = batch->names ? batch->names->text : NULL;

    if (!import->append || !name) return;
    for (size_t i = 0, length; i < batch->count && !set->off; i++, name += length + 1) {
        uint64_t hash, *place;

        length = strlen(name);
        if (!length) continue;
        if (2 * set->count >= set->room) grow(import);
        if (set->off) return;
        hash = hash_of(name, length);
        place = place_of(set, hash);
        set->count += !*place;
        *place = hash;
    }
}

/* Looks for a piece of the store's names among the new ones. */
static void look(struct ny_import_repeats *set, const struct ny_names *names, uint64_t *found,
                 char first[NY_NAME_BYTES_MAX + 1])
{
    const char *name = names->text;

    for (size_t i = 0, length; i < names->count; i++, name += length + 1) {
        uint64_t *place;

        length = strlen(name);
        if (!length) continue;
        place = place_of(set, hash_of(name, length));
        if (!*place || *place & 1) continue;
        *place |= 1;
        if (!(*found)++) memcpy(first, name, length + 1);
    }
}

int ny_import_tell_repeats(struct ny_import *import)
{
    struct ny_import_repeats *set = &import->repeats;
    char first[NY_NAME_BYTES_MAX + 1] = "";
    struct ny_names names = {0};
    struct ny_points_info info;
    uint64_t at, found = 0;
    int err = ny_points_info(import->store, &info);

    if (err || set->off || !set->count) return err;
    at = info.n > LOOKED_AT ? info.n - LOOKED_AT : 0;
    for (; !err && at < info.n; at += PIECE) {
        size_t count = info.n - at < PIECE ? (size_t)(info.n - at) : PIECE;

        ny_names_clear(&names);
        err = ny_check_interrupt(import->ctx);
        if (!err) err = ny_points_names(import->store, at, count, &names);
        if (!err) look(set, &names, &found, first);
    }
    ny_names_release(&names, import->ctx);
    set->told = !err && 2 * found > set->count;
    if (!err && found)
        ny_log(
            import->ctx, set->told ? NY_LOG_WARNING : NY_LOG_NOTE,
            "%llu of the %zu rows to append have names that rows of %s already have, the first of "
            "them '%s': were they appended before? --expect-rows refuses rows that come twice",
            (unsigned long long)found, set->count, ny_store_path(import->store), first);
    return err;
}

/* Finds the import whose rows end where those of the last one, from `first` on, begin, if it has
 * added as many. */
static int find_alike(struct ny_import *import, uint64_t first, struct ny_row_range *alike)
{
    struct ny_imports imports;
    int err = ny_points_imports(import->store, &imports);

    *alike = (struct ny_row_range){0};
    if (!err && imports.count >= 2) {
        const struct ny_import_note *last = imports.note + imports.count - 1, *before = last - 1;

        if (last->first == first && before->end == first &&
            before->end - before->first == last->end - last->first)
            *alike = (struct ny_row_range){before->first, before->end};
    }
    ny_imports_release(&imports, import->ctx);
    return err;
}

/* Tells whether rows in memory have the same values. */
static bool are_same(const struct ny_points_info *info, const char *a, const char *b, size_t rows)
{
    size_t bytes = ny_points_row_bytes(info), slots = (size_t)info->row_slots;

    if (!slots) return memcmp(a, b, rows * bytes) == 0;
    for (size_t i = 0; i < rows; i++) {
        struct ny_sparse x = ny_sparse_of(a + i * bytes, slots);
        struct ny_sparse y = ny_sparse_of(b + i * bytes, slots);

        if (x.count != y.count || memcmp(x.index, y.index, x.count * sizeof(*x.index)) != 0 ||
            memcmp(x.value, y.value, x.count * ny_dtype_size(info->dtype)) != 0)
            return false;
    }
    return true;
}

/* Compares rows of the store with as many rows behind them, which are as they were stored. */
static int compare(struct ny_import *import, struct ny_row_range rows, bool *same)
{
    struct ny_store *store = import->store;
    uint64_t apart = rows.end - rows.first;
    struct ny_points_info info;
    size_t bytes, piece = 1;
    char *room;
    int err = ny_points_info(store, &info);

    if (err) return err;
    bytes = ny_points_row_bytes(&info);
    if (bytes < COMPARED_BYTES) piece = COMPARED_BYTES / bytes;
    room = ny_alloc(import->ctx, NY_MEM_IO, 2 * piece * bytes);
    if (!room) return NY_EBUDGET;
    *same = true;
    for (uint64_t at = rows.first; !err && *same && at < rows.end; at += piece) {
        size_t count = rows.end - at < piece ? (size_t)(rows.end - at) : piece;
        char *behind = room + count * bytes;

        err = ny_check_interrupt(import->ctx);
        if (!err) err = ny_points_read(store, (size_t)info.row_slots, at, count, room);
        if (!err) err = ny_points_read(store, (size_t)info.row_slots, at + apart, count, behind);
        *same = !err && are_same(&info, room, behind, count);
    }
    ny_free(import->ctx, room);
    return err;
}

void ny_import_tell_same(struct ny_import *import, uint64_t first)
{
    const char *path = ny_store_path(import->store);
    struct ny_row_range alike;
    bool same = false;
    int err;

    if (import->repeats.told) return;
    err = find_alike(import, first, &alike);
    if (!err && alike.end - alike.first >= COMPARED_LEAST) {
        ny_store_read_raw(import->store, true);
        err = compare(import, alike, &same);
        ny_store_read_raw(import->store, false);
    }
    if (err) ny_error_clear(import->ctx);
    if (same)
        ny_log(import->ctx, NY_LOG_WARNING,
               "these rows are the same as rows %llu to %llu of %s, which the import before this "
               "one added: if they were not meant to come twice, 'nystream truncate %s --keep "
               "%llu' takes them out again",
               (unsigned long long)alike.first, (unsigned long long)alike.end - 1, path, path,
               (unsigned long long)alike.end);
}
