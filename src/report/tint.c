/*
 * Finds the colours of a column before points are drawn (report/tint.h): which classes there are,
 * in the order of their values, with their names and numbers of rows, or that it is a quantity.
 * Scenes and reports call it.
 *
 * A column that may be classes is read once, and at most 256 different values are kept, sorted.
 * Clusters and components of a graph are always classes. Labels are, unless more than 256 differ or
 * one is a fraction. Rows beyond the classes that are kept are counted as nameless.
 */
#include "report/tint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/text.h"

/* Returns the place of a value in their order: where it is, or where it belongs. */
static size_t place_of(const struct ny_tint *tint, double value)
{
    size_t low = 0, high = tint->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (tint->classes[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct ny_tint *tint, size_t place, double value)
{
    return place < tint->count && tint->classes[place].value == value;
}

/* Counts a row to the class of its value. *last is the class of the row before, which is tried
 * before the others are searched. */
static void count_value(struct ny_tint *tint, double value, size_t *last)
{
    if (is_at(tint, *last, value)) {
        tint->classes[*last].rows++;
        return;
    }
    *last = place_of(tint, value);
    if (!is_at(tint, *last, value)) {
        if (isnan(value) || tint->count == NY_CLASSES_MAX) {
            tint->nameless++;
            return;
        }
        memmove(&tint->classes[*last + 1], &tint->classes[*last],
                (tint->count - *last) * sizeof(*tint->classes));
        tint->classes[*last] = (struct ny_tint_class){.value = value};
        tint->count++;
    }
    tint->classes[*last].rows++;
}

static int count_classes(struct ny_tint *tint, struct ny_data_frame *frame)
{
    const double *values = frame->column[tint->column].values;
    size_t last = 0;
    int err = NY_OK;

    for (uint64_t first = 0; err == NY_OK && first < frame->n; first += frame->piece) {
        size_t count = frame->n - first < frame->piece ? (size_t)(frame->n - first) : frame->piece;

        err = ny_check_interrupt(frame->ctx);
        if (err == NY_OK) err = ny_data_frame_read_column(frame, tint->column, first, count);
        for (size_t i = 0; err == NY_OK && i < count; i++)
            count_value(tint, values[i], &last);
    }
    return err;
}

/* Names the classes: labels by the names that the import stored, and others by their number. */
static int name_classes(struct ny_tint *tint, struct ny_data_frame *frame)
{
    char **names = NULL;
    size_t named = 0;
    int err = NY_OK;

    if (strcmp(tint->name, "label") == 0)
        err = ny_points_class_names(frame->result.store, &names, &named);
    for (size_t k = 0; err == NY_OK && k < tint->count; k++) {
        struct ny_tint_class *class = &tint->classes[k];

        if (class->value >= 0 && class->value < (double)named) {
            ny_clean_text(names[(size_t) class->value], class->name, sizeof(class->name));
        } else {
            ny_decimal_print(class->name, sizeof(class->name), "%.15g", class->value);
        }
    }
    ny_free(tint->ctx, names);
    return err;
}

/* Tells whether the values are classes. Many different labels, or fractions, are a quantity. */
static bool looks_like_classes(const struct ny_tint *tint, const struct ny_data_frame *frame)
{
    if (frame->column[tint->column].classes) return true;
    if (tint->count == NY_CLASSES_MAX && tint->nameless) return false;
    for (size_t k = 0; k < tint->count; k++)
        if (!isfinite(tint->classes[k].value) ||
            tint->classes[k].value != floor(tint->classes[k].value))
            return false;
    return true;
}

/* Makes the column one of classes if its values are such; else it stays a quantity. */
static int take_classes(struct ny_tint *tint, struct ny_data_frame *frame)
{
    int err;

    tint->classes = ny_calloc(tint->ctx, NY_MEM_OTHER, NY_CLASSES_MAX, sizeof(*tint->classes));
    err = tint->classes ? count_classes(tint, frame) : NY_EBUDGET;
    if (err) return err;
    if (!looks_like_classes(tint, frame)) return NY_OK;
    tint->kind = NY_RASTER_CLASSES;
    return name_classes(tint, frame);
}

int ny_tint_new(struct ny_tint *tint, struct ny_data_frame *frame, const char *name)
{
    const struct ny_frame_column *column;
    int err;

    *tint = (struct ny_tint){.ctx = frame->ctx, .kind = NY_RASTER_AMOUNT};
    if (strcmp(name, "auto") == 0) name = ny_data_frame_has(frame, "label") ? "label" : "density";
    if (strcmp(name, "density") == 0) return NY_OK;
    err = ny_data_frame_add(frame, name, &tint->column);
    if (err) return err;
    column = &frame->column[tint->column];
    tint->name = column->points ? column->points->title : name;
    tint->kind = NY_RASTER_VALUES;
    return column->part && strcmp(column->part->name, "residuals") != 0 ? take_classes(tint, frame)
                                                                        : NY_OK;
}

void ny_tint_release(struct ny_tint *tint)
{
    if (tint->ctx) ny_free(tint->ctx, tint->classes);
    tint->ctx = NULL;
}

double ny_tint_of(const struct ny_tint *tint, double value)
{
    size_t place;

    if (tint->kind == NY_RASTER_VALUES)
        return !isfinite(value) ? NAN : fmin(fmax(ny_axis_place(&tint->range, value), 0), 1);
    if (tint->kind == NY_RASTER_AMOUNT) return 0;
    place = place_of(tint, value);
    return is_at(tint, place, value) ? (double)place : -1;
}
