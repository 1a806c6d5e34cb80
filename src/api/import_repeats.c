/*
 * Tells of rows that are appended once more, by their names. A set keeps a hash of each new name,
 * and the names of the store pass by it before the commit, those of its last rows where there are
 * very many.
 */
#include <string.h>

#include "api/import_private.h"
#include "base/checksum.h"
#include "base/memory.h"

/* Rows of the store whose names are read, and how many at a time. */
enum { LOOKED_AT = 16000000, PIECE = 65536, FIRST_ROOM = 4096 };

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

    if (!import->spec.append || !name) return;
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
static void look(struct ny_import_repeats *set, const struct ny_names *names, uint64_t *found)
{
    const char *name = names->text;

    for (size_t i = 0, length; i < names->count; i++, name += length + 1) {
        uint64_t *place;

        length = strlen(name);
        if (!length) continue;
        place = place_of(set, hash_of(name, length));
        if (!*place || *place & 1) continue;
        *place |= 1;
        ++*found;
    }
}

int ny_import_tell_repeats(struct ny_import *import)
{
    struct ny_import_repeats *set = &import->repeats;
    struct ny_names names = {0};
    const uint64_t n = import->there.points.rows.n;
    uint64_t found = 0;
    int err = NY_OK;

    if (set->off || !set->count) return NY_OK;
    for (uint64_t at = n > LOOKED_AT ? n - LOOKED_AT : 0; !err && at < n; at += PIECE) {
        size_t count = n - at < PIECE ? (size_t)(n - at) : PIECE;

        ny_names_clear(&names);
        err = ny_check_interrupt(import->ctx);
        if (!err) err = ny_points_names(import->store, at, count, &names);
        if (!err) look(set, &names, &found);
    }
    ny_names_release(&names, import->ctx);
    if (!err && found)
        ny_log(import->ctx, 4 * found > set->count ? NY_LOG_WARNING : NY_LOG_NOTE,
               "%llu of the %zu rows to append have names that rows of %s already have; 'nystream "
               "truncate %s --keep %llu' takes them out again",
               (unsigned long long)found, set->count, ny_store_path(import->store),
               ny_store_path(import->store), (unsigned long long)n);
    return err;
}
