#include "report/scree.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "report/words.h"

/* Draws the bar within which the eigenvalue is that of all rows. */
static void draw_error(struct ny_canvas *canvas, const struct ny_plot_frame *f,
                       const struct ny_result *result, size_t k, double x)
{
    double value = ny_eigenvalue(result, k), error = value * ny_eigenvalue_error(result, k);

    if (!(error > 0)) return;
    ny_ink(canvas, ny_class_color[0], 0.35);
    ny_cairo.set_line_width(canvas->cr, 6 * canvas->scale);
    ny_cairo.move_to(canvas->cr, ny_data_frame_x(f, x), ny_data_frame_y(f, value - error));
    ny_cairo.line_to(canvas->cr, ny_data_frame_x(f, x), ny_data_frame_y(f, value + error));
    ny_cairo.stroke(canvas->cr);
}

static void draw_values(struct ny_canvas *canvas, const struct ny_plot_frame *f,
                        const struct ny_result *result, size_t count)
{
    double radius = fmin(9, fmax(3, 300 / (double)count)) * canvas->scale;
    double first = (double)ny_eigenvalue_first(result);

    count = ny_eigenvalues_known(result, count);
    for (size_t k = 0; k < count; k++)
        draw_error(canvas, f, result, k, first + (double)k);
    ny_ink(canvas, ny_class_color[0], 1);
    ny_cairo.set_line_width(canvas->cr, 2.5 * canvas->scale);
    for (size_t k = 0; k < count; k++)
        ny_cairo.line_to(canvas->cr, ny_data_frame_x(f, first + (double)k),
                         ny_data_frame_y(f, ny_eigenvalue(result, k)));
    ny_cairo.stroke(canvas->cr);
    for (size_t k = 0; k < count; k++) {
        ny_ink(canvas, ny_class_color[0], 1);
        ny_mark(canvas, ny_data_frame_x(f, first + (double)k),
                ny_data_frame_y(f, ny_eigenvalue(result, k)), radius, NY_DISC);
    }
}

void ny_scree_axes(const struct ny_result *result, size_t count, struct ny_axis *x,
                   struct ny_axis *y)
{
    double first = (double)ny_eigenvalue_first(result);

    *x = (struct ny_axis){first - 0.5, first + (double)count - 0.5};
    *y = (struct ny_axis){0, 0};
    for (size_t k = 0; k < count; k++) {
        y->low = fmin(y->low, 1.05 * ny_eigenvalue(result, k));
        y->high = fmax(y->high, 1.05 * ny_eigenvalue(result, k));
        y->high =
            fmax(y->high, 1.05 * ny_eigenvalue(result, k) * (1 + ny_eigenvalue_error(result, k)));
    }
    if (!(y->high > y->low)) y->high = 1;
}

static void set_frame(struct ny_canvas *canvas, struct ny_plot_frame *f,
                      const struct ny_result *result, size_t count)
{
    double unit = canvas->scale;

    *f = (struct ny_plot_frame){.top = 122 * unit,
                                .right = (double)canvas->width - 70 * unit,
                                .bottom = (double)canvas->height - 118 * unit};
    ny_scree_axes(result, count, &f->x, &f->y);
    ny_ticks_make(&f->y_ticks, &f->y, 7);
    ny_ticks_make(&f->x_ticks, &f->x, count < 8 ? count : 8);
    f->left = ny_axes_left(canvas, &f->y_ticks);
    if (count == 1) f->x_ticks.count = 0;
}

int ny_scree_draw(struct ny_canvas *canvas, struct ny_store *store, const char *name,
                  const char *title)
{
    struct ny_result result;
    struct ny_plot_frame frame;
    char words[NY_WORDS_BYTES], clean[128];
    size_t count;
    int err = ny_result_open_any(&result, store, name);

    if (err) goto done;
    count = ny_part_find("eigenvalues")->count(&result);
    if (!count) {
        err = ny_result_lacks(store, name, "eigenvalues");
        goto done;
    }
    set_frame(canvas, &frame, &result, count);
    ny_clean_text(title ? title : name, clean, sizeof(clean));
    ny_describe_result(&result, words);
    ny_draw_title(canvas, &frame, clean, words);
    ny_draw_axes(canvas, &frame,
                 ny_eigenvalue_first(&result) ? "component" : "component; 0 is trivial",
                 "eigenvalue");
    draw_values(canvas, &frame, &result, count);
done:
    ny_result_close_any(&result);
    return err;
}
