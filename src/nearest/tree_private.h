/* Shared by the files of the tree of boxes. */
#ifndef NY_NEAREST_TREE_PRIVATE_H
#define NY_NEAREST_TREE_PRIVATE_H

#include "base/cpu.h"
#include "nearest/tree.h"

/* A node: its number, and leaves first … end − 1. Its first half has the next number, and its
 * second half that after all nodes of the first. */
struct ny_tree_span {
    uint32_t node, first, end;
};

/* Returns the first leaf of the second half. */
static inline uint32_t ny_tree_middle(struct ny_tree_span span)
{
    return span.first + (span.end - span.first) / 2;
}

/* Returns the halves of a node of two leaves or more. */
static inline struct ny_tree_span ny_tree_left(struct ny_tree_span span)
{
    return (struct ny_tree_span){span.node + 1, span.first, ny_tree_middle(span)};
}
static inline struct ny_tree_span ny_tree_right(struct ny_tree_span span)
{
    uint32_t middle = ny_tree_middle(span);

    return (struct ny_tree_span){span.node + 2 * (middle - span.first), middle, span.end};
}

/* Nodes on the way from the root to a leaf, at most. */
enum { NY_TREE_DEPTH = 32 };

/* The place of a row that is not of the tree. */
#define NY_TREE_NOWHERE UINT64_MAX

/* Up to NY_TREE_ROWS rows that look for their neighbours together, one a lane. */
struct ny_tree_packet {
    struct ny_layout own;
    const struct ny_box_tree *tree;
    size_t count;
    uint64_t at[NY_TREE_ROWS]; /* their places in the tree, ascending; or all NY_TREE_NOWHERE */
    double *x;                 /* d × lanes */
    double *value;             /* t × lanes: squared distances, ascending; ∞ at first */
    int64_t *row;              /* t × lanes: NY_NO_ROW at first */
    struct ny_tree_work work;  /* so far */
};

/* Fills the lists of the packet from what they are at first. */
typedef void ny_tree_walk_fn(struct ny_tree_packet *packet);
/* Returns the loop that was compiled for the family of vector code in force. */
ny_tree_walk_fn *ny_tree_walk(void);

/* Empties the lists of a packet. Lanes without a row take nothing. */
void ny_tree_packet_clear(struct ny_tree_packet *packet);
/* Takes the room of a packet, in packet->own. */
int ny_tree_packet_init(struct ny_tree_packet *packet, const struct ny_box_tree *tree);

/* Puts the rows in order and makes the boxes. An interrupt. */
int ny_tree_build(struct ny_box_tree *tree);

#endif
