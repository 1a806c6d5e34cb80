#include "whole/residuals.h"

#include <math.h>

/* Rows that are multiplied at a time. */
enum { ROWS = 256 };

/* Some rows of Y and V times the vectors, by way of the basis where they are test columns, and the
 * squares of each pair. */
struct room {
    struct ny_matrix YQ, VQ; /* rows × r */
    struct ny_matrix YU, VU; /* rows × pairs */
    double *squares;
};

static void lay(struct ny_layout *l, struct room *room, size_t rows, size_t r, size_t pairs)
{
    room->YQ = ny_lay_matrix(l, NY_MEM_SOLVE, rows, r);
    room->VQ = ny_lay_matrix(l, NY_MEM_SOLVE, rows, r);
    room->YU = ny_lay_matrix(l, NY_MEM_SOLVE, rows, pairs);
    room->VU = ny_lay_matrix(l, NY_MEM_SOLVE, rows, pairs);
    room->squares = ny_lay(l, NY_MEM_SOLVE, pairs, sizeof(double));
}

void ny_residuals_count(struct ny_layout *l, const struct ny_products *shape, size_t pairs)
{
    struct ny_layout_mark mark = ny_layout_mark(l);
    struct room room;

    lay(l, &room, ROWS, 0, pairs);
    ny_layout_back(l, &mark);
    lay(l, &room, shape->checks, shape->r, pairs);
    ny_layout_back(l, &mark);
}

/* Adds the squares of (Y − λ_k V) u_k over some rows. */
static void add_squares(struct ny_matrix Y, struct ny_matrix V, struct ny_matrix U,
                        const double *values, const struct room *room)
{
    size_t count = U.rows;
    struct ny_matrix YU = ny_rows(room->YU, 0, Y.rows), VU = ny_rows(room->VU, 0, Y.rows);

    ny_gemm(1, Y, ny_t(U), 0, YU);
    ny_gemm(1, V, ny_t(U), 0, VU);
    for (size_t i = 0; i < Y.rows; i++)
        for (size_t k = 0; k < count; k++) {
            double r = YU.at[i * count + k] - values[k] * VU.at[i * count + k];

            room->squares[k] += r * r;
        }
}

static int report_exact(const struct ny_products_state *state, struct ny_matrix U,
                        const double *values)
{
    struct ny_layout l = {.ctx = state->fit->job.ctx};
    size_t n = state->V.rows, r = state->shape.r;
    struct room room;
    struct ny_record record = state->fit->job.record;

    lay(&l, &room, ROWS, 0, U.rows);
    if (l.err) return ny_layout_end(&l);
    record.ops->begin_list(record, NY_LIST_ERRORS);
    for (size_t first = 0; first < n; first += ROWS) {
        size_t count = n - first < ROWS ? n - first : ROWS;

        add_squares(ny_cols(ny_rows(state->Y, first, count), 0, r),
                    ny_cols(ny_rows(state->V, first, count), 0, r), U, values, &room);
    }
    for (size_t k = 0; k < U.rows; k++)
        record.ops->append(record, NY_LIST_ERRORS,
                           values[k] > 0 ? sqrt(room.squares[k]) / values[k] : NAN);
    return ny_layout_end(&l);
}

/* Returns the error of pair k; column k of Z has (Aω)ᵀû, and of W ωᵀû. */
static struct ny_pair_error tested(struct ny_matrix Z, struct ny_matrix W, size_t k, double value)
{
    double R = (double)Z.rows, squares = 0, product = 0, rho;

    if (!(value > 0)) return (struct ny_pair_error){NAN, NAN, NAN};
    for (size_t j = 0; j < Z.rows; j++) {
        double w = W.at[j * W.stride + k], z = Z.at[j * Z.stride + k] - value * w;

        squares += z * z / R;
        product += w * z / R;
    }
    rho = sqrt(squares) / value;
    return (struct ny_pair_error){rho, rho / sqrt(2 * R), value + product};
}

static int report_tested(const struct ny_products_state *state, struct ny_matrix U,
                         const double *values)
{
    struct ny_layout l = {.ctx = state->fit->job.ctx};
    struct room room;

    lay(&l, &room, state->shape.checks, state->shape.r, U.rows);
    if (l.err) return ny_layout_end(&l);
    ny_gemm(1, ny_t(ny_products_checks(&state->shape, state->Y)), state->sketch.V, 0, room.YQ);
    ny_gemm(1, ny_t(ny_products_checks(&state->shape, state->V)), state->sketch.V, 0, room.VQ);
    ny_gemm(1, room.YQ, ny_t(U), 0, room.YU);
    ny_gemm(1, room.VQ, ny_t(U), 0, room.VU);
    ny_job_begin_errors(&state->fit->job, state->shape.checks);
    for (size_t k = 0; k < U.rows; k++)
        ny_job_add_error(&state->fit->job, tested(room.YU, room.VU, k, values[k]));
    return ny_layout_end(&l);
}

int ny_report_residuals(const struct ny_products_state *state, struct ny_matrix U,
                        const double *values)
{
    if (state->fit->settings->method->whole->basis_last) return report_exact(state, U, values);
    return state->shape.checks ? report_tested(state, U, values) : NY_OK;
}
