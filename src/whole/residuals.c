#include "whole/residuals.h"

#include <math.h>

#include "job/figures.h"

/* Rows that are multiplied at a time. */
enum { ROWS = 256 };

size_t ny_residuals_bytes(const struct ny_products *shape, size_t pairs)
{
    size_t exact = (2 * ROWS + 1) * pairs, tested = 2 * shape->checks * (shape->r + pairs);

    return (exact > tested ? exact : tested) * sizeof(double);
}

/* Adds the squares of (Y − λ_k V) u_k over some rows. */
static void add_squares(struct ny_matrix Y, struct ny_matrix V, struct ny_matrix U,
                        const double *values, double *room, double *squares)
{
    size_t count = U.rows;
    struct ny_matrix YU = ny_matrix(room, Y.rows, count);
    struct ny_matrix VU = ny_matrix(room + ROWS * count, Y.rows, count);

    ny_gemm(1, Y, ny_t(U), 0, YU);
    ny_gemm(1, V, ny_t(U), 0, VU);
    for (size_t i = 0; i < Y.rows; i++)
        for (size_t k = 0; k < count; k++) {
            double r = YU.at[i * count + k] - values[k] * VU.at[i * count + k];

            squares[k] += r * r;
        }
}

static int report_exact(const struct ny_products_state *state, struct ny_matrix U,
                        const double *values)
{
    struct ny_context *ctx = state->fit->job.ctx;
    size_t n = state->V.rows, r = state->shape.r;
    double *room = ny_calloc(ctx, NY_MEM_SOLVE, 1, ny_residuals_bytes(&state->shape, U.rows));
    double *squares = room ? room + 2 * ROWS * U.rows : NULL;
    json_t *errors = json_array();

    for (size_t first = 0; room && first < n; first += ROWS) {
        size_t count = n - first < ROWS ? n - first : ROWS;

        add_squares(ny_cols(ny_rows(state->Y, first, count), 0, r),
                    ny_cols(ny_rows(state->V, first, count), 0, r), U, values, room, squares);
    }
    for (size_t k = 0; room && k < U.rows; k++)
        ny_field_append_number(errors, values[k] > 0 ? sqrt(squares[k]) / values[k] : NAN);
    ny_field_set_json(ny_job_report(&state->fit->job), "component_errors", errors);
    ny_free(ctx, room);
    return room ? NY_OK : NY_EBUDGET;
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
    struct ny_context *ctx = state->fit->job.ctx;
    size_t r = state->shape.r, R = state->shape.checks, count = U.rows;
    double *room = ny_calloc(ctx, NY_MEM_SOLVE, 1, ny_residuals_bytes(&state->shape, count));
    json_t *report = ny_job_report(&state->fit->job);
    struct ny_matrix YQ = ny_matrix(room, R, r), VQ = ny_matrix(room + R * r, R, r);
    struct ny_matrix Z = ny_matrix(room + 2 * R * r, R, count);
    struct ny_matrix W = ny_matrix(room + 2 * R * r + R * count, R, count);

    if (room) {
        ny_gemm(1, ny_t(ny_products_checks(&state->shape, state->Y)), state->sketch.V, 0, YQ);
        ny_gemm(1, ny_t(ny_products_checks(&state->shape, state->V)), state->sketch.V, 0, VQ);
        ny_gemm(1, YQ, ny_t(U), 0, Z);
        ny_gemm(1, VQ, ny_t(U), 0, W);
    }
    ny_figures_begin_errors(report, R);
    for (size_t k = 0; room && k < count; k++)
        ny_figures_add_error(report, tested(Z, W, k, values[k]));
    ny_free(ctx, room);
    return room ? NY_OK : NY_EBUDGET;
}

int ny_report_residuals(const struct ny_products_state *state, struct ny_matrix U,
                        const double *values)
{
    if (state->fit->settings->method->whole->basis_last) return report_exact(state, U, values);
    return state->shape.checks ? report_tested(state, U, values) : NY_OK;
}
