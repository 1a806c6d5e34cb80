/* The sizes of a fit of a method on all of K: its products, and what they hold and take. */
#include "columns/pairs.h"
#include "spectral/whole.h"
#include "whole/shape.h"

struct ny_products ny_products_of(const struct ny_fit_settings *settings, uint64_t n)
{
    const struct ny_whole *whole = settings->method->whole;
    size_t all = n < SIZE_MAX ? (size_t)n : SIZE_MAX, panel = ny_panel_rows(n);
    struct ny_products products = {.n = n,
                                   .tiles = ny_pairs_all_tiles(n),
                                   .rank = ny_settings_rank(settings, all),
                                   .steps = whole->products(&settings->randomized),
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
    return products;
}

size_t ny_products_state_bytes(const struct ny_products *products)
{
    return (size_t)products->n * (2 * products->w + products->divided) * sizeof(double);
}

double ny_products_entries(const struct ny_products *products)
{
    double n = (double)products->n;

    return products->steps * n * (n + NY_UNIT_ROWS) / 2;
}

double ny_products_columns(const struct ny_products *products)
{
    return (double)(products->steps - products->divided) * (double)products->w + products->divided;
}

double ny_products_flops(const struct ny_products *products, double d)
{
    double n = (double)products->n;

    return 2 * d * ny_products_entries(products) + 2 * n * n * ny_products_columns(products);
}
