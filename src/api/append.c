/*
 * ny_append and the appender: rows in memory into the points of a store. Each is an import
 * (api/import.c) whose sources are tables instead of files. Another import is of a source that a
 * call reads and forgets.
 *
 * A call of ny_append() is known after a kill by a digest of the table: the same one goes on
 * behind the rows that were staged. The tables of an appender come one by one and are not there
 * again after a kill, so that what a killed one staged is discarded by the next import.
 */
#include "api/call.h"
#include "api/import_private.h"
#include "api/settings.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"
#include "io/memory.h"

struct ny_appender {
    struct ny_import import;
    double started_s;
    bool failed, committed;
};

/* Options that say how to read a file. */
static const char of_files[] = "format|labels|label-column|id-column|header|columns|drop-columns|"
                               "dims|transpose|matrix|column-names|decimal|shards";

/* Begins an import of tables, whose rows are added to what the store has by then. */
static int enter(struct ny_import *import, const char *path, const struct ny_options *options)
{
    int err = ny_import_prepare(import, options);

    import->asked.spec.append = true;
    if (!err && options) err = ny_options_refuse(options, of_files, "rows in memory");
    return err ? err : ny_import_enter(import, path);
}

int ny_append(struct ny_context *context, const char *path, const struct ny_table *table,
              const struct ny_options *options, struct ny_report **report)
{
    struct ny_import import = {.ctx = context};
    struct ny_table rows;
    double started_s = ny_now();
    int err = NY_GIVEN(context, path, table);

    if (report) *report = NULL;
    if (!err) err = ny_given_table(context, table, &rows);
    if (err) return err;
    err = enter(&import, path, options);
    if (!err) err = ny_memory_check(context, &rows);
    if (!err) {
        const uint64_t parts[2] = {import.asked.spec.fingerprint, ny_memory_digest(&rows)};

        import.asked.spec.fingerprint =
            ny_checksum(parts, sizeof(parts)); /* the same call, after a kill */
        err = ny_import_source(&import, (struct ny_import_source){.table = &rows, .alone = true});
    }
    if (import.store) err = ny_import_finish(&import, err);
    if (!err) err = ny_import_describe(&import, ny_now() - started_s, report);
    ny_import_leave(&import);
    return err;
}

int ny_append_rows(struct ny_context *context, const char *path, const float *values, uint64_t rows,
                   uint64_t d, const double *labels)
{
    const struct ny_table table = {.struct_bytes = sizeof(table),
                                   .dtype = NY_F32,
                                   .rows = rows,
                                   .columns = d,
                                   .values = values,
                                   .labels = labels};
    int err = NY_GIVEN(context, path, values);

    if (!err) err = ny_given_rows(context, rows, d);
    return err ? err : ny_append(context, path, &table, NULL, NULL);
}

/* ---- into a store that the context holds --------------------------------------------------- */

int ny_import_held(struct ny_context *ctx, const char *path, struct ny_import_source source,
                   const struct ny_options *options, struct ny_import_found *found)
{
    bool charged = ny_memory_limit(ctx) >= 2 * NY_PROCESS_BYTES;
    struct ny_import import = {
        .ctx = ctx, .asked = {.reading = ny_settings_reader(options), .memory = SIZE_MAX}};
    struct ny_reader_options *reading = &import.asked.reading;
    int err = ny_settings_preparation(ctx, options, &import.asked.spec.preparation);

    reading->nan_option = reading->names = true;
    reading->notes = source.file;
    reading->reading = ny_settings_layout(options);
    if (!err && charged) err = ny_import_work(&import);
    if (!err) err = ny_store_create(&import.store, ctx, path);
    ny_progress_begin(ctx, NULL, 0); /* there is no plan before the rows are there */
    if (!err) err = ny_import_finish(&import, ny_import_source(&import, source));
    ny_progress_end(ctx);
    if (found) *found = (struct ny_import_found){import.consumed, import.left_out};
    ny_import_leave(&import);
    return err;
}

/* ---- a table at a time -------------------------------------------------------------------- */

int ny_appender_open(struct ny_appender **out, struct ny_context *context, const char *path,
                     const struct ny_options *options)
{
    struct ny_appender *appender;
    int err = NY_GIVEN(context, out, path);

    if (out) *out = NULL;
    if (err) return err;
    appender = ny_calloc(context, NY_MEM_IO, 1, sizeof(*appender));
    if (!appender) return NY_EBUDGET;
    appender->import.ctx = context;
    appender->started_s = ny_now();
    err = enter(&appender->import, path, options);
    ny_import_rest(&appender->import);
    /* Nobody comes with the same tables again. */
    appender->import.asked.spec.fingerprint =
        ny_checksum(&appender->started_s, sizeof(appender->started_s)) ^ (uintptr_t)appender;
    if (err)
        ny_appender_free(appender);
    else
        *out = appender;
    return err;
}

/* Refuses a call with an appender that has failed, or has committed its rows. */
static int check_usable(const struct ny_appender *appender, const char *function)
{
    struct ny_context *ctx = appender->import.ctx;

    if (!appender->failed && !appender->committed) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "%s() was called after the end; open another appender",
                   function);
}

int ny_appender_put(struct ny_appender *appender, const struct ny_table *table)
{
    struct ny_table rows;
    int err = NY_GIVEN(appender ? appender->import.ctx : NULL, table);

    if (!err) err = check_usable(appender, __func__);
    if (!err) err = ny_given_table(appender->import.ctx, table, &rows);
    if (!err && rows.rows) {
        err = ny_import_work(&appender->import);
        if (!err)
            err = ny_import_source(&appender->import, (struct ny_import_source){.table = &rows});
        ny_import_rest(&appender->import);
    }
    if (appender) appender->failed = appender->failed || err;
    return err;
}

int ny_appender_commit(struct ny_appender *appender, struct ny_report **report)
{
    struct ny_import *import = appender ? &appender->import : NULL;
    int err = NY_GIVEN(import ? import->ctx : NULL, appender);

    if (report) *report = NULL;
    if (!err) err = check_usable(appender, __func__);
    if (err) return err;
    if (!ny_import_began(import))
        return ny_fail(import->ctx, NY_EDATA, "no rows were put into the appender");
    err = ny_import_work(import);
    if (err) return err;
    err = ny_import_finish(import, NY_OK);
    appender->failed = err != NY_OK;
    appender->committed = !err;
    if (!err) err = ny_import_describe(import, ny_now() - appender->started_s, report);
    ny_ingest_free(import->ingest);
    import->ingest = NULL;
    ny_import_rest(import);
    return err;
}

void ny_appender_free(struct ny_appender *appender)
{
    struct ny_context *ctx;

    if (!appender) return;
    ctx = appender->import.ctx;
    if (appender->import.ingest) ny_ingest_discard(appender->import.ingest);
    ny_ingest_free(appender->import.ingest);
    appender->import.ingest = NULL;
    ny_store_withdraw(appender->import.store);
    ny_import_leave(&appender->import);
    ny_free(ctx, appender);
}
