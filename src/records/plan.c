/* Plans and what they are made with, as JSON (records/plan.h). */
#include "records/plan.h"

#include <math.h>

#include "records/fields.h"

json_t *ny_calibration_json(const struct ny_calibration *c)
{
    json_t *json = json_object();

    ny_field_set_text(json, "key", c->key);
    json_object_set_new(json, "measured", json_boolean(!c->guessed));
    ny_field_set_number(json, "date", c->date);
    ny_field_set_number(json, "load", c->load);
    ny_field_set_number(json, "now", 1);
    ny_field_set_number(json, "gemm32_flops", c->gemm32);
    ny_field_set_number(json, "gram32_flops", c->gram32);
    ny_field_set_number(json, "gemm64_flops", c->gemm64);
    ny_field_set_number(json, "gram64_flops", c->gram64);
    ny_field_set_number(json, "bytes_flops", c->bytes);
    ny_field_set_number(json, "direct_flops", c->direct);
    ny_field_set_number(json, "exp32", c->exp32);
    ny_field_set_number(json, "exp64", c->exp64);
    ny_field_set_number(json, "eigen_flops", c->eigen);
    ny_field_set_number(json, "disk_write_bytes", c->disk_write);
    return json;
}

/* Adds how neighbours are found, and the other ways that it may turn out to be. */
static void add_search(json_t *json, const struct ny_plan *plan)
{
    json_t *others = json_array();

    for (size_t i = 0; i < 2; i++)
        if (plan->knn_may_be[i]) ny_field_append(others, json_string(plan->knn_may_be[i]));
    ny_field_set_text(json, "knn", plan->knn);
    ny_field_set_json(json, "knn_may_be", others);
}

json_t *ny_plan_json(const struct ny_plan *plan)
{
    json_t *json = json_object(), *memory = json_object(), *stages = json_object();
    json_t *bytes = json_object();

    ny_field_set_json(json, "fits", json_boolean(plan->fits));
    ny_field_set_count(json, "memory_min_bytes", plan->memory_min_bytes);
    for (int p = 0; p < NY_PURPOSES; p++)
        ny_field_set_count(memory, ny_purpose_name((enum ny_purpose)p), plan->by_purpose[p]);
    ny_field_set_json(json, "memory_bytes", memory);
    if (plan->cache_bytes) ny_field_set_count(json, "columns_kept_bytes", plan->cache_bytes);
    ny_field_set_count(json, "disk_bytes", plan->disk_bytes);
    ny_field_set_number(json, "flops", plan->flops);
    ny_field_set_count(json, "passes", plan->passes);
    ny_field_set_json(json, "selection_passes", json_null());
    if (plan->passes_vary) ny_field_set_count(json, "selection_passes", plan->selection_passes);
    ny_field_set_number(json, "seconds", plan->seconds);
    ny_field_set_number(json, "seconds_low", plan->seconds_low);
    ny_field_set_number(json, "seconds_high", plan->seconds_high);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++) {
        const char *name = ny_stage_name((enum ny_stage_id)stage);

        ny_field_set_number(stages, name, plan->stage_s[stage]);
        ny_field_set_count(bytes, name, plan->stage_bytes[stage]);
    }
    ny_field_set_json(json, "stages", stages);
    ny_field_set_json(json, "stage_memory_bytes", bytes);
    if (plan->whole)
        ny_field_set_json(json, "landmarks", json_null());
    else
        ny_field_set_count(json, "landmarks", plan->m);
    ny_field_set_json(json, "landmarks_estimated", json_boolean(plan->m_estimated));
    ny_field_set_count(json, "workers", plan->workers);
    if (plan->knn) add_search(json, plan);
    ny_field_set_json(json, "rates", ny_calibration_json(&plan->rates));
    return json;
}

static json_t *row_json(const struct ny_grid_row *row, const struct ny_kernel *kernel)
{
    bool lengths = kernel->base == NY_BASE_SQUARE;
    json_t *object = json_object();

    ny_field_set_number(object, "gamma", row->gamma);
    ny_field_set_number(object, "sigma", lengths ? sqrt(0.5 / row->gamma) : NAN);
    ny_field_set_number(object, "epsilon", lengths ? 1 / row->gamma : NAN);
    ny_field_set_number(object, "trace_error", row->trace_error);
    ny_field_set_number(object, "top_share", row->top_share);
    ny_field_set_number(object, "rank_90", row->rank_90 ? (double)row->rank_90 : NAN);
    ny_field_set_number(object, "effective_rank", row->effective_rank);
    ny_field_set_number(object, "mean_kernel", row->mean_kernel);
    ny_field_set_text(object, "reading", row->reading);
    return object;
}

json_t *ny_gamma_grid_json(const struct ny_gamma_grid *grid, const struct ny_fit_settings *settings,
                           const struct ny_rows_info *points)
{
    json_t *json = json_object(), *rows = json_array();

    ny_field_set_count(json, "n", points->n);
    ny_field_set_count(json, "d", points->d);
    ny_field_set_text(json, "kernel", settings->kernel->name);
    ny_field_set_text(json, "map", settings->map->name);
    ny_field_set_text(json, "trace_of",
                      settings->map->additive  ? "centred"
                      : settings->map->divided ? "normalised"
                                               : "raw");
    ny_field_set_count(json, "components", settings->components);
    ny_field_set_count(json, "landmarks", grid->landmarks);
    ny_field_set_count(json, "landmarks_wanted", grid->wanted);
    ny_field_set_count(json, "sample_rows", grid->rows);
    ny_field_set_count(json, "spectrum_rows", grid->spectrum_rows);
    ny_field_set_number(json, "centre", grid->centre);
    for (size_t i = 0; i < grid->count; i++)
        ny_field_append(rows, row_json(&grid->row[i], settings->kernel));
    ny_field_set_json(json, "grid", rows);
    return json;
}
