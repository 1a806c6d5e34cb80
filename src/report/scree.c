#include "report/scree.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "report/words.h"

/* Describes all components of the record in a sentence. */
static void describe(const struct ny_result *result, size_t count, char text[NY_WORDS_BYTES])
{
    const char *trace_of = ny_field_text(result->report, "trace_of");
    double share = 0;
    char percent[48];

    for (size_t k = 0; k < count; k++)
        share += ny_eigenvalue_share(result, k);
    if (isfinite(share))
        snprintf(text, NY_WORDS_BYTES, "%zu eigenvalues, %s %% of the trace%s%s%s", count,
                 ny_percent_words(share, percent), trace_of ? " (" : "", trace_of ? trace_of : "",
                 trace_of ? ")" : "");
    else
        snprintf(text, NY_WORDS_BYTES, "%zu eigenvalues", count);
}

static void draw_values(struct ny_canvas *canvas, const struct ny_plot_frame *f,
                        const struct ny_result *result, size_t count)
{
    double radius = fmin(9, fmax(3, 300 / (double)count)) * canvas->scale;
    double first = (double)ny_eigenvalue_first(result);

    count = ny_eigenvalues_known(result, count);
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

/* Sets the frame; both axes begin where nothing is. */
static void set_frame(struct ny_canvas *canvas, struct ny_plot_frame *f,
                      const struct ny_result *result, size_t count)
{
    double most = 0, least = 0, unit = canvas->scale;
    double first = (double)ny_eigenvalue_first(result);

    for (size_t k = 0; k < count; k++) {
        most = fmax(most, ny_eigenvalue(result, k));
        least = fmin(least, ny_eigenvalue(result, k));
    }
    if (!(most > least)) most = 1;
    *f = (struct ny_plot_frame){.top = 122 * unit,
                                .right = (double)canvas->width - 70 * unit,
                                .bottom = (double)canvas->height - 118 * unit,
                                .x = {first - 0.5, first + (double)count - 0.5},
                                .y = {least * 1.05, most * 1.05}};
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
        err = ny_fail(result.ctx, NY_EUSAGE, "'%s' has no eigenvalues to draw", name);
        goto done;
    }
    set_frame(canvas, &frame, &result, count);
    ny_clean_text(title ? title : name, clean, sizeof(clean));
    describe(&result, count, words);
    ny_draw_title(canvas, &frame, clean, words);
    ny_draw_axes(canvas, &frame,
                 ny_eigenvalue_first(&result) ? "component" : "component; 0 is trivial",
                 "eigenvalue");
    draw_values(canvas, &frame, &result, count);
done:
    ny_result_close_any(&result);
    return err;
}
