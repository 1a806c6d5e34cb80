/*
 * The forward substitution of front.h in f32 and in f64. Greedy selection
 * (greedy_screen.c, greedy.c) and rpcholesky (rpcholesky_measure.c) load the rows of a unit, step
 * through the panels of L, and drop rows whose residual δ = k(x,x) − ‖Z‖² is small enough after
 * each step.
 *
 * A step computes the kernel values of one piece of columns, takes off the products of the columns
 * before (a GEMM), and solves with the triangle of the piece: Z_new = (K − Z·Lᵀ)·L_piece⁻ᵀ. In f64
 * the same is done for blocks of at most 128 rows, whose Schur complement S = K_BB − ZZᵀ then says,
 * row by row, what is left after those that joined before in the same block.
 */
#include "select/front.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "select/advance.h"

double ny_front_slack(const struct ny_front *front, size_t i, size_t rank)
{
    return ((double)rank + 16) * 0x1p-52 * front->scale[i];
}

float ny_delta_bound(double delta)
{
    float bound = (float)delta;

    if (!(delta > 0)) return 0;
    return (double)bound < delta ? nextafterf(bound, INFINITY) : bound;
}

/* ---- f32 ------------------------------------------------------------------------------------ */

/* Flops of the kernel values of a piece of columns and of their substitution. */
static double piece_flops(const struct ny_front *front, size_t from, size_t to)
{
    return 2.0 * (double)front->count * (double)(to - from) *
           ((double)front->d + (double)from + 0.5 * (double)(to - from));
}

size_t ny_front_next(size_t done, size_t rank)
{
    size_t end = (done / NY_DICTIONARY_PANEL + 1) * NY_DICTIONARY_PANEL;

    return end < rank ? end : rank;
}

/* Σ z², in eight sums at once: a fixed order that vectorises. */
static double square_norm(const float *z, size_t count)
{
    double sum[8] = {0};
    size_t i = 0;

    for (; i + 8 <= count; i += 8)
        for (size_t lane = 0; lane < 8; lane++)
            sum[lane] += (double)z[i + lane] * (double)z[i + lane];
    for (; i < count; i++)
        sum[0] += (double)z[i] * (double)z[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

/* Puts kernel values of the columns done … to−1 into their place in Z. */
static void kernel_piece(struct ny_front *front, const struct ny_dictionary *dictionary,
                         const struct ny_prefix *prefix, size_t to)
{
    size_t b = front->done / NY_DICTIONARY_PANEL, local = front->done % NY_DICTIONARY_PANEL,
           width = to - front->done;
    const struct ny_columns *columns = ny_prefix_columns(dictionary, prefix, b);
    const double *shift = dictionary->panels[b]->shift + local;

    for (size_t first = 0; first < front->count; first += NY_STRIP_ROWS) {
        size_t left = front->count - first, count = left < NY_STRIP_ROWS ? left : NY_STRIP_ROWS;
        struct ny_front view = ny_front_view(front, first, count);
        const struct ny_strip strip = {.raw = ny_front_rows(&view),
                                       .rows = view.rows,
                                       .norms = view.norms,
                                       .byte_terms = view.byte_terms,
                                       .count = count};

        ny_columns_block(
            columns, &strip, local,
            (struct ny_matrix32){view.Z + front->done, count, width, front->stride, false});
    }
    if (!dictionary->options.affine) return;
    for (size_t i = 0; i < front->count; i++) {
        float *z = front->Z + i * front->stride + front->done;

        for (size_t j = 0; j < width; j++)
            z[j] = (float)(((double)z[j] - front->origin_k[i]) - shift[j]);
    }
}

void ny_front_step(struct ny_front *front, const struct ny_dictionary *dictionary,
                   const struct ny_prefix *prefix, size_t to)
{
    size_t from = front->done, b = from / NY_DICTIONARY_PANEL, width = to - from;
    size_t L_stride = ny_panel_stride(b);
    float *L = dictionary->panels[b]->L32 + (from % NY_DICTIONARY_PANEL) * L_stride;
    struct ny_matrix32 piece = {front->Z + from, front->count, width, front->stride, false};

    kernel_piece(front, dictionary, prefix, to);
    if (from)
        ny_gemm32(-1, (struct ny_matrix32){front->Z, front->count, from, front->stride, false},
                  ny_t32((struct ny_matrix32){L, width, from, L_stride, false}), 1, piece);
    ny_solve_rows32((struct ny_matrix32){L + from, width, width, L_stride, false}, piece);
    for (size_t i = 0; i < front->count; i++)
        front->delta[i] -= square_norm(piece.at + i * front->stride, width);
    front->flops += piece_flops(front, from, to);
    front->done = to;
}

/* ---- f64 ------------------------------------------------------------------------------------ */

/* Makes room for `rows` of so many columns in *Z; if it grows, its contents are lost. */
static int reserve_exact(struct ny_context *ctx, double **Z, size_t *stride, size_t rows,
                         size_t columns)
{
    size_t wanted = ny_front_stride(columns, sizeof(double));

    if (columns <= *stride) return NY_OK;
    ny_free(ctx, *Z);
    *stride = 0;
    *Z = ny_calloc(ctx, NY_MEM_TILES, rows, wanted * sizeof(double));
    if (!*Z) return NY_EBUDGET;
    *stride = wanted;
    return NY_OK;
}

NY_CPU_FAMILIES(ny_advance_fn, ny_advance)

/* Tells whether this CPU's function gives the bits of BLAS for a piece of this shape. */
static bool advances(size_t rows, size_t columns)
{
    return ny_cpu_family() == NY_CPU_AVX512 && columns == NY_ADVANCE_COLUMNS &&
           rows >= NY_ADVANCE_ROWS;
}

/* Makes Z of a piece of kernel values: takes off the products of the columns before it and solves
 * with the triangle. */
static void substitute(struct ny_exact *exact, struct ny_matrix L, size_t from,
                       struct ny_matrix piece)
{
    size_t count = piece.rows, width = piece.cols;

    if (advances(count, width)) {
        const struct ny_advance step = {.Z = exact->Z,
                                        .rows = count,
                                        .stride = exact->stride,
                                        .from = from,
                                        .L = L.at,
                                        .L_stride = L.stride,
                                        .packed = exact->Z + NY_FRONT_BLOCK * exact->stride};

        ny_advance_families[ny_cpu_family()](&step);
        return;
    }
    if (from)
        ny_gemm(-1, (struct ny_matrix){exact->Z, count, from, exact->stride, false},
                ny_t(ny_cols(L, 0, from)), 1, piece);
    ny_solve_rows(ny_cols(L, from, width), piece);
}

int ny_exact_step(struct ny_exact *exact, const struct ny_front *front,
                  const struct ny_dictionary *dictionary, const struct ny_prefix *prefix,
                  size_t from)
{
    size_t b = from / NY_DICTIONARY_PANEL, local = from % NY_DICTIONARY_PANEL;
    size_t width = ny_front_next(from, prefix->rank) - from;
    size_t L_stride = ny_panel_stride(b), count = front->count;
    double *L = dictionary->panels[b]->L + local * L_stride;
    const double *shift = dictionary->panels[b]->shift + local;
    struct ny_matrix piece = {exact->Z + from, count, width, exact->stride, false};
    int err;

    if (!exact->room)
        exact->room = ny_columns_room_lay(&exact->own, &dictionary->spec, exact->width);
    err = exact->own.err;
    if (!err)
        err = ny_columns_exact_in(exact->room, ny_prefix_columns(dictionary, prefix, b),
                                  ny_front_rows(front), count, local, piece);
    if (err) return err;
    for (size_t i = 0; dictionary->options.affine && i < count; i++)
        for (size_t j = 0; j < width; j++)
            piece.at[i * piece.stride + j] =
                (piece.at[i * piece.stride + j] - front->origin_k[i]) - shift[j];
    substitute(exact, (struct ny_matrix){L, width, from + width, L_stride, false}, from, piece);
    for (size_t i = 0; i < count; i++)
        exact->delta[i] -= ny_dot(piece.at + i * piece.stride, piece.at + i * piece.stride, width);
    exact->flops += piece_flops(front, from, from + width);
    return NY_OK;
}

int ny_exact_begin(struct ny_exact *exact, const struct ny_front *front,
                   const struct ny_dictionary *dictionary, size_t rank)
{
    for (size_t i = 0; i < front->count; i++)
        exact->delta[i] =
            dictionary->options.affine
                ? (front->k[i] - front->origin_k[i]) - (front->origin_k[i] - dictionary->origin_k)
                : front->k[i];
    return reserve_exact(front->own.ctx, &exact->Z, &exact->stride,
                         NY_FRONT_BLOCK + NY_ADVANCE_COLUMNS, rank);
}

bool ny_exact_resume(struct ny_exact *exact, const struct ny_front *front, size_t early)
{
    for (size_t i = 0; i < front->count; i++)
        if (front->early[i] == NY_NOT_EARLY) return false;
    for (size_t i = 0; i < front->count; i++) {
        if (early)
            memcpy(exact->Z + i * exact->stride,
                   exact->early + front->early[i] * exact->early_stride, early * sizeof(*exact->Z));
        exact->delta[i] = exact->early_delta[front->early[i]];
    }
    return true;
}

int ny_exact_keep(struct ny_exact *exact, struct ny_front *front, size_t kept, size_t done)
{
    int err = reserve_exact(front->own.ctx, &exact->early, &exact->early_stride, NY_EARLY_ROWS,
                            kept ? 0 : done);

    for (size_t i = 0; !err && i < front->count && kept + i < NY_EARLY_ROWS; i++) {
        front->early[i] = (uint32_t)(kept + i);
        if (done)
            memcpy(exact->early + (kept + i) * exact->early_stride, exact->Z + i * exact->stride,
                   done * sizeof(*exact->Z));
        exact->early_delta[kept + i] = exact->delta[i];
    }
    return err;
}

void ny_exact_move(struct ny_exact *exact, size_t to, size_t from, size_t done)
{
    if (to == from) return;
    exact->delta[to] = exact->delta[from];
    if (done)
        memcpy(exact->Z + to * exact->stride, exact->Z + from * exact->stride,
               done * sizeof(*exact->Z));
}

int ny_exact_schur(struct ny_exact *exact, const struct ny_front *front,
                   const struct ny_dictionary *dictionary, size_t rank)
{
    size_t count = front->count;
    struct ny_matrix S = ny_matrix(exact->S, count, count);
    struct ny_matrix Z = {exact->Z, count, rank, exact->stride, false};
    int err;

    err = ny_columns_exact_square(dictionary->none, ny_front_rows(front), count, S);
    if (err) return err;
    for (size_t i = 0; dictionary->options.affine && i < count; i++)
        for (size_t j = 0; j < count; j++)
            S.at[i * count + j] = (S.at[i * count + j] - front->origin_k[i]) -
                                  (front->origin_k[j] - dictionary->origin_k);
    if (rank) ny_gemm(-1, Z, ny_t(Z), 1, S);
    return NY_OK;
}

/* Column `taken` of V is the new one of the factor of S. */
static void eliminate(struct ny_exact *exact, size_t count, size_t i, size_t taken)
{
    double *S = exact->S, *v = exact->V + taken * NY_FRONT_BLOCK, pivot = sqrt(S[i * count + i]);

    for (size_t j = i + 1; j < count; j++)
        v[j] = S[j * count + i] / pivot;
    for (size_t j = i + 1; j < count; j++)
        for (size_t l = i + 1; l <= j; l++)
            S[j * count + l] -= v[j] * v[l];
}

int ny_exact_join(struct ny_exact *exact, const struct ny_front *block,
                  struct ny_dictionary *dictionary, uint64_t row, size_t i, size_t taken)
{
    double more[NY_FRONT_BLOCK];
    struct ny_factor_row factor = {.Z = exact->Z + i * exact->stride,
                                   .Z_count = dictionary->rank - taken,
                                   .more = more,
                                   .more_count = taken,
                                   .pivot = sqrt(exact->S[i * block->count + i])};
    int err;

    for (size_t t = 0; t < taken; t++)
        more[t] = exact->V[t * NY_FRONT_BLOCK + i];
    err = ny_dictionary_push(dictionary, row, &factor, block->scale[i]);
    if (!err) eliminate(exact, block->count, i, taken);
    return err;
}
