/* ny_resume: goes on with a job of any kind. */
#include "api/given.h"
#include "api/sharded.h"
#include "shards/whole.h"

int ny_resume(struct ny_context *context, const char *path, const char *name,
              struct ny_report **report)
{
    static const struct ny_request_kind *const kinds[] = {&ny_request_fit, &ny_request_select,
                                                          &ny_request_graph, NULL};
    bool whole = false;
    int err = NY_GIVEN(context, path, name);

    if (report) *report = NULL;
    if (!err) err = ny_whole_has(context, path, name, &whole);
    if (!err && !whole && ny_shards_at(path))
        return ny_sharded_resume(kinds, context, path, name, report);
    return err ? err : ny_request_resume(kinds, context, path, name, report);
}
