#include "spectral/methods.h"

#include <math.h>
#include <string.h>

#define ENTRY(method) &method,
static const struct ny_method *const methods[] = {NY_METHODS(ENTRY)};

const struct ny_method *ny_method_at(size_t index)
{
    return index < sizeof(methods) / sizeof(methods[0]) ? methods[index] : NULL;
}

const struct ny_method *ny_method_find(const char *name)
{
    for (size_t i = 0; ny_method_at(i); i++)
        if (strcmp(ny_method_at(i)->name, name) == 0) return ny_method_at(i);
    return NULL;
}

void ny_solution_release(struct ny_solution *solution, struct ny_context *ctx)
{
    ny_free(ctx, solution->P.at);
    ny_free(ctx, solution->q);
    ny_free(ctx, solution->values);
    ny_free(ctx, solution->averages);
    *solution = (struct ny_solution){0};
}

size_t ny_solution_count(struct ny_solution *solution, const double *values, size_t count,
                         double cut)
{
    double total = 0, negative = 0;
    size_t above = 0;

    solution->negative = 0;
    for (size_t j = 0; j < count; j++) {
        total += fabs(values[j]);
        if (values[j] > cut) above++;
        if (values[j] >= -cut) continue;
        solution->negative++;
        negative -= values[j];
    }
    solution->negative_share = total > 0 ? negative / total : 0;
    return above;
}
