#include "job/plan.h"

#include "results/record.h"

void ny_plan_sum_up(struct ny_plan *plan)
{
    const double known = 1.6, foretold = 3;
    double factor = plan->m_estimated || plan->loose ? foretold : known;

    plan->seconds = 0;
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        plan->seconds += plan->stage_s[stage];
    plan->seconds_low = plan->seconds / factor;
    plan->seconds_high = plan->seconds * factor;
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
    ny_field_set_count(json, "disk_bytes", plan->disk_bytes);
    ny_field_set_number(json, "flops", plan->flops);
    ny_field_set_count(json, "passes", plan->passes);
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
    ny_field_set_json(json, "rates", ny_calibration_json(&plan->rates));
    return json;
}
