/*
 * Imports into stores in shards: which shard a call means, what it takes over from the shards that
 * are there, and what it tells them (shards/claim.h). The rows then go into the shard's own store,
 * which is a store like any other.
 *
 * --shard names the shard. Without it rows go to the last one, behind those that it has, once all
 * are there. The path of a shard's own store means that shard, so that its classes stay those of
 * all.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/import_private.h"
#include "base/memory.h"
#include "records/fields.h"
#include "results/record.h"

/* ---- which shard --------------------------------------------------------------------------- */

/* Parses "I/N". */
static int parse(struct ny_context *ctx, const char *text, struct ny_claim_spec *spec)
{
    size_t digits = strspn(text, "0123456789"), more;

    more = text[digits] == '/' ? strspn(text + digits + 1, "0123456789") : 0;
    if (digits && digits <= 6 && more && more <= 6 && !text[digits + 1 + more]) {
        spec->shard = (unsigned)strtoul(text, NULL, 10);
        spec->count = (unsigned)strtoul(text + digits + 1, NULL, 10);
        if (spec->count <= NY_SHARDS_MAX && spec->shard < spec->count) return NY_OK;
    }
    return ny_fail_value(ctx, "shard", "I/N, such as 0/4 for the first of four shards", text);
}

/* Chooses the last shard of a store all of whose shards are there. */
static int choose_last(struct ny_import *import, const char *path, struct ny_claim_spec *spec)
{
    struct ny_shards *shards;
    int err = ny_shards_read(&shards, import->ctx, path);

    if (err) return err;
    err = ny_shards_complete(shards);
    spec->count = shards->count;
    spec->shard = shards->count - 1;
    import->asked.spec.whole = path;
    import->asked.spec.rows_before = shards->shard[spec->shard].first;
    ny_shards_free(shards);
    return err;
}

int ny_import_claim(struct ny_import *import, const char *path, const char **store)
{
    struct ny_claim_spec spec = {.like = import->asked.like, .deal = import->asked.deal};
    struct ny_shard_home home;
    int err = NY_OK;

    *store = path;
    if (import->asked.shard) {
        err = parse(import->ctx, import->asked.shard, &spec);
    } else if (spec.like) {
        return ny_fail_only(import->ctx, "like", "--shard I/N");
    } else if (ny_shards_at(path)) {
        err = choose_last(import, path, &spec);
    } else if (ny_shards_within(import->ctx, path, &home)) {
        spec.shard = home.shard;
        spec.count = home.count;
        path = home.folder;
    } else {
        return NY_OK;
    }
    if (!err) err = ny_claim_new(&import->claim, import->ctx, path, &spec);
    if (!err) *store = ny_claim_path(import->claim);
    return err;
}

/* ---- facts taken over, and told -------------------------------------------------------------- */

/* Adds the names of the columns of the other shards. */
static int load_columns(void *arg, struct ny_names *names)
{
    const struct ny_import *import = arg;
    const struct ny_names *columns = &import->claim->shards->columns;

    return ny_names_append(names, import->ctx, columns->text, columns->count);
}

void ny_import_follow(struct ny_import *import)
{
    const struct ny_shard_facts *facts = import->claim ? ny_claim_settled(import->claim) : NULL;
    struct ny_import_there *there = &import->there;

    if (!facts) return;
    there->facts = *facts;
    if (there->layout == NY_READ_AUTO)
        there->layout = facts->layout == NY_CSR ? NY_READ_SPARSE : NY_READ_DENSE;
    if (!import->asked.rows_typed) {
        there->preparation.rows = facts->preparation.rows;
        there->preparation.total = facts->preparation.total;
    }
    if (!import->asked.values_typed) there->preparation.values = facts->preparation.values;
    if (import->claim->shards->columns.count)
        there->columns = (struct ny_columns_like){
            .whose = import->claim->path, .count = facts->d, .load = load_columns, .arg = import};
}

int ny_import_tell_facts(struct ny_import *import, const struct ny_reader *reader)
{
    const struct ny_names *columns = ny_reader_column_names(reader);
    const struct ny_shard_facts facts = {.d = import->spec.d,
                                         .dtype = import->spec.dtype,
                                         .layout = import->spec.layout,
                                         .preparation = import->spec.preparation,
                                         .labels =
                                             import->spec.labels ? NY_LABELS_SOME : NY_LABELS_NONE,
                                         .row_names = import->spec.names,
                                         .indices = import->spec.indices,
                                         .column_names = columns->count > 0,
                                         .column_digest = ny_names_digest(columns)};

    if (!import->claim || import->there.points.rows.n > 0) return NY_OK;
    return ny_claim_facts(import->claim, &facts, columns, import->there.points.id);
}

/* Tells whether something of the shard is in the folder: rows, or some that wait for the same
 * command. */
static bool is_left(const struct ny_import *import)
{
    char part[PATH_MAX];
    struct stat found;

    return snprintf(part, sizeof(part), "%s/points", ny_claim_path(import->claim)) < PATH_MAX &&
           lstat(part, &found) == 0;
}

void ny_import_unclaim(struct ny_import *import)
{
    struct ny_rows_info info = {0};

    if (!import->claim) return;
    if (import->store && ny_points_info(import->store, &info)) info.n = 1;
    if (!import->arrived && !info.n && (import->discarded || !is_left(import)))
        ny_claim_withdraw(import->claim);
    ny_claim_free(import->claim);
    import->claim = NULL;
}
