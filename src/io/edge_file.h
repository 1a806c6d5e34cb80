/*
 * Files of edges of a graph, read entry by entry: MatrixMarket coordinates (from 1), sparse
 * matrices of scipy (CSR or CSC), and text lines "i j" or "i j weight" (from 0) with blanks, tabs
 * or commas between them and comments that begin with # or %. Text and MatrixMarket may be packed
 * by gzip.
 */
#ifndef NY_IO_EDGE_FILE_H
#define NY_IO_EDGE_FILE_H

#include "base/context.h"

/* An entry: two nodes from 0, and a weight that is finite and not negative also as f32; a file that
 * has no weights has 1. */
struct ny_edge_entry {
    uint32_t from, to;
    double weight;
};

/* The nodes that there are, and who says so, for messages: "--nodes says"; 0: the file does. */
struct ny_edge_nodes {
    uint64_t count;
    const char *said_by;
};

struct ny_edge_file;

/* Opens a regular file, whose content decides on its format. NY_EIO, NY_EUSAGE for a pipe, which
 * cannot be read twice; NY_EDATA for a matrix that is not square, or has other nodes than are
 * given. *out is NULL after a failure. */
int ny_edge_file_open(struct ny_edge_file **out, struct ny_context *ctx, const char *path,
                      struct ny_edge_nodes nodes);
/* Closes the file and frees it; NULL is fine. */
void ny_edge_file_close(struct ny_edge_file *file);
/* Returns the nodes of a matrix, or those that were given; 0 for a text, which does not say. */
uint64_t ny_edge_file_nodes(const struct ny_edge_file *file);
/* Reads the next entry; NY_END behind the last. NY_EDATA names the line of a text, or the number of
 * the entry, from 1, of an .npz. */
int ny_edge_file_next(struct ny_edge_file *file, struct ny_edge_entry *entry);

#endif
