/* ny_transform*, ny_model_*. */
#include "embed/transform.h"
#include "embed/transform_points.h"

#include "api/given.h"
#include "api/settings.h"
#include "io/output.h"
#include "io/writer.h"

static int transform(const struct ny_model *model, const char *input, const char *output,
                     const struct ny_options *import)
{
    struct ny_reader_options reading = ny_settings_reader(import);

    return ny_transform_file(model, input, &reading, output);
}

/* By the result's model; by all points where it has none. */
static int transform_by_result(struct ny_store *store, const char *name, const char *input,
                               const char *output, const struct ny_options *import)
{
    struct ny_reader_options reading = ny_settings_reader(import);
    struct ny_model *model = NULL;
    json_t *record = NULL;
    int err = ny_record_need_done(store, name, &record);
    bool by_points = ny_result_needs_points(record);

    json_decref(record);
    if (err) return err;
    if (by_points) return ny_transform_points(store, name, input, &reading, output);
    err = ny_model_of_result(&model, store, name);
    if (err == NY_OK) err = transform(model, input, output, import);
    ny_model_free(model);
    return err;
}

int ny_transform(struct ny_context *context, const char *path, const char *name, const char *input,
                 const char *output, const struct ny_options *import)
{
    struct ny_store *store = NULL;
    int err = NY_GIVEN(context, path, name, input, output);

    if (!err) err = ny_writer_apart(context, output, input);
    if (!err) err = ny_output_check(context, output, NY_OUTPUT_TABLE);
    if (err) return err;
    err = ny_reserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    if (err) return err;
    err = ny_store_open(&store, context, path);
    if (err == NY_OK) err = transform_by_result(store, name, input, output, import);
    ny_store_close(store);
    ny_unreserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    return err;
}

int ny_transform_model(struct ny_context *context, const char *model, const char *input,
                       const char *output, const struct ny_options *import)
{
    struct ny_model *opened = NULL;
    int err = NY_GIVEN(context, model, input, output);

    if (!err) err = ny_writer_apart(context, output, input);
    if (!err) err = ny_writer_apart(context, output, model);
    if (!err) err = ny_output_check(context, output, NY_OUTPUT_TABLE);
    if (err) return err;
    err = ny_reserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    if (err) return err;
    err = ny_model_of_file(&opened, context, model);
    if (err == NY_OK) err = transform(opened, input, output, import);
    ny_model_free(opened);
    ny_unreserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    return err;
}

int ny_model_open(struct ny_model **out, struct ny_context *context, const char *path,
                  const char *name)
{
    struct ny_store *store = NULL;
    int err = NY_GIVEN(context, out, path, name);

    if (out) *out = NULL;
    if (err == NY_OK) err = ny_store_open(&store, context, path);
    if (err == NY_OK) err = ny_model_of_result(out, store, name);
    ny_store_close(store);
    return err;
}

int ny_model_transform(struct ny_model *model, const float *values, uint64_t rows, float *embedding)
{
    int err = NY_GIVEN(model ? model->ctx : NULL, values, embedding);

    if (!err) err = ny_given_rows(model->ctx, rows, model->d);
    return err ? err : ny_transform_memory(model, values, rows, embedding);
}
