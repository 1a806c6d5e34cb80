/*
 * A request that goes over the shards of a store: the same request at each shard, by peers that
 * meet in its stages (fit/shards.c). The report is that of a shard, with the rows of all.
 */
#include "api/sharded.h"

#include "api/options.h"
#include "api/report.h"
#include "peers/group.h"
#include "shards/shards.h"

struct request {
    const struct ny_request_kind *kind;         /* NULL: the job is gone on with, */
    const struct ny_request_kind *const *kinds; /* which is of one of these */
    const struct ny_shards *shards;
    const char *name;
    const struct ny_options *options;
    unsigned first; /* the shard whose report is taken */
    json_t *report;
};

/* Takes over the figures of one shard's report, which its context owns. */
static void take_report(struct request *request, struct ny_report *report)
{
    const json_t *sharded = json_object_get(ny_report_object(report), "sharded");

    request->report = json_deep_copy(ny_report_object(report));
    ny_field_set_count(request->report, "n", ny_field_count(sharded, "rows", 0));
}

static int run_shard(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct request *request = arg;
    const char *path = request->shards->shard[shard].path;
    struct ny_report *report = NULL;
    struct ny_options options;
    int err;

    if (!request->kind) {
        err = ny_request_resume(request->kinds, ctx, path, request->name, &report);
    } else {
        if (request->options) { /* only read, but for the errors that are about them */
            options = *request->options;
            options.ctx = ctx;
        }
        err = ny_request_run(request->kind, ctx, path, request->name,
                             request->options ? &options : NULL, &report);
    }
    if (!err && shard == request->first) take_report(request, report);
    ny_report_free(report);
    return err;
}

/* Runs the request in all shards that this process has. */
static int run(struct request *request, struct ny_context *context, const char *path,
               struct ny_report **report)
{
    struct ny_shards *shards = NULL;
    struct ny_group_shape shape;
    int err;

    ny_fields_begin();
    err = ny_shards_read(&shards, context, path);
    if (!err) err = ny_shards_complete(shards);
    if (err) goto done;
    shape = ny_group_shape(shards->count, 0, 1);
    request->shards = shards;
    request->first = shape.first;
    err = ny_group_run(context, &shape, NULL, run_shard, request);
    if (!err && report) {
        err = ny_report_of_json(report, context, request->report);
        request->report = NULL;
    }
done:
    json_decref(request->report);
    ny_shards_free(shards);
    return err;
}

int ny_sharded_request(const struct ny_request_kind *kind, struct ny_context *context,
                       const char *path, const char *name, const struct ny_options *options,
                       struct ny_report **report)
{
    struct request request = {.kind = kind, .name = name, .options = options};

    return run(&request, context, path, report);
}

int ny_sharded_resume(const struct ny_request_kind *const *kinds, struct ny_context *context,
                      const char *path, const char *name, struct ny_report **report)
{
    struct request request = {.kinds = kinds, .name = name};

    return run(&request, context, path, report);
}
