/*
 * The calls that read a finished result: ny_export and ny_export_undamaged write one of its parts
 * to a file, ny_export_with and ny_export_rows write it with columns beside it, or some rows of it;
 * ny_embedding_shape and ny_embedding_read read its embedding into memory.
 */
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/team.h"
#include "base/memory.h"
#include "base/text.h"
#include "results/beside.h"
#include "results/export.h"
#include "results/shards.h"
#include "results/names.h"
#include "io/output.h"
#include "nystream.h"
#include "base/peers.h"
#include "shards/open.h"

const char *const *ny_export_parts(void)
{
    return ny_parts();
}

/* A part of a result, or of the points (name NULL), that is exported. */
struct part {
    const char *path; /* of the store */
    const char *name, *part, *output;
    const struct ny_beside *beside; /* columns beside the numbers; NULL: none */
};

/* Returns the kind of file that a part makes, against which the name of the output is checked
 * before the store is opened. */
static enum ny_output output_of(const char *part)
{
    if (strcmp(part, "model") == 0) return NY_OUTPUT_MODEL;
    if (strcmp(part, "graph") == 0) return NY_OUTPUT_GRAPH;
    if (ny_is_names_part(part)) return NY_OUTPUT_NAMES;
    return NY_OUTPUT_TABLE;
}

/* Tells whether points have the part without any result. */
static bool of_points(const char *part)
{
    return ny_is_names_part(part) || ny_one_of(part, "points|raw-points|labels|source");
}

/* ---- by the shards of a store --------------------------------------------------------------- */

struct shards_export {
    const struct part *what;
    struct ny_context *ctx; /* that is told of what was written */
};

/* Writes a table with names, labels or clusters beside its numbers: the peer that leads does it, as
 * if it were alone, and the others have nothing to do. */
static int export_beside(struct ny_context *ctx, const struct part *what)
{
    struct ny_peers *peers = ny_context_peers(ctx);
    struct ny_store *store = NULL;
    int err;

    if (!ny_peers_leads(peers)) return NY_OK;
    ny_context_set_peers(ctx, NULL);
    err = ny_shards_open(&store, ctx, what->path, NULL, NY_SHARDS_ALL);
    if (!err)
        err = ny_part_export_beside(store, what->name, what->part, what->output, what->beside);
    ny_store_close(store);
    ny_context_set_peers(ctx, peers);
    return err;
}

static int export_shard(void *arg, struct ny_store *store, unsigned shard)
{
    const struct shards_export *export = arg;
    const struct part *what = export->what;
    struct ny_context *ctx = ny_store_context(store);
    int err = what->beside ? export_beside(ctx, what) : ny_store_agree(store);

    (void)shard;
    if (!err && !what->beside)
        err = ny_part_export_peers(store, what->name, what->part, what->output);
    if (ny_context_written(ctx)) ny_context_wrote(export->ctx, *ny_context_written(ctx));
    return err ? err : ny_peers_wait(ny_context_peers(ctx)); /* the file is whole then */
}

/* Exports a part of a store in shards by the processes that were started for it together (MPI), if
 * there are several; *done tells. */
static int export_together(struct ny_context *ctx, const struct part *what, bool *done)
{
    struct shards_export export = {what, ctx};
    struct ny_shard_team team;
    char command[NY_COMMAND_BYTES];
    bool whole = false;
    int err;

    *done = false;
    if (!ny_shards_at(what->path)) return NY_OK;
    err = ny_whole_has(ctx, what->path, what->name, &whole);
    if (err || whole) return err;
    snprintf(command, sizeof(command), "export %s of '%s'%s", what->part,
             what->name ? what->name : "points", what->beside ? " with columns beside it" : "");
    err = ny_shard_team_open(&team, ctx, what->path, command, NULL);
    *done = !err && team.transport;
    if (*done) err = ny_shard_team_visit(&team, export_shard, &export);
    ny_shard_team_close(&team);
    return err;
}

/* ---- any export ------------------------------------------------------------------------------ */

/* Begins the public function of that name: NY_EUSAGE where something that it needs is NULL. Parts
 * of points need no result. */
static int check_given(struct ny_context *ctx, const char *function, const struct part *what)
{
    const void *const given[] = {what->path,
                                 what->part && of_points(what->part) ? what->part : what->name,
                                 what->part, what->output};

    return ny_given(ctx, function, "path, name, part, output", given, 4);
}

/* Exports a part, with columns beside the numbers (NULL: none), or some of its rows (NULL: all).
 * With `missing`, rows that are damaged are marked in the file and counted there instead of ending
 * the export. */
static int export_part(struct ny_context *ctx, const struct part *part, const char *with,
                       const struct ny_export_range *rows, uint64_t *missing)
{
    struct part what = *part;
    bool samples = what.name && ny_output_text(what.output).samples, done = false;
    struct ny_beside beside;
    struct ny_store *store = NULL;
    int err = ny_part_check(ctx, what.part);

    if (!missing && (with || rows || samples)) what.beside = &beside;
    if (!err) err = ny_output_check(ctx, what.output, output_of(what.part));
    if (!err && what.beside) err = ny_beside_parse(&beside, ctx, with, what.output);
    if (!err) err = ny_call_begin(ctx);
    if (err) return err;
    if (rows) {
        beside.ranged = true;
        beside.first = rows->first;
        beside.end = rows->end;
    }
    if (!missing) err = export_together(ctx, &what, &done);
    if (!err && !done) err = ny_shards_open(&store, ctx, what.path, what.name, NY_SHARDS_ALL);
    if (!err && !done && what.beside)
        err = ny_part_export_beside(store, what.name, what.part, what.output, &beside);
    else if (!err && !done)
        err = ny_part_export(store, what.name, what.part, what.output, missing);
    ny_store_close(store);
    ny_call_end(ctx);
    return err;
}

int ny_export_undamaged(struct ny_context *context, const char *path, const char *name,
                        const char *part, const char *output, uint64_t *missing)
{
    const struct part what = {path, name, part, output, NULL};
    uint64_t damaged = 0;
    int err = check_given(context, __func__, &what);

    if (!err) err = export_part(context, &what, NULL, NULL, &damaged);
    if (missing) *missing = damaged;
    return err;
}

int ny_export(struct ny_context *context, const char *path, const char *name, const char *part,
              const char *output)
{
    const struct part what = {path, name, part, output, NULL};
    int err = check_given(context, __func__, &what);

    return err ? err : export_part(context, &what, NULL, NULL, NULL);
}

int ny_export_with(struct ny_context *context, const char *path, const char *name, const char *part,
                   const char *output, const char *with)
{
    const struct part what = {path, name, part, output, NULL};
    int err = check_given(context, __func__, &what);

    if (!err) err = NY_GIVEN(context, with);
    return err ? err : export_part(context, &what, with, NULL, NULL);
}

int ny_export_rows(struct ny_context *context, const char *path, const char *name, const char *part,
                   const char *output, const struct ny_export_range *rows)
{
    const struct part what = {path, name, part, output, NULL};
    int err = check_given(context, __func__, &what);

    if (!err) err = NY_GIVEN(context, rows);
    return err ? err : export_part(context, &what, rows->with, rows, NULL);
}

int ny_embedding_shape(struct ny_context *context, const char *path, const char *name,
                       uint64_t *rows, uint64_t *components)
{
    struct ny_embedding_layout layout = {0};
    struct ny_store *store = NULL;
    size_t p = 0;
    int err = NY_GIVEN(context, path, name);

    if (err == NY_OK) err = ny_shards_open(&store, context, path, name, NY_SHARDS_ALL);
    if (err == NY_OK) err = ny_result_layout(store, name, &layout, &p);
    if (rows) *rows = layout.rows;
    if (components) *components = p;
    ny_store_close(store);
    return err;
}

int ny_embedding_read(struct ny_context *context, const char *path, const char *name,
                      uint64_t first, uint64_t count, float *values)
{
    struct ny_store *store = NULL;
    int err = NY_GIVEN(context, path, name, values);

    if (err == NY_OK) err = ny_shards_open(&store, context, path, name, NY_SHARDS_ALL);
    if (err == NY_OK) err = ny_result_rows32(store, name, first, (size_t)count, values);
    ny_store_close(store);
    return err;
}
