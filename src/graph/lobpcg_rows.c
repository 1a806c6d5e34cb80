/* The steps of lobpcg on tall blocks, n rows of [X P W]: Gram matrices, projections, rotations,
 * residuals and the preconditioner, on all cores (lobpcg_private.h). */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "graph/lobpcg_private.h"

struct rows {
    const struct ny_lobpcg *solver;
    struct ny_span span;
    const double *Y;
    size_t y_stride, room; /* doubles of a worker's */
    struct ny_matrix C, T;
    size_t sum_stride;
    double length; /* of ny_lobpcg_refine() */
    double *sums;  /* groups × C.rows × sum_stride, of C = M */
    void (*block)(const struct rows *rows, size_t first, size_t count, double *room, double *sum);
};

static struct ny_matrix block_of(const struct ny_lobpcg *solver, double *at, size_t first,
                                 size_t count, size_t columns)
{
    return (struct ny_matrix){at + first * solver->stride, count, columns, solver->stride, false};
}

/* Groups first … first + count − 1, in steps of some rows. */
static int run_groups(void *arg, size_t first, size_t count)
{
    const struct rows *rows = arg;
    size_t n = rows->solver->n, steps = (n + NY_LOBPCG_GROUP_STEP - 1) / NY_LOBPCG_GROUP_STEP;
    double *room = ny_alloc(rows->solver->ctx, NY_MEM_SOLVE, (rows->room + 1) * sizeof(double));

    if (!room) return NY_EBUDGET;
    for (size_t g = first; g < first + count; g++) {
        double *sum = rows->sums ? rows->sums + g * rows->C.rows * rows->sum_stride : NULL;

        for (size_t s = g * steps / NY_LOBPCG_GROUPS; s < (g + 1) * steps / NY_LOBPCG_GROUPS; s++) {
            size_t row = s * NY_LOBPCG_GROUP_STEP, left = n - row;

            rows->block(rows, row, left < NY_LOBPCG_GROUP_STEP ? left : NY_LOBPCG_GROUP_STEP, room,
                        sum);
        }
    }
    ny_free(rows->solver->ctx, room);
    return NY_OK;
}

static int run(struct rows *rows)
{
    return ny_parallel_ranges(rows->solver->ctx, NY_LOBPCG_GROUPS, run_groups, rows);
}

/* C = Σ of the groups' sums. */
static int run_sums(struct rows *rows)
{
    struct ny_matrix C = rows->C;
    size_t size;
    int err;

    rows->sum_stride = ny_stride_of(C.cols);
    rows->sums = rows->solver->sums;
    size = C.rows * rows->sum_stride;
    memset(rows->sums, 0, NY_LOBPCG_GROUPS * size * sizeof(double));
    err = run(rows);
    memset(C.at, 0, C.rows * C.cols * sizeof(double));
    for (size_t g = 0; g < NY_LOBPCG_GROUPS && err == NY_OK; g++)
        for (size_t i = 0; i < C.rows; i++)
            for (size_t j = 0; j < C.cols; j++)
                C.at[i * C.cols + j] += rows->sums[g * size + i * rows->sum_stride + j];
    return err;
}

/* ---- dense steps ---------------------------------------------------------------------------- */

NY_CPU_FAMILIES(ny_strip_gram_fn, ny_strip_gram_add)

static void gram_block(const struct rows *rows, size_t first, size_t count, double *room,
                       double *sum)
{
    const struct ny_lobpcg *solver = rows->solver;
    double *const at[] = {solver->x, solver->p, solver->w};
    const size_t columns[] = {rows->span.x, rows->span.p, rows->span.w};
    ny_strip_gram_fn *add = ny_strip_gram_add_families[ny_cpu_family()];

    (void)room;
    for (size_t b = 0; b < 3; sum += columns[b++] * rows->sum_stride)
        for (size_t j = 0; j < rows->sum_stride; j += NY_STRIP_COLUMNS)
            add(&(struct ny_strip_gram){.a = at[b] + first * solver->stride,
                                        .y = rows->Y + first * rows->y_stride + j,
                                        .weight = solver->affinity->degree + first,
                                        .sum = sum + j,
                                        .columns = columns[b],
                                        .a_stride = solver->stride,
                                        .y_stride = rows->y_stride,
                                        .sum_stride = rows->sum_stride},
                count);
}

int ny_lobpcg_gram(const struct ny_lobpcg *solver, struct ny_span span, const double *Y,
                   size_t y_stride, struct ny_matrix M)
{
    struct rows rows = {
        .solver = solver, .span = span, .Y = Y, .y_stride = y_stride, .C = M, .block = gram_block};

    return run_sums(&rows);
}

static void project_block(const struct rows *rows, size_t first, size_t count, double *room,
                          double *sum)
{
    const struct ny_lobpcg *solver = rows->solver;
    struct ny_span span = rows->span;
    struct ny_matrix W = block_of(solver, solver->w, first, count, rows->T.rows);
    struct ny_matrix Z = ny_matrix(room, count, rows->T.cols);

    (void)sum;
    if (span.x)
        ny_gemm(-1, block_of(solver, solver->x, first, count, span.x), ny_rows(rows->C, 0, span.x),
                1, W);
    if (span.p)
        ny_gemm(-1, block_of(solver, solver->p, first, count, span.p),
                ny_rows(rows->C, span.x, span.p), 1, W);
    ny_gemm(1, W, rows->T, 0, Z);
    for (size_t i = 0; i < count; i++) {
        double *row = W.at + i * W.stride;

        memcpy(row, Z.at + i * Z.stride, Z.cols * sizeof(double));
        memset(row + Z.cols, 0, (solver->columns - Z.cols) * sizeof(double));
    }
}

int ny_lobpcg_project(const struct ny_lobpcg *solver, struct ny_span span, struct ny_matrix C,
                      struct ny_matrix T)
{
    struct rows rows = {.solver = solver,
                        .span = span,
                        .room = NY_LOBPCG_GROUP_STEP * T.cols,
                        .C = C,
                        .T = T,
                        .block = project_block};

    return run(&rows);
}

static void rotate_block(const struct rows *rows, size_t first, size_t count, double *room,
                         double *sum)
{
    const struct ny_lobpcg *solver = rows->solver;
    double *const at[] = {solver->x, solver->p, solver->w};
    const size_t columns[] = {rows->span.x, rows->span.p, rows->span.w};
    struct ny_matrix Z = ny_matrix(room, count, rows->T.cols);
    double done = 0;
    size_t from = 0;

    (void)sum;
    for (size_t b = 0; b < 3; from += columns[b++]) {
        if (!columns[b]) continue;
        ny_gemm(1, block_of(solver, at[b], first, count, columns[b]),
                ny_rows(rows->T, from, columns[b]), done, Z);
        done = 1;
    }
    for (size_t i = 0; i < count; i++) {
        const double *row = Z.at + i * Z.stride;

        memcpy(solver->x + (first + i) * solver->stride, row, solver->columns * sizeof(double));
        memcpy(solver->p + (first + i) * solver->stride, row + solver->columns,
               (Z.cols - solver->columns) * sizeof(double));
    }
}

int ny_lobpcg_rotate(const struct ny_lobpcg *solver, struct ny_span span, struct ny_matrix V)
{
    struct rows rows = {.solver = solver,
                        .span = span,
                        .room = NY_LOBPCG_GROUP_STEP * V.cols,
                        .T = V,
                        .block = rotate_block};

    return run(&rows);
}

/* ---- products ------------------------------------------------------------------------------- */

/* Turns D⁻¹(D − A)X, which is in W, into residuals. */
static void residual_block(const struct rows *rows, size_t first, size_t count, double *room,
                           double *sum)
{
    const struct ny_lobpcg *solver = rows->solver;

    (void)room;
    for (size_t i = first; i < first + count; i++) {
        const double *x = solver->x + i * solver->stride;
        double *r = solver->w + i * solver->stride;

        for (size_t j = 0; j < solver->columns; j++) {
            r[j] -= solver->value[j] * x[j];
            sum[j] += solver->affinity->degree[i] * r[j] * r[j];
        }
    }
}

/* Y = D⁻¹(D − A)X of a strip. */
static int multiply(const struct ny_lobpcg *solver, const double *x, double *y, size_t y_stride)
{
    struct ny_laplacian product = {.affinity = solver->affinity,
                                   .inverse = solver->affinity->inverse,
                                   .x = x,
                                   .x_stride = solver->stride,
                                   .y = y,
                                   .y_stride = y_stride,
                                   .factor = 1};

    return ny_laplacian(&product);
}

int ny_lobpcg_residuals(struct ny_lobpcg *solver)
{
    struct rows rows = {.solver = solver,
                        .C = ny_matrix(solver->residual, 1, solver->columns),
                        .block = residual_block};
    int err = NY_OK;

    for (size_t j = 0; j < solver->stride && err == NY_OK; j += NY_STRIP_COLUMNS) {
        err = multiply(solver, solver->x + j, solver->w + j, solver->stride);
        if (err == NY_OK) err = ny_check_interrupt(solver->ctx);
    }
    if (err == NY_OK) err = run_sums(&rows);
    for (size_t j = 0; j < solver->columns && err == NY_OK; j++)
        solver->residual[j] = sqrt(solver->residual[j]);
    return err;
}

int ny_lobpcg_apply(const struct ny_lobpcg *solver, size_t strip)
{
    return multiply(solver, solver->w + strip * NY_STRIP_COLUMNS,
                    solver->grids->grid[solver->grid].r, NY_STRIP_COLUMNS);
}

/* ---- the preconditioner --------------------------------------------------------------------- */

struct strip {
    const struct ny_lobpcg *solver;
    const struct ny_grid *grid;
    size_t first; /* column */
};

/* Loads b = Δ⁻¹D times the residuals. */
static void load_rows(void *arg, size_t first, size_t count)
{
    const struct strip *strip = arg;
    const struct ny_lobpcg *solver = strip->solver;
    double factor[NY_STRIP_COLUMNS];

    for (size_t j = 0; j < NY_STRIP_COLUMNS; j++)
        factor[j] = 1 / fmax(solver->residual[strip->first + j], 0x1p-1000);
    for (size_t i = first; i < first + count; i++) {
        const double *r = solver->w + i * solver->stride + strip->first;
        double *b = strip->grid->b + i * NY_STRIP_COLUMNS;

        for (size_t j = 0; j < NY_STRIP_COLUMNS; j++)
            b[j] = solver->affinity->degree[i] * strip->grid->inverse[i] * factor[j] * r[j];
    }
}

/* Stores the solution in the place of the residuals. */
static void store_rows(void *arg, size_t first, size_t count)
{
    const struct strip *strip = arg;
    const struct ny_lobpcg *solver = strip->solver;

    for (size_t i = first; i < first + count; i++)
        memcpy(solver->w + i * solver->stride + strip->first, strip->grid->x + i * NY_STRIP_COLUMNS,
               NY_STRIP_COLUMNS * sizeof(double));
}

/* Takes eight columns at a time through a cycle, as a worker of the team. */
static int precondition(void *arg, const struct ny_worker *worker)
{
    const struct ny_lobpcg *solver = arg;
    struct strip strip = {solver, &solver->grids->grid[solver->grid], 0};
    int err = NY_OK;

    for (; strip.first < solver->columns && err == NY_OK; strip.first += NY_STRIP_COLUMNS) {
        ny_team_step(worker, solver->n, load_rows, &strip);
        err = ny_multigrid_solve(solver->grids, solver->grid, worker);
        if (err == NY_OK) ny_team_step(worker, solver->n, store_rows, &strip);
    }
    return err;
}

int ny_lobpcg_precondition(struct ny_lobpcg *solver)
{
    return ny_parallel_team(solver->ctx, precondition, solver);
}

static void refine_block(const struct rows *rows, size_t first, size_t count, double *room,
                         double *sum)
{
    const struct ny_lobpcg *solver = rows->solver;

    (void)room;
    (void)sum;
    for (size_t i = first; i < first + count; i++) {
        const double *x = solver->x + i * solver->stride;
        double *w = solver->w + i * solver->stride;

        for (size_t j = 0; j < solver->columns; j++)
            w[j] = x[j] - rows->length * solver->residual[j] * w[j];
    }
}

int ny_lobpcg_refine(const struct ny_lobpcg *solver, double length)
{
    struct rows rows = {.solver = solver, .length = length, .block = refine_block};

    return run(&rows);
}

void ny_lobpcg_rows_count(struct ny_layout *l, size_t columns, unsigned threads)
{
    for (unsigned t = 0; t < threads && t < NY_LOBPCG_GROUPS; t++)
        ny_lay(l, NY_MEM_SOLVE, NY_LOBPCG_GROUP_STEP * 2 * columns + 1, sizeof(double));
}
