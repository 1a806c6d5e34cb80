/*
 * ny_embed: from rows in memory to coordinates in memory in one call. The rows are read where they
 * are, by a store that is in memory, too, and ends with the call; ny_embed of a file is
 * api/embed_file.c.
 */
#include <math.h>
#include <string.h>

#include "api/fit.h"
#include "api/call.h"
#include "api/options.h"
#include "api/report.h"
#include "base/memory.h"
#include "io/memory.h"
#include "model/extension.h"
#include "records/fields.h"
#include "model/map.h"
#include "spectral/method.h"
#include "store/store.h"

static const char result[] = "embedding";

/* Writes coordinates into the room, from value `at` on. */
static void convert(int from, const void *values, const struct ny_dense_room *room, size_t at,
                    size_t count)
{
    enum ny_dtype to = (enum ny_dtype)room->dtype;

    ny_dtype_widen((enum ny_dtype)from, values, to, (char *)room->values + at * ny_dtype_size(to),
                   count);
}

/* Sets all coordinates to NaN: a map of a graph may leave rows without a place. */
static void clear(const struct ny_dense_room *room, size_t count)
{
    const double nothing = NAN;

    for (size_t i = 0; i < count; i++)
        convert(NY_F64, &nothing, room, i, 1);
}

/* Reads the embedding, each row to its place in the store. */
static int read_embedding(struct ny_context *ctx, const char *store, const char *name,
                          uint64_t table_rows, const struct ny_dense_room *room)
{
    enum { PIECE = 1024 };
    uint64_t rows = 0, columns = 0, places[PIECE];
    struct ny_view *view;
    void *piece = NULL;
    int type = 0, err = ny_view_open(&view, ctx, store, name);

    if (!err) err = ny_view_shape(view, "embedding", &rows, &columns, &type);
    if (!err) piece = ny_calloc(ctx, NY_MEM_IO, PIECE, (size_t)columns * sizeof(double));
    if (!err && !piece) err = NY_EBUDGET;
    if (!err && rows < table_rows) clear(room, (size_t)(table_rows * columns));
    for (uint64_t first = 0; !err && first < rows; first += PIECE) {
        uint64_t count = rows - first < PIECE ? rows - first : PIECE;

        err = ny_view_read(view, "embedding", first, count, piece);
        if (!err) err = ny_view_read(view, "rows", first, count, places);
        for (size_t i = 0; !err && i < count; i++)
            convert(type, (char *)piece + i * columns * ny_dtype_size((enum ny_dtype)type), room,
                    (size_t)(places[i] * columns), (size_t)columns);
    }
    ny_free(ctx, piece);
    ny_view_free(view);
    return err;
}

static int check_room(struct ny_context *ctx, const struct ny_dense_room *room)
{
    int err = room ? NY_GIVEN(ctx, room->values) : NY_OK;

    if (!err && room && room->dtype != NY_F32 && room->dtype != NY_F64)
        return ny_fail(ctx, NY_EUSAGE, "coordinates must be of type NY_F32 or NY_F64");
    return err;
}

int ny_fit_into(struct ny_context *context, const char *path, const char *name,
                const struct ny_options *options, const struct ny_dense_room *room,
                struct ny_report **report)
{
    struct ny_row_room rows = {0};
    struct ny_report *told = NULL;
    uint64_t n;
    int err = NY_GIVEN(context, path, name);

    if (report) *report = NULL;
    if (!err) err = check_room(context, room);
    if (err) return err;
    if (room) rows = (struct ny_row_room){.dtype = room->dtype, .rows = room->values};
    err = ny_fit_room(context, path, name, options, &rows, &told);
    n = err ? 0 : ny_field_count(ny_report_object(told), "n", 0);
    if (!err && room && !rows.filled) err = read_embedding(context, path, name, n, room);
    if (report && !err)
        *report = told;
    else
        ny_report_free(told);
    return err;
}

/* Refuses to make a model of what places new points by all points. */
static int check_model(struct ny_context *ctx, const struct ny_options *options)
{
    const struct ny_map *map = ny_options_map(options);
    const char *approx = ny_options_get(options, "approx");

    if (!ny_map_needs_points(map, approx ? ny_method_find(approx) : NULL)) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "--%s %s has no model; fit a store, and place rows with ny_place_rows()",
                   map->graph ? "map" : "approx", map->graph ? map->name : approx);
}

/* Checks what is wanted before anything is made. */
static int check(struct ny_context *ctx, const struct ny_options *options,
                 const struct ny_dense_room *room, bool models)
{
    int err = check_room(ctx, room);

    if (!err && models) err = check_model(ctx, options);
    if (err) return err;
    if (strcmp(ny_options_get(options, "nan"), "error") != 0)
        return ny_fail_idle(ctx, "nan", "rows in memory");
    return ny_options_check(options, NY_GROUP_FIT | NY_GROUP_EMBED);
}

int ny_embed(struct ny_context *context, const struct ny_table *table,
             const struct ny_options *options, const struct ny_dense_room *room,
             struct ny_model **model, struct ny_report **report)
{
    struct ny_options none;
    struct ny_table given;
    const char *name;
    int err = NY_GIVEN(context, table);

    if (report) *report = NULL;
    if (model) *model = NULL;
    if (!err) err = ny_given_table(context, table, &given);
    if (!err) err = ny_memory_check(context, &given);
    options = ny_options_given(options, context, &none);
    if (!err) err = check(context, options, room, model != NULL);
    if (err) return err;
    name = ny_memory_name(&given);
    err = ny_borrow(context, name, &given, options, NULL);
    if (!err) err = ny_fit_into(context, name, result, options, room, report);
    if (!err && model) err = ny_model_open(model, context, name, result);
    ny_store_hold(context, NULL);
    if (err && report) {
        ny_report_free(*report);
        *report = NULL;
    }
    return err;
}
