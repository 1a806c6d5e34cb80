/*
 * Landmarks that join after rows were summed up and left behind (Ouimet & Bengio 2005, online: the
 * coefficients a_t of a row are those over the landmarks at its time, zero for later ones). With
 * φ̂_t = Σ a_ti φ(d_i) in the place of φ(x_t), its kernel value with landmark j is
 *
 *     ĉ_tj = w_Djᵀ a_t = w_DjᵀW⁻¹c_t = b_jᵀc_t,   b_j = W⁻¹w_Dj,
 *
 * so that G_jD = b_jᵀG, G_jj = b_jᵀG b_j, s_j = b_jᵀs. This holds for shifted sums too: c_t = c′_t
 * + a gives ĉ_tj − b_jᵀa = b_jᵀc′_t, which is a column with the shift a_j = b_jᵀa.
 */
#include <string.h>

#include "spectral/accumulator.h"

static void take_sums(struct ny_accumulator *acc, const struct ny_accumulator *before,
                      struct ny_matrix B)
{
    size_t m = before->m;
    struct ny_matrix joining = ny_rows(acc->G, m, acc->m - m);

    acc->rows = before->rows;
    acc->t = before->t;
    acc->omega = before->omega;
    memcpy(acc->s, before->s, m * sizeof(double));
    ny_copy(before->G, ny_cols(ny_rows(acc->G, 0, m), 0, m));
    ny_gemv(1, ny_t(B), before->s, 0, acc->s + m);
    ny_gemm(1, ny_t(B), before->G, 0, ny_cols(joining, 0, m));
    ny_gemm(1, ny_cols(joining, 0, m), B, 0, ny_cols(joining, m, acc->m - m));
}

int ny_accumulator_join(struct ny_accumulator **acc, struct ny_context *ctx, struct ny_matrix B)
{
    struct ny_accumulator *before = *acc, *now;
    int err = ny_accumulator_new(&now, ctx, B.rows + B.cols);

    if (err) return err;
    if (before) {
        ny_mirror_lower(before->G);
        take_sums(now, before, B);
    }
    ny_accumulator_free(before);
    *acc = now;
    return NY_OK;
}
