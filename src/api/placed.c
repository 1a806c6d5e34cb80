/*
 * Places the rows of a store by a model from elsewhere (api/placed.h): from 'merge', or from a
 * result of another store.
 *
 * The job has the options of a fit over the model's landmarks, which are points that are given, so
 * that updates, transforms and all that reads a result know it as one. What the stages before
 * project would have left is kept at its beginning: model, geometry and degrees.
 */
#include "api/placed.h"

#include <string.h>

#include "api/option_tables.h"
#include "api/option_table.h"
#include "base/checksum.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "model/geometry.h"
#include "results/keep.h"
#include "results/record.h"
#include "results/stored_model.h"
#include "records/figures.h"

/* ---- options -------------------------------------------------------------------------------- */

/* Refuses an option that says something else of the fit than the model does. */
static int check_alone(const struct ny_options *options)
{
    for (int i = 0; ny_option_at(i); i++) {
        const char *name = ny_option_at(i)->name;
        bool says = ny_option_rule(i)->identity || strcmp(name, "until") == 0;

        if (!options->typed[i] || !says || !(ny_option_at(i)->groups & NY_GROUP_FIT)) continue;
        return ny_fail_idle(options->ctx, name, "--model");
    }
    return NY_OK;
}

/* Compares the rows of the store with those of the model, whose columns are put in their order. */
static int match_rows(const struct ny_request *request, const char *path)
{
    const unsigned shape = NY_SAME_D | NY_SAME_LAYOUT | NY_SAME_PREPARATION;
    struct ny_party party = ny_model_party(request->model, path);
    struct ny_names names = {0};
    struct ny_party rows;
    uint32_t *place = NULL;
    int err = ny_points_party(request->store, &rows, &names);

    if (!err) err = ny_traits_compare(request->ctx, &rows, &party, shape, NULL);
    if (!err)
        err =
            ny_traits_compare(request->ctx, &party, &rows, NY_SAME_COLUMNS | NY_SAME_NOTED, &place);
    if (!err && place) err = ny_model_turn(request->model, place, &names);
    ny_free(request->ctx, place);
    ny_names_release(&names, request->ctx);
    return err;
}

/* Refuses models whose rows would not be placed as those of a fit over landmarks are. */
static int check_model(const struct ny_request *request, const char *path)
{
    const struct ny_model *model = request->model;

    if (model->spec.kernel->features || model->spec.kernel->base == NY_BASE_GIVEN)
        return ny_fail(request->ctx, NY_EUSAGE,
                       "%s has no landmarks; place rows with 'nystream transform'", path);
    return match_rows(request, path);
}

/* Returns the map of the model: of one of 1.0, which does not say it, a map that places rows so. */
static const struct ny_map *map_of(const struct ny_model *model)
{
    if (model->map) return model->map;
    if (!model->degrees.v) return &ny_map_kpca;
    return model->coordinates.scale ? &ny_map_diffusion : &ny_map_laplacian;
}

/* Sets a number, with all of its digits. */
static int set_number(struct ny_options *options, const char *name, double value)
{
    char text[40];

    ny_decimal_print(text, sizeof(text), "%.17g", value);
    return ny_options_set(options, name, text);
}

/* Sets the options that say what the model is. */
static int describe(struct ny_options *options, const struct ny_model *model)
{
    const struct ny_kernel *kernel = model->spec.kernel;
    const struct ny_map *map = map_of(model);
    struct ny_kernel_params params = model->spec.params;
    const struct ny_param *param;
    const struct ny_coordinates *coordinates = &model->coordinates;
    double components = (double)ny_coordinates_count(coordinates);
    bool columns = kernel->base == NY_BASE_COORDINATE; /* pca by exact has them */
    int err = ny_options_set(options, "map", columns ? ny_map_pca.name : map->name);

    if (!err && columns) err = ny_options_set(options, "approx", "exact");
    if (!err && !columns) err = ny_options_set(options, "kernel", kernel->name);
    for (size_t i = 0; !err && (param = ny_kernel_number(kernel, i)); i++)
        err = set_number(options, param->name, *ny_param_value(param, &params));
    if (!err) err = set_number(options, "components", components);
    if (!err && model->precision == NY_PRECISION_F64)
        err = ny_options_set(options, "precision", "f64");
    if (!err && coordinates->asymmetric && map == &ny_map_diffusion)
        err = ny_options_set(options, "normalize", "asymmetric");
    if (!err && coordinates->normalize) err = ny_options_set(options, "row-normalize", "yes");
    return err || columns ? err : ny_landmark_table_set(options, model);
}

int ny_placed_options(struct ny_request *request)
{
    const char *path = ny_options_get(request->options, "model");
    int err = check_alone(request->options);

    if (!err) err = ny_model_of_file(&request->model, request->ctx, path);
    if (!err) err = check_model(request, path);
    if (!err) err = ny_options_copy(&request->made, request->options, "");
    if (!err) err = describe(request->made, request->model);
    if (!err) request->options = request->made;
    return err;
}

/* ---- parts that the job keeps --------------------------------------------------------------- */

/* Tells whether the job has its model already. */
static bool has_model(const json_t *record)
{
    return ny_field_count(record, "model_bytes", 0) > 0;
}

int ny_placed_check(const struct ny_request *request)
{
    if (!json_is_true(json_object_get(request->record, "placed")) || request->model ||
        has_model(request->record))
        return NY_OK;
    return ny_fail(request->ctx, NY_EUSAGE, "'%s' has no model yet; give --model again",
                   request->name);
}

/* Makes the image of a model; ny_free() it. */
static int make_image(const struct ny_model *model, void **image, size_t *bytes)
{
    *bytes = ny_model_save(model, NULL);
    *image = ny_alloc(model->ctx, NY_MEM_MODEL, *bytes);
    if (!*image) return NY_EBUDGET;
    ny_model_save(model, *image);
    return NY_OK;
}

int ny_placed_digest(const struct ny_request *request, uint64_t *digest)
{
    size_t bytes;
    void *image;
    int err = make_image(request->model, &image, &bytes);

    *digest = err ? 0 : ny_checksum(image, bytes);
    ny_free(request->ctx, image);
    return err;
}

/* Makes the model with its landmarks in the type and slots that the job reads rows in. */
static int make_own(const struct ny_request *request, struct ny_model **own)
{
    const struct ny_keep keep = ny_store_keep(request->store, request->name);
    const struct ny_model *model = request->model;
    struct ny_landmark_points as = ny_landmark_points_of(ny_record_of(request->record));
    struct ny_columns_spec spec = model->spec;
    struct ny_model_parts parts = {.spec = &spec,
                                   .precision = model->precision,
                                   .m = model->m,
                                   .p = model->p,
                                   .map = map_of(model),
                                   .a = model->a,
                                   .P = model->P,
                                   .q = model->q,
                                   .degrees = model->degrees.v ? &model->degrees : NULL,
                                   .coordinates = &model->coordinates};
    struct ny_rows_info points;
    bool columns = spec.kernel->base == NY_BASE_COORDINATE;
    void *rows = NULL;
    int err = ny_points_info(request->store, &points);

    if (err) return err;
    ny_settings_widen(&request->settings.fit, &points);
    as.dtype = spec.dtype = points.dtype;
    as.slots = spec.slots = (size_t)points.row_slots;
    as.d = (size_t)points.d;
    if (!columns) {
        rows = ny_calloc(request->ctx, NY_MEM_DICTIONARY, model->m, ny_rows_row_bytes(&points));
        err = rows ? ny_landmark_points_get(&keep, ny_record_of(request->record), &as, 0, rows)
                   : NY_EBUDGET;
    }
    parts.landmarks = ny_raw_rows(rows);
    if (!err) err = ny_model_new(own, &parts);
    ny_free(request->ctx, rows);
    return err;
}

/* Stores the degrees as stage degrees leaves them: v and their mean. */
static int put_degrees(const struct ny_request *request)
{
    const struct ny_keep keep = ny_store_keep(request->store, request->name);
    const struct ny_degrees *degrees = &request->model->degrees;
    double *image;
    int err;

    if (!degrees->v) return NY_OK;
    image = ny_calloc(request->ctx, NY_MEM_DICTIONARY, degrees->m + 1, sizeof(double));
    if (!image) return NY_EBUDGET;
    memcpy(image, degrees->v, degrees->m * sizeof(double));
    image[degrees->m] = degrees->mean;
    err = ny_keep_put(&keep, ny_record_part(ny_record_of(request->record), "degrees").name, image,
                      (degrees->m + 1) * sizeof(double));
    ny_free(request->ctx, image);
    return err;
}

/* Takes over the errors of components: those of the rows that the model was fitted on. */
static void report_errors(const struct ny_model *model, json_t *facts)
{
    json_t *errors = ny_model_found(model, NY_FOUND_ERRORS);

    if (json_is_array(errors)) ny_field_set_text(facts, "component_errors_from", "fit");
    if (model->coordinates.skip)
        ny_field_set_count(facts, "eigenvalues_trivial", model->coordinates.skip);
    ny_field_set_json(facts, "component_errors", errors);
    ny_field_set_json(facts, "component_errors_se", ny_model_found(model, NY_FOUND_ERRORS_SE));
}

/* Puts what the model says into the report. */
static void report(struct ny_request *request, size_t bytes)
{
    const struct ny_model *model = request->model;
    struct ny_state state;
    json_t *record = request->record, *facts = json_object_get(record, "report");

    if (model->spec.kernel->base != NY_BASE_COORDINATE)
        ny_field_set_count(facts, "landmarks", model->m);
    if (model->spec.kernel->auto_gamma)
        ny_field_set_number(facts, "gamma", model->spec.params.gamma);
    report_errors(model, facts);
    ny_field_set_count(record, "model_bytes", bytes);
    if (ny_coordinates_plain(&model->coordinates)) return;
    state = ny_state_of(ny_record_of(record));
    ny_coordinates_put(&model->coordinates, ny_record_of(record), &state);
}

int ny_placed_keep(struct ny_request *request)
{
    const struct ny_keep keep = ny_store_keep(request->store, request->name);
    struct ny_model *own = NULL;
    void *image = NULL;
    size_t bytes;
    int err;

    if (has_model(request->record)) return NY_OK;
    err = make_own(request, &own);
    if (!err) err = make_image(own, &image, &bytes);
    if (!err) err = ny_keep_put(&keep, "model", image, bytes);
    if (!err) err = ny_stored_geometry_put(&keep, "geometry", own->spec.geometry, NULL);
    if (!err) err = put_degrees(request);
    if (!err) {
        report(request, bytes);
        err = ny_record_save(request->store, request->name, request->record);
    }
    ny_free(request->ctx, image);
    ny_model_free(own);
    return err;
}
