#include "whole/residuals.h"

#include <math.h>

/* Rows that are multiplied at a time. */
enum { ROWS = 256 };

size_t ny_residuals_bytes(size_t pairs)
{
    return (2 * ROWS + 1) * pairs * sizeof(double);
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

int ny_report_residuals(const struct ny_products_state *state, struct ny_matrix U,
                        const double *values)
{
    struct ny_context *ctx = state->fit->job.ctx;
    size_t n = state->V.rows, r = state->shape.r;
    double *room = ny_calloc(ctx, NY_MEM_SOLVE, 1, ny_residuals_bytes(U.rows));
    double *squares = room ? room + 2 * ROWS * U.rows : NULL;
    json_t *errors = json_array();

    for (size_t first = 0; room && first < n; first += ROWS) {
        size_t count = n - first < ROWS ? n - first : ROWS;

        add_squares(ny_cols(ny_rows(state->Y, first, count), 0, r),
                    ny_cols(ny_rows(state->V, first, count), 0, r), U, values, room, squares);
    }
    for (size_t k = 0; room && k < U.rows; k++)
        ny_field_append(errors,
                        values[k] > 0 ? json_real(sqrt(squares[k]) / values[k]) : json_null());
    ny_field_set_json(ny_job_report(&state->fit->job), "component_errors", errors);
    ny_free(ctx, room);
    return room ? NY_OK : NY_EBUDGET;
}
