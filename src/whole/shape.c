/* The sizes of a fit of a method on all of K: its products, and what they hold and take. */
#include "columns/features.h"
#include "columns/pairs.h"
#include "spectral/whole.h"
#include "whole/shape.h"

/* Tells whether products are by features: where the kernel has them, unless K is one tile, or so
 * narrow that its values are fewer multiplications than two passes with all columns. */
static bool goes_by_features(const struct ny_fit_settings *settings,
                             const struct ny_products *products)
{
    return ny_kernel_has_features(settings->kernel) && products->n > NY_UNIT_ROWS &&
           products->n / 4 > products->w;
}

struct ny_products ny_products_of(const struct ny_fit_settings *settings,
                                  const struct ny_rows_info *points)
{
    const struct ny_whole *whole = settings->method->whole;
    uint64_t n = points->n;
    size_t all = n < SIZE_MAX ? (size_t)n : SIZE_MAX, panel = ny_panel_rows(n);
    struct ny_products products = {.n = n,
                                   .d = (size_t)points->d,
                                   .tiles = ny_pairs_all_tiles(n),
                                   .rank = ny_settings_rank(settings, all),
                                   .steps = whole->products(&settings->randomized),
                                   .checks = whole->basis_last ? 0 : settings->check_rows,
                                   .centred = settings->map->additive,
                                   .divided = settings->map->divided};

    if (whole->landmarks)
        products.r = settings->landmarks < all ? settings->landmarks : all;
    else
        products.r = settings->randomized.oversample < all - products.rank
                         ? products.rank + settings->randomized.oversample
                         : all;
    if (products.rank > products.r) products.rank = products.r;
    products.w = products.r + products.centred;
    products.steps += products.divided;
    products.order = products.r > panel ? products.r : panel;
    products.features = goes_by_features(settings, &products);
    products.w += products.checks;
    products.places = products.features
                          ? ny_feature_product_passes(products.w) * (ny_units_of(n) + 1)
                          : products.tiles + 1;
    return products;
}

struct ny_products ny_products_unchecked(struct ny_products products)
{
    products.w -= products.checks;
    products.checks = 0;
    return products;
}

unsigned ny_feature_product_passes(size_t w)
{
    return 2 * (unsigned)((w + NY_FEATURE_BLOCK - 1) / NY_FEATURE_BLOCK);
}

size_t ny_feature_product_width(size_t w)
{
    size_t blocks = ny_feature_product_passes(w) / 2;

    return ny_features_width((w + blocks - 1) / blocks);
}

size_t ny_products_state_bytes(const struct ny_products *products)
{
    size_t rows = (size_t)products->n * (2 * products->w + products->divided);
    size_t columns = (products->d + 1) * ny_feature_product_width(products->w);

    return (rows + (products->features ? columns : 0)) * sizeof(double);
}

double ny_products_entries(const struct ny_products *products)
{
    double n = (double)products->n;

    return products->steps * n * (n + NY_UNIT_ROWS) / 2;
}

double ny_products_columns(const struct ny_products *products)
{
    double steps = products->steps - products->divided, w = (double)products->w;

    if (!products->features) return steps * w + products->divided;
    w = (double)(ny_feature_product_passes(products->w) / 2 *
                 ny_feature_product_width(products->w));
    return steps * w + (double)(products->divided * ny_feature_product_width(1));
}

double ny_products_flops(const struct ny_products *products, double values)
{
    double n = (double)products->n, columns = ny_products_columns(products);

    if (products->features) return 4 * n * values * columns;
    return 2 * values * ny_products_entries(products) + 2 * n * n * columns;
}

unsigned ny_products_passes(const struct ny_products *products)
{
    unsigned multiplied = products->steps - products->divided;

    if (!products->features) return products->steps;
    return multiplied * ny_feature_product_passes(products->w) +
           products->divided * ny_feature_product_passes(1);
}
