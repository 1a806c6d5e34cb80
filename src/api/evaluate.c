/* ny_evaluate. */
#include "evaluate/evaluate.h"

#include "api/call.h"
#include "api/report.h"
#include "api/option_table.h"
#include "api/options.h"
#include "base/memory.h"

static struct ny_evaluate_settings settings_of(struct ny_context *ctx,
                                               const struct ny_options *options, const char **typed)
{
    struct ny_evaluate_settings settings = {
        .measures = ny_options_get(options, "measures"),
        .against = ny_options_get(options, "against"),
        .clusters = ny_options_count(options, "clusters", 0),
        .clusters_to = ny_options_count(options, "clusters-to", 0),
        .inits = (unsigned)ny_options_count(options, "n-init", 0),
        .knn_neighbors = ny_options_count(options, "knn-neighbors", 0),
        .neighbors = ny_options_count(options, "neighbors", 0),
        .sample = ny_options_count(options, "sample", 0),
        .seed = ny_options_count(options, "seed", 0),
        .threads = ny_context_threads(ctx),
        .typed = typed};

    for (int i = 0; ny_option_at(i); i++)
        if (options->typed[i] && ny_option_at(i)->groups & NY_GROUP_EVALUATE)
            *typed++ = ny_option_at(i)->name;
    return settings;
}

int ny_evaluate(struct ny_context *context, const char *path, const char *name,
                const struct ny_options *options, struct ny_report **report)
{
    const char *typed[NY_OPTIONS_MAX + 1] = {0};
    struct ny_evaluate_settings settings;
    struct ny_store *store = NULL;
    struct ny_options none;
    json_t *object = NULL;
    int err = NY_GIVEN(context, path, name);

    if (report) *report = NULL;
    if (err) return err;
    options = ny_options_given(options, context, &none);
    settings = settings_of(context, options, typed);
    err = ny_options_check(options, NY_GROUP_EVALUATE);
    if (!err) err = ny_call_open(&store, context, path, name);
    if (!err) err = ny_evaluate_run(store, name, &settings, &object);
    if (!err) {
        ny_field_set_count(object, "threads", ny_context_threads(context));
        ny_field_set_peak(object);
        ny_field_set_count(object, "memory_budget_bytes", ny_memory_limit(context));
        ny_field_set_text(object, "version", ny_version());
        err = ny_report_of_json(report, context, object);
        if (settings.clusters && ny_shards_of(store))
            ny_shards_note(context, path, (struct ny_shards_noted){.first = 0});
    }
    ny_call_close(store);
    return err;
}
