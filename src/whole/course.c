/* The course of methods that work on all of K, which select nothing. */
#include "fit/courses.h"
#include "fit/plan.h"
#include "whole/products.h"

static const struct ny_stage *const stages[] = {&ny_stage_stats,
                                                &ny_stage_select,
                                                &ny_stage_products,
                                                &ny_stage_reduce,
                                                &ny_stage_write,
                                                &ny_stage_probe,
                                                NULL};

static size_t order_of(const struct ny_fit_settings *settings, uint64_t n)
{
    const struct ny_rows_info points = {.n = n};

    return ny_products_of(settings, &points).order;
}

const struct ny_course ny_course_whole = {
    .stages = stages, .skips = ny_fit_skips, .order = order_of, .bytes = ny_fit_course_bytes};
