#include "place/unseen.h"

#include <math.h>

#include "base/memory.h"

/* Tells whether no row of the fit had a value in the column. */
static bool is_unseen(const struct ny_geometry *geometry, size_t column)
{
    return geometry->factor[column] == 0 && signbit(geometry->factor[column]);
}

int ny_unseen_begin(struct ny_unseen *unseen, const struct ny_columns_spec *spec)
{
    bool any = false;

    *unseen = (struct ny_unseen){.spec = spec};
    for (size_t k = 0; k < spec->geometry->d && !any; k++)
        any = is_unseen(spec->geometry, k);
    if (!any) return NY_OK;
    unseen->met = ny_calloc(spec->ctx, NY_MEM_TILES, spec->geometry->d, 1);
    unseen->row = ny_alloc(spec->ctx, NY_MEM_TILES, ny_raw_bytes(spec));
    return unseen->met && unseen->row ? NY_OK : NY_EBUDGET;
}

int ny_unseen_take(struct ny_unseen *unseen, const struct ny_tile *tile)
{
    const struct ny_columns_spec *spec = unseen->spec;
    int err = NY_OK;

    for (size_t i = 0; unseen->met && i < tile->rows && !err; i++) {
        struct ny_sparse row = {.count = spec->geometry->d, .value = unseen->row};

        err = ny_tile_strip(tile, i, 1, unseen->row);
        if (spec->slots) row = ny_sparse_of(unseen->row, spec->slots);
        for (size_t k = 0; !err && k < row.count; k++) {
            size_t at = row.index ? row.index[k] : k;

            if (is_unseen(spec->geometry, at) && ny_dtype_at(spec->dtype, row.value, k) != 0)
                unseen->met[at] = 1;
        }
    }
    return err;
}

size_t ny_unseen_count(const struct ny_unseen *unseen)
{
    size_t count = 0;

    for (size_t k = 0; unseen->met && k < unseen->spec->geometry->d; k++)
        count += unseen->met[k];
    return count;
}

size_t ny_unseen_bytes(const struct ny_columns_spec *spec)
{
    return spec->geometry->d + ny_raw_bytes(spec);
}

void ny_unseen_release(struct ny_unseen *unseen)
{
    if (!unseen->spec) return;
    ny_free(unseen->spec->ctx, unseen->met);
    ny_free(unseen->spec->ctx, unseen->row);
    *unseen = (struct ny_unseen){0};
}
