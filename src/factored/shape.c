/* The sizes of a fit by features. */
#include "factored/factored.h"

struct ny_factored ny_factored_of(const struct ny_fit_settings *settings,
                                  const struct ny_rows_info *points)
{
    uint64_t n = points->n;
    size_t d = (size_t)points->d;
    bool sparse = points->row_slots > 0, shards = ny_rows_here(points) < n, bulk;
    size_t pairs = ny_smaller(ny_settings_pairs(settings), d);
    struct ny_factored sizes = {.n = n, .d = d, .pairs = pairs};
    bool centres = settings->normalisation == NY_CENTRED_IMPLICIT;
    /* An update keeps the means that the first fit had, and these are of fewer rows. */
    bool known = settings->map->centred_rows && !settings->updates;

    /* The zeros among the eigenvalues of fewer rows would drown what random vectors tell of it. */
    bulk = settings->scale == NY_SCALE_BINOMIAL && settings->map->centred_rows;
    sizes.rows = n < d && (bulk || !shards);
    sizes.shape =
        ny_restarted_shape(sizes.rows ? (size_t)n : d, pairs, settings->randomized.oversample);
    /* A value of a dense row costs more to read than to multiply, so that passes are to be few. */
    if (!sparse) sizes.shape.start = sizes.shape.width;
    sizes.shape.bulk = bulk;
    sizes.width = ny_features_width(sizes.shape.width);
    sizes.refined = settings->precision == NY_PRECISION_F32 && settings->tol < NY_F32_TELLS;
    sizes.divided = ny_divided(settings->normalisation);
    /* Dense rows of pca are centred as they are read, and means of sparse ones are known. */
    sizes.centred = centres && (sparse || !known);
    sizes.sums = sizes.divided || (centres && !known);
    sizes.state_bytes = ny_restarted_state_bytes(&sizes.shape) +
                        ((sizes.rows ? d : 0) + 1) * sizes.width * sizeof(double) +
                        sizeof(struct ny_feature_totals);
    return sizes;
}

double ny_factored_turn_flops(const struct ny_factored *sizes)
{
    return 2 * (double)sizes->shape.order * (double)sizes->shape.most * (double)sizes->pairs;
}
