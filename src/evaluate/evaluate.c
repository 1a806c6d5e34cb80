/*
 * Runs the verb evaluate (evaluate/evaluate.h): it reads the words of --measures, plans the memory,
 * opens the rows, runs the measures in the order of the table, and assembles the report. The front
 * end is api/evaluate.c.
 *
 * A word names a measure, one of its keys, "all" or "labels". A measure that does not apply records
 * a reason instead of a figure; the run fails only where the user named the measure or the figure.
 * The number of workers is the largest with which rows that are read again would fit; rows are held
 * in memory only where there is room left for them. Clusters are stored with the result once every
 * measure has succeeded.
 */
#include "evaluate/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "results/clusters.h"
#include "evaluate/sample.h"
#include "evaluate/unreached.h"
#include "linalg/matrix.h"

enum { NAME_BYTES = 40 };

#define ENTRY(measure) &measure,
static const struct ny_measure *const measures[] = {NY_MEASURES(ENTRY)};

enum { MEASURES = sizeof(measures) / sizeof(measures[0]) };

/* ---- what is asked for --------------------------------------------------------------------- */

/* The role of a measure in `measures`: not named, named but may not apply, or must apply. */
enum asked { NOT_ASKED, ASKED, NEEDED };

static bool has_key(const struct ny_measure *measure, const char *word)
{
    for (size_t i = 0; measure->keys[i]; i++)
        if (strcmp(measure->keys[i], word) == 0) return true;
    return false;
}

static enum asked asks(const struct ny_measure *measure, const char *word)
{
    if (strcmp(word, "all") == 0) return ASKED;
    if (strcmp(word, "labels") == 0) return measure->labels ? NEEDED : NOT_ASKED;
    return strcmp(word, measure->name) == 0 || has_key(measure, word) ? NEEDED : NOT_ASKED;
}

/* Copies the word at *at and moves on behind it; false at the end. */
static bool next_word(const char **at, char word[NAME_BYTES])
{
    size_t length = strcspn(*at, ",");

    if (!**at) return false;
    snprintf(word, NAME_BYTES, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    return true;
}

static enum asked asked_for(const struct ny_evaluation *run, const struct ny_measure *measure)
{
    const char *at = run->settings->measures;
    enum asked most = NOT_ASKED;
    char word[NAME_BYTES];

    while (next_word(&at, word)) {
        enum asked asked = asks(measure, word);

        if (asked > most) most = asked;
    }
    return most;
}

/* Fails with the names of measures. */
static int unknown_measure(const struct ny_evaluation *run, const char *word)
{
    const char *names[MEASURES + 2] = {"all", "labels"};
    char list[256];

    for (size_t i = 0; i < MEASURES; i++)
        names[i + 2] = measures[i]->name;
    ny_join(names, MEASURES + 2, list, sizeof(list));
    return ny_fail(run->ctx, NY_EUSAGE, "--measures takes %s and the names of figures, not '%s'",
                   list, word);
}

static int check_words(const struct ny_evaluation *run)
{
    const char *at = run->settings->measures;
    char word[NAME_BYTES];

    while (next_word(&at, word)) {
        bool known = strcmp(word, "all") == 0 || strcmp(word, "labels") == 0;

        for (size_t i = 0; i < MEASURES && !known; i++)
            known = asks(measures[i], word) != NOT_ASKED;
        if (!known) return unknown_measure(run, word);
    }
    return NY_OK;
}

/* An option is of no measure that is asked for. */
static int check_typed(const struct ny_evaluation *run)
{
    for (const char *const *option = run->settings->typed; *option; option++) {
        bool acts = strcmp(*option, "measures") == 0;

        for (size_t i = 0; i < MEASURES; i++)
            acts |= asked_for(run, measures[i]) && ny_one_of(*option, measures[i]->options);
        if (!acts)
            return ny_fail(run->ctx, NY_EUSAGE, "--%s does not act with --measures %s", *option,
                           run->settings->measures);
    }
    return NY_OK;
}

/* ---- one measure --------------------------------------------------------------------------- */

/* Fails if a measure was asked for by name and gave nothing, or not the figure that was named. */
static int check_needed(const struct ny_evaluation *run, const char *word)
{
    const struct ny_measure *measure = run->measure;
    const char *missing = NULL;
    bool some = false;

    for (size_t i = 0; measure->keys[i]; i++) {
        const char *key = measure->keys[i], *why = ny_field_text(run->reasons, key);
        bool counts = strcmp(word, measure->name) == 0 || strcmp(word, key) == 0;

        if (strcmp(word, "labels") == 0) counts = measure->labels && why;
        if (!counts) continue;
        if (!why)
            some = true;
        else if (!missing)
            missing = key;
    }
    if (!missing || some) return NY_OK;
    return ny_fail(run->ctx, NY_EUSAGE, "%s of '%s' cannot be measured: %s",
                   strcmp(word, "labels") == 0 ? missing : word, run->result.name,
                   ny_field_text(run->reasons, missing));
}

/* Runs one measure; of one that was not asked for, every key is null with that reason. */
static int run_measure(struct ny_evaluation *run, const struct ny_measure *measure)
{
    const char *at = run->settings->measures;
    char word[NAME_BYTES];
    int err;

    run->measure = measure;
    if (asked_for(run, measure) == NOT_ASKED) {
        ny_evaluate_inapplicable(run, NULL, "not asked for");
        return NY_OK;
    }
    err = measure->run(run);
    while (err == NY_OK && next_word(&at, word))
        if (asks(measure, word) == NEEDED) err = check_needed(run, word);
    return err ? err : ny_fields_check(run->ctx); /* what loads a record forgets it */
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Returns what BLAS keeps for the widest product of the measures that were asked for. */
static size_t of_blas(const struct ny_evaluation *run)
{
    size_t widest = 0;

    for (size_t i = 0; i < MEASURES; i++) {
        size_t order = asked_for(run, measures[i]) ? measures[i]->order(run) : 0;

        if (order > widest) widest = order;
    }
    return ny_blas_bytes(run->settings->threads, run->workers, widest);
}

/* Counts what the evaluation holds besides the process: BLAS, reading, the rows, and the measures,
 * which run one after another. */
static void count_all(struct ny_layout *l, const struct ny_evaluation *run, bool hold)
{
    size_t p = ny_coordinates_count(&run->result.coordinates), piece = ny_cloud_piece(p);
    struct ny_cloud cloud = {.n = run->n, .p = p, .piece_rows = piece};
    struct ny_layout_mark mark;

    ny_lay(l, NY_MEM_OTHER, 512 << 10, 1); /* what is small */
    ny_layout_add(l, NY_MEM_PROCESS, of_blas(run));
    ny_layout_add(l, NY_MEM_STORE, 2 * NY_READING_BYTES + 2 * NY_CHUNK_BYTES);
    ny_lay(l, NY_MEM_IO, piece, run->result.layout.row_bytes);
    ny_cloud_lay(l, &cloud, run->workers, hold);
    mark = ny_layout_mark(l);
    for (size_t i = 0; i < MEASURES; i++) {
        if (asked_for(run, measures[i])) measures[i]->count(l, run);
        ny_layout_back(l, &mark);
    }
}

static void count_read(struct ny_layout *l, const void *evaluation, unsigned workers, size_t limit)
{
    struct ny_evaluation run = *(const struct ny_evaluation *)evaluation;

    (void)limit;
    run.workers = workers;
    count_all(l, &run, false);
}

/* Takes as many workers as fit, then holds the rows in memory if they fit too. */
static int fit_in(struct ny_evaluation *run, bool *hold)
{
    struct ny_layout held = {0}, read = {0};
    size_t least;

    run->workers = ny_budget_workers_left(run->ctx, count_read, run, run->settings->threads);
    count_all(&held, run, true);
    count_all(&read, run, false);
    *hold = ny_layout_most(&held) <= ny_memory_left(run->ctx);
    least = ny_smaller(ny_layout_most(&held), ny_layout_most(&read)); /* few rows */
    return ny_budget_need(run->ctx, "evaluation", least);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Reads rows of the embedding that have coordinates as f32, whatever its precision. */
static int read_rows(void *arg, uint64_t first, size_t count, float *out)
{
    struct ny_evaluation *of = arg;
    size_t p = ny_coordinates_count(&of->result.coordinates);
    int err = NY_OK;

    for (uint64_t i = 0, run; !err && i < count; i += run) {
        uint64_t row = ny_lost_place(&of->unreached, first + i, &run);

        if (run > count - i) run = count - i;
        err = ny_result_fill32(&of->result, row, (size_t)run, out + i * p);
    }
    return err;
}

static int open_rows(struct ny_evaluation *run, bool hold)
{
    const struct ny_result_part *part = ny_part_find("embedding");
    struct ny_result *result = &run->result;
    size_t p = ny_coordinates_count(&result->coordinates);
    struct ny_cloud_reader reader = {read_rows, run, run->n, p};
    int err = ny_result_prepare(result, part, ny_cloud_piece(p));

    return err ? err : ny_cloud_open(&run->cloud, run->ctx, &reader, run->workers, hold);
}

/* Reports how many rows have no label where others have one: measures by labels are of these. */
static void tell_unlabelled(const struct ny_evaluation *run)
{
    const struct ny_row_classes *classes = &run->classes;
    bool some = classes->count && classes->missing;

    ny_field_set_json(run->report, "unlabelled",
                      some ? json_integer((json_int_t)classes->missing) : json_null());
}

/* Loads the classes of the rows that have coordinates. */
static int load_classes(struct ny_evaluation *run)
{
    struct ny_row_classes *classes = &run->classes;
    int err = ny_row_classes_load(classes, &run->result);

    if (err || !run->unreached.count || !classes->of) return err;
    ny_unreached_squeeze(&run->unreached, classes->of, run->result.rows.count);
    classes->missing = 0;
    for (uint64_t i = 0; i < run->n; i++)
        classes->missing += classes->of[i] == NY_NO_CLASS;
    return NY_OK;
}

static int measure_all(struct ny_evaluation *run)
{
    bool hold;
    size_t blas = 0;
    int err = ny_evaluate_unreached(&run->result, &run->unreached);

    run->n -= run->unreached.rows;
    if (err == NY_OK) err = load_classes(run);
    if (err == NY_OK) err = fit_in(run, &hold);
    if (err == NY_OK) err = ny_blas_make_room(run->ctx, run->workers);
    if (err) goto done;
    tell_unlabelled(run);
    ny_context_set_crew(run->ctx, run->workers);
    blas = of_blas(run);
    err = ny_reserve(run->ctx, NY_MEM_PROCESS, blas);
    if (err)
        blas = 0;
    else
        err = open_rows(run, hold);
    for (size_t i = 0; i < MEASURES && err == NY_OK; i++)
        err = run_measure(run, measures[i]);
done:
    ny_sample_free(run->sample);
    run->sample = NULL;
    ny_cloud_close(&run->cloud);
    ny_row_classes_release(&run->classes, run->ctx);
    ny_context_set_crew(run->ctx, 0);
    ny_unreserve(run->ctx, NY_MEM_PROCESS, blas);
    return err;
}

static int open_result(struct ny_evaluation *run, struct ny_store *store, const char *name)
{
    int err = ny_result_open_any(&run->result, store, name);

    run->n = run->result.rows.count;
    run->kept = err ? 0 : ny_stored_clusters(&run->result);
    if (run->kept > run->n) run->kept = 0; /* as only a forged record says */
    if (err || run->result.coordinates.pairs) return err;
    return ny_fail(run->ctx, NY_EUSAGE,
                   "'%s' is only a %s: it has no embedding to evaluate; 'nystream fit' makes one",
                   name, run->result.only_graph ? "graph" : "dictionary");
}

/* Opens the reference of option against, whose pairs count in the memory that is planned. */
static int open_reference(struct ny_evaluation *run)
{
    const char *name = run->settings->against;
    int err = name ? ny_result_open_any(&run->reference, run->result.store, name) : NY_OK;

    if (err || !name || run->reference.coordinates.pairs) return err;
    return ny_fail(run->ctx, NY_EUSAGE, "--against %s: it has no embedding", name);
}

/* Fills the report with the facts known before measuring, and null for every key of every measure.
 */
static void describe(struct ny_evaluation *run)
{
    ny_field_set_text(run->report, "name", run->result.name);
    ny_field_set_count(run->report, "n", run->n);
    ny_field_set_count(run->report, "components", ny_coordinates_count(&run->result.coordinates));
    ny_field_set_count(run->report, "seed", run->settings->seed);
    for (size_t i = 0; i < MEASURES; i++)
        for (size_t k = 0; measures[i]->keys[k]; k++)
            ny_field_set_json(run->report, measures[i]->keys[k], json_null());
}

/* Stores the clusters with what was measured of them. */
static int store_clusters(struct ny_evaluation *run)
{
    static const char *const kept[] = {"silhouette",
                                       "silhouette_standard_error",
                                       "variance_between",
                                       "inertia",
                                       "purity",
                                       "accuracy",
                                       "class_concentration",
                                       "nmi",
                                       "ari"};
    json_t *figures = json_object(), *sizes = json_object_get(run->report, "cluster_sizes");
    int err;

    ny_field_set_count(figures, "rows", run->n);
    if (run->clusters <= NY_CLUSTERS_LISTED)
        ny_field_set_json(figures, "cluster_sizes", json_incref(sizes));
    for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
        ny_field_set_number(figures, kept[k], ny_field_number(run->report, kept[k], NAN));
    err = ny_result_put_clusters(&run->result, run->cluster, run->clusters, figures);
    json_decref(figures);
    return err;
}

int ny_evaluate_run(struct ny_store *store, const char *name,
                    const struct ny_evaluate_settings *settings, json_t **report)
{
    double started_s = ny_now();
    struct ny_evaluation run = {.ctx = ny_store_context(store), .settings = settings};
    int err;

    *report = NULL;
    ny_fields_begin();
    err = open_result(&run, store, name);
    if (err == NY_OK) err = check_words(&run);
    if (err == NY_OK) err = check_typed(&run);
    if (err == NY_OK) err = open_reference(&run);
    if (err) goto done;
    run.report = json_object();
    run.reasons = json_object();
    describe(&run);
    err = ny_fields_check(run.ctx);
    if (err == NY_OK) err = measure_all(&run);
    if (err == NY_OK && run.cluster)
        err = ny_unreached_spread(&run.unreached, run.ctx, &run.cluster, run.result.rows.count);
    if (err == NY_OK && run.cluster) err = store_clusters(&run);
    if (err) goto done;
    ny_field_set_json(run.report, "reasons", json_incref(run.reasons));
    ny_field_set_number(run.report, "seconds", ny_now() - started_s);
    err = ny_fields_check(run.ctx);
    if (err) goto done;
    *report = json_incref(run.report);
done:
    ny_lost_release(&run.unreached, run.ctx);
    ny_free(run.ctx, run.cluster);
    json_decref(run.reasons);
    json_decref(run.report);
    if (settings->against) ny_result_close_any(&run.reference);
    ny_result_close_any(&run.result);
    return err;
}
