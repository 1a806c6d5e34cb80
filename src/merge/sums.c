/*
 * Sums in memory (merge/sums.h): how those of a result are taken, and how two are added.
 *
 * The sums of a result are the image that stage accumulate leaves, which stays with the result when
 * it is done. The base is made anew from what the job keeps: options, width, geometry and
 * landmarks. W, and so the shift, follow from these alone; where stores are on machines of
 * different kinds, shifts may differ in their last bits, which changes sums by no more than their
 * rounding does.
 */
#include "merge/sums.h"

#include <string.h>

#include "base/checksum.h"
#include "fit/fit.h"
#include "fit/sums.h"
#include "results/behind.h"
#include "results/keep.h"
#include "results/resume.h"
#include "results/stored_model.h"
#include "records/record.h"

#define ULL(x) ((unsigned long long)(x))

void ny_summed_free(struct ny_summed *sums)
{
    if (!sums) return;
    json_decref(sums->about);
    ny_model_free(sums->base);
    ny_accumulator_free(sums->acc);
    ny_free(sums->ctx, sums);
}

bool ny_summed_columns(const struct ny_summed *sums)
{
    return sums->base->spec.kernel->base == NY_BASE_COORDINATE;
}

struct ny_rows_info ny_summed_points(const struct ny_summed *sums)
{
    const struct ny_model *base = sums->base;

    return (struct ny_rows_info){.n = sums->acc->rows,
                                 .d = base->d,
                                 .dtype = base->spec.dtype,
                                 .row_slots = base->spec.slots,
                                 .preparation = base->spec.preparation};
}

struct ny_landmark_points ny_summed_landmarks(const struct ny_summed *sums)
{
    const struct ny_model *base = sums->base;

    if (ny_summed_columns(sums)) return (struct ny_landmark_points){0};
    return (struct ny_landmark_points){base->m, base->spec.dtype, base->spec.slots, base->d};
}

/* ---- taken from a result -------------------------------------------------------------------- */

/* Makes the base from a fit that is prepared: the landmarks as they were given, in the type of its
 * rows. */
static int make_base(struct ny_summed *sums, const struct ny_fit *fit)
{
    struct ny_landmark_points how = fit->settings->landmark_points;
    struct ny_coordinates coordinates = {.pairs = 1};
    struct ny_columns_spec spec = ny_fit_spec(fit);
    struct ny_model_parts parts = {.spec = &spec,
                                   .precision = fit->settings->precision,
                                   .m = fit->m,
                                   .p = 1,
                                   .map = fit->settings->map,
                                   .a = fit->a,
                                   .coordinates = &coordinates};
    size_t row_bytes = ny_row_bytes(fit->job.points.dtype, (size_t)fit->job.points.d, how.slots);
    char *rows = ny_calloc(sums->ctx, NY_MEM_DICTIONARY, fit->m, row_bytes);
    double *zeros = ny_calloc(sums->ctx, NY_MEM_DICTIONARY, fit->m, sizeof(double));
    int err = rows && zeros ? NY_OK : NY_EBUDGET;

    how.dtype = fit->job.points.dtype;
    how.d = (size_t)fit->job.points.d;
    spec.slots = how.slots;
    spec.row_nnz = 0;
    if (!err && how.count)
        err = ny_landmark_points_get(&fit->job.keep, fit->job.record, &how, 0, rows);
    parts.landmarks = ny_raw_rows(rows);
    parts.P = parts.q = zeros;
    if (!err) err = ny_model_new(&sums->base, &parts);
    ny_free(sums->ctx, zeros);
    ny_free(sums->ctx, rows);
    return err;
}

/* Makes what a part is known by, a text; NULL without memory. */
static json_t *make_digest(const void *data, size_t bytes)
{
    return json_sprintf("%016llx", ULL(ny_checksum(data, bytes)));
}

/* Restores the sums and notes them as a part: what tells it from others is what it adds up to. */
static int take_sums(struct ny_summed *sums, const struct ny_fit *fit)
{
    const char *kept = fit->job.state.sums.part; /* with a result; NULL: at the last checkpoint */
    size_t bytes = ny_accumulator_image_bytes(fit->m, true);
    json_t *parts = json_array(), *part = json_array();
    void *image = NULL;
    int err = ny_accumulator_new(&sums->acc, sums->ctx, fit->m);

    if (!err) image = ny_alloc(sums->ctx, NY_MEM_GRAM, bytes);
    if (!err && !image) err = NY_EBUDGET;
    if (!err)
        err = kept ? ny_job_get_part(&fit->job, kept, image, bytes)
                   : ny_job_read_image(&fit->job, "gram", image, bytes);
    if (!err) {
        ny_accumulator_restore(sums->acc, image);
        ny_field_append(part, make_digest(image, bytes));
        ny_field_append(part, json_integer((json_int_t)sums->acc->rows));
        ny_field_append(parts, json_incref(part));
        ny_field_set_json(sums->about, "parts", json_incref(parts));
    }
    ny_free(sums->ctx, image);
    json_decref(part);
    json_decref(parts);
    return err;
}

void ny_summed_bare_options(json_t *options)
{
    static const char *const own[] = {"landmarks-points", "landmarks", "gamma", NULL};

    for (size_t i = 0; own[i]; i++)
        json_object_del(options, own[i]);
}

/* Describes the options that parts have to agree in. */
static void describe(struct ny_summed *sums, const json_t *record)
{
    const json_t *noise = json_object_get(record, "gram_noise");
    json_t *options = json_deep_copy(json_object_get(record, "options"));

    ny_summed_bare_options(options);
    ny_field_set_json(sums->about, "options", options);
    ny_field_set_text(sums->about, "gram",
                      ny_field_text(json_object_get(record, "report"), "gram_precision"));
    if (noise && ny_field_is(sums->about, "gram", "f32"))
        ny_field_set_json(sums->about, "noise", json_deep_copy(noise));
}

/* Refuses a result whose stage accumulate is not over. */
static int check_stage(struct ny_store *store, const char *name, const json_t *record)
{
    enum ny_stage_id stage = ny_stage_parse(ny_field_text(record, "stage"));

    if (ny_field_text(json_object_get(record, "sums"), "part") ||
        (stage == NY_STAGE_SOLVE &&
         ny_field_is(json_object_get(record, "checkpoint"), "part", "gram")))
        return NY_OK;
    return ny_fail(ny_store_context(store), NY_EUSAGE,
                   "'%s' in %s has no sums to merge; 'nystream fit --until sums' makes them", name,
                   ny_store_path(store));
}

int ny_summed_of_result(struct ny_summed **out, struct ny_store *store, const char *name,
                        const json_t *record, const struct ny_fit_settings *settings)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_summed *sums = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*sums));
    struct ny_fit fit = {.job = {.ctx = ctx,
                                 .X = ny_store_rows(store),
                                 .keep = ny_store_keep(store, name),
                                 .record = ny_record_of(json_deep_copy(record)),
                                 .state = ny_state_of(ny_record_of(record)),
                                 .stage = NY_STAGE_SOLVE,
                                 .workers = settings->threads},
                         .settings = settings,
                         .params = settings->params};
    int err = NY_EBUDGET;

    *out = NULL;
    if (!sums) goto done;
    *sums = (struct ny_summed){.ctx = ctx, .about = json_object()};
    err = fit.job.record.of ? check_stage(store, name, record) : ny_fields_no_memory(ctx);
    if (err) goto done;
    /* Whoever solves the sums chooses the precision; here the choice would cost m³. */
    fit.job.state.record.gram_f64 = true;
    describe(sums, record);
    err = ny_points_info(store, &fit.job.points);
    if (err) goto done;
    fit.job.points.n = fit.job.state.report.n;
    ny_settings_widen(settings, &fit.job.points);
    err = ny_blas_make_room(ctx, fit.job.workers);
    if (!err) err = ny_fit_prepare(&fit);
    if (!err) err = make_base(sums, &fit);
    if (!err) err = ny_model_take_columns(sums->base, store);
    ny_fit_drop_problem(&fit);
    if (!err) err = take_sums(sums, &fit);
    if (!err) ny_warn_sums_behind(store, name, record, sums->acc->rows);
    if (!err) err = ny_fields_check(ctx);
    if (err) goto done;
    *out = sums;
    sums = NULL;
done:
    ny_fit_release(&fit);
    ny_record_free(fit.job.record);
    ny_summed_free(sums);
    return err;
}

/* ---- adding --------------------------------------------------------------------------------- */

/* Sets *digest to that of the base without its shift and its centre. */
static int digest_base(const struct ny_summed *sums, uint64_t *digest)
{
    const struct ny_model *base = sums->base;
    struct ny_geometry geometry = *base->spec.geometry;
    struct ny_model bare = *base;
    size_t bytes, most = base->m > base->d ? base->m : base->d;
    double *zeros = ny_calloc(base->ctx, NY_MEM_MODEL, most, sizeof(double));
    void *image;
    int err;

    bare.columns = (struct ny_names){0}; /* which are compared before */
    bytes = ny_model_save(&bare, NULL);
    image = ny_alloc(base->ctx, NY_MEM_MODEL, bytes);
    err = zeros && image ? NY_OK : NY_EBUDGET;
    bare.a = zeros;
    geometry.centre = zeros;
    bare.spec.geometry = &geometry;
    if (!err) ny_model_save(&bare, image);
    if (!err) *digest = ny_checksum(image, bytes);
    ny_free(base->ctx, image);
    ny_free(base->ctx, zeros);
    return err;
}

/* Names what differs in the bases; NULL: all that has a name agrees. */
static const char *find_difference(const struct ny_model *a, const struct ny_model *b)
{
    if (a->spec.kernel != b->spec.kernel) return "kernels";
    if (a->spec.params.gamma != b->spec.params.gamma) return "values of gamma";
    return a->m != b->m ? "numbers of landmarks" : NULL;
}

/* Refuses sums that are over other landmarks, or of fits with another value of `option`. */
static int check_agree(const struct ny_summed *a, const char *name, const struct ny_summed *b,
                       const char *other, const char *option)
{
    const char *what = find_difference(a->base, b->base);
    uint64_t digests[2] = {0};
    int err = NY_OK;

    if (!what) what = option;
    if (!what) err = digest_base(a, &digests[0]);
    if (!what && !err) err = digest_base(b, &digests[1]);
    if (err) return err;
    if (!what && digests[0] != digests[1]) what = "landmarks, or chosen columns";
    if (!what) return NY_OK;
    return ny_fail(a->ctx, NY_EUSAGE,
                   "the sums of %s and of %s have different %s; fit them with the same", name,
                   other, what);
}

/* Finds the part of `more` that `sums` has, too; NULL: they share none. */
static const json_t *find_shared(const struct ny_summed *sums, const struct ny_summed *more)
{
    const json_t *parts = json_object_get(sums->about, "parts"), *part;
    const json_t *others = json_object_get(more->about, "parts"), *other;
    size_t i, k;

    json_array_foreach(others, i, other)
    {
        json_array_foreach(parts, k, part)
        {
            if (json_equal(json_array_get(part, 0), json_array_get(other, 0))) return other;
        }
    }
    return NULL;
}

int ny_summed_name_batch(struct ny_summed *batch, const char *name, const struct ny_summed *sums)
{
    json_t *part = json_array_get(json_object_get(batch->about, "parts"), 0);

    do {
        const char *digest = json_string_value(json_array_get(part, 0));
        const uint64_t known[2] = {ny_checksum(name, strlen(name)),
                                   ny_checksum(digest, strlen(digest))};

        if (json_array_set_new(part, 0, make_digest(known, sizeof(known))))
            return ny_fields_no_memory(batch->ctx);
    } while (sums && find_shared(sums, batch));
    return NY_OK;
}

/* Keeps the coarser precision, and the larger noise in each respect. */
static void add_noise(json_t *about, const json_t *more)
{
    const json_t *theirs = json_object_get(more, "noise");
    json_t *ours = json_object_get(about, "noise"), *value;
    const char *key;

    if (ny_field_is(more, "gram", "f32")) ny_field_set_text(about, "gram", "f32");
    if (!theirs) return;
    if (!ours) {
        ny_field_set_json(about, "noise", json_deep_copy(theirs));
        return;
    }
    json_object_foreach((json_t *)theirs, key, value)
    {
        if (json_number_value(value) > ny_field_number(ours, key, 0))
            ny_field_set_number(ours, key, json_number_value(value));
    }
}

/* Compares the rows of both, and puts the columns of `more` in the order of those of `sums`, found
 * by their names; sums over columns go along. */
static int match_rows(struct ny_summed *sums, struct ny_summed *more, const char *more_name)
{
    const unsigned same = NY_SAME_D | NY_SAME_DTYPE | NY_SAME_LAYOUT | NY_SAME_PREPARATION |
                          NY_SAME_COLUMNS | NY_SAME_NOTED;
    const struct ny_party theirs = ny_model_party(sums->base, "the first part"),
                          mine = ny_model_party(more->base, more_name);
    struct ny_names *names = &sums->base->columns, *others = &more->base->columns;
    uint32_t *place = NULL;
    int err = ny_traits_compare(sums->ctx, &mine, &theirs, same, &place);

    if (!err && place && ny_summed_columns(more)) err = ny_accumulator_turn(&more->acc, place);
    if (!err && place) err = ny_model_turn(more->base, place, names);
    if (!err && !names->count && others->count)
        err = ny_names_append(names, sums->base->ctx, others->text, others->count);
    ny_free(sums->ctx, place);
    return err;
}

/* Makes a copy of the sums of columns about the centre of `sums`, which lies δ from their own. */
static int move_centre(const struct ny_summed *sums, const struct ny_summed *more,
                       struct ny_accumulator **out)
{
    const struct ny_geometry *to = sums->base->spec.geometry, *from = more->base->spec.geometry;
    size_t m = more->acc->m;
    double *delta = ny_calloc(sums->ctx, NY_MEM_GRAM, m, sizeof(double));
    int err = delta ? ny_accumulator_new(out, sums->ctx, m) : NY_EBUDGET;

    if (!err) {
        struct ny_accumulator *acc = *out;

        ny_accumulator_add(acc, 1, more->acc, 1);
        for (size_t k = 0; k < m; k++)
            delta[k] = (to->centre[k] - from->centre[k]) * from->factor[k];
        ny_accumulator_move(acc, delta);
    }
    ny_free(sums->ctx, delta);
    return err;
}

int ny_summed_add(struct ny_summed *sums, const char *name, struct ny_summed *more,
                  const char *more_name, const char *option)
{
    const char *map_name = ny_field_text(json_object_get(sums->about, "options"), "map");
    const struct ny_map *map = ny_map_find(map_name);
    double rows = (double)sums->acc->rows, others = (double)more->acc->rows, all = rows + others;
    /* Degrees over D grow with n, so that the weight of a row is smaller in a larger sum. */
    bool scaled = map && map->divided;
    struct ny_accumulator *moved = NULL;
    const json_t *shared;
    json_t *part;
    size_t i;
    int err = match_rows(sums, more, more_name);

    if (!err) err = check_agree(sums, name, more, more_name, option);
    if (err) return err;
    shared = find_shared(sums, more);
    if (shared)
        return ny_fail(sums->ctx, NY_EUSAGE,
                       "%s and %s have the sums of the same %lld rows; merge them once", name,
                       more_name, json_integer_value(json_array_get(shared, 1)));
    if (ny_summed_columns(sums)) err = move_centre(sums, more, &moved);
    if (err) return err;
    ny_accumulator_add(sums->acc, scaled ? rows / all : 1, moved ? moved : more->acc,
                       scaled ? others / all : 1);
    ny_accumulator_free(moved);
    json_array_foreach(json_object_get(more->about, "parts"), i, part)
    {
        ny_field_append(json_object_get(sums->about, "parts"), json_incref(part));
    }
    add_noise(sums->about, more->about);
    return ny_fields_check(sums->ctx);
}
