/* The names of the columns that a model places: what its rows have in common with others, and its
 * columns in another order (model/model.h). */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"

struct ny_party ny_model_party(const struct ny_model *model, const char *whose)
{
    return (struct ny_party){.whose = whose,
                             .traits = {.d = model->d,
                                        .dtype = model->spec.dtype,
                                        .layout = model->spec.slots ? NY_CSR : NY_DENSE,
                                        .preparation = model->spec.preparation,
                                        .columns = ny_names_digest(&model->columns)},
                             .columns = &model->columns};
}

int ny_model_names_load(struct ny_model *model, const char *text, size_t bytes, const char *where)
{
    bool whole;
    size_t count = ny_names_count(text, bytes, &whole);

    if (!bytes) return NY_OK;
    if (whole && count == model->d)
        return ny_names_append(&model->columns, model->ctx, text, count);
    return ny_fail(model->ctx, NY_ESTORE,
                   "the names of columns in %s are damaged; export the model again", where);
}

/* ---- another order ----------------------------------------------------------------------------
 */

/* Puts the `count` things of a row, of so many bytes each, in the order of the places. */
static void turn(char *row, size_t bytes, const uint32_t *place, size_t count, char *room)
{
    memcpy(room, row, count * bytes);
    for (size_t j = 0; j < count; j++)
        memcpy(row + j * bytes, room + place[j] * bytes, bytes);
}

/* A value of a sparse row: where it comes to stand, and where it stood. */
struct moved {
    uint32_t column, from;
};

static int by_column(const void *a, const void *b)
{
    uint32_t x = ((const struct moved *)a)->column, y = ((const struct moved *)b)->column;

    return (x > y) - (x < y);
}

/* Puts a sparse row, which is packed in memory of the model, in the new order: now[j] is the place
 * of what was column j. */
static void turn_sparse(struct ny_sparse row, size_t bytes, const uint32_t *now,
                        struct moved *moved, char *room)
{
    uint32_t *index = (uint32_t *)row.index;
    char *value = (char *)row.value;

    for (size_t k = 0; k < row.count; k++)
        moved[k] = (struct moved){now[index[k]], (uint32_t)k};
    qsort(moved, row.count, sizeof(*moved), by_column);
    memcpy(room, value, row.count * bytes);
    for (size_t k = 0; k < row.count; k++) {
        index[k] = moved[k].column;
        memcpy(value + k * bytes, room + moved[k].from * bytes, bytes);
    }
}

/* Puts the landmarks in the new order; `room` has 8 bytes a column. */
static int turn_landmarks(struct ny_model *model, const uint32_t *place, char *room)
{
    size_t bytes = ny_dtype_size(model->spec.dtype), d = model->d;
    uint32_t *now = ny_calloc(model->ctx, NY_MEM_MODEL, d, sizeof(*now));
    struct moved *moved = ny_calloc(model->ctx, NY_MEM_MODEL, d, sizeof(*moved));
    int err = now && moved ? NY_OK : NY_EBUDGET;

    for (size_t j = 0; !err && j < d; j++)
        now[place[j]] = (uint32_t)j;
    for (size_t i = 0; !err && model->landmarks && i < model->m; i++)
        turn((char *)model->landmarks + i * d * bytes, bytes, place, d, room);
    for (size_t i = 0; !err && i < model->sparse.count; i++)
        turn_sparse(model->sparse.row[i], bytes, now, moved, room);
    ny_free(model->ctx, moved);
    ny_free(model->ctx, now);
    return err;
}

int ny_model_turn(struct ny_model *model, const uint32_t *place, const struct ny_names *names)
{
    struct ny_geometry *geometry = (struct ny_geometry *)model->spec.geometry;
    bool columns = model->spec.kernel->base == NY_BASE_COORDINATE; /* a and P have a row for each */
    size_t d = model->d, wide = columns ? model->p * sizeof(double) : sizeof(double);
    char *room = ny_calloc(model->ctx, NY_MEM_MODEL, d, wide);
    int err = room ? turn_landmarks(model, place, room) : NY_EBUDGET;

    if (err) goto done;
    turn((char *)geometry->centre, sizeof(double), place, d, room);
    turn((char *)geometry->factor, sizeof(double), place, d, room);
    if (columns) {
        turn((char *)model->a, sizeof(double), place, d, room);
        turn((char *)model->P, wide, place, d, room);
    }
    ny_names_clear(&model->columns);
    err = ny_names_append(&model->columns, model->ctx, names->text, names->count);
done:
    ny_free(model->ctx, room);
    return err;
}
