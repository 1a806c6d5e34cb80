/*
 * ny_embed_file: from a file of points to a file of coordinates in one call. The rows are mapped
 * (api/import_kept.c), and a store that is in memory reads them, as that of ny_embed() does its
 * table.
 */
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/import.h"
#include "api/report.h"
#include "base/text.h"
#include "io/output.h"
#include "io/writer.h"
#include "results/beside.h"
#include "results/names.h"

enum { FOLDER_BYTES = 4096 };

static const char result[] = "embedding";

/* Chooses the folder for temporary files: --tmpdir, else that of the output, or the current one
 * where the output is "-". */
static void choose_folder(char folder[FOLDER_BYTES], const char *output,
                          const struct ny_options *options)
{
    const char *typed = ny_options_get(options, "tmpdir"), *slash = strrchr(output, '/');
    int length = slash == output ? 1 : slash ? (int)(slash - output) : 0;

    if (typed)
        snprintf(folder, FOLDER_BYTES, "%s", typed);
    else
        snprintf(folder, FOLDER_BYTES, "%.*s", length ? length : 1, length ? output : ".");
}

/* Reads the file into a store that the context holds. */
static int hold_file(struct ny_context *ctx, const char *name, const char *file, const char *folder,
                     const struct ny_options *options, struct ny_import_found *found)
{
    int err = ny_temporary(ctx, name, folder);

    if (err) return err;
    return ny_import_held(ctx, name, (struct ny_import_source){.file = file, .alone = true},
                          options, found);
}

/* Refuses rows without names where the output has them, before anything is fitted. */
static int check_names(struct ny_context *ctx, const char *name, const char *output)
{
    struct ny_store *store = NULL;
    struct ny_names_part names;
    int err;

    if (!ny_output_text(output).samples) return NY_OK;
    err = ny_call_open(&store, ctx, name, NULL);
    if (!err) err = ny_names_part_find(&names, store, NULL, "ids");
    ny_call_close(store);
    return err;
}

/* Writes the embedding as the output asks, or its eigenvalues, for PLINK; `rows` not 0: with a row
 * for each of so many of the file, NaN for those that were left out. */
static int write_result(struct ny_context *ctx, const char *name, uint64_t rows, const char *output)
{
    const char *part = ny_ends_with(output, ".eigenval") ? "eigenvalues" : "embedding";
    struct ny_store *store = NULL;
    struct ny_beside beside = {.end = UINT64_MAX, .spread = rows};
    int err = ny_call_open(&store, ctx, name, NULL);

    if (!err && ny_output_text(output).samples) err = ny_beside_parse(&beside, ctx, NULL, output);
    if (!err) err = ny_part_export_beside(store, result, part, output, &beside);
    ny_call_close(store);
    return err;
}

int ny_embed_file(struct ny_context *context, const char *file, const char *output,
                  const struct ny_options *options, struct ny_report **report)
{
    struct ny_options none, *of_fit = NULL;
    struct ny_import_found found;
    char folder[FOLDER_BYTES];
    const char *name;
    bool keeps;
    int err = NY_GIVEN(context, file, output);

    if (report) *report = NULL;
    if (!err) err = ny_output_check(context, output, NY_OUTPUT_TABLE);
    if (!err) err = ny_writer_apart(context, output, file);
    if (!err) err = ny_writer_check(context, output); /* now, not when the work is done */
    options = ny_options_given(options, context, &none);
    if (!err) err = ny_options_check(options, NY_GROUP_FIT | NY_GROUP_EMBED);
    if (!err) err = ny_options_copy(&of_fit, options, "");
    if (!err) err = ny_options_set(of_fit, "restart", "no"); /* there is nothing to replace */
    if (err) goto done;
    keeps = strcmp(ny_options_get(options, "nan"), "keep") == 0;
    if (keeps && (ny_output_text(output).samples || ny_ends_with(output, ".eigenval")))
        err = ny_fail_idle(context, "nan keep", output);
    if (err) goto done;
    name = strcmp(file, "-") == 0 ? "standard input" : file;
    choose_folder(folder, output, options);
    err = hold_file(context, name, file, folder, options, &found);
    if (!err) err = check_names(context, name, output);
    if (!err) err = ny_fit(context, name, result, of_fit, report);
    if (!err && report) {
        ny_fields_begin();
        ny_import_tell_dropped(ny_report_object(*report), &found.dropped);
        err = ny_fields_check(context);
    }
    if (!err) err = write_result(context, name, keeps ? found.consumed : 0, output);
    ny_store_hold(context, NULL);
done:
    ny_options_free(of_fit);
    return err;
}
