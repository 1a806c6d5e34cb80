/* The state of a probe, for probe.c, which runs it, and probe_columns.c, which draws its columns.
 */
#ifndef NY_FIT_PROBE_PRIVATE_H
#define NY_FIT_PROBE_PRIVATE_H

#include "fit/fit.h"
#include "model/coordinates.h"
#include "model/embedding.h"

/* One worker's. */
struct ny_probe_side {
    void *stored;             /* NY_UNIT_ROWS rows of the embedding, as they are stored */
    struct ny_matrix Y;       /* NY_UNIT_ROWS × p, zero beyond the tile's rows */
    double *averages;         /* NY_UNIT_ROWS */
    double *errors, *squares; /* r each: e_s and f_s of the tile */
};

struct ny_probe {
    struct ny_fit *fit;
    struct ny_layout own;
    size_t r, p;
    bool f64;                                       /* the stored rows are f64 */
    struct ny_coordinates coordinates;              /* how a stored row is read */
    struct ny_embedding_layout embedding, averages; /* no part: K is neither centred nor divided */
    uint64_t *rows;                                 /* S */
    bool by_diagonal;                               /* S is drawn by the diagonal, else uniformly */
    double *weights;                                /* r: g_s */
    struct ny_columns *columns;
    double *shift;                 /* r, zero */
    struct ny_tiles tiles;         /* f64: exact values */
    struct ny_matrix Z;            /* r × p: K̃ = Y Zᵀ */
    double *column_averages, mean; /* the averages of S; ρ̄ */
    struct ny_probe_side *side;    /* one a worker */
    double *sums;                  /* 2r: Σ e_s, then Σ f_s, over the units that are done */
};

/* Draws S, and loads what belongs to its columns: the rows, Z and the averages. */
int ny_probe_columns(struct ny_probe *run);
/* Widens rows of the embedding to f64: Y = ÛΛ̂^½, or Û where K is divided. */
void ny_probe_widen(const struct ny_probe *run, const void *stored, size_t rows,
                    struct ny_matrix Y);

#endif
