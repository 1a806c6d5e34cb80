/* A selection that a rule fills in: its row numbers, its residuals, and rows that are refused. */
#include <math.h>

#include "select/rules_private.h"

bool ny_selection_valid(const struct ny_selection_request *request, uint64_t row)
{
    const struct ny_candidates *candidates = &request->candidates;

    return !candidates->valid || candidates->valid(candidates->valid_arg, row);
}

void ny_selection_clear(struct ny_selection *selection)
{
    *selection = (struct ny_selection){.residual_max = NAN,
                                       .residual_mean = NAN,
                                       .tolerance = NAN,
                                       .pilot_low = NAN,
                                       .pilot_high = NAN};
}

void ny_selection_drop_image(const struct ny_selection_request *request)
{
    void **owner = request->checkpoint.image_owner;

    if (!owner) return;
    ny_free(request->ctx, *owner);
    *owner = NULL;
}

int ny_selection_none(struct ny_context *ctx)
{
    return ny_fail(ctx, NY_EUSAGE, "no landmarks are wanted, or there are no rows for them");
}

int ny_selection_zero(struct ny_context *ctx)
{
    return ny_fail(ctx, NY_EDATA, "all rows have k(x,x) = 0: there is nothing to select from");
}

int ny_selection_rows(struct ny_selection *selection, struct ny_context *ctx, size_t m)
{
    selection->rows = ny_calloc(ctx, NY_MEM_DICTIONARY, m, sizeof(*selection->rows));
    if (!selection->rows) return NY_EBUDGET;
    selection->m = m;
    return NY_OK;
}

void ny_selection_residuals(struct ny_selection *selection, float *residuals, uint64_t n)
{
    double sum = 0, largest = 0;

    for (uint64_t i = 0; i < n; i++) {
        sum += (double)residuals[i];
        if (!((double)residuals[i] > largest)) continue;
        largest = (double)residuals[i];
        selection->residual_row = i;
    }
    selection->residuals = residuals;
    selection->residual_max = largest;
    selection->residual_mean = sum / (double)n;
}

int ny_selection_not_psd(const struct ny_selection_request *request, uint64_t row, double delta,
                         double k)
{
    if (!isfinite(delta) || !isfinite(k)) return ny_fail_infinite(request->ctx, "kernel", row);
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
