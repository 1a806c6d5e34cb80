/* Shared by the rules. */
#ifndef NY_SELECT_RULES_PRIVATE_H
#define NY_SELECT_RULES_PRIVATE_H

#include "select/rules.h"

/* Empties the selection: nothing selected, nothing measured. */
void ny_selection_clear(struct ny_selection *selection);
/* Tells whether the row may be chosen. */
bool ny_selection_valid(const struct ny_selection_request *request, uint64_t row);
/* Returns how many threads the selection may use, at least one. */
static inline unsigned ny_selection_workers(const struct ny_selection_request *request)
{
    return request->workers ? request->workers : 1;
}

/* Frees the image, which is restored now, if its owner lets it go. */
void ny_selection_drop_image(const struct ny_selection_request *request);
/* Fails with NY_EUSAGE where no landmark is to be chosen, and with NY_EDATA where none can be. */
int ny_selection_none(struct ny_context *ctx);
int ny_selection_zero(struct ny_context *ctx);
/* Makes room for m row numbers. */
int ny_selection_rows(struct ny_selection *selection, struct ny_context *ctx, size_t m);
/* Takes n residuals over, with their largest and their mean. */
void ny_selection_residuals(struct ny_selection *selection, float *residuals, uint64_t n);
/* NY_ENUMERIC: a row's δ is negative beyond rounding, or not a number. */
int ny_selection_not_psd(const struct ny_selection_request *request, uint64_t row, double delta,
                         double k);

/* Selects by the rule uniform, with which others begin. */
int ny_select_uniform(const struct ny_selection_request *request, struct ny_selection *selection);
/* Bytes of a checkpoint of an rpcholesky selection. */
size_t ny_rpcholesky_image_bytes(const struct ny_selection_request *request, size_t m);
/* Returns the work that an rpcholesky selection of m landmarks is likely to take, for plans. */
struct ny_selection_work ny_rpcholesky_work(const struct ny_selection_request *request, size_t m,
                                            const struct ny_decay *decay);

#endif
