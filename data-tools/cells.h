/* Rows of cells: cells.c draws them, cells_npz.c and cells_h5ad.c write them to files. */
#ifndef NY_DATA_TOOLS_CELLS_H
#define NY_DATA_TOOLS_CELLS_H

#include "tool.h"

struct cells {
    uint64_t cells, features, types, seed;
    double mean; /* non-zeros of a row on average */
    bool binary;
    uint32_t *edge;  /* types × features: where the part of a feature in [0, 2³²) ends */
    uint32_t *guide; /* types × 2^guide_bits: the feature at k·2^(32 − guide_bits) */
    unsigned guide_bits;
    double *events;   /* S of each type */
    double *share;    /* shares of the types, summed up */
    struct cells_row *rows; /* those drawn at a time, in threads: first … first+batch−1 */
    uint64_t first, batch;
};

/* A row that was drawn. */
struct cells_row {
    uint64_t type;
    size_t kept;      /* columns that have a count */
    uint32_t *column; /* ascending */
    int16_t *count;   /* of each */
};

/* Returns a row, and draws it with those behind it unless it was drawn with those before. It stays
 * until rows beyond them are drawn. */
struct cells_row *cells_draw(struct cells *cells, struct ny_context *ctx, uint64_t row);
/* Writes all rows as scipy.sparse.save_npz(compressed=False) would, and their types to `labels`
 * unless that is NULL. Values are int16, of --binary uint8. */
void cells_write_npz(struct cells *cells, struct ny_context *ctx, const char *path,
                     struct ny_writer *labels);
/* Writes the same as AnnData does; the function is NULL in a program that was built without
 * libhdf5. */
__attribute__((weak)) void cells_write_h5ad(struct cells *cells, struct ny_context *ctx,
                                            const char *path, struct ny_writer *labels);

#endif
