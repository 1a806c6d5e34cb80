/* Reports: the data that they hold are those of the store, and text stays text. */
#include <unistd.h>

#include "report/markup.h"
#include "support/api_case.h"
#include "support/files.h"
#include "support/options.h"
#include "support/results.h"

enum { ROWS = 300, SIDE = 8, COLUMNS = SIDE * SIDE };

static char rows_path[192], page_path[192];

static void setup(void)
{
    api_case_begin("<b>it's.nys");
    snprintf(rows_path, sizeof(rows_path), "%s/rows.csv", in.folder);
    snprintf(page_path, sizeof(page_path), "%s/page.html", in.folder);
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
static void make_store(void)
{
    const char *path = rows_path;
    OWNED(ny_options) *o = NULL;
    FILE *rows = fopen(rows_path, "w");

    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            fprintf(rows, "%.0f,", value_of(i, j));
        fprintf(rows, "\"");
        for (const char *at = evil[i % EVIL]; *at; at++)
            fprintf(rows, *at == '"' ? "\"\"" : "%c", *at);
        fprintf(rows, "\"\n");
    }
    fclose(rows);
    o = options_with(in.ctx, "label-column=65 dtype=u8");
    if (ny_import(in.ctx, in.store, &path, 1, o, NULL)) fail_msg("%s", ny_context_message(in.ctx));
    must_fit(in.ctx, in.store, "a", NULL, "landmarks=20 components=3");
}

static char *report(const char *option, const char *value)
{
    const char *name = "a";
    OWNED(ny_options) *o = NULL;
    size_t bytes;

    assert_int_equal(ny_options_new(&o, in.ctx), NY_OK);
    if (option) set(o, option, value);
    if (ny_write_report(in.ctx, in.store, &name, 1, page_path, o))
        fail_msg("%s", ny_context_message(in.ctx));
    return file_content(page_path, &bytes);
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
    unsigned char *out = lend(strlen(text) + 3), *at = out;

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

TEST(test_data)
{
    float *y = lend(ROWS * 3 * sizeof(float));
    char *page;
    json_t *data, *component;

    make_store();
    page = report(NULL, NULL);
    data = data_of(page);
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", 0, ROWS, y), NY_OK);
    double *rows = (void *)decode(text_at(data, "rows"));
    assert_int_equal(json_array_size(json_object_get(data, "components")), 3);
    for (size_t k = 0; k < 3; k++) {
        component =
            json_object_get(json_array_get(json_object_get(data, "components"), k), "values");
        double *values = (void *)decode(json_string_value(component));

        for (size_t i = 0; i < ROWS; i++) {
            assert_true(rows[i] == (double)i);
            assert_true(values[i] == (double)y[3 * i + k]);
        }
    }
    json_t *tint = json_array_get(json_object_get(data, "tints"), 0);
    uint16_t *codes = (void *)decode(text_at(tint, "codes"));

    assert_string_equal(text_at(tint, "name"), "label");
    for (size_t i = 0; i < ROWS; i++) {
        const char *name =
            json_string_value(json_array_get(json_object_get(tint, "classes"), codes[i]));

        assert_int_equal(strncmp(name, evil[i % EVIL], 4), 0);
    }
    json_decref(data);
    free(page);
}

TEST(test_images)
{
    char *page;
    json_t *data;
    unsigned char *grey;
    OWNED(ny_options) *o = NULL;
    const char *name = "a";

    make_store();
    page = report(NULL, NULL);
    data = data_of(page);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(data, "images"), "count")),
                     ROWS);
    grey = decode(text_at(json_object_get(data, "images"), "grey"));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            assert_int_equal(grey[i * COLUMNS + j], (int)value_of(i, j));
    json_decref(data);
    free(page);
    page = report("image", "none");
    data = data_of(page);
    assert_true(json_is_null(json_object_get(data, "images")));
    json_decref(data);
    free(page);
    page = report("image", "4x16");
    data = data_of(page);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(data, "images"), "width")),
                     16);
    json_decref(data);
    free(page);
    o = options_with(in.ctx, "image=5x5");
    assert_int_equal(ny_write_report(in.ctx, in.store, &name, 1, page_path, o), NY_EUSAGE);
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

TEST(test_hostile_text)
{
    char *page;

    make_store();
    page = report("title", "</title><script>alert(4)</script>{{js}}");
    assert_int_equal(occurrences(page, "<script"), 2); /* the data, and the page's own */
    assert_int_equal(occurrences(page, "</script>"), 2);
    assert_int_equal(occurrences(page, "<img"), 0);
    assert_int_equal(occurrences(page, "<svg/"), 0);
    assert_int_equal(occurrences(page, "</title>"), 1);
    assert_non_null(strstr(page, "&#60;/title&#62;&#60;script&#62;alert(4)"));
    assert_non_null(strstr(page, "{{js}}")); /* text, not a hole */
    assert_null(strstr(page, "\xff"));
    free(page);
    page = report(NULL, NULL);
    assert_non_null(strstr(page, "<title>a</title>"));
    assert_non_null(strstr(page, "<p>&#60;b&#62;it&#39;s.nys: 300 rows of 64 columns"));
    assert_int_equal(occurrences(page, "<b>"), 0);
    assert_int_equal(occurrences(page, "src=\""), 0); /* nothing is fetched */
    assert_int_equal(occurrences(page, "url("), 0);
    assert_int_equal(occurrences(page, "@import"), 0);
    assert_int_equal(occurrences(page, "https://"), 0);
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

TEST(test_markup)
{
    struct text text = {.used = 0};
    struct ny_sink sink = {.write = keep, .user = &text};
    unsigned char all[256];
    unsigned char *back;

    ny_put_json(&sink, "a\"\\</script>&\n\x02\xe2\x80\xa8\xc3");
    assert_string_equal(text.at, "\"a\\u0022\\u005c\\u003c/script\\u003e\\u0026 ?\xe2\x80\xa8?\"");
    text.used = 0;
    ny_put_html(&sink, "<a href='x'>\"&\xf0\x9f\x98\x80\xf0\x9f");
    assert_string_equal(text.at, "&#60;a href=&#39;x&#39;&#62;&#34;&#38;\xf0\x9f\x98\x80??");
    for (size_t i = 0; i < 256; i++)
        all[i] = (unsigned char)(i * 7);
    for (size_t bytes = 250; bytes < 256; bytes++) {
        text.used = 0;
        ny_put_base64(&sink, all, bytes);
        assert_int_equal(text.used, (bytes + 2) / 3 * 4);
        back = decode(text.at);
        assert_memory_equal(back, all, bytes);
    }
    ny_put_base64(&sink, all, 256); /* too much: it fails once, and stays failed */
    assert_int_equal(sink.err, NY_EIO);
}

AROUND_EACH(setup, api_case_end)
