/*
 * Runs a request for a result under a NAME (api/request.h): fit, select and graph, and `resume`.
 *
 * The NAME is locked first, so that two processes never work on one result. A record that is there
 * is compared with the options, and with digests of the files that they name: the same job is gone
 * on with, or is done already; another one is refused, unless --restart replaces it. The plan
 * comes before anything is removed or created, so that a budget that is too small leaves the old
 * result. A new record is stored at once: from then on a kill leaves a job that the same command
 * resumes. What fails for good (wrong data, wrong usage, numerics) is removed again; what more
 * space, memory or time may cure is kept.
 */
#include "api/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/announce.h"
#include "api/call.h"
#include "api/given.h"
#include "api/inspect.h"
#include "api/report.h"
#include "base/memory.h"
#include "base/progress.h"
#include "fit/shards.h"
#include "base/peers.h"
#include "peers/open.h"
#include "results/behind.h"
#include "results/record.h"
#include "results/resume.h"
#include "shards/shards.h"

void ny_request_set_digest(json_t *inputs, const char *key, uint64_t digest)
{
    char text[20];

    snprintf(text, sizeof(text), "%016llx", (unsigned long long)digest);
    ny_field_set_text(inputs, key, text);
}

/* Digests the files that the options name; *inputs is NULL for a kind that names none. */
static int inputs_of(const struct ny_request *request, json_t **inputs)
{
    *inputs = NULL;
    return request->kind->inputs ? request->kind->inputs(request, inputs) : NY_OK;
}

/* Returns the option that names a file of the job. */
static const char *option_of(const struct ny_request *request, const char *key)
{
    if (strcmp(key, "columns") == 0) return "columns-file";
    if (strcmp(key, "model") == 0) return "model";
    if (strcmp(key, "features") == 0) return "features";
    if (strcmp(key, "edges") == 0) return "edges";
    if (ny_options_is_set(request->options, "landmarks-file")) return "landmarks-file";
    return ny_options_is_set(request->options, "landmarks-points") ? "landmarks-points"
                                                                   : "landmarks-from";
}

/* Checks that the files, of which `inputs` has digests, are those of the job: with a changed file,
 * it is another job. */
static int check_inputs(const struct ny_request *request, json_t *inputs)
{
    const json_t *stored = json_object_get(request->record, "inputs");
    const char *key, *then;
    json_t *now;

    json_object_foreach(inputs, key, now)
    {
        then = ny_field_text(stored, key);
        if (!then || strcmp(then, json_string_value(now)) == 0) continue;
        return ny_fail(request->ctx, NY_EUSAGE,
                       "'%s' was made with other %s: what --%s names has changed since then; give "
                       "--restart to replace it, or another name",
                       request->name, key, option_of(request, key));
    }
    return NY_OK;
}

/* Copies the options of the record. A file of the same digest has the path by which it is named
 * now. Placing rows by --model is another job than a fit that has named the same landmarks. */
static int copy_stored(const struct ny_request *request, json_t *inputs, json_t **options)
{
    json_t *of_record = json_object_get(request->record, "options"), *now;
    const json_t *stored = json_object_get(request->record, "inputs");
    const char *key;

    *options = json_copy(of_record);
    if (of_record && !*options) return ny_fields_no_memory(request->ctx);
    if (!json_object_get(inputs, "model") != !json_object_get(stored, "model")) return NY_OK;
    json_object_foreach(inputs, key, now)
    {
        const char *option = option_of(request, key);

        if (strcmp(option, "landmarks-from") == 0 || !ny_field_text(*options, option) ||
            !ny_field_is(stored, key, json_string_value(now)))
            continue;
        if (json_object_set_new(*options, option,
                                ny_json_text(ny_options_text(request->options, option))))
            return ny_fields_no_memory(request->ctx);
    }
    return NY_OK;
}

static bool is_done(const struct ny_request *request)
{
    return ny_field_is(request->record, "stage", "done");
}

/* Tells whether nothing is left to do. */
static int find_done(const struct ny_request *request, bool restart, bool *done)
{
    uint64_t mine = request->record && !restart && is_done(request);
    int err = ny_peers_least(ny_context_peers(request->ctx), &mine);

    *done = mine;
    return err;
}

/* Refuses because NAME is another job. Work that can be resumed must not be thrown away, so the
 * advice is not --restart there. */
static int refuse(const struct ny_request *request, const char *what)
{
    if (is_done(request))
        return ny_fail(request->ctx, NY_EUSAGE,
                       "'%s' exists %s; give --restart to replace it, or another name",
                       request->name, what);
    return ny_fail(request->ctx, NY_EUSAGE,
                   "'%s' exists %s, but is not finished; give another name, or %s", request->name,
                   what, ny_resume_words(request->store, request->name, request->record).text);
}

/* Refuses to go on with a fit over shards in one of them alone, and the other way round. */
static int check_shards(const struct ny_request *request)
{
    uint64_t shards = ny_field_count(request->record, "shards", 1);
    char what[64];

    if (shards == ny_peers_shards(ny_context_peers(request->ctx))) return NY_OK;
    if (shards > 1)
        snprintf(what, sizeof(what), "as one of the %llu shards of a fit",
                 (unsigned long long)shards);
    else
        snprintf(what, sizeof(what), "as a result of this shard alone");
    return refuse(request, what);
}

/* Refuses options of the call that are not those of the record, and files that have changed. */
static int check_options(const struct ny_request *request)
{
    json_t *inputs, *stored = NULL;
    char what[1024], *difference = NULL;
    int err = inputs_of(request, &inputs);

    if (!err) err = copy_stored(request, inputs, &stored);
    if (err) goto done;
    difference = ny_options_differences(request->options, request->kind->groups, stored);
    err = difference ? NY_OK : NY_EBUDGET;
    if (err) goto done;
    snprintf(what, sizeof(what), "with other options (%s)", difference);
    err = difference[0] ? refuse(request, what) : check_inputs(request, inputs);
done:
    ny_free(request->ctx, difference);
    json_decref(stored);
    json_decref(inputs);
    return err;
}

/* Called if NAME exists: resumes it if it was made with the same options, else refuses. */
static int check_existing(const struct ny_request *request)
{
    const char *kind = ny_field_text(request->record, "kind");
    char what[64];
    int err;

    if (kind && strcmp(kind, request->kind->name) != 0) {
        snprintf(what, sizeof(what), "and is a %s", kind);
        return refuse(request, what);
    }
    err = check_shards(request);
    return err ? err : check_options(request);
}

/* Keeps the lost rows in the new record, and warns that they are not in the result. */
static void note_lost(struct ny_request *request, uint64_t rows)
{
    ny_record_set_lost(request->record, ny_store_skipped(request->store));
    ny_field_set_count(json_object_get(request->record, "report"), "lost", rows);
    ny_log(request->ctx, NY_LOG_WARNING,
           "%llu rows of %s are lost and not in '%s'; 'nystream export --part rows' lists the rows "
           "that are",
           (unsigned long long)rows, ny_store_path(request->store), request->name);
}

/* A new record, stored at once in the place of all that was there. */
static int create_record(struct ny_request *request)
{
    struct ny_peers *peers = ny_context_peers(request->ctx);
    struct ny_rows_info points;
    json_t *options, *inputs = NULL;
    int err = ny_points_info(request->store, &points);

    if (err == NY_OK) err = inputs_of(request, &inputs);
    if (err) goto done;
    options = ny_options_to_json(request->options, request->kind->groups);
    if (options) request->record = request->kind->record(request, &points, options);
    if (!request->record) err = ny_fields_no_memory(request->ctx);
    if (err) goto done;
    if (request->again)
        ny_record_copy_command(request->record, request->again);
    else
        ny_record_set_command(request->store, request->record);
    if (inputs) ny_field_set_json(request->record, "inputs", json_incref(inputs));
    if (peers) {
        ny_field_set_count(request->record, "shards", ny_peers_shards(peers));
        ny_field_set_count(request->record, "first", points.here.first);
    }
    /* A map of a graph has the rows of the graph, which was made when all of them were there. */
    if (points.lost && !ny_options_text(request->options, "graph")) note_lost(request, points.lost);
    request->fresh = !request->stored;
    err = ny_record_replace(request->store, request->name, request->record);
done:
    json_decref(inputs);
    return err;
}

/* A new job that would fail again in the same way leaves no trace. One that may go on when there is
 * space, memory or time is kept as it is, and so are options that nobody has typed now: --restart
 * needs them. */
static int forget_hopeless(struct ny_request *request, int err)
{
    if (!ny_is_final(err) || !request->fresh) return err;
    json_decref(request->record);
    request->record = NULL;
    ny_record_replace(request->store, request->name, request->record);
    return err;
}

/* Says that nothing is left to do, and how rows that were appended since come in. */
static void note_done(const struct ny_request *request)
{
    ny_log(request->ctx, NY_LOG_NOTE, "'%s' is done already%s", request->name,
           request->options ? ", with these options" : "");
    ny_warn_behind(request->store, request->name, request->record);
}

/* Says where a job goes on that was stopped on its way. */
static void note_going_on(const struct ny_request *request)
{
    const json_t *record = request->record;
    double n = ny_field_number(json_object_get(record, "report"), "n", 0);
    char share[40] = "";
    uint64_t rows;

    if (json_object_size(json_object_get(record, "checkpoint")) && n > 0 &&
        ny_record_rows_done(record, &rows))
        snprintf(share, sizeof(share), ", at %.0f %%", 100 * (double)rows / n);
    ny_log(request->ctx, NY_LOG_NOTE, "'%s' resumes in stage %s%s", request->name,
           ny_field_text(record, "stage"), share);
}

/* Called after the plan, which for a budget below even this says which one works. */
static int reserve_process(struct ny_request *request)
{
    int err;

    ny_memory_lend(request->ctx, 0);
    err = ny_call_begin(request->ctx);
    request->reserved = err == NY_OK;
    return err;
}

/* An update reads a result before it is planned, so that the process is charged first. The loan for
 * the plan then has to cover both, and ends where the plan fits. */
static int reserve_for_update(struct ny_request *request)
{
    const size_t mib = 1 << 20, loan = 2 * NY_PROCESS_BYTES;
    size_t limit = ny_memory_limit(request->ctx);
    int err;

    ny_memory_lend(request->ctx, limit >= mib && limit < loan ? loan : 0);
    err = ny_call_begin(request->ctx);
    request->reserved = err == NY_OK;
    return err;
}

/* Refuses processes that were not all given this job, before one of them replaces what it has. */
static int agree(const struct ny_request *request, bool restart)
{
    const json_t *kept = restart ? NULL : request->record;
    json_t *options, *inputs = NULL;
    int err = NY_OK;

    if (!ny_context_peers(request->ctx)) return NY_OK;
    if (kept)
        return ny_shards_agree(request->ctx, request->name, json_object_get(kept, "options"),
                               json_object_get(kept, "inputs"));
    options = ny_options_to_json(request->options, request->kind->groups);
    if (!options) err = ny_fields_no_memory(request->ctx);
    if (!err) err = inputs_of(request, &inputs);
    if (!err) err = ny_shards_agree(request->ctx, request->name, options, inputs);
    json_decref(options);
    json_decref(inputs);
    return err;
}

/* Resumes, replaces or begins the job. Nothing stored is changed before the plan fits. */
static int run_job(struct ny_request *request)
{
    bool restart = ny_options_flag(request->options, "restart"), done;
    int err = NY_OK;

    if (!request->record) err = ny_record_load(request->store, request->name, &request->record);
    if (err) return err;
    if (request->record && !restart) err = check_existing(request);
    if (!err) err = agree(request, restart);
    if (!err) err = find_done(request, restart, &done);
    if (err) return err;
    if (done) {
        note_done(request);
        return NY_OK;
    }
    if (request->record && !restart && !request->stored && ny_context_command(request->ctx))
        ny_record_set_command(request->store, request->record);
    if (restart) {
        json_decref(request->record);
        request->record = NULL;
    }
    err = request->kind->announce(request);
    if (err == NY_OK) err = reserve_process(request);
    if (err) return err;
    if (request->record)
        note_going_on(request);
    else
        err = create_record(request);
    if (err == NY_OK && request->kind->keep) err = request->kind->keep(request);
    if (err) return err;
    if (request->plan.seconds > 0)
        ny_stages_begin(request->ctx, request->plan.stage_s);
    else
        ny_progress_begin(request->ctx, NULL, 0);
    err = request->kind->run(request);
    ny_progress_end(request->ctx);
    return forget_hopeless(request, err);
}

/* Refuses to take options of what is not there, or of another kind: the defaults would be a result
 * that nobody has asked for. */
static int refuse_to_keep(const struct ny_request *request)
{
    if (request->record)
        return ny_fail(request->ctx, NY_EUSAGE,
                       "'%s' is a %s, whose options are not those of a %s; give options together "
                       "with --restart",
                       request->name, ny_record_kind(request->record), request->kind->name);
    return ny_fail(request->ctx, NY_EUSAGE,
                   "%s has no result '%s' whose options --restart could keep; give the options",
                   ny_store_path(request->store), request->name);
}

/* Takes the options of the result that `restart` replaces, if no other option chooses anything. */
static int keep_options(struct ny_request *request)
{
    int err;

    if (!ny_options_flag(request->options, "restart") || ny_options_choose(request->options))
        return NY_OK;
    err = ny_record_load(request->store, request->name, &request->record);
    if (err || (!request->record && ny_context_scratch(request->ctx))) return err;
    if (!ny_field_is(request->record, "kind", request->kind->name)) return refuse_to_keep(request);
    if (json_is_true(json_object_get(request->record, "placed")))
        return ny_fail(request->ctx, NY_EUSAGE,
                       "'%s' was placed by a model; give --model together with --restart",
                       request->name);
    request->again = json_incref(request->record);
    err = ny_options_again(&request->stored, request->options, request->kind->groups,
                           json_object_get(request->record, "options"), request->name);
    if (err) return err;
    request->options = request->stored;
    ny_log(request->ctx, NY_LOG_NOTE, "'%s' is made again with the options it had", request->name);
    return NY_OK;
}

/* Goes on with the update that is under way of a result that is done, if there is one. */
static int resume_update(struct ny_request *request)
{
    const char *limit = request->options ? ny_options_text(request->options, "time-limit") : NULL;
    json_t *update = NULL;
    int err = request->kind->update ? ny_record_load_update(request->store, request->name, &update)
                                    : NY_OK;

    request->options = NULL; /* nobody has typed those of the result */
    if (err) return err;
    if (!update) {
        note_done(request);
        return NY_OK;
    }
    err = ny_options_new(&request->stored, request->ctx);
    if (err == NY_OK)
        err = ny_options_set(request->stored, "update",
                             ny_update_mode_name(ny_earlier_of(update).mode));
    if (err == NY_OK && limit) err = ny_options_set(request->stored, "time-limit", limit);
    json_decref(update);
    if (err == NY_OK) err = reserve_process(request);
    if (err) return err;
    json_decref(request->record);
    request->record = NULL;
    return request->kind->update(request->store, request->name, request->stored, &request->record);
}

/* Finds the kind of the job in its record and goes on with it, with the options that it was
 * begun with. A job that is done may still have an update under way. */
static int resume(struct ny_request *request, const struct ny_request_kind *const *kinds)
{
    struct ny_options none;
    int err = ny_record_need(request->store, request->name, &request->record);

    if (err) return err;
    for (; *kinds; kinds++)
        if (ny_field_is(request->record, "kind", (*kinds)->name)) request->kind = *kinds;
    if (!request->kind)
        return ny_fail(request->ctx, NY_ESTORE, "'%s' in %s is a %s, which cannot be resumed",
                       request->name, ny_store_path(request->store),
                       ny_record_kind(request->record));
    err = check_shards(request);
    if (err) return err;
    if (is_done(request) && !ny_context_peers(request->ctx)) return resume_update(request);
    err = ny_options_again(
        &request->stored, ny_options_given(request->options, request->ctx, &none),
        request->kind->groups, json_object_get(request->record, "options"), request->name);
    if (err) return err;
    request->options = request->stored;
    err = request->kind->settings(request);
    return err ? err : run_job(request);
}

/* Tells whether a command line chooses nothing but how long it may take: like one without options
 * it goes on with the NAME that is there. A program asks for the defaults in this way. */
static bool chooses_time_alone(const struct ny_request *request)
{
    static const char *const others[] = {"update", "until", "restart"};
    bool alone = ny_context_command(request->ctx) &&
                 ny_options_is_set(request->options, "time-limit") &&
                 !ny_options_choose(request->options);

    for (size_t i = 0; alone && i < sizeof(others) / sizeof(others[0]); i++)
        alone = !ny_options_is_set(request->options, others[i]);
    return alone;
}

/* Goes on with a job of this kind that is there, for such a command line. *found: there is one. */
static int resume_in_time(struct ny_request *request, bool *found)
{
    const struct ny_request_kind *const kinds[] = {request->kind, NULL};
    json_t *record = NULL;
    int err = NY_OK;

    if (chooses_time_alone(request)) err = ny_record_load(request->store, request->name, &record);
    *found = ny_field_is(record, "kind", request->kind->name);
    json_decref(record);
    return err || !*found ? err : resume(request, kinds);
}

/* Locks the NAME around everything that looks at it. */
static int run(struct ny_request *request)
{
    struct ny_name_lock *lock = NULL;
    bool found;
    int err;

    err = ny_name_lock(&lock, request->store, request->name);
    if (err) goto done;
    if (request->kind->update && ny_options_is_set(request->options, "update")) {
        err = reserve_for_update(request);
        if (err) goto done;
        err = request->kind->update(request->store, request->name, request->options,
                                    &request->record);
        goto done;
    }
    err = resume_in_time(request, &found);
    if (err || found) goto done;
    err = keep_options(request);
    if (!err) err = request->kind->settings(request);
    if (err) goto done;
    err = run_job(request);
done:
    ny_name_unlock(lock);
    return err;
}

/* Frees what the request owns and closes the store. */
static void release(struct ny_request *request)
{
    json_decref(request->record);
    json_decref(request->again);
    ny_settings_release(&request->settings, request->ctx);
    ny_store_close(request->store);
    ny_options_free(request->stored);
    ny_options_free(request->made);
    ny_model_free(request->model);
    ny_memory_lend(request->ctx, 0);
    ny_memory_set_aside(request->ctx, 0);
    ny_context_set_in_memory(request->ctx, false);
    if (request->reserved) ny_call_end(request->ctx);
    ny_blas_return();
}

/* Tells whether there is nothing at a path. */
static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* Refuses to do the same work in several processes, where the store has no shards. The command line
 * is the same for all of them; a program that calls the library has rows of its own in each. That
 * there is no store, as on a host that does not see its folder, or one in shards, is told when it
 * is opened. */
static int refuse_ranks(const struct ny_request *request, const char *path)
{
    const struct ny_transport_wish wish = {.peers = ny_options_text(request->options, "peers"),
                                           .shards = 1};
    bool program = !ny_context_command(request->ctx);
    struct ny_transport *transport;

    if (ny_context_peers(request->ctx) || (program && !wish.peers) || ny_shards_at(path) ||
        (is_missing(path) && !request->kind->makes_store))
        return NY_OK;
    return ny_transport_open(&transport, request->ctx, &wish);
}

/* Opens the store, or makes it where there is none and the kind can begin with an empty one. */
static int open_store(struct ny_request *request, const char *path)
{
    const char *option = request->kind->makes_store;

    if (!is_missing(path) || !option || !ny_options_is_set(request->options, option))
        return ny_store_open(&request->store, request->ctx, path);
    return ny_store_create(&request->store, request->ctx, path);
}

int ny_request_run(const struct ny_request_kind *kind, struct ny_context *context, const char *path,
                   const char *name, const struct ny_options *options, struct ny_report **report)
{
    struct ny_request request = {.ctx = context, .name = name, .kind = kind};
    struct ny_options none;
    int err = ny_given(context, kind->function, "path, name", (const void *const[]){path, name}, 2);

    if (report) *report = NULL;
    if (err) return err;
    request.options = ny_options_given(options, context, &none);
    err = refuse_ranks(&request, path);
    if (err) return err;
    ny_fields_begin();
    ny_blas_borrow(); /* a plan works before the memory is taken */
    ny_plan_lend(context);
    err = open_store(&request, path);
    if (!err) ny_context_set_in_memory(context, ny_store_in_memory(request.store));
    if (!err) err = ny_store_join(request.store);
    if (err) goto done;
    err = run(&request);
    if (err) ny_store_withdraw(request.store); /* a store that was made for nothing */
    if (err == NY_OK && report)
        err = ny_result_describe(report, request.store, name, request.record);
done:
    release(&request);
    return err;
}

int ny_request_resume(const struct ny_request_kind *const *kinds, struct ny_context *context,
                      const char *path, const char *name, struct ny_report **report)
{
    struct ny_request request = {.ctx = context, .name = name};
    struct ny_name_lock *lock = NULL;
    int err;

    ny_fields_begin();
    ny_blas_borrow();
    err = ny_store_open(&request.store, context, path);
    if (err == NY_OK) err = ny_store_join(request.store);
    if (err == NY_OK) err = ny_name_lock(&lock, request.store, name);
    if (err == NY_OK) err = resume(&request, kinds);
    ny_name_unlock(lock);
    if (err == NY_OK && report)
        err = ny_result_describe(report, request.store, name, request.record);
    release(&request);
    return err;
}
