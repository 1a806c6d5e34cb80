/* Reports: the data that they hold are those of the store, and text stays text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nystream.h"
#include "report/markup.h"
#include "support/api_case.h"
#include "support/files.h"

enum { ROWS = 300, SIDE = 8, COLUMNS = SIDE * SIDE };

struct fixture {
    struct api_case in;
    char rows[192], page[192];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    if (!f || api_case_begin(&f->in, "<b>it's.nys")) return -1;
    snprintf(f->rows, sizeof(f->rows), "%s/rows.csv", f->in.folder);
    snprintf(f->page, sizeof(f->page), "%s/page.html", f->in.folder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    api_case_end(&f->in);
    free(f);
    return 0;
}

/* Texts that would break out of a script, an attribute, an element, a template. */
static const char *const evil[] = {"</script><script>alert(1)</script>",
                                   "<img src=x onerror=alert(2)>", "\"'><svg/onload=alert(3)>",
                                   "{{data}}<!--", "na\xc3\xafve & \x01"};
enum { EVIL = sizeof(evil) / sizeof(evil[0]) };

static double value_of(int i, int j)
{
    return (i * 37 + j * 11) % 256;
}

static void set(struct ny_options *o, const char *name, const char *value)
{
    assert_int_equal(ny_options_set(o, name, value), NY_OK);
}

/* Images of 8 × 8 bytes, with labels as words. */
static void make_store(struct fixture *f)
{
    const char *path = f->rows;
    struct ny_options *o;
    FILE *rows = fopen(f->rows, "w");

    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            fprintf(rows, "%.0f,", value_of(i, j));
        fprintf(rows, "\"");
        for (const char *at = evil[i % EVIL]; *at; at++)
            fprintf(rows, *at == '"' ? "\"\"" : "%c", *at);
        fprintf(rows, "\"\n");
    }
    fclose(rows);
    assert_int_equal(ny_options_new(&o, f->in.ctx), NY_OK);
    set(o, "label-column", "65");
    set(o, "dtype", "u8");
    if (ny_import(f->in.ctx, f->in.store, &path, 1, o, NULL))
        fail_msg("%s", ny_context_message(f->in.ctx));
    ny_options_free(o);
    assert_int_equal(ny_options_new(&o, f->in.ctx), NY_OK);
    set(o, "landmarks", "20");
    set(o, "components", "3");
    if (ny_fit(f->in.ctx, f->in.store, "a", o, NULL)) fail_msg("%s", ny_context_message(f->in.ctx));
    ny_options_free(o);
}

static char *report(struct fixture *f, const char *option, const char *value)
{
    const char *name = "a";
    struct ny_options *o;
    size_t bytes;
    char *text;

    assert_int_equal(ny_options_new(&o, f->in.ctx), NY_OK);
    if (option) set(o, option, value);
    if (ny_write_report(f->in.ctx, f->in.store, &name, 1, f->page, o))
        fail_msg("%s", ny_context_message(f->in.ctx));
    ny_options_free(o);
    text = file_content(f->page, &bytes);
    text = realloc(text, bytes + 1);
    text[bytes] = '\0';
    return text;
}

static json_t *data_of(const char *page)
{
    static const char begin[] = "<script type=\"application/json\" class=\"data\">";
    const char *at = strstr(page, begin), *end;
    json_error_t error;
    json_t *data;

    assert_non_null(at);
    at += strlen(begin);
    end = strstr(at, "</script>");
    data = json_loadb(at, (size_t)(end - at), 0, &error);
    if (!data) fail_msg("%s at %d", error.text, error.position);
    return data;
}

static unsigned char *decode(const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *out = calloc(strlen(text) + 3, 1), *at = out;

    for (; *text && *text != '='; text += 4, at += 3) {
        unsigned word = 0;

        for (int k = 0; k < 4; k++)
            word = word << 6 |
                   (text[k] && text[k] != '=' ? (unsigned)(strchr(digits, text[k]) - digits) : 0);
        at[0] = (unsigned char)(word >> 16);
        at[1] = (unsigned char)(word >> 8);
        at[2] = (unsigned char)word;
    }
    return out;
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    assert_non_null(text);
    return text;
}

static void test_data(void **state)
{
    struct fixture *f = *state;
    float *y = malloc(ROWS * 3 * sizeof(float));
    char *page;
    json_t *data, *component;

    make_store(f);
    page = report(f, NULL, NULL);
    data = data_of(page);
    assert_int_equal(ny_embedding_read(f->in.ctx, f->in.store, "a", 0, ROWS, y), NY_OK);
    double *rows = (void *)decode(text_at(data, "rows"));
    assert_int_equal(json_array_size(json_object_get(data, "components")), 3);
    for (size_t k = 0; k < 3; k++) {
        component =
            json_object_get(json_array_get(json_object_get(data, "components"), k), "values");
        assert_true(json_number_value(json_object_get(component, "unit")) == 1);
        float *values = (void *)decode(text_at(component, "numbers"));

        for (size_t i = 0; i < ROWS; i++) {
            assert_true(rows[i] == (double)i);
            assert_true(values[i] == y[3 * i + k]);
        }
        free(values);
    }
    json_t *tint = json_array_get(json_object_get(data, "tints"), 0);
    uint16_t *codes = (void *)decode(text_at(tint, "codes"));

    assert_string_equal(text_at(tint, "name"), "label");
    for (size_t i = 0; i < ROWS; i++) {
        const char *name =
            json_string_value(json_array_get(json_object_get(tint, "classes"), codes[i]));

        assert_int_equal(strncmp(name, evil[i % EVIL], 4), 0);
    }
    free(codes);
    free(rows);
    free(y);
    json_decref(data);
    free(page);
}

/* One row far from all others takes no digits from these. */
static void test_far_row(void **state)
{
    struct fixture *f = *state;
    const char *path = f->rows;
    float *y = malloc(ROWS * 3 * sizeof(float));
    FILE *rows = fopen(f->rows, "w");
    struct ny_options *o;
    char *page;
    json_t *data, *component;

    for (int i = 0; i < ROWS; i++)
        fprintf(rows, "%g,%g,%g\n", i == 5 ? 1e6 : value_of(i, 0) / 256,
                i == 7 ? -3e5 : value_of(i, 1) / 256, value_of(i * i, 2) / 256);
    fclose(rows);
    assert_int_equal(ny_import(f->in.ctx, f->in.store, &path, 1, NULL, NULL), NY_OK);
    assert_int_equal(ny_options_new(&o, f->in.ctx), NY_OK);
    set(o, "map", "pca");
    set(o, "approx", "exact");
    set(o, "components", "3");
    assert_int_equal(ny_fit(f->in.ctx, f->in.store, "a", o, NULL), NY_OK);
    ny_options_free(o);
    page = report(f, NULL, NULL);
    data = data_of(page);
    assert_int_equal(ny_embedding_read(f->in.ctx, f->in.store, "a", 0, ROWS, y), NY_OK);
    for (size_t k = 0; k < 3; k++) {
        component = json_array_get(json_object_get(data, "components"), k);
        float *values = (void *)decode(text_at(json_object_get(component, "values"), "numbers"));

        for (size_t i = 0; i < ROWS; i++)
            assert_true(values[i] == y[3 * i + k]);
        free(values);
    }
    free(y);
    json_decref(data);
    free(page);
}

/* Values that differ in last digits alone, such as times, are told apart, and have a scale. */
static void test_near_values(void **state)
{
    struct fixture *f = *state;
    const char *path = f->rows;
    FILE *rows = fopen(f->rows, "w");
    struct ny_options *o;
    char *page;
    json_t *data, *tint, *axis, *values;

    for (int i = 0; i < ROWS; i++)
        fprintf(rows, "%g,%g,%.2f\n", value_of(i, 0), value_of(i * i, 1), 1.7e9 + i / 100.0);
    fclose(rows);
    assert_int_equal(ny_options_new(&o, f->in.ctx), NY_OK);
    set(o, "label-column", "3");
    assert_int_equal(ny_import(f->in.ctx, f->in.store, &path, 1, o, NULL), NY_OK);
    ny_options_free(o);
    assert_int_equal(ny_options_new(&o, f->in.ctx), NY_OK);
    set(o, "map", "pca");
    set(o, "approx", "exact");
    assert_int_equal(ny_fit(f->in.ctx, f->in.store, "a", o, NULL), NY_OK);
    ny_options_free(o);
    page = report(f, NULL, NULL);
    data = data_of(page);
    tint = json_array_get(json_object_get(data, "tints"), 0);
    assert_string_equal(text_at(tint, "name"), "label");
    axis = json_object_get(tint, "axis");
    assert_true(json_number_value(json_array_get(axis, 0)) <
                json_number_value(json_array_get(axis, 1)));
    values = json_object_get(tint, "values");
    double from = json_number_value(json_object_get(values, "from"));
    double unit = json_number_value(json_object_get(values, "unit"));
    float *numbers = (void *)decode(text_at(values, "numbers"));

    for (int i = 0; i < ROWS; i++)
        assert_true(fabs(from + unit * (double)numbers[i] - (1.7e9 + i / 100.0)) < 1e-4);
    free(numbers);
    json_decref(data);
    free(page);
}

static void test_images(void **state)
{
    struct fixture *f = *state;
    char *page;
    json_t *data;
    unsigned char *grey;
    struct ny_options *o;
    const char *name = "a";

    make_store(f);
    page = report(f, NULL, NULL);
    data = data_of(page);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(data, "images"), "count")),
                     ROWS);
    grey = decode(text_at(json_object_get(data, "images"), "grey"));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            assert_int_equal(grey[i * COLUMNS + j], (int)value_of(i, j));
    free(grey);
    json_decref(data);
    free(page);
    page = report(f, "image", "none");
    data = data_of(page);
    assert_true(json_is_null(json_object_get(data, "images")));
    json_decref(data);
    free(page);
    page = report(f, "image", "4x16");
    data = data_of(page);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(data, "images"), "width")),
                     16);
    json_decref(data);
    free(page);
    assert_int_equal(ny_options_new(&o, f->in.ctx), NY_OK);
    set(o, "image", "5x5");
    assert_int_equal(ny_write_report(f->in.ctx, f->in.store, &name, 1, f->page, o), NY_EUSAGE);
    ny_options_free(o);
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;

    while ((text = strstr(text, word))) {
        count++;
        text++;
    }
    return count;
}

static void test_hostile_text(void **state)
{
    struct fixture *f = *state;
    char *page;

    make_store(f);
    page = report(f, "title", "</title><script>alert(4)</script>{{js}}");
    assert_int_equal(occurrences(page, "<script"), 2); /* the data, and the page's own */
    assert_int_equal(occurrences(page, "</script>"), 2);
    assert_int_equal(occurrences(page, "<img"), 0);
    assert_int_equal(occurrences(page, "<svg/"), 0);
    assert_int_equal(occurrences(page, "</title>"), 1);
    assert_non_null(strstr(page, "&lt;/title&gt;&lt;script&gt;alert(4)"));
    assert_non_null(strstr(page, "{{js}}")); /* text, not a hole */
    assert_null(strstr(page, "\xff"));
    free(page);
    page = report(f, NULL, NULL);
    assert_non_null(strstr(page, "<title>Kernel PCA of 300 rows</title>"));
    assert_non_null(strstr(page, "<p>&lt;b&gt;it&#39;s.nys: 300 rows of 64 columns"));
    assert_int_equal(occurrences(page, "<b>"), 0);
    assert_non_null(strstr(page, "&lt;b&gt;it&#39;\\&#39;&#39;s.nys&#39; a --")); /* for a shell */
    assert_int_equal(occurrences(page, "src=\""), 0); /* nothing is fetched */
    assert_int_equal(occurrences(page, "url("), 0);
    assert_int_equal(occurrences(page, "@import"), 0);
    assert_int_equal(occurrences(page, "https://"), 0);
    free(page);
}

/* Fits "w" with these options, whose last is NULL, and returns a page of it. */
static char *page_of_fit(struct fixture *f, const char *const (*options)[2])
{
    const char *name = "w";
    struct ny_options *o;
    size_t bytes;
    char *page;

    make_store(f);
    assert_int_equal(ny_options_new(&o, f->in.ctx), NY_OK);
    for (; (*options)[0]; options++)
        set(o, (*options)[0], (*options)[1]);
    if (ny_fit(f->in.ctx, f->in.store, name, o, NULL))
        fail_msg("%s", ny_context_message(f->in.ctx));
    ny_options_free(o);
    if (ny_write_report(f->in.ctx, f->in.store, &name, 1, f->page, NULL))
        fail_msg("%s", ny_context_message(f->in.ctx));
    page = file_content(f->page, &bytes);
    page = realloc(page, bytes + 1);
    page[bytes] = '\0';
    return page;
}

/* The command that is put together makes the same: the neighbours are what makes this map one of a
 * graph, also where they are as many as by default. */
static void test_command_of_a_graph(void **state)
{
    static const char *const options[][2] = {{"map", "diffusion"},
                                             {"neighbors", "5"},
                                             {"connect", "yes"},
                                             {"edge-weights", "binary"},
                                             {NULL, NULL}};
    char *page = page_of_fit(*state, options);

    assert_non_null(strstr(page, " w --map diffusion "));
    assert_non_null(strstr(page, " --neighbors 5 "));
    free(page);
}

/* A value that is the default of the table has to be typed if the other options imply another one:
 * --inner randomized brings defaults of its own. */
static void test_command_of_a_solver(void **state)
{
    static const char *const options[][2] = {{"landmarks", "20"},
                                             {"inner", "randomized"},
                                             {"oversample", "5"},
                                             {"power", "2"},
                                             {NULL, NULL}};
    char *page = page_of_fit(*state, options);

    assert_non_null(strstr(page, " w --landmarks 20 --inner randomized --oversample 5 --power 2<"));
    free(page);
}

struct text {
    char at[512];
    size_t used;
};

static int keep(void *user, const char *text, size_t bytes)
{
    struct text *kept = user;

    if (kept->used + bytes >= sizeof(kept->at)) return NY_EIO;
    memcpy(kept->at + kept->used, text, bytes);
    kept->used += bytes;
    kept->at[kept->used] = '\0';
    return NY_OK;
}

static void test_markup(void **state)
{
    struct text text = {.used = 0};
    struct ny_sink sink = {.write = keep, .user = &text};
    unsigned char all[256];
    unsigned char *back;

    (void)state;
    ny_put_json(&sink, "a\"\\</script>&\n\x02\xe2\x80\xa8\xc3");
    assert_string_equal(text.at, "\"a\\u0022\\u005c\\u003c/script\\u003e\\u0026 ?\xe2\x80\xa8?\"");
    text.used = 0;
    ny_put_html(&sink, "<a href='x'>\"&\xf0\x9f\x98\x80\xf0\x9f");
    assert_string_equal(text.at, "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\xf0\x9f\x98\x80??");
    for (size_t i = 0; i < 256; i++)
        all[i] = (unsigned char)(i * 7);
    for (size_t bytes = 250; bytes < 256; bytes++) {
        text.used = 0;
        ny_put_base64(&sink, all, bytes);
        assert_int_equal(text.used, (bytes + 2) / 3 * 4);
        back = decode(text.at);
        assert_memory_equal(back, all, bytes);
        free(back);
    }
    ny_put_base64(&sink, all, 256); /* too much: it fails once, and stays failed */
    assert_int_equal(sink.err, NY_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_data, setup, teardown),
        cmocka_unit_test_setup_teardown(test_far_row, setup, teardown),
        cmocka_unit_test_setup_teardown(test_near_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_images, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_command_of_a_graph, setup, teardown),
        cmocka_unit_test_setup_teardown(test_command_of_a_solver, setup, teardown),
        cmocka_unit_test(test_markup),
    };

    return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}
