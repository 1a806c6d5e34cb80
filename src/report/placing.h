/* Places the names of classes among their points: within the axes, and none on another. */
#ifndef NY_REPORT_PLACING_H
#define NY_REPORT_PLACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ny_name_place {
    const char *text;
    double x, y, width; /* its left end, middle, length, in pixels */
    uint64_t rows;      /* of its class */
    bool left_out;      /* there is no room for it near its points */
};

/* The room that names have, in pixels. */
struct ny_name_room {
    double top, bottom; /* edges of the axes; the caller has seen to the left and right ones */
    double line;        /* height of a name */
    double gap;         /* between two names beside each other */
};

/* Moves names up or down until they are within the room and apart. Names of common classes keep
 * their places; one of a rarer class that finds no room within a few lines is left out. Changes the
 * order of the names. */
void ny_place_names(struct ny_name_place *names, size_t count, const struct ny_name_room *room);

#endif
