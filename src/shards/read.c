/*
 * Reads a store in shards (shards/shards.h): its file, and the stores that are there. A shard is
 * there when its folder holds points. Each is opened and compared with what the file says, since
 * folders are copied and moved; a shard that is not listed may have been moved here from another
 * host's disk.
 */
#include "shards/shards.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "base/scratch.h"
#include "shards/held.h"

enum { FILE_BYTES_MAX = 1 << 28 };

bool ny_shards_at(const char *path)
{
    char file[PATH_MAX];
    struct stat info;

    return snprintf(file, sizeof(file), "%s/shards", path) < (int)sizeof(file) &&
           lstat(file, &info) == 0 && S_ISREG(info.st_mode);
}

void ny_shards_free(struct ny_shards *shards)
{
    struct ny_context *ctx;

    if (!shards) return;
    ctx = shards->ctx;
    ny_names_release(&shards->columns, ctx);
    ny_names_release(&shards->classes, ctx);
    ny_free(ctx, shards->deal);
    ny_free(ctx, shards->shard);
    ny_free(ctx, shards->path);
    ny_free(ctx, shards);
}

static int list_damaged(struct ny_context *ctx, const char *file)
{
    return ny_fail_at(ctx, NY_ESTORE, file, NY_NO_LINE,
                      "%s is damaged; put it back from a copy, or from the folder of another host",
                      file);
}

/* Parses the file that is open. */
static int parse_file(struct ny_shards *shards, int fd, const char *file)
{
    struct ny_context *ctx = shards->ctx;
    const char *wrong = NULL;
    struct stat info;
    char *text;
    ssize_t got;
    int err = NY_OK;

    if (fstat(fd, &info)) return ny_fail_errno(ctx, "read", file);
    if (!S_ISREG(info.st_mode) || info.st_size > FILE_BYTES_MAX) return list_damaged(ctx, file);
    text = ny_alloc(ctx, NY_MEM_OTHER, (size_t)info.st_size);
    if (!text) return NY_EBUDGET;
    got = ny_read_at(fd, text, (size_t)info.st_size, 0);
    if (got < 0) err = ny_fail_errno(ctx, "read", file);
    if (!err && got < info.st_size) err = list_damaged(ctx, file);
    if (!err) err = ny_shards_parse(shards, text, (size_t)info.st_size, &wrong);
    ny_free(ctx, text);
    return wrong ? list_damaged(ctx, file) : err;
}

int ny_shards_load(struct ny_shards **out, struct ny_context *ctx, const char *path)
{
    char file[PATH_MAX];
    struct ny_shards *shards;
    int fd, err = NY_EBUDGET;

    *out = NULL;
    if (snprintf(file, sizeof(file), "%s/shards", path) >= (int)sizeof(file))
        return ny_fail_long_path(ctx, path);
    fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return ny_fail(ctx, NY_EUSAGE, "%s is not a store in shards", path);
    if (fd < 0) return ny_fail_errno(ctx, "open", file);
    shards = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*shards));
    if (!shards) goto done;
    shards->ctx = ctx;
    shards->path = ny_strdup(ctx, path);
    if (shards->path) err = parse_file(shards, fd, file);
    if (err) goto done;
    *out = shards;
    shards = NULL;
done:
    close(fd);
    ny_shards_free(shards);
    return err;
}

/* Says in which of the facts that each store knows a shard differs from the file; NULL: in none. */
static const char *difference(const struct ny_shard_facts *facts,
                              const struct ny_stored_points *points)
{
    const struct ny_rows_info *info = &points->rows;

    if (facts->d != info->d) return "number of columns";
    if (facts->dtype != info->stored_dtype) return "element type";
    if (facts->layout != info->layout) return "layout";
    if (!ny_prepared_same(&facts->preparation, &info->preparation)) return "preparation of rows";
    if ((facts->labels != NY_LABELS_NONE) != points->labels) return "labels";
    if (facts->row_names != points->names) return "names of rows";
    return facts->column_names != points->column_names ? "names of columns" : NULL;
}

/* Finds in which names a shard differs from the file: it was imported into a folder of its own,
 * which knew nothing of this one. A class has one number in all shards; names that an import has
 * added since the file was read are not compared. Columns were compared when a listed shard came
 * in. */
static int compare_names(const struct ny_shards *shards, const struct ny_shard *shard,
                         struct ny_store *store, const char **differs)
{
    const struct ny_shard_facts *facts = &shards->facts;
    const char *name = shards->classes.text;
    struct ny_names columns = {0};
    char **classes;
    size_t count;
    int err = ny_points_class_names(store, &classes, &count);

    if (!err && facts->labels >= NY_LABELS_NUMBERS &&
        (count > 0) != (facts->labels == NY_LABELS_WORDS))
        *differs = "kind of labels (words or numbers)";
    for (size_t i = 0; !err && i < count && i < shards->classes.count; i++) {
        if (strcmp(classes[i], name) != 0) *differs = "numbering of classes";
        name += strlen(name) + 1;
    }
    ny_free(shards->ctx, classes);
    if (!err && facts->column_names && !shard->listed) {
        err = ny_points_all_columns(store, &columns);
        if (!err && ny_checksum(columns.text, columns.bytes) != facts->column_digest)
            *differs = "list of names of columns";
    }
    ny_names_release(&columns, shards->ctx);
    if (err != NY_ESTORE) return err;
    ny_error_clear(shards->ctx); /* who reads these names is told of the damage */
    return NY_OK;
}

/* Finds out whether a shard with so many rows has come less far than was noted. `again`: that was
 * so before, and the file was read once more, as rows may have been cut off since, which is noted
 * before. */
static int compare_note(struct ny_shards *shards, unsigned k, uint64_t rows, bool again)
{
    struct ny_shard *shard = &shards->shard[k];
    bool points = shard->now.points < shard->noted.points || rows < shard->listed_rows;
    struct ny_shards *fresh;
    int err;

    shard->older = shard->listed && shard->noted.points &&
                   (points || shard->now.results < shard->noted.results);
    if (!shard->older || shards->accepts) return NY_OK;
    if (again)
        return ny_fail_at(
            shards->ctx, NY_ESTORE, shard->path, NY_NO_LINE,
            "%s is an older copy; put the newer one back, or 'nystream repair %s' takes "
            "it as it is",
            shard->path, shards->path);
    err = ny_shards_load(&fresh, shards->ctx, shards->path);
    if (err) return err;
    if (k < fresh->count) {
        fresh->shard[k].now = shard->now;
        err = compare_note(fresh, k, rows, true);
    }
    ny_shards_free(fresh);
    return err;
}

/* Fails because a folder has the place of a shard that it is not. */
static int not_ours(const struct ny_shards *shards, const struct ny_shard *shard)
{
    return ny_fail_at(
        shards->ctx, NY_ESTORE, shard->path, NY_NO_LINE,
        "%s is not the shard of %s that was imported; put that one back, or import it "
        "again",
        shard->path, shards->path);
}

int ny_shards_look(struct ny_shards *shards, unsigned k, struct ny_store *store)
{
    struct ny_shard *shard = &shards->shard[k];
    struct ny_stored_points points;
    const char *fact;
    int err = ny_points_stored(store, &points);

    if (err || points.rows.n == 0) return err;
    fact = difference(&shards->facts, &points);
    if (!fact) err = compare_names(shards, shard, store, &fact);
    if (err) return err;
    if (fact) return not_ours(shards, shard);
    if (shard->listed && memcmp(shard->id, points.id, sizeof(points.id)) != 0)
        return not_ours(shards, shard);
    err = ny_store_epochs(store, &shard->now);
    if (!err) err = compare_note(shards, k, points.rows.n, false);
    if (err) return err;
    memcpy(shard->id, points.id, sizeof(points.id));
    shard->there = true;
    shard->rows = points.rows.n;
    return NY_OK;
}

bool ny_shards_made(const struct ny_shards *shards, unsigned k)
{
    char part[PATH_MAX];
    struct stat info;

    return snprintf(part, sizeof(part), "%s/results", shards->shard[k].path) < (int)sizeof(part) &&
           lstat(part, &info) == 0;
}

int ny_shards_store(struct ny_store **store, struct ny_shards *shards, unsigned k)
{
    int err = NY_OK;

    *store = NULL;
    if (ny_shards_made(shards, k)) err = ny_store_open(store, shards->ctx, shards->shard[k].path);
    if (!err && *store) err = ny_shards_look(shards, k, *store);
    if (!err) return NY_OK;
    ny_store_close(*store);
    *store = NULL;
    return err;
}

int ny_shards_read(struct ny_shards **out, struct ny_context *ctx, const char *path)
{
    struct ny_shards *shards;
    int err = ny_shards_load(&shards, ctx, path);

    *out = NULL;
    for (unsigned k = 0; !err && k < shards->count; k++) {
        struct ny_store *store;

        err = ny_shards_store(&store, shards, k);
        ny_store_close(store);
        shards->shard[k].first = shards->rows;
        shards->rows += shards->shard[k].rows;
        shards->there += shards->shard[k].there;
    }
    if (err)
        ny_shards_free(shards);
    else
        *out = shards;
    return err;
}

const char *ny_shards_missing(const struct ny_shards *shards, char text[NY_SHARD_LIST_BYTES])
{
    enum { TOLD = 6 };
    unsigned missing = shards->count - shards->there, told = 0, most;
    size_t used = 0;

    most = missing > TOLD + 1 ? TOLD : missing;
    text[0] = '\0';
    for (unsigned k = 0; k < shards->count && told < most; k++) {
        const char *before = !told ? "" : told + 1 == missing ? " and " : ", ";

        if (shards->shard[k].there) continue;
        used += (size_t)snprintf(text + used, NY_SHARD_LIST_BYTES - used, "%s%u", before, k);
        told++;
    }
    if (told < missing)
        snprintf(text + used, NY_SHARD_LIST_BYTES - used, " and %u more", missing - told);
    return text;
}

int ny_shards_complete(const struct ny_shards *shards)
{
    char missing[NY_SHARD_LIST_BYTES];
    unsigned count = shards->count - shards->there;

    if (!count) return NY_OK;
    return ny_fail(shards->ctx, NY_EUSAGE,
                   "%s lacks %u of its %u shards: %s; import them, or move or link them here",
                   shards->path, count, shards->count, ny_shards_missing(shards, missing));
}
