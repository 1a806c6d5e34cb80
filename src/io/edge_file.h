/*
 * Files of edges of a graph, read entry by entry: MatrixMarket coordinates (from 1), sparse
 * matrices of scipy (CSR or CSC), and text lines "i j" or "i j weight" (from 0) with blanks, tabs
 * or commas between them, below comments that begin with # or %. Text and MatrixMarket may be
 * packed by gzip.
 */
#ifndef NY_IO_EDGE_FILE_H
#define NY_IO_EDGE_FILE_H

#include "graph/edge_source.h"

/* Opens a regular file, whose content decides on its format. NY_EIO, NY_EUSAGE for a pipe, which
 * cannot be read twice; NY_EDATA for a matrix that is not square, or has other nodes than are
 * given. *out is NULL after a failure. */
ny_edge_open_fn ny_edge_file_open;

#endif
