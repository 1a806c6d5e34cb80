/* ny_import: checks the files that were named, which are then imported into one store
 * (api/import.c) or dealt out to the shards of one (api/import_dealt.c). */
#include <string.h>

#include "api/given.h"
#include "api/import.h"

/* A store holds numbers alone, from which kernels, means and widths are computed. */
static int check_nan(struct ny_context *ctx, const struct ny_options *options)
{
    const char *nan = options ? ny_options_get(options, "nan") : NULL;

    if (!nan || strcmp(nan, "keep") != 0) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "--nan keep is for embed and transform; give --nan drop");
}

int ny_import(struct ny_context *context, const char *path, const char *const *files, size_t count,
              const struct ny_options *options, struct ny_report **report)
{
    const struct ny_import_files all = {.names = files, .count = count};
    int err = NY_GIVEN(context, path, files);

    if (report) *report = NULL;
    for (size_t i = 0; !err && i < count; i++)
        err = NY_GIVEN(context, files[i]);
    if (!err) err = check_nan(context, options);
    if (err) return err;
    return options && ny_options_is_set(options, "shards")
               ? ny_import_dealt(context, path, &all, options, report)
               : ny_import_all(context, path, &all, options, report);
}
