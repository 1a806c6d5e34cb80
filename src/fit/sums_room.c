#include "fit/sums_room.h"

void ny_sums_lay(struct ny_layout *l, struct ny_sums_room *room, const struct ny_sums_shape *shape)
{
    ny_tiles_lay(l, &room->tiles, shape->spec, shape->m, shape->precision, shape->workers);
    room->roots = ny_lay(l, NY_MEM_TILES, shape->workers, NY_UNIT_ROWS * sizeof(double));
    room->of_tile = ny_lay(l, NY_MEM_GRAM, shape->workers, sizeof(*room->of_tile));
    room->share = ny_lay(l, NY_MEM_GRAM, shape->workers, sizeof(*room->share));
    for (unsigned w = 0; w < shape->workers; w++) {
        struct ny_sums_share spare, *share = room->share ? &room->share[w] : &spare;

        if (shape->joins)
            share->joined = ny_joined_partial_lay(l, shape->m, shape->joined, shape->gram);
        else
            share->sums = ny_partial_lay(l, shape->m, shape->gram);
        if (shape->width) share->products = ny_krylov_partial_lay(l, shape->m, shape->width);
    }
}
