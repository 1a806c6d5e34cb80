/*
 * ny_embed_file: from a file of points to a file of coordinates in one call. The rows are imported
 * into a temporary store, fitted and exported, and the store is removed again, after an error too.
 * An online fit begins with the first rows, while the rest of the file is still being read.
 *
 * Messages name the input and not the temporary store (ny_scratch_told()), as the user has never
 * heard of that.
 */
#include <stdio.h>
#include <string.h>

#include "api/fit.h"
#include "api/call.h"
#include "api/foresee.h"
#include "api/given.h"
#include "api/import.h"
#include "api/settings.h"
#include "api/report.h"
#include "api/scratch.h"
#include "api/shape.h"
#include "base/memory.h"
#include "base/progress.h"
#include "results/export.h"
#include "io/output.h"
#include "io/writer.h"

/* The folder of a file name: "." where it names none. */
static void folder_of(const char *file, char *folder, size_t size)
{
    const char *slash = strrchr(file, '/');

    if (!slash)
        snprintf(folder, size, ".");
    else if (slash == file)
        snprintf(folder, size, "/");
    else
        snprintf(folder, size, "%.*s", (int)(slash - file), file);
}

/* Makes a folder for the temporary store, which takes about as much room as the points. It is
 * made in --tmpdir, else in the folder of the output, or in the current one where the output is
 * "-". */
static int make_folder(struct ny_context *ctx, const char *output, const struct ny_options *options,
                       struct ny_scratch_folder *made)
{
    const char *typed = ny_options_text(options, "tmpdir");
    char folder[4096];

    if (typed)
        snprintf(folder, sizeof(folder), "%s", typed);
    else if (strcmp(output, "-") == 0)
        snprintf(folder, sizeof(folder), ".");
    else
        folder_of(output, folder, sizeof(folder));
    return ny_scratch_make(ctx, folder, made);
}

/* Names the only result of the temporary store. */
static const char result[] = "embedding";

/* Tells whether a fit can begin with the first rows: it is online and does not need all. */
static bool takes_arrivals(const struct ny_options *options)
{
    static const char *const counts[] = {"landmarks", "probe"};
    const char *scale = ny_options_text(options, "scale"); /* NULL where it could not act */
    bool alone = (!scale || strcmp(scale, "none") == 0) && !ny_options_flag(options, "shuffle") &&
                 !ny_options_is_set(options, "landmarks-file") &&
                 !ny_options_is_set(options, "landmarks-points") &&
                 !ny_options_is_set(options, "landmarks-from") &&
                 !ny_options_is_set(options, "features");
    uint64_t count;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) /* at most n */
        if (ny_options_size(options, counts[i], &count) && count > NY_ONLINE_ROWS) alone = false;
    return alone && ny_options_flag(options, "online");
}

/* Waits, for the fit, until the store has `rows` rows or the file ends (struct ny_arrivals). */
static int await(void *import, uint64_t rows, uint64_t *n)
{
    return ny_import_next(import, rows, n);
}

/* Lets a budget without room for the rows be refused with what the whole fit needs, if the file
 * tells their shape. */
static void foresee(struct ny_context *context, const char *file, const struct ny_options *options)
{
    const struct ny_reader_options reading = ny_settings_reader(options);
    struct ny_points_shape shape;
    char said[1024];

    snprintf(said, sizeof(said), "%s", ny_context_message(context));
    ny_error_clear(context);
    if (!ny_shape_of_file(context, file, &reading, &shape)) shape.rows = 0;
    ny_fail(context, NY_EBUDGET, "%s", said);
    if (shape.rows) ny_foresee_refusal(context, options, &shape);
}

/* One thread: the fit asks for the rows of its next batch, which are read and committed then. */
static int fit_arrivals(struct ny_context *context, const char *store, const char *file,
                        const struct ny_options *options, struct ny_import_dropped *dropped,
                        struct ny_report **report)
{
    struct ny_import *import;
    uint64_t n;
    int err = ny_import_begin(&import, context, store, file, options);
    const struct ny_arrivals arrivals = {await, import};
    bool began;

    if (err == NY_OK) err = ny_import_next(import, NY_ONLINE_ROWS, &n);
    began = err == NY_OK;
    if (began) err = ny_fit_arrivals(context, store, options, &arrivals, result, report);
    if (err == NY_OK) *dropped = *ny_import_left_out(import);
    ny_import_end(import);
    if (err == NY_EBUDGET && !began) foresee(context, file, options);
    return err;
}

/* Imports the whole file before the fit begins: for options that need all rows first. */
static int fit_all(struct ny_context *context, const char *store, const char *file,
                   const struct ny_options *options, struct ny_import_dropped *dropped,
                   struct ny_report **report)
{
    int err;

    ny_progress_begin(context, NULL, 0); /* there is no plan before the rows are there */
    err = ny_import_all(context, store, &(struct ny_import_files){.names = &file, .count = 1},
                        options, dropped, NULL);
    ny_progress_end(context);
    if (err == NY_EBUDGET) foresee(context, file, options);
    return err ? err : ny_fit(context, store, result, options, report);
}

/* Adds to the report of the fit which rows the import left out. */
static int tell_dropped(struct ny_context *ctx, struct ny_report *report,
                        const struct ny_import_dropped *dropped)
{
    ny_fields_begin();
    ny_import_tell_dropped(ny_report_object(report), dropped);
    return ny_fields_check(ctx);
}

/* The embedding with a row for each row of the file: NaN for those that were left out. */
static int export_in_place(struct ny_context *ctx, const char *path, const char *output)
{
    struct ny_store *store = NULL;
    struct ny_rows_info points;
    int err = ny_call_begin(ctx);

    if (err) return err;
    err = ny_store_open(&store, ctx, path);
    if (err == NY_OK) err = ny_points_info(store, &points);
    if (err == NY_OK) err = ny_embedding_spread(store, result, output, points.n + points.dropped);
    ny_store_close(store);
    ny_call_end(ctx);
    return err;
}

int ny_embed_file(struct ny_context *context, const char *file, const char *output,
                  const struct ny_options *options, struct ny_report **report)
{
    struct ny_scratch_folder folder;
    char store[4300];
    struct ny_import_dropped dropped = {0};
    struct ny_options none, *of_fit = NULL;
    int err = NY_GIVEN(context, file, output);

    if (report) *report = NULL;
    if (!err) err = ny_output_check(context, output, NY_OUTPUT_TABLE);
    if (!err) err = ny_writer_apart(context, output, file);
    if (!err) err = ny_writer_check(context, output); /* now, not when the work is done */
    options = ny_options_given(options, context, &none);
    if (!err) err = ny_options_check(options, NY_GROUP_FIT | NY_GROUP_EMBED);
    if (!err) err = ny_options_copy(&of_fit, options);
    if (!err) err = ny_options_set(of_fit, "restart", "no"); /* the store is new */
    if (!err) err = make_folder(context, output, options, &folder);
    if (err) goto done;
    snprintf(store, sizeof(store), "%s/store.nys", folder.path);
    err = takes_arrivals(options) ? fit_arrivals(context, store, file, of_fit, &dropped, report)
                                  : fit_all(context, store, file, of_fit, &dropped, report);
    if (err == NY_OK && report) err = tell_dropped(context, *report, &dropped);
    if (err == NY_OK)
        err = strcmp(ny_options_text(options, "nan"), "keep") == 0
                  ? export_in_place(context, store, output)
                  : ny_export(context, store, result, "embedding", output);
    ny_scratch_remove(&folder);
    if (err) ny_scratch_told(context, store, strcmp(file, "-") == 0 ? "standard input" : file);
done:
    ny_options_free(of_fit);
    return err;
}
