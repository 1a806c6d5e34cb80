/* A program outside of nystream: rows in from memory, fit, read the embedding back, place points
 * with the model. It includes the installed header and nothing else of nystream. */
#include <math.h>
#include <nystream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 600, D = 3, P = 2 };

/* Two clouds, far apart. */
static void make_rows(float *x)
{
    unsigned state = 1;

    for (int i = 0; i < ROWS * D; i++) {
        state = state * 1103515245u + 12345u;
        x[i] = (float)(state >> 16 & 0x7fff) / 32768.0f + (i / D % 2 ? 5.0f : 0.0f);
    }
}

static void check(struct ny_context *context, int status, const char *what)
{
    if (status == NY_OK) return;
    fprintf(stderr, "%s: %s (%s)\n", what, ny_context_message(context), ny_status_kind(status));
    exit(status);
}

static void fit(struct ny_context *context, const char *store)
{
    struct ny_options *options = NULL;
    struct ny_report *report = NULL;
    double n = 0;

    check(context, ny_options_new(&options, context), "options");
    check(context, ny_options_set(options, "landmarks", "60"), "landmarks");
    check(context, ny_options_set(options, "components", "2"), "components");
    check(context, ny_fit(context, store, "map", options, &report), "fit");
    if (!ny_report_number(report, "n", &n) || n != ROWS) exit(11);
    ny_report_free(report);
    ny_options_free(options);
}

/* Checks that the model places the rows where the fit placed them. */
static void compare(struct ny_context *context, const char *store, const float *x)
{
    static float fitted[ROWS * P], placed[ROWS * P];
    struct ny_model *model = NULL;
    double error = 0, size = 0;

    check(context, ny_embedding_read(context, store, "map", 0, ROWS, fitted), "read");
    check(context, ny_model_open(&model, context, store, "map"), "model");
    if (ny_model_dimensions(model) != D || ny_model_components(model) != P) exit(12);
    check(context, ny_model_transform(model, x, ROWS, placed), "transform");
    ny_model_free(model);
    for (int i = 0; i < ROWS * P; i++) {
        error += fabs((double)placed[i] - (double)fitted[i]);
        size += fabs((double)fitted[i]);
    }
    if (!(size > 0 && error <= 1e-4 * size)) exit(13);
}

int main(int argc, char **argv)
{
    static float x[ROWS * D];
    struct ny_context *context = NULL;
    char version[48];

    if (argc != 2) return 2;
    snprintf(version, sizeof version, "%d.%d.%d", NY_VERSION_MAJOR, NY_VERSION_MINOR,
             NY_VERSION_PATCH);
    if (strcmp(ny_version(), version)) return 10;
    make_rows(x);
    check(NULL, ny_context_new(&context), "context");
    ny_context_set_memory(context, 256u << 20);
    check(context, ny_append_rows(context, argv[1], x, ROWS, D, NULL), "append");
    fit(context, argv[1]);
    compare(context, argv[1], x);
    ny_context_free(context);
    puts("fitted");
    return 0;
}
