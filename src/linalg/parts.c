#include "linalg/parts.h"

#include "linalg/blas.h"

int ny_parts_run(struct ny_context *ctx, size_t m, ny_team_fn *work, void *arg)
{
    const size_t alone = 256;
    int threads = openblas_get_num_threads(), err = ny_check_interrupt(ctx);

    if (err) return err;
    ny_blas_serial();
    err = m < alone ? ny_alone(ctx, work, arg) : ny_parallel_team(ctx, work, arg);
    openblas_set_num_threads(threads);
    return err;
}
