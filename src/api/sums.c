/*
 * The calls of nystream_sums.h: sums over rows that are made apart, added up and solved.
 *
 * The folder merge has the sums themselves. A part comes from a result, whose job has summed up its
 * rows; the rows of a table are borrowed, and a fit of them ends with its sums. The
 * options of the fit stay with the sums, or are made again from what the parts say.
 */
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/option_tables.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "io/memory.h"
#include "io/output.h"
#include "io/writer.h"
#include "records/certificate.h"
#include "merge/sums.h"
#include "results/record.h"
#include "shards/shards.h"

static const char result[] = "sums";

struct ny_sums {
    struct ny_context *ctx;
    struct ny_options *options; /* the fits have them; NULL: as the parts say */
    struct ny_summed *summed;   /* NULL: there are no rows yet */
    void *image;                /* that ny_sums_image() gave; NULL: it was not asked for */
    size_t image_bytes;
};

/* ---- options -------------------------------------------------------------------------------- */

static int no_sums(struct ny_context *ctx)
{
    return ny_fail(ctx, NY_EUSAGE, "these sums have no rows yet; add some first");
}

/* Makes the options of the fit from what the parts say, where none were given. */
static int need_options(struct ny_sums *sums)
{
    const struct ny_model *base;
    struct ny_options none;
    char gamma[40];
    int err;

    if (sums->options) return NY_OK;
    if (!sums->summed) return no_sums(sums->ctx);
    base = sums->summed->base;
    err =
        ny_options_of_stored(&sums->options, ny_options_given(NULL, sums->ctx, &none), NY_GROUP_FIT,
                             json_object_get(sums->summed->about, "options"), result);
    ny_decimal_print(gamma, sizeof(gamma), "%.17g", base->spec.params.gamma);
    if (!err && base->spec.kernel->auto_gamma) err = ny_options_set(sums->options, "gamma", gamma);
    if (!err && !ny_summed_columns(sums->summed)) err = ny_landmark_table_set(sums->options, base);
    if (!err) err = ny_options_set(sums->options, "until", "sums");
    if (err) {
        ny_options_free(sums->options);
        sums->options = NULL;
    }
    return err;
}

/* ---- making and freeing --------------------------------------------------------------------- */

/* Forgets the image, before anything changes. */
static void drop_image(struct ny_sums *sums)
{
    ny_free(sums->ctx, sums->image);
    sums->image = NULL;
}

int ny_sums_new(struct ny_sums **out, struct ny_context *context, const struct ny_options *options)
{
    struct ny_sums *sums;
    int err = NY_GIVEN(context, out);

    if (out) *out = NULL;
    if (err) return err;
    sums = ny_calloc(context, NY_MEM_OTHER, 1, sizeof(*sums));
    if (!sums) return NY_EBUDGET;
    sums->ctx = context;
    if (options) err = ny_options_copy(&sums->options, options, "");
    if (!err && options) err = ny_options_set(sums->options, "until", "sums");
    if (!err && options) err = ny_options_check(sums->options, NY_GROUP_FIT);
    if (!err && options && !ny_options_is_set(options, "landmarks-points") &&
        !ny_options_map(options)->centred_rows)
        err = ny_fail(context, NY_EUSAGE, "sums need --landmarks-points, which all parts share");
    if (!err) *out = sums;
    if (err) ny_sums_free(sums);
    return err;
}

void ny_sums_free(struct ny_sums *sums)
{
    if (!sums) return;
    drop_image(sums);
    ny_options_free(sums->options);
    ny_summed_free(sums->summed);
    ny_free(sums->ctx, sums);
}

/* ---- adding --------------------------------------------------------------------------------- */

/* Takes the sums of a result that is open. */
static int take_result(struct ny_summed **out, struct ny_store *store, const char *name)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_owned_settings settings = {0};
    struct ny_options none, *options = NULL;
    json_t *record = NULL;
    int err = ny_record_need(store, name, &record);
    const struct ny_own_landmarks own = {.name = name, .record = record};

    *out = NULL;
    if (!err && strcmp(ny_record_kind(record), "fit") != 0)
        err = ny_result_lacks(store, name, "sums");
    if (!err)
        err = ny_options_of_stored(&options, ny_options_given(NULL, ctx, &none), NY_GROUP_FIT,
                                   json_object_get(record, "options"), name);
    if (!err) err = ny_options_set(options, "until", "sums");
    if (!err) err = ny_settings_new(&settings, store, options, NY_GROUP_FIT, &own);
    if (err == NY_EUSAGE && options) {
        ny_error_clear(ctx);
        err = ny_result_lacks(store, name, "sums that can be merged");
    }
    if (!err) err = ny_summed_of_result(out, store, name, record, &settings.fit);
    ny_settings_release(&settings, ctx);
    ny_options_free(options);
    json_decref(record);
    return err;
}

/* Adds sums to those before. */
static int add(const struct ny_sums *sums, const char *name, struct ny_summed *more,
               const char *more_name)
{
    const char *option = ny_options_other(json_object_get(sums->summed->about, "options"),
                                          json_object_get(more->about, "options"));

    return ny_summed_add(sums->summed, name, more, more_name, option);
}

/* Refuses a first part that was made with other options than these sums were begun with. */
static int check_first(const struct ny_sums *sums, const struct ny_summed *part, const char *name)
{
    const struct ny_columns_spec *spec = &part->base->spec;
    const char *option;
    json_t *options;
    double gamma;

    if (!sums->options) return NY_OK;
    options = ny_options_to_json(sums->options, NY_GROUP_FIT);
    if (!options) return ny_fields_no_memory(sums->ctx);
    ny_summed_bare_options(options);
    option = ny_options_other(options, json_object_get(part->about, "options"));
    json_decref(options);
    if (!option && spec->kernel->auto_gamma && ny_options_number(sums->options, "gamma", &gamma) &&
        gamma != spec->params.gamma)
        option = "gamma";
    if (!option) return NY_OK;
    return ny_fail(sums->ctx, NY_EUSAGE, "%s has another --%s than these sums", name, option);
}

/* Adds a part, which is taken over. */
static int add_part(struct ny_sums *sums, struct ny_summed *part, const char *name)
{
    int err =
        sums->summed ? add(sums, "the parts before", part, name) : check_first(sums, part, name);

    if (!err && !sums->summed)
        sums->summed = part;
    else
        ny_summed_free(part);
    return err;
}

/* Adds the sums of a result. The batch of a name may be equal to one before it, a result (NULL) may
 * not. */
static int add_result(struct ny_sums *sums, const char *path, const char *name, const char *batch)
{
    struct ny_store *store = NULL;
    struct ny_summed *part = NULL;
    int err = ny_call_begin(sums->ctx);

    if (err) return err;
    err = ny_store_open(&store, sums->ctx, path);
    if (!err) err = take_result(&part, store, name);
    if (!err && batch) err = ny_summed_name_batch(part, batch, sums->summed);
    if (err)
        ny_summed_free(part);
    else
        err = add_part(sums, part, path);
    ny_store_close(store);
    ny_call_end(sums->ctx);
    return err;
}

/* Adds the sums that each shard of a store has, all or none. */
static int add_shards(struct ny_sums *sums, const char *path, const char *name)
{
    struct ny_sums all = {.ctx = sums->ctx, .options = sums->options};
    struct ny_shards *shards = NULL;
    int err = ny_shards_read(&shards, sums->ctx, path);

    if (!err) err = ny_shards_complete(shards);
    for (unsigned k = 0; !err && k < shards->count; k++)
        err = add_result(&all, shards->shard[k].path, name, NULL);
    ny_shards_free(shards);
    if (!err) return add_part(sums, all.summed, path);
    ny_summed_free(all.summed);
    return err;
}

int ny_sums_add_result(struct ny_sums *sums, const char *path, const char *name)
{
    int err = NY_GIVEN(sums ? sums->ctx : NULL, path, name);

    if (err) return err;
    drop_image(sums);
    return ny_shards_at(path) ? add_shards(sums, path, name) : add_result(sums, path, name, NULL);
}

/* Borrows a batch, in the layout of the batches before it. One that is first
 * is sparse where it comes so, however many of its values are 0: batches have to agree. */
static int borrow_batch(struct ny_sums *sums, const struct ny_table *rows)
{
    bool sparse = sums->summed ? sums->summed->base->spec.slots > 0 : rows->row_start != NULL;
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, sums->ctx);

    if (!err) err = ny_options_set(options, "layout", sparse ? "sparse" : "dense");
    if (!err) err = ny_borrow(sums->ctx, ny_memory_name(rows), rows, options, NULL);
    ny_options_free(options);
    return err;
}

int ny_sums_add(struct ny_sums *sums, const struct ny_table *table)
{
    struct ny_context *ctx = sums ? sums->ctx : NULL;
    struct ny_table given;
    const char *name;
    int err = NY_GIVEN(ctx, table);

    if (!err) err = ny_given_table(ctx, table, &given);
    if (!err) err = ny_memory_check(ctx, &given);
    if (!err) err = need_options(sums);
    if (err) return err;
    drop_image(sums);
    name = ny_memory_name(&given);
    err = borrow_batch(sums, &given);
    if (!err) err = ny_fit(ctx, name, result, sums->options, NULL);
    if (!err) err = add_result(sums, name, result, name);
    ny_store_hold(ctx, NULL);
    return err;
}

int ny_sums_merge(struct ny_sums *sums, const struct ny_sums *other)
{
    const struct ny_names *names, *others;
    struct ny_summed *copy = NULL;
    size_t bytes;
    void *image;
    int err = NY_GIVEN(sums ? sums->ctx : NULL, other);

    if (err || !other->summed) return err;
    drop_image(sums);
    names = sums->summed ? &sums->summed->base->columns : NULL;
    others = &other->summed->base->columns;
    if (names &&
        (!names->count || !others->count || ny_names_digest(names) == ny_names_digest(others)))
        return add(sums, "the first sums", other->summed, "the second");
    err = ny_summed_image(other->summed, &image, &bytes);
    if (!err) err = ny_summed_load(&copy, sums->ctx, image, bytes, "the sums");
    ny_free(other->ctx, image);                            /* whose budget it was charged to */
    return err ? err : add_part(sums, copy, "the second"); /* whose columns may be turned */
}

int ny_sums_column_names(const struct ny_sums *sums, const char **names, size_t *count)
{
    const struct ny_names *columns;
    int err = NY_GIVEN(sums ? sums->ctx : NULL, names, count);

    if (err) return err;
    columns = sums->summed ? &sums->summed->base->columns : NULL;
    *names = columns && columns->count ? columns->text : NULL;
    *count = columns ? columns->count : 0;
    return NY_OK;
}

/* ---- images --------------------------------------------------------------------------------- */

int ny_sums_image(struct ny_sums *sums, const void **image, size_t *bytes)
{
    int err = NY_GIVEN(sums ? sums->ctx : NULL, image, bytes);

    if (err) return err;
    *image = NULL;
    if (!sums->summed) return no_sums(sums->ctx);
    ny_fields_begin();
    if (!sums->image) err = ny_summed_image(sums->summed, &sums->image, &sums->image_bytes);
    *image = sums->image;
    *bytes = sums->image_bytes;
    return err;
}

int ny_sums_load(struct ny_sums **out, struct ny_context *context, const void *image, size_t bytes)
{
    struct ny_sums *sums = NULL;
    int err = NY_GIVEN(context, out, image);

    if (out) *out = NULL;
    if (err) return err;
    ny_fields_begin();
    err = ny_sums_new(&sums, context, NULL);
    if (!err) err = ny_summed_load(&sums->summed, context, image, bytes, "the image");
    if (!err) *out = sums;
    if (err) ny_sums_free(sums);
    return err;
}

int ny_sums_report(const struct ny_sums *sums, struct ny_report **report)
{
    int err = NY_GIVEN(sums ? sums->ctx : NULL, report);
    const struct ny_summed *summed;
    const json_t *options;
    json_t *object;

    if (report) *report = NULL;
    if (err) return err;
    ny_fields_begin();
    summed = sums->summed;
    object = json_object();
    ny_field_set_count(object, "rows", summed ? summed->acc->rows : 0);
    if (summed) {
        const struct ny_model *base = summed->base;

        options = json_object_get(summed->about, "options");
        ny_field_set_count(object, "parts",
                           json_array_size(json_object_get(summed->about, "parts")));
        ny_field_set_count(object, "landmarks", base->m);
        ny_field_set_count(object, "d", base->d);
        ny_field_set_text(object, "dtype", ny_dtype_name(base->spec.dtype));
        ny_field_set_text(object, "map", ny_field_text(options, "map"));
        ny_field_set_text(object, "approx", ny_field_text(options, "approx"));
        ny_field_set_text(object, "kernel", ny_kernel_shown(base->spec.kernel));
        ny_field_set_json(object, "gamma",
                          base->spec.kernel->auto_gamma ? json_real(base->spec.params.gamma)
                                                        : json_null());
        if (ny_field_text(options, "components"))
            ny_field_set_count(object, "components",
                               strtoull(ny_field_text(options, "components"), NULL, 10));
        ny_field_set_text(object, "gram_precision", ny_field_text(summed->about, "gram"));
    }
    return ny_report_of_json(report, sums->ctx, object);
}

/* ---- solving -------------------------------------------------------------------------------- */

int ny_sums_solve(const struct ny_sums *sums, struct ny_model **model, struct ny_report **report)
{
    struct ny_context *ctx = sums ? sums->ctx : NULL;
    struct ny_sums *own = (struct ny_sums *)sums; /* the options may have to be made */
    struct ny_fit_settings settings;
    json_t *facts = NULL;
    int err = NY_GIVEN(ctx, model);

    if (report) *report = NULL;
    if (model) *model = NULL;
    if (err) return err;
    if (!sums->summed) return no_sums(ctx);
    err = ny_call_begin(ctx);
    if (err) return err;
    err = need_options(own);
    if (!err) {
        struct ny_rows_info points = ny_summed_points(sums->summed);
        struct ny_landmark_points landmarks = ny_summed_landmarks(sums->summed);

        err = ny_settings_of_points(&settings, ctx, sums->options, &points, &landmarks);
    }
    if (!err) err = ny_summed_solve(sums->summed, &settings, model, &facts);
    if (!err) ny_field_set_json(facts, "certificate", ny_certificate(facts, false));
    if (!err && report) err = ny_report_of_json(report, ctx, json_incref(facts));
    json_decref(facts);
    ny_call_end(ctx);
    return err;
}

int ny_merge(struct ny_context *context, const char *const *paths, size_t count, const char *name,
             const char *output, struct ny_report **report)
{
    struct ny_sums *sums = NULL;
    struct ny_model *model = NULL;
    int err = NY_GIVEN(context, paths, name, output);

    if (report) *report = NULL;
    if (!err && !count) err = ny_given(context, __func__, "paths", (const void *const[]){NULL}, 1);
    if (!err) err = ny_output_check(context, output, NY_OUTPUT_MODEL);
    if (!err) err = ny_sums_new(&sums, context, NULL);
    for (size_t i = 0; !err && i < count; i++)
        err = ny_sums_add_result(sums, paths[i], name);
    if (!err) err = ny_sums_solve(sums, &model, report);
    if (!err) err = ny_model_save_file(model, output);
    ny_model_free(model);
    ny_sums_free(sums);
    return err;
}
