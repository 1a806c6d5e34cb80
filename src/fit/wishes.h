/* Decides the settings of a fit from what the user asked for and from the points. */
#ifndef NY_FIT_WISHES_H
#define NY_FIT_WISHES_H

#include "fit/settings.h"

/* A fit as the user asked for it: names are table entries, texts are numbers, and nothing depends
 * on the points yet. */
struct ny_wishes {
    struct ny_fit_settings plain; /* as they were asked for. method NULL: landmarks alone, or a map
                                   * without methods; kernel NULL: a graph's map without one;
                                   * landmarks SIZE_MAX: no number */
    bool implicit;                /* --averages implicit was typed, or is the method's default */
    bool affine_typed, oversample_typed, power_typed;
    bool products;     /* --tol or --max-passes is typed, which exact's products alone take */
    const char *sweep; /* --sweep of a graph that the fit makes: other --neighbors; NULL: none */
};

/* Decides the settings of a fit, or of a selection of landmarks if there is no method: the method
 * and the kernel in force, how K is normalised, what is affine or online, and the number of
 * landmarks. Refuses sizes that the points cannot give (NY_EUSAGE), and warns of choices that are
 * allowed but cost more or are less accurate than they seem. Texts and arrays stay the caller's.
 * `store` has the points; NULL: they are in none, and no graph is made of them. */
int ny_settings_decide(struct ny_fit_settings *settings, struct ny_context *ctx, struct ny_rows *X,
                       const struct ny_rows_info *points, const struct ny_wishes *wishes);

#endif
