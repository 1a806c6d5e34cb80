/*
 * An order of the points in which near ones are near: along a curve through the cells of a grid
 * (Morton 1966). The nodes of a large graph are numbered along it before graph/order.h puts them in
 * order, since edges are then read nearly one after another: rows that came in no order would make
 * that a read from another place for each node.
 */
#ifndef NY_GRAPH_NEAR_ROWS_H
#define NY_GRAPH_NEAR_ROWS_H

#include "base/layout.h"
#include "stream/rows.h"

/* Graphs of fewer rows have no need of it: their edges are in cache, or nearly so. */
enum { NY_NEAR_ROWS_LEAST = 1 << 20 };

/* Tells whether the nodes of a graph of the first n rows begin in this order. That depends on the
 * rows alone: there are many, all of them are at hand, and they have few columns. */
bool ny_near_rows_wanted(struct ny_rows *X, uint64_t n);
/* Lays out (*order)[0 … n − 1], the first n rows of X, which are dense; rows of one cell go by
 * their numbers. What it takes besides while it runs is less than what order.h does for as many
 * nodes. */
int ny_near_rows(struct ny_rows *X, uint64_t n, struct ny_layout *l, uint32_t **order);

#endif
