#include "report/placing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A name moves by quarters of a line, and at most six lines away from its points. */
enum { QUARTERS = 4, QUARTERS_MOST = 24 };

/* Compares names for qsort(): common classes first, and those of as many rows by their names. */
static int compare_rows(const void *a, const void *b)
{
    const struct ny_name_place *one = a, *other = b;

    if (one->rows != other->rows) return one->rows < other->rows ? 1 : -1;
    return strcmp(one->text, other->text);
}

/* Tells whether name k at height y would be outside the room, or on one of the names before it. */
static bool is_taken(const struct ny_name_place *names, size_t k, double y,
                     const struct ny_name_room *room)
{
    const struct ny_name_place *name = &names[k];
    const double line = 0.999 * room->line; /* sums of quarters are rounded */

    if (y < room->top + room->line / 2 || y > room->bottom - room->line / 2) return true;
    for (size_t j = 0; j < k; j++)
        if (!names[j].left_out && name->x < names[j].x + names[j].width + room->gap &&
            names[j].x < name->x + name->width + room->gap && fabs(y - names[j].y) < line)
            return true;
    return false;
}

/* Moves name k to the nearest height that is free, or leaves it out. */
static void place(struct ny_name_place *names, size_t k, const struct ny_name_room *room)
{
    struct ny_name_place *name = &names[k];
    const double least = room->top + room->line / 2, most = room->bottom - room->line / 2;
    const double from = fmax(fmin(name->y, most), least);

    for (int quarter = 0; quarter <= QUARTERS_MOST; quarter++)
        for (int side = 1; side >= -1; side -= 2) {
            name->y = from + side * quarter * room->line / QUARTERS;
            if (!is_taken(names, k, name->y, room)) return;
        }
    name->left_out = true;
}

void ny_place_names(struct ny_name_place *names, size_t count, const struct ny_name_room *room)
{
    qsort(names, count, sizeof(*names), compare_rows);
    for (size_t k = 0; k < count; k++)
        place(names, k, room);
}
