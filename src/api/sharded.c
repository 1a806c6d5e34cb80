/*
 * A request that goes over the shards of a store: the same request at each shard, by peers that
 * meet in its stages (fit/shards.c). The report is that of a shard, with the rows of all.
 */
#include "api/sharded.h"

#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "base/budget.h"
#include "base/memory.h"
#include "base/peers.h"
#include "records/fields.h"
#include "shards/open.h"

struct request {
    struct ny_request_call call; /* its path is that of all shards */
    const struct ny_shards *shards;
    unsigned first; /* the shard whose report is taken */
    json_t *report;
};

/* Takes over the figures of one shard's report, which its context owns, with the rows of all, when
 * all have come as far: the result is whole then. A job that ends with its sums counts the rows of
 * all shards already. */
static int take_report(struct request *request, struct ny_context *ctx, unsigned shard,
                       struct ny_report *report)
{
    const json_t *object = ny_report_object(report);
    double rows = (double)ny_field_count(object, "n", 0);
    int err = ny_peers_fold(ny_context_peers(ctx), &rows, 1);

    if (err || shard != request->first) return err;
    request->report = json_deep_copy(object);
    if (json_object_get(object, "sharded"))
        ny_field_set_count(request->report, "n", (uint64_t)rows);
    return NY_OK;
}

static int run_shard(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct request *request = arg;
    struct ny_request_call call = request->call;
    struct ny_report *report = NULL;
    struct ny_options options;
    int err;

    call.path = request->shards->shard[shard].path;
    if (call.options) { /* only read, but for the errors that are about them */
        options = *call.options;
        options.ctx = ctx;
        call.options = &options;
    }
    err = ny_request_run(ctx, &call, &report);
    if (!err) err = take_report(request, ctx, shard, report);
    ny_report_free(report);
    return err;
}

/* Runs work that is planned in all shards that a process has. The process itself is charged once,
 * beside what it takes for each of them. A budget that has no room for this is lent some: the plans
 * then say which one has. */
static int run_planned(const struct ny_shard_team *team, ny_group_fn *work, void *arg)
{
    struct ny_context *ctx = team->ctx;
    size_t shards = team->shape.count, process = shards > 1 ? NY_PROCESS_BYTES : 0;
    size_t limit = ny_memory_limit(ctx);
    int err;

    if (limit >= NY_LOAN_BYTES_MIN && limit < process + shards * NY_LOAN_BYTES_MIN)
        ny_memory_lend(ctx, process + NY_TRANSPORT_BYTES);
    err = ny_reserve(ctx, NY_MEM_PROCESS, process);
    if (err) {
        if (team->transport)
            team->transport->ops->abandon(team->transport, err, ny_context_message(ctx));
    } else {
        err = ny_group_run(ctx, &team->shape, team->transport, work, arg);
        ny_unreserve(ctx, NY_MEM_PROCESS, process);
    }
    ny_memory_lend(ctx, 0);
    return err;
}

/* Runs the request in all shards that this process has. */
static int run(struct request *request, struct ny_shard_team *team, struct ny_report **report)
{
    int err;

    request->shards = team->shards;
    request->first = team->shape.first;
    err = run_planned(team, run_shard, request);
    return ny_shard_team_report(team, err, request->report, report);
}

/* Returns the mode of the update that the call asks for; NULL: none. */
static const char *mode_of(const struct ny_request_call *call)
{
    bool updates = call->kind && call->kind->updates && call->options;

    return updates ? ny_options_get(call->options, "update") : NULL;
}

/* Runs it. An update comes to new shards, too; a frozen one goes shard by shard. */
static int run_or_update(struct request *request, struct ny_shard_team *team,
                         struct ny_report **report)
{
    const struct ny_request_call *call = &request->call;
    const char *mode = mode_of(call), *frozen = ny_update_mode_name(NY_UPDATE_FROZEN);
    int err = mode ? ny_sharded_join(team, call->name) : NY_OK;

    if (err) return err;
    return mode && strcmp(mode, frozen) == 0
               ? ny_sharded_update(team, call->name, call->options, report)
               : run(request, team, report);
}

/* Makes a call that goes on with a job one that goes on with the update that is under way, if there
 * is one, by options that the caller frees. */
static int go_on_with_update(struct ny_request_call *call, struct ny_shard_team *team,
                             struct ny_options **options)
{
    enum ny_update_mode mode = NY_UPDATE_NONE;
    int err = ny_sharded_update_begun(team, call->name, &mode);

    if (err || !mode) return err;
    for (size_t i = 0; call->kinds[i]; i++) /* one of them can be updated */
        if (call->kinds[i]->updates) call->kind = call->kinds[i];
    err = ny_options_new(options, team->ctx);
    call->options = *options;
    return err ? err : ny_options_set(*options, "update", ny_update_mode_name(mode));
}

/* Does what the call asks for in each shard. */
static int run_in_shards(struct ny_context *context, const struct ny_request_call *call,
                         struct ny_report **report)
{
    struct request request = {.call = *call};
    const char *verb = call->kind ? call->kind->function + strlen("ny_") : "resume";
    const char *mode = mode_of(call);
    char command[NY_COMMAND_BYTES];
    struct ny_options *update = NULL;
    struct ny_shard_team team;
    int err;

    ny_fields_begin();
    snprintf(command, sizeof(command), "%s '%s'%s%s", verb, call->name,
             mode ? " with --update " : "", mode ? mode : "");
    err = ny_shard_team_open(&team, context, call->path, command, call->options);
    if (!err && !call->kind) err = go_on_with_update(&request.call, &team, &update);
    if (!err) err = run_or_update(&request, &team, report);
    if (!err)
        ny_shards_note(context, call->path,
                       (struct ny_shards_noted){.first = team.shape.first,
                                                .end = team.shape.first + team.shape.count});
    ny_options_free(update);
    ny_shard_team_close(&team);
    return err;
}

int ny_request_any(struct ny_context *context, const struct ny_request_call *call,
                   struct ny_report **report)
{
    const char *function = call->kind ? call->kind->function : "ny_resume";
    const void *const given[] = {call->path, call->name};
    bool whole = true;
    int err = ny_given(context, function, "path, name", given, 2);

    if (report) *report = NULL;
    if (!err && ny_shards_at(call->path)) err = ny_request_is_whole(context, call, &whole);
    if (err) return err;
    return whole ? ny_request_run(context, call, report) : run_in_shards(context, call, report);
}

/* ---- plans ---------------------------------------------------------------------------------- */

struct plan {
    ny_plan_one_fn *plan;
    const struct ny_shards *shards;
    const struct ny_options *options;
    json_t *json; /* that of shard 0 */
    size_t least; /* budget for all of them */
};

static int plan_shard(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct plan *plan = arg;
    struct ny_options options = *plan->options; /* only read, but for the errors about them */
    json_t *json = NULL;
    int err;

    options.ctx = ctx;
    err = plan->plan(ctx, plan->shards->shard[shard].path, &options, &json);
    if (!err && shard == 0) {
        plan->json = json;
        plan->least = ny_budget_of_parts(ctx, ny_field_count(json, "memory_min_bytes", 0));
    } else {
        json_decref(json);
    }
    return err;
}

/* Multiplies the numbers of a plan under a key, or of the object there. */
static void multiply(json_t *plan, const char *key, double factor)
{
    json_t *value = json_object_get(plan, key), *number;
    const char *name;

    if (json_is_object(value)) {
        json_object_foreach(value, name, number) multiply(value, name, factor);
    } else if (json_is_integer(value)) {
        ny_field_set_count(plan, key, (uint64_t)((double)json_integer_value(value) * factor));
    } else if (json_is_real(value)) {
        ny_field_set_number(plan, key, json_real_value(value) * factor);
    }
}

/* Adds what the process takes beside its shards to each number of bytes that is not 0. */
static void add_process(json_t *bytes)
{
    const char *name;
    json_t *number;

    json_object_foreach(bytes, name, number) if (json_integer_value(number))
        ny_field_set_count(bytes, name, (uint64_t)json_integer_value(number) + NY_PROCESS_BYTES);
}

/* Makes the seconds those of a process with so many shards and threads. */
static void plan_seconds(json_t *plan, unsigned shards, unsigned threads)
{
    static const char *const sums[] = {"seconds", "seconds_low", "seconds_high"};
    double m = ny_field_number(plan, "landmarks", 0), before = 0, after = 0;
    json_t *stages = json_object_get(plan, "stages"), *number;
    const char *name;

    json_object_foreach(stages, name, number)
    {
        double seconds = json_number_value(number);

        before += seconds;
        seconds *= ny_plan_shards_factor(ny_stage_parse(name), m, shards, threads);
        after += seconds;
        ny_field_set_number(stages, name, seconds);
    }
    for (size_t i = 0; before > 0 && i < sizeof(sums) / sizeof(sums[0]); i++)
        multiply(plan, sums[i], after / before);
}

/* Makes of the plan of one shard that of a process with so many, which has so many threads. */
static void plan_for_all(const struct plan *of, unsigned threads)
{
    json_t *plan = of->json;
    unsigned shards = of->shards->count;
    static const char *const bytes[] = {"memory_bytes", "disk_bytes", "stage_memory_bytes"};
    const double exchange_rate = 0.3e9; /* bytes a second, of two processes on a busy machine */
    double m = ny_field_number(plan, "landmarks", 0), gram = 4 * m * (m + 1);
    json_t *held = json_object_get(plan, "memory_bytes");
    uint64_t each = ny_field_count(plan, "memory_min_bytes", 0);
    uint64_t alone = shards > 1 ? NY_PROCESS_PART_BYTES : 0; /* which the process has as a whole */
    json_t *sharded = json_object();

    ny_field_set_count(sharded, "count", shards);
    ny_field_set_count(sharded, "memory_min_bytes",
                       of->least - (shards - 1) * each - alone + NY_TRANSPORT_BYTES);
    ny_field_set_number(sharded, "exchange_bytes", gram);
    ny_field_set_number(sharded, "exchange_seconds", gram / exchange_rate);
    ny_field_set_json(plan, "shards", sharded);
    ny_field_set_json(plan, "flops", json_null()); /* solving is not done once a shard */
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
        multiply(plan, bytes[i], shards);
    if (shards > 1) {
        ny_field_set_count(held, "process", ny_field_count(held, "process", 0) + NY_PROCESS_BYTES);
        add_process(json_object_get(plan, "stage_memory_bytes"));
    }
    ny_field_set_count(plan, "memory_min_bytes", of->least);
    plan_seconds(plan, shards, threads);
}

int ny_sharded_plan(ny_plan_one_fn *plan_one, struct ny_context *context, const char *path,
                    const struct ny_options *options, json_t **json)
{
    struct plan plan = {.plan = plan_one, .options = options};
    struct ny_shard_team team = {.ctx = context};
    int err;

    ny_fields_begin();
    err = ny_shards_read(&team.shards, context, path);
    if (!err) err = ny_shards_complete(team.shards);
    if (!err) {
        plan.shards = team.shards;
        team.shape = ny_group_shape(team.shards->count, 0, 1);
        err = run_planned(&team, plan_shard, &plan);
    }
    if (!err) {
        plan_for_all(&plan, ny_context_threads(context));
        *json = json_incref(plan.json);
    }
    json_decref(plan.json);
    ny_shards_free(team.shards);
    return err;
}
