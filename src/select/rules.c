#include "select/rules.h"

#include <math.h>
#include <string.h>

#include "select/rules_private.h"

static const struct ny_rule rules[] = {
    {.name = "uniform",
     .summary = "rows drawn at random, each subset equally likely",
     .graph = true,
     .uniform = true,
     .select = ny_select_uniform},
    {.name = "greedy",
     .summary = "in row order, each row that the chosen ones represent worse than the tolerance "
                "(online; bounds every entry of K); or as many landmarks as asked for",
     .by_tolerance = true,
     .measures = true,
     .select = ny_select_greedy,
     .bytes = ny_greedy_bytes,
     .image_bytes = ny_greedy_image_bytes},
    {.name = "rpcholesky",
     .summary = "at random, in proportion to how badly those before represent a row (the least "
                "error for its size)",
     .measures = true,
     .select = ny_select_rpcholesky,
     .bytes = ny_rpcholesky_bytes,
     .image_bytes = ny_rpcholesky_image_bytes,
     .flops = ny_rpcholesky_flops,
     .in_f64 = true},
    {.name = "weighted",
     .summary = "at random, in proportion to the diagonal of the matrix that the map decomposes",
     .select = ny_select_weighted,
     .bytes = ny_weighted_bytes,
     .image_bytes = ny_weighted_image_bytes,
     .flops = ny_weighted_flops},
    {.name = "all",
     .summary = "every row, in order: for few points",
     .all = true,
     .graph = true,
     .uniform = true,
     .select = ny_select_all},
    {.name = "maxmin",
     .summary = "isomap: each the row whose paths to those before it are longest",
     .graph = true,
     .paths = true,
     .select = ny_select_maxmin},
    {.name = "given",
     .summary = "the rows listed in --landmarks-file",
     .graph = true,
     .select = ny_select_given},
};

const struct ny_rule *ny_rule_at(size_t index)
{
    return index < sizeof(rules) / sizeof(rules[0]) ? &rules[index] : NULL;
}

const struct ny_rule *ny_rule_find(const char *name)
{
    const struct ny_rule *rule;

    for (size_t i = 0; (rule = ny_rule_at(i)); i++)
        if (strcmp(rule->name, name) == 0) return rule;
    return NULL;
}

bool ny_selection_valid(const struct ny_selection_request *request, uint64_t row)
{
    return !request->valid || request->valid(request->valid_arg, row);
}

void ny_selection_clear(struct ny_selection *selection)
{
    *selection = (struct ny_selection){
        .residual_max = NAN, .residual_mean = NAN, .tolerance = NAN, .pilot_low = NAN,
        .pilot_high = NAN};
}

int ny_selection_rows(struct ny_selection *selection, struct ny_context *ctx, size_t m)
{
    size_t bytes;
    int err = ny_product(ctx, &bytes, m, sizeof(*selection->rows), 1);

    if (err) return err;
    selection->rows = ny_alloc(ctx, NY_MEM_DICTIONARY, bytes);
    if (!selection->rows) return NY_EBUDGET;
    selection->m = m;
    return NY_OK;
}

void ny_selection_residuals(struct ny_selection *selection, float *residuals, uint64_t n)
{
    double sum = 0, largest = 0;

    for (uint64_t i = 0; i < n; i++) {
        sum += (double)residuals[i];
        if ((double)residuals[i] > largest) largest = (double)residuals[i];
    }
    selection->residuals = residuals;
    selection->residual_max = largest;
    selection->residual_mean = sum / (double)n;
}

int ny_selection_not_psd(const struct ny_selection_request *request, uint64_t row, double delta,
                         double k)
{
    return ny_fail(request->ctx, NY_ENUMERIC,
                   "row %llu has a residual of %g with k(x,x) = %g: kernel '%s' with these "
                   "parameters is not positive semi-definite on these data; choose another kernel, "
                   "or --select uniform without --certify",
                   (unsigned long long)row, delta, k, request->spec->kernel->name);
}

void ny_selection_release(struct ny_selection *selection, struct ny_context *ctx)
{
    ny_free(ctx, selection->rows);
    ny_free(ctx, selection->residuals);
    ny_selection_clear(selection);
}
