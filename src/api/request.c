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
#include <stdio.h>
#include <string.h>

#include "api/accuracy.h"
#include "api/announce.h"
#include "api/call.h"
#include "api/fit.h"
#include "api/inspect.h"
#include "api/report.h"
#include "base/memory.h"
#include "base/progress.h"
#include "fit/shards.h"
#include "base/peers.h"
#include "results/behind.h"
#include "results/record.h"
#include "results/resume.h"
#include "results/whole.h"
#include "shards/open.h"

void ny_request_set_digest(json_t *inputs, const char *key, uint64_t digest)
{
    char text[20];

    snprintf(text, sizeof(text), "%016llx", (unsigned long long)digest);
    ny_field_set_text(inputs, key, text);
}

/* Makes the identity of the options, and digests of the files that they name, once. */
static int need_asked(struct ny_request *request)
{
    if (request->asked) return NY_OK;
    request->asked = ny_options_to_json(request->options, request->kind->groups);
    if (!request->asked) return ny_fields_no_memory(request->ctx);
    return request->kind->inputs ? request->kind->inputs(request, &request->inputs) : NY_OK;
}

static bool is_done(const struct ny_request *request)
{
    return ny_field_is(request->record, "stage", "done");
}

/* Refuses because NAME is another job. Work that can be resumed must not be thrown away, so that it
 * is said how. */
static int refuse(const struct ny_request *request, const char *what)
{
    if (is_done(request))
        return ny_fail(request->ctx, NY_EUSAGE,
                       "'%s' exists %s; give --restart to replace it, or another name",
                       request->name, what);
    return ny_fail(request->ctx, NY_EUSAGE, "'%s' exists %s; give another name, or %s",
                   request->name, what,
                   ny_resume_words(request->store, request->name, request->record).text);
}

/* Checks that the files are those of the job: with a changed file, it is another job. */
static int check_inputs(struct ny_request *request)
{
    const json_t *stored = json_object_get(request->record, "inputs");
    const char *key, *then;
    json_t *now;
    int err = need_asked(request);

    if (err) return err;
    json_object_foreach(request->inputs, key, now)
    {
        then = ny_field_text(stored, key);
        if (!then || strcmp(then, json_string_value(now)) == 0) continue;
        return refuse(request, "with another file");
    }
    return NY_OK;
}

/* Refuses to go on with a fit over shards in one of them alone, and the other way round. */
static int check_shards(const struct ny_request *request)
{
    uint64_t shards = ny_field_count(request->record, "shards", 1);

    if (shards == ny_peers_shards(ny_context_peers(request->ctx))) return NY_OK;
    return refuse(request, "for another number of shards");
}

/* Refuses options of the call that are not those of the record, and files that have changed. */
static int check_options(struct ny_request *request)
{
    char what[1024],
        *difference = ny_options_differences(request->options, request->kind->groups,
                                             json_object_get(request->record, "options"));
    int err;

    if (!difference) return NY_EBUDGET;
    snprintf(what, sizeof(what), "with other options (%s)", difference);
    err = difference[0] ? refuse(request, what) : check_inputs(request);
    ny_free(request->ctx, difference);
    return err;
}

/* Called if NAME exists: resumes it if it was made with the same options, else refuses. */
static int check_existing(struct ny_request *request)
{
    const char *kind = ny_field_text(request->record, "kind");
    char what[64];
    int err;

    if (kind && strcmp(kind, request->kind->name) != 0) {
        snprintf(what, sizeof(what), "and is a %s", kind);
        return refuse(request, what);
    }
    err = check_shards(request);
    if (!err) err = ny_record_check_whole(request->store, request->name, request->record);
    return err ? err : check_options(request);
}

/* Keeps the lost rows in the new record, and warns that they are not in the result. */
static void note_lost(struct ny_request *request, uint64_t rows)
{
    ny_record_set_lost(request->record, ny_store_skipped(request->store));
    ny_field_set_count(json_object_get(request->record, "report"), "lost", rows);
    ny_log(request->ctx, NY_LOG_WARNING, "%llu rows of %s are lost and not in '%s'",
           (unsigned long long)rows, ny_store_path(request->store), request->name);
}

/* A new record, stored at once in the place of all that was there. */
static int create_record(struct ny_request *request)
{
    struct ny_peers *peers = ny_context_peers(request->ctx);
    struct ny_rows_info points;
    int err = ny_points_info(request->store, &points);

    if (!err) err = need_asked(request);
    if (err) return err;
    request->record = request->kind->record(request, &points, json_incref(request->asked));
    if (!request->record) return ny_fields_no_memory(request->ctx);
    if (request->again)
        ny_record_copy_command(request->record, request->again);
    else
        ny_record_set_command(request->store, request->record);
    if (request->inputs) ny_field_set_json(request->record, "inputs", json_incref(request->inputs));
    ny_record_set_whole(request->record, request->store);
    if (peers) {
        ny_field_set_count(request->record, "shards", ny_peers_shards(peers));
        ny_field_set_count(request->record, "first", points.here.first);
    }
    /* A map of a graph has the rows of the graph, which was made when all of them were there. */
    if (points.lost && !ny_options_get(request->options, "graph")) note_lost(request, points.lost);
    request->fresh = !request->stored;
    return ny_record_replace(request->store, request->name, request->record);
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
    ny_log(request->ctx, NY_LOG_NOTE, "'%s' is done already", request->name);
    ny_warn_behind(request->store, request->name, request->record);
}

/* Charges the process, with a loan to the budget (0: none). It is called after the plan, which for
 * a budget below even this says which one works. */
static int reserve_process(struct ny_request *request, size_t loan)
{
    int err;

    ny_memory_lend(request->ctx, loan);
    err = ny_call_begin(request->ctx);
    request->reserved = err == NY_OK;
    return err;
}

/* An update reads a result before it is planned, so that the process is charged first. The loan for
 * the plan then has to cover both, and ends where the plan fits. */
static int reserve_for_update(struct ny_request *request)
{
    const size_t loan = 2 * NY_PROCESS_BYTES;
    size_t limit = ny_memory_limit(request->ctx);

    return reserve_process(request, limit >= NY_LOAN_BYTES_MIN && limit < loan ? loan : 0);
}

/* Refuses processes that were not all given this job, before one of them replaces what it has. */
static int agree(struct ny_request *request, bool restart)
{
    const json_t *kept = restart ? NULL : request->record;
    int err = NY_OK;

    if (!ny_context_peers(request->ctx)) return NY_OK;
    if (kept)
        return ny_shards_agree(request->ctx, json_object_get(kept, "options"),
                               json_object_get(kept, "inputs"));
    err = need_asked(request);
    return err ? err : ny_shards_agree(request->ctx, request->asked, request->inputs);
}

/* Goes on with the job of the record, or begins it where there is none. */
static int attempt(struct ny_request *request)
{
    int err;

    request->fresh = false;
    err = request->kind->announce(request);
    if (err == NY_OK) err = reserve_process(request, 0);
    if (err) return err;
    if (request->record)
        ny_log(request->ctx, NY_LOG_NOTE, "'%s' resumes in stage %s", request->name,
               ny_field_text(request->record, "stage"));
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

/* Makes a result that is done again, with more landmarks. NY_END where a limit has no room for
 * that, so that the result stays; of shards, which need not all have such a limit, NY_EBUDGET. */
static int attempt_again(struct ny_request *request)
{
    json_t *before = request->record;
    int err;

    do {
        request->record = NULL;
        if (request->reserved) ny_call_end(request->ctx);
        request->reserved = false;
        ny_plan_lend(request->ctx);
        err = attempt(request);
        if (err != NY_EBUDGET || request->record || ny_context_peers(request->ctx)) break;
        err = NY_END;
    } while (ny_accuracy_less(request, before));
    if (err == NY_END)
        request->record = before;
    else
        json_decref(before);
    return err;
}

/* Makes a result that is done again until it is as right as its option accuracy says. */
static int reach_accuracy(struct ny_request *request)
{
    int err = NY_OK;

    while (!err && ny_accuracy_again(request))
        err = attempt_again(request);
    return err == NY_END ? NY_OK : err;
}

/* Resumes, replaces or begins the job. Nothing stored is changed before the plan fits. */
static int run_job(struct ny_request *request)
{
    bool restart = ny_options_flag(request->options, "restart");
    uint64_t done; /* by all shards */
    int err = NY_OK;

    if (!request->record) err = ny_record_load(request->store, request->name, &request->record);
    if (err) return err;
    if (request->record && !restart) err = check_existing(request);
    if (!err) err = agree(request, restart);
    done = request->record && !restart && is_done(request);
    if (!err) err = ny_peers_least(ny_context_peers(request->ctx), &done);
    if (err) return err;
    if (restart) {
        json_decref(request->record);
        request->record = NULL;
    }
    err = ny_accuracy_begin(request);
    if (err) return err;
    if (done && ny_accuracy_settled(request)) {
        note_done(request);
        return NY_OK;
    }
    if (done) return reach_accuracy(request);
    if (request->record && !request->stored && ny_context_command(request->ctx))
        ny_record_set_command(request->store, request->record);
    err = attempt(request);
    return err ? err : reach_accuracy(request);
}

/* Refuses to take options of what is not there, or of another kind: the defaults would be a result
 * that nobody has asked for. */
static int no_options(const struct ny_request *request)
{
    return ny_fail(request->ctx, NY_EUSAGE, "'%s' has no options to keep; give them with --restart",
                   request->name);
}

/* Takes the options of the result that `restart` replaces, if no other option chooses anything. */
static int keep_options(struct ny_request *request)
{
    int err;

    if (!ny_options_flag(request->options, "restart") || ny_options_choose(request->options))
        return NY_OK;
    err = ny_record_load(request->store, request->name, &request->record);
    if (err || (!request->record && ny_store_kept(request->store) != NY_KEPT_IN_STORE)) return err;
    if (!ny_field_is(request->record, "kind", request->kind->name)) return no_options(request);
    if (json_is_true(json_object_get(request->record, "placed"))) return no_options(request);
    request->again = json_incref(request->record);
    err = ny_options_again(&request->stored, request->options, request->kind->groups,
                           json_object_get(request->record, "options"), request->name);
    if (err) return err;
    request->options = request->stored;
    ny_log(request->ctx, NY_LOG_NOTE, "'%s' is made again with the options it had", request->name);
    return NY_OK;
}

/* Takes rows in. A result that was to be as right as its option accuracy says gets more landmarks
 * where it is not any more; a frozen update keeps what it has. */
static int take_in(struct ny_request *request, const struct ny_options *how)
{
    int err = ny_update_run(request->store, request->name, how, false, &request->record);

    if (err || strcmp(ny_options_get(how, "update"), "full") != 0 ||
        !ny_accuracy_landmarks(request->record))
        return err;
    err = ny_options_of_stored(&request->made, how, request->kind->groups,
                               json_object_get(request->record, "options"), request->name);
    if (err) return err;
    request->options = request->made;
    err = request->kind->settings(request);
    if (!err) err = ny_accuracy_begin(request);
    return err ? err : reach_accuracy(request);
}

/* Goes on with the update that is under way of a result that is done, if there is one. */
static int resume_update(struct ny_request *request)
{
    const char *limit = ny_options_get(request->options, "time-limit");
    json_t *update = NULL;
    int err = request->kind->updates ? ny_record_load_update(request->store, request->name, &update)
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
                             ny_update_mode_name(ny_update_mode_of(ny_record_of(update))));
    if (err == NY_OK && limit) err = ny_options_set(request->stored, "time-limit", limit);
    json_decref(update);
    if (err == NY_OK) err = reserve_process(request, 0);
    if (err) return err;
    json_decref(request->record);
    request->record = NULL;
    return take_in(request, request->stored);
}

/* Goes on with the job of the record, with the options that it was begun with. A job that is done
 * may still have an update under way. */
static int resume(struct ny_request *request)
{
    int err = check_shards(request);

    if (err) return err;
    if (is_done(request) && !ny_context_peers(request->ctx)) return resume_update(request);
    err = ny_options_again(&request->stored, request->options, request->kind->groups,
                           json_object_get(request->record, "options"), request->name);
    if (err) return err;
    request->options = request->stored;
    err = request->kind->settings(request);
    return err ? err : run_job(request);
}

/* Finds the kind of the job in its record, and goes on with it. */
static int resume_any(struct ny_request *request, const struct ny_request_kind *const *kinds)
{
    int err = ny_record_need(request->store, request->name, &request->record);

    if (err) return err;
    for (; *kinds; kinds++)
        if (ny_field_is(request->record, "kind", (*kinds)->name)) request->kind = *kinds;
    if (request->kind) return resume(request);
    return ny_fail_damaged(request->ctx, request->name, ny_store_path(request->store));
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

/* Locks the NAME around everything that looks at it. */
static int run(struct ny_request *request, const struct ny_request_kind *const *kinds)
{
    struct ny_name_lock *lock = NULL;
    int err;

    err = ny_name_lock(&lock, request->store, request->name);
    if (err) goto done;
    if (!request->kind) {
        err = resume_any(request, kinds);
        goto done;
    }
    if (request->kind->updates && ny_options_is_set(request->options, "update")) {
        err = reserve_for_update(request);
        if (!err) err = take_in(request, request->options);
        goto done;
    }
    if (chooses_time_alone(request))
        err = ny_record_load(request->store, request->name, &request->record);
    if (err) goto done;
    if (ny_field_is(request->record, "kind", request->kind->name)) {
        err = resume(request);
        goto done;
    }
    err = keep_options(request);
    if (!err) err = request->kind->settings(request);
    if (!err) err = run_job(request);
done:
    ny_name_unlock(lock);
    return err;
}

/* Frees what the request owns and closes the store. */
static void release(struct ny_request *request)
{
    json_decref(request->record);
    json_decref(request->again);
    json_decref(request->attempts);
    json_decref(request->asked);
    json_decref(request->inputs);
    ny_settings_release(&request->settings, request->ctx);
    ny_store_close(request->store);
    ny_options_free(request->stored);
    ny_options_free(request->made);
    ny_model_free(request->model);
    ny_memory_lend(request->ctx, 0);
    ny_memory_set_aside(request->ctx, 0);
    ny_context_set_kept(request->ctx, NY_KEPT_IN_STORE);
    if (request->reserved) ny_call_end(request->ctx);
    ny_blas_return();
}

int ny_request_run(struct ny_context *context, const struct ny_request_call *call,
                   struct ny_report **report)
{
    struct ny_request request = {.ctx = context, .name = call->name, .kind = call->kind};
    struct ny_options none;
    int err = NY_OK;

    if (report) *report = NULL;
    request.options = ny_options_given(call->options, context, &none);
    if (call->kind) err = ny_request_refuse_ranks(&request, call->path);
    if (err) return err;
    ny_fields_begin();
    ny_blas_borrow(); /* a plan works before the memory is taken */
    ny_plan_lend(context);
    err = ny_request_open_store(&request, call->path);
    if (!err) ny_context_set_kept(context, ny_store_kept(request.store));
    if (!err) err = ny_store_join(request.store);
    if (err) goto done;
    err = run(&request, call->kinds);
    if (err) ny_store_withdraw(request.store); /* a store that was made for nothing */
    if (err == NY_OK && report)
        err = ny_result_describe(report, request.store, call->name, request.record);
done:
    release(&request);
    return err;
}
