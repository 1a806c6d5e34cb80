/* api/options.h: values, defaults, rules between options, identity; ny_suggest(). */
#include "unit/options_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fit/settings.h"

/* Refused as a usage error, with `words` in the message, and nothing has changed. */
static void refuse(const char *name, const char *value, const char *words)
{
    const char *before = ny_options_get(options, name);

    assert_int_equal(ny_options_set(options, name, value), NY_EUSAGE);
    assert_int_equal(ny_context_error(ctx)->status, NY_EUSAGE);
    if (!strstr(ny_context_message(ctx), words))
        fail_msg("'%s' is not in '%s'", words, ny_context_message(ctx));
    assert_ptr_equal(ny_options_get(options, name), before);
}

static void check_refuses(unsigned groups, const char *words)
{
    assert_int_equal(ny_options_check(options, groups), NY_EUSAGE);
    if (!strstr(ny_context_message(ctx), words))
        fail_msg("'%s' is not in '%s'", words, ny_context_message(ctx));
}

static void accepts_every_value_that_it_lists(void **state)
{
    const struct ny_option_info *info;

    (void)state;
    for (int i = 0; (info = ny_option_at(i)); i++) {
        const char *rest = info->argument;

        assert_true(info->groups != 0 && info->summary[0] != '\0');
        while (rest && strchr(info->argument, '|') && *rest) {
            size_t length = strcspn(rest, "|");
            char word[64];

            snprintf(word, sizeof(word), "%.*s", (int)length, rest);
            if (strlen(word) > 1 && strcmp(info->name, "sigma") && strcmp(info->name, "epsilon"))
                set(info->name, word);
            rest += length + (rest[length] == '|');
        }
    }
}

static void every_default_is_a_valid_value(void **state)
{
    const struct ny_option_info *info;

    (void)state;
    for (int i = 0; (info = ny_option_at(i)); i++)
        if (info->fallback) set(info->name, info->fallback);
}

static void defaults_are_those_of_the_interface(void **state)
{
    static const char *const expected[][2] = {
        {"map", "kpca"},          {"approx", "projected"}, {"select", "rpcholesky"},
        {"landmarks", "1000"},    {"components", "2"},     {"kernel", "rbf"},
        {"gamma", "auto"},        {"seed", "0"},           {"precision", "f32"},
        {"averages", "implicit"}, {"nan", "error"},        {"format", "auto"},
        {"scale", "none"},
    };
    static const char *const none[] = {"sigma",  "epsilon", "tolerance",     "rank",
                                       "labels", "memory",  "degree",        "coef0",
                                       "inner",  "power",   "no-such-option"};

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_string_equal(ny_options_get(options, expected[i][0]), expected[i][1]);
        assert_false(ny_options_is_set(options, expected[i][0]));
    }
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_null(ny_options_get(options, none[i]));
    assert_int_equal(ny_options_check(options, NY_GROUP_FIT | NY_GROUP_COMMON), NY_OK);
    assert_int_equal(ny_options_check(options, NY_GROUP_IMPORT | NY_GROUP_COMMON), NY_OK);
}

static void refuses_values_and_suggests(void **state)
{
    (void)state;
    refuse("kernel", "rbff", "did you mean 'rbf'?");
    refuse("kernel", "", "--kernel is one of");
    refuse("map", "umap", "--map is one of");
    refuse("kernal", "rbf", "did you mean --kernel?");
    refuse("landmark", "5", "did you mean --landmarks?");
    refuse("perplexity", "5", "unknown option --perplexity");
    refuse("landmarks", "0", "at least 1");
    refuse("landmarks", "-3", "at least 1");
    refuse("landmarks", "12x", "at least 1");
    refuse("landmarks", "1e3", "at least 1");
    refuse("landmarks", " 5", "at least 1");
    refuse("seed", "99999999999999999999", "whole number");
    refuse("tolerance", "0", "above 0");
    refuse("tolerance", "nan", "above 0");
    refuse("tolerance", "1e999", "above 0");
    refuse("tolerance", "0x10", "above 0");
    refuse("tolerance", "", "above 0");
    refuse("gamma", "automatic", "above 0 or auto");
    refuse("gamma", "-1", "above 0 or auto");
    refuse("coef0", "one", "is a number");
    refuse("labels", "", "needs a value");
    refuse("certify", "maybe", "yes|no");
    refuse("threads", "0", "at least 1");
    refuse("threads", "100000", "at most");
    refuse("no-kernel", "yes", "unknown option --no-kernel");
}

static void reads_sizes_and_hands_them_to_the_context(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"300000000", 300000000}, {"64K", 65536},          {"1T", 1099511627776},
                {"1.5G", 1610612736},     {"2 g", 2147483648},     {"512MiB", 536870912},
                {"512 mb", 536870912},    {"1.5 GiB", 1610612736}, {"1GB", 1073741824}};
    static const char *const bad[] = {"0",     "G",    "-1G", "1.5",      "1.5 ",   "2 X", "2  G", " 2G",
                                      "2G B",  "2GiBs", "2 iB", "1e9", "9999999T", "2 GB/s", "1,5G"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint64_t bytes = 0;

        set("memory", good[i].text);
        assert_true(ny_options_size(options, "memory", &bytes));
        assert_int_equal(bytes, good[i].bytes);
        assert_int_equal(ny_context_memory(ctx), good[i].bytes);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuse("memory", bad[i], "size such as");
    assert_int_equal(ny_context_memory(ctx), 1073741824);
    set("threads", "3");
    assert_int_equal(ny_context_threads(ctx), 3);
}

static void switches_have_a_negative(void **state)
{
    (void)state;
    assert_false(ny_options_flag(options, "affine"));
    assert_null(ny_options_get(options, "affine"));
    set("affine", NULL);
    assert_true(ny_options_flag(options, "affine"));
    set("no-affine", "yes");
    assert_string_equal(ny_options_get(options, "affine"), "no");
    assert_true(ny_options_is_set(options, "affine"));
    set("no-affine", "no");
    assert_true(ny_options_flag(options, "affine"));
}

static void widths_are_one_number_in_three_spellings(void **state)
{
    double gamma = -1;

    (void)state;
    assert_false(ny_options_gamma(options, &gamma));
    set("sigma", "2");
    refuse("gamma", "0.5", "two spellings of one width");
    refuse("epsilon", "0.5", "two spellings of one width");
    set("sigma", "4");
    assert_true(ny_options_gamma(options, &gamma));
    assert_true(gamma == 1.0 / 32);
    assert_null(ny_options_get(options, "gamma"));
}

static void defaults_follow_other_options(void **state)
{
    uint64_t landmarks = 7;

    (void)state;
    set("map", "pca");
    assert_string_equal(ny_options_get(options, "kernel"), "linear");
    assert_null(ny_options_get(options, "gamma"));
    set("map", "svd");
    assert_null(ny_options_get(options, "averages"));
    set("map", "kpca");
    set("approx", "column");
    assert_string_equal(ny_options_get(options, "averages"), "landmarks");
    set("approx", "nystrom");
    assert_string_equal(ny_options_get(options, "inner"), "auto");
    assert_string_equal(ny_options_get(options, "power"), "2");
    set("kernel", "polynomial");
    assert_string_equal(ny_options_get(options, "degree"), "3");
    set("select", "greedy");
    assert_true(ny_options_size(options, "landmarks", &landmarks));
    assert_int_equal(landmarks, 1000);
    assert_string_equal(ny_options_get(options, "pilot"), "yes");
    landmarks = 7;
    set("tolerance", "0.1");
    assert_null(ny_options_get(options, "pilot"));
    assert_false(ny_options_size(options, "landmarks", &landmarks));
    assert_int_equal(landmarks, 7);
    set("landmarks", "0500");
    assert_true(ny_options_size(options, "landmarks", &landmarks));
    assert_int_equal(landmarks, 500);
}

static void pca_is_exact_until_landmarks_are_named(void **state)
{
    static const char *const of_landmarks[][2] = {{"landmarks", "90"}, {"select", "uniform"},
                                                  {"rank", "3"},       {"certify", "yes"},
                                                  {"tolerance", "1"},  {"online", "yes"}};

    (void)state;
    set("map", "pca");
    set("tol", "1e-6");
    assert_string_equal(ny_options_get(options, "approx"), "exact");
    assert_null(ny_options_get(options, "landmarks"));
    for (size_t i = 0; i < sizeof(of_landmarks) / sizeof(of_landmarks[0]); i++) {
        struct ny_options *all = options;

        assert_int_equal(ny_options_copy(&options, all), NY_OK);
        set(of_landmarks[i][0], of_landmarks[i][1]);
        assert_string_equal(ny_options_get(options, "approx"), "projected");
        ny_options_free(options);
        options = all;
    }
}

static void landmarks_of_a_file_imply_given(void **state)
{
    (void)state;
    set("landmarks-file", "rows.npy");
    assert_string_equal(ny_options_get(options, "select"), "given");
    assert_null(ny_options_get(options, "landmarks"));
    assert_int_equal(ny_options_check(options, NY_GROUP_FIT), NY_OK);
    set("landmarks", "10");
    check_refuses(NY_GROUP_FIT, "--landmarks does not act with --select given");
}

/* Options set, then the words of the refusal; NULL: accepted. */
struct check {
    const char *pairs[3][2];
    const char *words;
};

static void check_all(const struct check *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ny_options *kept = options;

        assert_int_equal(ny_options_new(&options, ctx), NY_OK);
        for (int k = 0; k < 3 && cases[i].pairs[k][0]; k++)
            set(cases[i].pairs[k][0], cases[i].pairs[k][1]);
        if (cases[i].words)
            check_refuses(NY_GROUP_FIT, cases[i].words);
        else if (ny_options_check(options, NY_GROUP_FIT))
            fail_msg("case %zu refused: %s", i, ny_context_message(ctx));
        ny_options_free(options);
        options = kept;
    }
}

static void checks_options_against_each_other(void **state)
{
    static const struct check cases[] = {
        {{{"degree", "3"}}, "--degree does not act on the rbf kernel"},
        {{{"coef0", "3"}, {"kernel", "linear"}}, "--coef0 does not act on the linear"},
        {{{"sigma", "3"}, {"kernel", "laplacian"}}, "--sigma does not act on the laplacian"},
        {{{"gamma", "3"}, {"kernel", "cosine"}}, "--gamma does not act on the cosine"},
        {{{"gamma", "3"}, {"kernel", "laplacian"}}, NULL},
        {{{"gamma", "3"}, {"map", "pca"}}, "--gamma does not act on the linear"},
        {{{"tolerance", "0.1"}}, "--tolerance does not act with --select rpcholesky"},
        {{{"select", "greedy"}, {"landmarks", "9"}, {"pilot", "no"}}, NULL},
        {{{"select", "greedy"}, {"tolerance", "0.1"}, {"pilot", "no"}},
         "--pilot does not act with --select greedy and --tolerance"},
        {{{"pilot", "no"}}, "--pilot does not act with --select rpcholesky"},
        {{{"select", "greedy"}, {"tolerance", "0.1"}, {"landmarks", "9"}}, NULL},
        {{{"select", "given"}}, "needs --landmarks-file"},
        {{{"select", "uniform"}, {"landmarks-from", "a"}}, "acts only with --select given"},
        {{{"landmarks-file", "f"}, {"landmarks-from", "a"}}, "give one"},
        {{{"kernel", "precomputed"}}, "needs --columns-file"},
        {{{"columns-file", "c"}, {"landmarks-file", "d"}}, NULL},
        {{{"columns-file", "c"}}, "needs --columns-file C.npy and --landmarks-file"},
        {{{"kernel", "rbf"}, {"columns-file", "c"}, {"landmarks-file", "d"}},
         "--columns-file acts"},
        {{{"map", "pca"}, {"kernel", "rbf"}}, "--map pca has the linear kernel"},
        {{{"map", "pca"}, {"kernel", "linear"}}, NULL},
        {{{"map", "diffusion"}, {"knn", "forest"}},
         "--knn does not act with --map diffusion of a kernel; give --neighbors T or --graph NAME"},
        {{{"map", "svd"}, {"knn", "forest"}},
         "--knn does not act with --map svd; it is for maps of a graph: diffusion, isomap, "
         "eigenmaps"},
        {{{"map", "diffusion"}, {"knn", "forest"}, {"neighbors", "9"}}, NULL},
        {{{"map", "diffusion"}, {"neighbors", "9"}, {"approx", "exact"}},
         "--approx does not act with --map diffusion of a graph"},
        {{{"map", "eigenmaps"}, {"kernel", "linear"}},
         "--map eigenmaps has the rbf kernel of the lengths of edges; choose its form with"},
        {{{"map", "diffusion"}, {"neighbors", "9"}, {"kernel", "linear"}},
         "--map diffusion of a graph has the rbf kernel of the lengths of edges"},
        {{{"map", "svd"}, {"averages", "implicit"}}, "--averages does not act with --map svd"},
        {{{"affine", "yes"}}, NULL},
        {{{"columns-file", "c"}, {"landmarks-file", "d"}, {"scale", "unit"}},
         "--scale does not act with --kernel precomputed"},
        {{{"degree", "4294967298"}, {"kernel", "polynomial"}}, "--degree is at most 2147483647"},
    };

    (void)state;
    check_all(cases, sizeof(cases) / sizeof(cases[0]));
    set("labels", "l");
    set("label-column", "1");
    check_refuses(NY_GROUP_IMPORT, "give one");
    set("affine", NULL);
    check_refuses(NY_GROUP_SELECT, "--affine acts only with --select greedy");
}

static void checks_options_against_the_approximation(void **state)
{
    static const struct check cases[] = {
        {{{"inner", "exact"}, {"approx", "column"}}, "--inner acts only with --approx nystrom"},
        {{{"inner", "exact"}}, NULL},
        {{{"inner", "randomized"}, {"oversample", "9"}, {"power", "3"}}, NULL},
        {{{"inner", "auto"}, {"power", "3"}}, "--power acts with --approx projected only together"},
        {{{"oversample", "3"}}, "--oversample acts with --approx projected only together"},
        {{{"inner", "exact"}, {"oversample", "3"}}, "only together with --inner randomized"},
        {{{"approx", "nystrom"}, {"inner", "exact"}, {"power", "1"}},
         "--power does not act with --inner exact"},
        {{{"approx", "nystrom"}, {"oversample", "9"}, {"power", "1"}}, NULL},
        {{{"approx", "column"}, {"affine", "yes"}}, "--affine acts only"},
        {{{"components", "9"}, {"rank", "8"}}, "--components 9 is more than --rank 8"},
        {{{"components", "8"}, {"rank", "8"}}, NULL},
        {{{"rank", "1"}}, "--components 2 is more than --rank 1"},
        {{{"rank", "8"}, {"approx", "column"}}, "--rank does not act with --approx column"},
        {{{"rank", "8"}, {"approx", "orthonystrom"}}, "--rank does not act with"},
        {{{"inner", "randomized"}, {"approx", "orthonystrom"}}, NULL},
        {{{"components", "9"}, {"rank", "8"}, {"approx", "ensemble"}}, NULL},
        {{{"experts", "8"}, {"approx", "projected"}}, "--experts acts only with --approx ensemble"},
        {{{"approx", "exact"}}, NULL},
        {{{"approx", "exact"}, {"select", "all"}}, NULL},
        {{{"approx", "exact"}, {"select", "uniform"}}, "--approx exact takes every row"},
        {{{"approx", "exact"}, {"landmarks-file", "f"}}, "--approx exact takes every row"},
        {{{"approx", "exact"}, {"landmarks", "9"}}, "--landmarks does not act with --approx exact"},
        {{{"approx", "exact"}, {"tolerance", "9"}}, "--tolerance does not act with --approx exact"},
        {{{"approx", "exact"}, {"rank", "9"}}, "--rank does not act with --approx exact"},
        {{{"weights", "ridge"}}, "--weights acts only with --approx ensemble"},
        {{{"power", "4294967298"}, {"approx", "nystrom"}}, "--power is at most 2147483647"},
        {{{"max-passes", "4294967296"}, {"approx", "exact"}, {"kernel", "linear"}}, "is at most"},
    };

    (void)state;
    check_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Refused because of --approx NAME or --select NAME, whatever else may be missing. */
static bool refused_for(const char *governor, const char *name, const char *option,
                        const char *value)
{
    struct ny_options *kept = options;
    char only[80], none[80];
    bool refused;

    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
    set(governor, name);
    set(option, value);
    snprintf(only, sizeof(only), "--%s acts only with --", option);
    snprintf(none, sizeof(none), "--%s does not act with --%s %s", option, governor, name);
    refused = ny_options_check(options, NY_GROUP_FIT) &&
              (strstr(ny_context_message(ctx), only) || strstr(ny_context_message(ctx), none));
    ny_options_free(options);
    options = kept;
    return refused;
}

static void entries_of_tables_name_their_options(void **state)
{
    static const char *const of_methods[][2] = {
        {"certify", "yes"}, {"rank", "9"},    {"affine", "yes"},  {"inner", "exact"},
        {"power", "3"},     {"experts", "8"}, {"oversample", "3"}, {"weights", "ridge"},
    };
    static const char *const of_rules[][2] = {
        {"landmarks", "9"}, {"landmarks-file", "f"}, {"landmarks-from", "a"}, {"online", "yes"}};

    (void)state;
    for (size_t i = 0; ny_method_at(i); i++)
        for (size_t k = 0; k < sizeof(of_methods) / sizeof(of_methods[0]); k++)
            assert_true(refused_for("approx", ny_method_at(i)->name, of_methods[k][0],
                                    of_methods[k][1]) !=
                        ny_one_of(of_methods[k][0], ny_method_at(i)->options));
    for (size_t i = 0; ny_rule_at(i); i++)
        for (size_t k = 0; k < sizeof(of_rules) / sizeof(of_rules[0]) && !ny_rule_at(i)->paths; k++)
            assert_true(refused_for("select", ny_rule_at(i)->name, of_rules[k][0],
                                    of_rules[k][1]) !=
                        ny_one_of(of_rules[k][0], ny_rule_at(i)->options));
}

static void methods_bring_the_selection_that_suits_them(void **state)
{
    const struct ny_method *method;

    (void)state;
    for (size_t i = 0; (method = ny_method_at(i)); i++) {
        assert_true(!method->rule == (method->whole != NULL));
        if (!method->rule) continue;
        assert_true(ny_rule_find(method->rule)->uniform || !method->uniform_only);
        set("approx", method->name);
        assert_string_equal(ny_options_get(options, "select"), method->rule);
    }
}

static uint64_t fingerprint_with(const char *name, const char *value)
{
    struct ny_options *other = NULL;
    uint64_t hash;

    assert_int_equal(ny_options_new(&other, ctx), NY_OK);
    if (name) assert_int_equal(ny_options_set(other, name, value), NY_OK);
    hash = ny_options_fingerprint(other, NY_GROUP_FIT | NY_GROUP_COMMON);
    ny_options_free(other);
    return hash;
}

static void fingerprint_is_of_what_is_in_force(void **state)
{
    uint64_t plain = fingerprint_with(NULL, NULL);

    (void)state;
    assert_true(fingerprint_with("landmarks", "1000") == plain);
    assert_true(fingerprint_with("landmarks", "01000") == plain);
    assert_true(fingerprint_with("sigma", "auto") == plain);
    assert_true(fingerprint_with("memory", "1G") == plain);
    assert_true(fingerprint_with("threads", "1") == plain);
    assert_true(fingerprint_with("restart", "yes") == plain);
    assert_true(fingerprint_with("format", "csv") == plain); /* of another group */
    assert_true(fingerprint_with("landmarks", "1001") != plain);
    assert_true(fingerprint_with("affine", "yes") != plain);
    assert_true(fingerprint_with("gamma", "0.5") != plain);
    assert_true(fingerprint_with("gamma", "0.5") == fingerprint_with("sigma", "1"));
    assert_true(fingerprint_with("gamma", "5e-1") == fingerprint_with("epsilon", "2.0"));
}

static void a_path_of_any_bytes_has_an_identity(void **state)
{
    json_t *stored;
    char *text;

    (void)state;
    set("landmarks-file", "bad\xff\xc3.npy");
    stored = ny_options_to_json(options, NY_GROUP_FIT);
    assert_string_equal(json_string_value(json_object_get(stored, "landmarks-file")), "bad??.npy");
    text = ny_options_differences(options, NY_GROUP_FIT, stored);
    assert_string_equal(text, "");
    ny_free(ctx, text);
    json_decref(stored);
}

/* Each word and what is meant by it, or NULL. */
static void suggests(const char *const (*pairs)[2], size_t count, const char *const *names,
                     size_t name_count)
{
    for (size_t i = 0; i < count; i++) {
        const char *nearest = ny_suggest(pairs[i][0], names, name_count);

        if (!pairs[i][1])
            assert_null(nearest);
        else
            assert_string_equal(nearest, pairs[i][1]);
    }
}

static void suggests_only_what_may_be_meant(void **state)
{
    static const char *const verbs[] = {"import", "info", "verify", "plan",  "fit", "select",
                                        "export", "list", "rm",     "bench", "help"};
    static const char *const names[] = {"one", "all", "r", "mnist-50", "trustworthiness"};
    static const char *const of_verbs[][2] = {
        {"fti", "fit"},       {"imprt", "import"}, {"exprot", "export"}, {"lst", "list"},
        {"varify", "verify"}, {"rn", "rm"},        {"benchmark", NULL},  {"delete", NULL},
        {"", NULL},           {"x", NULL},         {"imp", "import"},    {"hlep", "help"},
        {"nope", NULL},       {"foo", NULL},       {"FIT", "fit"},       {"fim", "fit"},
        {"rr", "rm"},         {"abc", NULL},       {"impulse", NULL},    {"slecet", "select"}};
    static const char *const of_names[][2] = {
        {"nope", NULL},  {"foo", NULL},  {"s", NULL},
        {"rr", "r"},     {"on", "one"},  {"oen", "one"},
        {"ones", "one"}, {"aal", "all"}, {"mnist_5", "mnist-50"},
        {"trust", "trustworthiness"},    {"trustwortyness", "trustworthiness"}};

    (void)state;
    suggests(of_verbs, sizeof(of_verbs) / sizeof(of_verbs[0]), verbs, 11);
    suggests(of_names, sizeof(of_names) / sizeof(of_names[0]), names, 5);
    assert_null(
        ny_suggest("a-word-that-is-much-longer-than-any-option-name-could-ever-be", verbs, 1));
    assert_null(ny_suggest("fit", NULL, 0));
    assert_string_equal(ny_hint("oen", names, 2).text, "; did you mean 'one'?");
    assert_string_equal(ny_hint("nope", names, 2).text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(accepts_every_value_that_it_lists, start, stop),
        cmocka_unit_test_setup_teardown(every_default_is_a_valid_value, start, stop),
        cmocka_unit_test_setup_teardown(defaults_are_those_of_the_interface, start, stop),
        cmocka_unit_test_setup_teardown(refuses_values_and_suggests, start, stop),
        cmocka_unit_test_setup_teardown(reads_sizes_and_hands_them_to_the_context, start, stop),
        cmocka_unit_test_setup_teardown(switches_have_a_negative, start, stop),
        cmocka_unit_test_setup_teardown(widths_are_one_number_in_three_spellings, start, stop),
        cmocka_unit_test_setup_teardown(defaults_follow_other_options, start, stop),
        cmocka_unit_test_setup_teardown(pca_is_exact_until_landmarks_are_named, start, stop),
        cmocka_unit_test_setup_teardown(landmarks_of_a_file_imply_given, start, stop),
        cmocka_unit_test_setup_teardown(checks_options_against_each_other, start, stop),
        cmocka_unit_test_setup_teardown(checks_options_against_the_approximation, start, stop),
        cmocka_unit_test_setup_teardown(entries_of_tables_name_their_options, start, stop),
        cmocka_unit_test_setup_teardown(methods_bring_the_selection_that_suits_them, start, stop),
        cmocka_unit_test_setup_teardown(fingerprint_is_of_what_is_in_force, start, stop),
        cmocka_unit_test_setup_teardown(a_path_of_any_bytes_has_an_identity, start, stop),
        cmocka_unit_test_setup_teardown(suggests_only_what_may_be_meant, start, stop),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
