/* ny_resume: goes on with a job of any kind. */
#include "api/sharded.h"

int ny_resume(struct ny_context *context, const char *path, const char *name,
              struct ny_report **report)
{
    static const struct ny_request_kind *const kinds[] = {&ny_request_fit, &ny_request_select,
                                                          &ny_request_graph, NULL};
    const struct ny_request_call call = {.path = path, .name = name, .kinds = kinds};

    return ny_request_any(context, &call, report);
}
