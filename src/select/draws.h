/* Keeps the m smallest of many keys, each with its row, in whatever order they are offered. */
#ifndef NY_SELECT_DRAWS_H
#define NY_SELECT_DRAWS_H

#include "base/context.h"
#include "base/peers.h"

struct ny_draw {
    double key;
    uint64_t row; /* decides between equal keys */
};

struct ny_draws {
    size_t m, count;
    struct ny_draw *heap; /* room for m; the largest of those kept on top */
};

/* Keeps the draw if it is among the m smallest so far. Once m are kept, the largest leaves. */
void ny_draws_offer(struct ny_draws *draws, struct ny_draw draw);
/* Makes of the draws that each peer keeps the m smallest of all, the same in all peers, which have
 * the same m. `room` has room for 2 m; unused without peers. */
int ny_draws_of_all(struct ny_draws *draws, struct ny_peers *peers, struct ny_draw *room);
/* Gives the rows of the kept draws, ascending by key, and forgets them. */
void ny_draws_take(struct ny_draws *draws, uint64_t *rows);

#endif
