/*
 * A host whose locale has a decimal comma: options, records and files are those of the locale C, to
 * the byte.
 */
#include <locale.h>

#include "unit/table_case.h"

#include "base/context.h"
#include "base/decimal.h"
#include "support/options.h"
#include "support/results.h"

/* Holds the locale that localedef has compiled; empty: none. */
static char compiled[128];

/* Compiles a locale that has its numbers from the German one, and all else, which would take
 * seconds, from POSIX. For systems without a locale with a comma; removed by locale_case_end(). */
static bool compile_locale(void)
{
    char command[500];

    if (compiled[0]) return false;
    case_directory(compiled);
    setenv("LOCPATH", compiled, 1);
    snprintf(command, sizeof(command),
             "cd %s && { for of in CTYPE COLLATE MONETARY TIME MESSAGES; do"
             " printf 'LC_%%s\\ncopy \"POSIX\"\\nEND LC_%%s\\n' $of $of; done;"
             " printf 'LC_NUMERIC\\ncopy \"de_DE\"\\nEND LC_NUMERIC\\n'; } >comma &&"
             " localedef -c -i comma -f UTF-8 ./de_DE.UTF-8 2>/dev/null",
             compiled);
    return system(command) >= 0 && setlocale(LC_ALL, "de_DE.UTF-8");
}

/* Sets a locale with a decimal comma, or skips the test with words. */
static void set_comma(void)
{
    char text[8];

    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !compile_locale()) {
        print_message("no locale with a decimal comma here: localedef and its files (locales)\n");
        skip();
    }
    snprintf(text, sizeof(text), "%.1f", 0.5);
    assert_string_equal(text, "0,5");
}

/* Removes what set_comma() has compiled, at the end of a group of tests. */
static void locale_case_end(void)
{
    if (compiled[0]) case_remove(compiled);
}

/* Ends a test: later ones begin in the locale C. */
static void teardown_locale(void)
{
    setlocale(LC_ALL, "C");
    api_case_end();
}

/* Puts rows into the store, whose labels are not whole. */
static void put_rows(void)
{
    struct ny_table table = dense(NY_F32, 0);
    static double labels[ROWS];

    for (int i = 0; i < ROWS; i++)
        labels[i] = i % 3 + 0.5;
    table.labels = labels;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
}

static const char polynomial[] =
    "kernel=polynomial gamma=1e-05 coef0=0.5 landmarks=30 components=3";

/* Puts the rows, and fits NAME to them with options that have a point. */
static void fit_rows(const char *name)
{
    OWNED(ny_options) *o = NULL;

    put_rows();
    o = options_with(in.ctx, "%s", polynomial);
    ok(ny_fit(in.ctx, in.store, name, o, NULL));
}

/* ---- texts ---------------------------------------------------------------------------------- */

TEST(numbers_have_a_point)
{
    const char *text = "-2.5e-3,7";
    char printed[32], *end;
    locale_t before;

    set_comma();
    assert_true(ny_decimal_read(text, &end) == -2.5e-3);
    assert_ptr_equal(end, text + 7);
    assert_int_equal(ny_decimal_print(printed, sizeof(printed), "%g %.1f", 0.25, 1.5), 8);
    assert_string_equal(printed, "0.25 1.5");
    before = ny_decimal_begin();
    snprintf(printed, sizeof(printed), "%g", 0.5);
    ny_decimal_end(before);
    assert_string_equal(printed, "0.5");
    snprintf(printed, sizeof(printed), "%g", 0.5);
    assert_string_equal(printed, "0,5");
}

TEST(options_are_read_with_a_point)
{
    OWNED(ny_options) *o = NULL;

    set_comma();
    o = options_with(in.ctx, "gamma=0.5 memory=1.5G coef0=-2.25 time-limit=1.5h rows=total:.5");
    assert_int_equal(ny_context_memory(in.ctx), (uint64_t)3 << 29);
    fails(NY_EUSAGE, ny_options_set(o, "tolerance", "0,5"));
    fails(NY_EUSAGE, ny_options_set(o, "memory", "1,5G"));
    fails(NY_EUSAGE, ny_options_set(o, "time-limit", "1,5h"));
}

TEST(widths_of_a_grid_are_read_with_a_point)
{
    OWNED(ny_options) *o = NULL;
    OWNED(ny_report) *report = NULL;

    put_rows();
    set_comma();
    o = options_with(in.ctx, "gamma-grid=0.01,0.5 landmarks=30");
    ok(ny_gamma_grid(in.ctx, in.store, o, &report));
    assert_non_null(strstr(ny_report_json(report), "\"gamma\": 0.5"));
}

/* Numbers of messages are given as options. */
TEST(messages_have_a_point)
{
    set_comma();
    ny_fail(in.ctx, NY_EUSAGE, "give --tolerance %g", 0.25);
    assert_string_equal(ny_context_message(in.ctx), "give --tolerance 0.25");
    ny_error_clear(in.ctx);
    ny_log(in.ctx, NY_LOG_NOTE, "%.1f MiB", 1.5);
    assert_string_equal(log_text, "1.5 MiB");
}

/* ---- records -------------------------------------------------------------------------------- */

TEST(a_fit_is_known_again_in_any_locale)
{
    OWNED(ny_options) *o = NULL;
    OWNED(ny_report) *report = NULL;

    put_rows();
    o = options_with(in.ctx, "gamma=1.25e-5 landmarks=30"); /* a gamma in the record */
    ok(ny_fit(in.ctx, in.store, "point", o, NULL));
    set_comma();
    ok(ny_fit(in.ctx, in.store, "point", o, NULL)); /* done: nothing differs */
    ok(ny_fit(in.ctx, in.store, "comma", o, &report));
    assert_non_null(strstr(ny_report_json(report), "\"gamma\": \"1.25e-05\""));
    setlocale(LC_ALL, "C");
    ok(ny_fit(in.ctx, in.store, "comma", o, NULL));
}

/* Kernels of points are those of the fit: an offset that is read as 0 makes other neighbours. */
TEST(an_evaluation_reads_the_record)
{
    double value[2];
    OWNED(ny_options) *o = NULL;

    fit_rows("a");
    o = options_with(in.ctx, "measures=reconstruction");
    for (int turn = 0; turn < 2; turn++) {
        OWNED(ny_report) *report = NULL;

        if (turn) set_comma();
        ok(ny_evaluate(in.ctx, in.store, "a", o, &report));
        value[turn] = number_of(report, "relative_error");
    }
    assert_true(value[0] == value[1]);
}

TEST(a_model_says_its_numbers_with_a_point)
{
    OWNED(ny_options) *o = NULL;
    char model[200];

    snprintf(model, sizeof(model), "%s/a.nym", in.folder);
    fit_rows("a");
    ok(ny_export(in.ctx, in.store, "a", "model", model));
    set_comma();
    o = options_with(in.ctx, "model=%s", model);
    ok(ny_fit(in.ctx, in.store, "placed", o, NULL));
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Writes a file of each kind that has numbers in words. */
static void write_files(const char *ends[], char path[][220], int turn)
{
    const char *name = "a";
    OWNED(ny_options) *o = options_with(in.ctx, "color=label");

    for (size_t i = 0; ends[i]; i++)
        snprintf(path[i], 220, "%s/%d%s", in.folder, turn, ends[i]);
    ok(ny_export_with(in.ctx, in.store, name, "embedding", path[0], "header,labels"));
    ok(ny_plot(in.ctx, in.store, name, path[1], o));
    ok(ny_write_report(in.ctx, in.store, &name, 1, path[2], NULL));
}

TEST(files_are_the_same_in_any_locale)
{
    const char *ends[] = {".csv", ".png", ".html", NULL};
    char path[2][3][220];

    fit_rows("a");
    write_files(ends, path[0], 0);
    set_comma();
    write_files(ends, path[1], 1);
    for (size_t i = 0; ends[i]; i++) {
        char command[2 * sizeof(path[0][0]) + 20];

        snprintf(command, sizeof(command), "cmp '%.*s' '%.*s'", (int)sizeof(path[0][0]) - 1,
                 path[0][i], (int)sizeof(path[0][0]) - 1, path[1][i]);
        assert_int_equal(system(command), 0);
    }
}

AROUND_ALL(NULL, locale_case_end)
AROUND_EACH(setup, teardown_locale)
