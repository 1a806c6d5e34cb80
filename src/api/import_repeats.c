/*
 * Tells of rows that are appended once more.
 *
 * By their names, which are compared with those of the rows that the store has. A set keeps a hash
 * of each new name, and the names of the store pass by it before the commit, those of its last rows
 * where there are very many.
 *
 * And by their values, with earlier imports of as many rows: both are read from the store, piece by
 * piece, up to the first difference. Other rows differ in the first piece, so that only rows that
 * are the same cost more than a look at one block of each. They are read behind the commit: by then
 * a failure to compare them is none of the import.
 */
#include <string.h>

#include "api/import_private.h"
#include "base/checksum.h"
#include "base/memory.h"

/* Rows of the store whose names are read, and how many at a time. */
enum { LOOKED_AT = 16000000, PIECE = 65536, FIRST_ROOM = 4096 };
/* Bytes of rows that are compared at a time. One row alone may come again by chance, and so may a
 * few among the last imports of as many rows, of which this many are looked at. */
enum { COMPARED_BYTES = 1 << 20, COMPARED_LEAST = 2, COMPARED_FAR = 10, IMPORTS = 100 };

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
            import->ctx, 4 * found > set->count ? NY_LOG_WARNING : NY_LOG_NOTE,
            "%llu of the %zu rows to append have names that rows of %s already have, the first of "
            "them '%s': were they appended before? If so, 'nystream truncate %s --keep %llu' takes "
            "the new rows out again%s",
            (unsigned long long)found, set->count, ny_store_path(import->store), first,
            ny_store_path(import->store), (unsigned long long)info.n,
            import->expects ? "" : "; --expect-rows refuses rows that come twice");
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

/* Compares rows of the store with as many rows from `last` on, which are as they were stored. */
static int compare(struct ny_import *import, struct ny_row_range rows, uint64_t last, bool *same)
{
    struct ny_store *store = import->store;
    struct ny_points_info info;
    size_t bytes, piece = 1;
    char *room;
    int err = ny_points_info(store, &info);

    if (err) return err;
    bytes = ny_points_row_bytes(&info);
    if (bytes < COMPARED_BYTES) piece = COMPARED_BYTES / bytes;
    if (piece > rows.end - rows.first) piece = (size_t)(rows.end - rows.first);
    room = ny_alloc(import->ctx, NY_MEM_IO, 2 * piece * bytes);
    if (!room) return NY_EBUDGET;
    *same = true;
    for (uint64_t at = rows.first, count; !err && *same && at < rows.end; at += count) {
        char *behind = room + piece * bytes;

        /* Other rows differ in the first few. */
        count = at == rows.first ? COMPARED_LEAST : piece;
        if (count > rows.end - at) count = rows.end - at;
        err = ny_check_interrupt(import->ctx);
        if (!err) err = ny_points_read(store, (size_t)info.row_slots, at, (size_t)count, room);
        if (!err)
            err = ny_points_read(store, (size_t)info.row_slots, last + (at - rows.first),
                                 (size_t)count, behind);
        *same = !err && are_same(&info, room, behind, (size_t)count);
    }
    ny_free(import->ctx, room);
    return err;
}

/* Finds the last import before row `first` that added the same rows as the one from there on. */
static int find_same(struct ny_import *import, uint64_t first, const struct ny_imports *imports,
                     const struct ny_import_note **found)
{
    const struct ny_import_note *last, *note;
    size_t looked_at = 0;
    int err = NY_OK;

    *found = NULL;
    if (!imports->count) return err;
    note = last = imports->note + imports->count - 1;
    if (last->first != first) return err;
    while (!err && looked_at < IMPORTS && note-- > imports->note) {
        uint64_t rows = note->end - note->first;
        bool same = false;

        if (rows != last->end - first || note->end > first) continue;
        if (rows < (note->end == first ? COMPARED_LEAST : COMPARED_FAR)) continue;
        looked_at++;
        err = compare(import, (struct ny_row_range){note->first, note->end}, first, &same);
        if (!same) continue;
        *found = note;
        break;
    }
    return err;
}

void ny_import_tell_same(struct ny_import *import, uint64_t first)
{
    const char *path = ny_store_path(import->store);
    const struct ny_import_note *same = NULL;
    struct ny_imports imports;
    int err;

    if (import->repeats.told) return;
    err = ny_points_imports(import->store, &imports);
    ny_store_read_raw(import->store, true);
    if (!err) err = find_same(import, first, &imports, &same);
    ny_store_read_raw(import->store, false);
    if (err) ny_error_clear(import->ctx);
    if (same)
        ny_log(import->ctx, NY_LOG_WARNING,
               "these rows are the same as rows %llu to %llu of %s, which %s added: if they were "
               "not meant to come twice, 'nystream truncate %s --keep %llu' takes them out again",
               (unsigned long long)same->first, (unsigned long long)same->end - 1, path,
               same->end == first ? "the import before this one" : "an earlier import", path,
               (unsigned long long)first);
    ny_imports_release(&imports, import->ctx);
}
