#include "api/call.h"

#include "base/memory.h"
#include "linalg/matrix.h"
#include "records/fields.h"

int ny_call_begin(struct ny_context *ctx)
{
    int err;

    ny_fields_begin();
    err = ny_reserve(ctx, NY_MEM_PROCESS, ny_memory_of_process(ctx));
    if (!err) ny_blas_borrow();
    return err;
}

void ny_call_end(struct ny_context *ctx)
{
    ny_blas_return();
    ny_unreserve(ctx, NY_MEM_PROCESS, ny_memory_of_process(ctx));
}
