/* What the rules share, and the rules themselves for the table in rules.c. */
#ifndef NY_SELECT_RULES_PRIVATE_H
#define NY_SELECT_RULES_PRIVATE_H

#include "select/rules.h"

/* Nothing selected, nothing measured. */
void ny_selection_clear(struct ny_selection *selection);
/* The row may be chosen. */
bool ny_selection_valid(const struct ny_selection_request *request, uint64_t row);
/* Makes room for m row numbers. */
int ny_selection_rows(struct ny_selection *selection, struct ny_context *ctx, size_t m);
/* Takes n residuals over, with their largest and their mean. */
void ny_selection_residuals(struct ny_selection *selection, float *residuals, uint64_t n);
/* NY_ENUMERIC: a row's δ is negative beyond rounding, or not a number. */
int ny_selection_not_psd(const struct ny_selection_request *request, uint64_t row, double delta,
                         double k);

int ny_select_uniform(const struct ny_selection_request *request, struct ny_selection *selection);
int ny_select_given(const struct ny_selection_request *request, struct ny_selection *selection);
int ny_select_all(const struct ny_selection_request *request, struct ny_selection *selection);
int ny_select_maxmin(const struct ny_selection_request *request, struct ny_selection *selection);
int ny_select_greedy(const struct ny_selection_request *request, struct ny_selection *selection);
int ny_select_rpcholesky(const struct ny_selection_request *request,
                         struct ny_selection *selection);
int ny_select_weighted(const struct ny_selection_request *request, struct ny_selection *selection);

/* Of each rule with a state: memory of a selection that ends with m landmarks, and of its
 * checkpoints; work. */
size_t ny_rpcholesky_bytes(const struct ny_selection_request *request, size_t m);
size_t ny_rpcholesky_image_bytes(const struct ny_selection_request *request, size_t m);
double ny_rpcholesky_flops(const struct ny_selection_request *request, size_t m);
double ny_weighted_flops(const struct ny_selection_request *request, size_t m);
size_t ny_weighted_bytes(const struct ny_selection_request *request, size_t m);
size_t ny_weighted_image_bytes(const struct ny_selection_request *request, size_t m);

#endif
