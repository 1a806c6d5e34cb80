/* api/options.h: values, defaults, rules between options, identity; ny_suggest(). */
#include "unit/options_case.h"

#include "base/text.h"
#include "fit/settings.h"

/* Refused as a usage error, and nothing has changed. */
static void refuse(const char *name, const char *value)
{
    const char *before = ny_options_get(options, name);

    assert_int_equal(ny_options_set(options, name, value), NY_EUSAGE);
    assert_int_equal(ny_context_error(ctx)->status, NY_EUSAGE);
    assert_ptr_equal(ny_options_get(options, name), before);
}

static void check_refuses(unsigned groups)
{
    assert_int_equal(ny_options_check(options, groups), NY_EUSAGE);
}

TEST(accepts_every_value_that_it_lists)
{
    const struct ny_option_info *info;

    for (int i = 0; (info = ny_option_at(i)); i++) {
        const char *rest = info->argument;

        assert_true(info->groups != 0 && info->summary[0] != '\0');
        while (rest && strchr(info->argument, '|') && *rest) {
            size_t length = strcspn(rest, "|");
            char *word = lend_text("%.*s", (int)length, rest);

            if (strlen(word) > 1) set(info->name, word);
            rest += length + (rest[length] == '|');
        }
    }
}

TEST(every_default_is_a_valid_value)
{
    const struct ny_option_info *info;

    for (int i = 0; (info = ny_option_at(i)); i++)
        if (info->fallback) set(info->name, info->fallback);
}

TEST(defaults_are_those_of_the_interface)
{
    static const char *const expected[][2] = {
        {"map", "kpca"},          {"approx", "projected"}, {"select", "rpcholesky"},
        {"landmarks", "1000"},    {"components", "2"},     {"kernel", "rbf"},
        {"gamma", "auto"},        {"seed", "0"},           {"precision", "f32"},
        {"averages", "implicit"}, {"nan", "error"},        {"format", "auto"},
        {"scale", "none"},
    };
    static const char *const none[] = {"tolerance", "rank",  "labels", "memory",        "degree",
                                       "coef0",     "inner", "power",  "no-such-option"};

    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_string_equal(ny_options_get(options, expected[i][0]), expected[i][1]);
        assert_false(ny_options_is_set(options, expected[i][0]));
    }
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_null(ny_options_get(options, none[i]));
    assert_int_equal(ny_options_check(options, NY_GROUP_FIT | NY_GROUP_COMMON), NY_OK);
    assert_int_equal(ny_options_check(options, NY_GROUP_IMPORT | NY_GROUP_COMMON), NY_OK);
}

TEST(refuses_values_and_suggests)
{
    refuse("kernel", "rbff");
    refuse("kernel", "");
    refuse("map", "umap");
    refuse("kernal", "rbf");
    refuse("landmark", "5");
    refuse("perplexity", "5");
    refuse("landmarks", "0");
    refuse("landmarks", "-3");
    refuse("landmarks", "12x");
    refuse("landmarks", "1e3");
    refuse("landmarks", " 5");
    refuse("seed", "99999999999999999999");
    refuse("seed", "-1");
    refuse("tolerance", "0");
    refuse("tolerance", "nan");
    refuse("tolerance", "1e999");
    refuse("tolerance", "0x10");
    refuse("tolerance", "");
    refuse("gamma", "automatic");
    refuse("gamma", "0");
    refuse("gamma", "-1");
    refuse("coef0", "one");
    refuse("labels", "");
    refuse("certify", "maybe");
    refuse("threads", "0");
    refuse("threads", "100000");
    refuse("degree", "4294967298");
    refuse("power", "4294967298");
    refuse("max-passes", "4294967296");
    refuse("no-kernel", "yes");
}

TEST(reads_sizes_and_hands_them_to_the_context)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"300000000", 300000000}, {"64K", 65536},          {"1T", 1099511627776},
                {"1.5G", 1610612736},     {"2 g", 2147483648},     {"512MiB", 536870912},
                {"512 mb", 536870912},    {"1.5 GiB", 1610612736}, {"1GB", 1073741824}};
    static const char *const bad[] = {"0",     "G",    "-1G", "1.5",      "1.5 ",   "2 X", "2  G", " 2G",
                                      "2G B",  "2GiBs", "2 iB", "1e9", "9999999T", "2 GB/s", "1,5G"};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint64_t bytes = 0;

        set("memory", good[i].text);
        assert_true(ny_options_size(options, "memory", &bytes));
        assert_int_equal(bytes, good[i].bytes);
        assert_int_equal(ny_context_memory(ctx), good[i].bytes);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuse("memory", bad[i]);
    assert_int_equal(ny_context_memory(ctx), 1073741824);
    set("threads", "3");
    assert_int_equal(ny_context_threads(ctx), 3);
}

TEST(switches_have_a_negative)
{
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

TEST(edges_take_nothing_from_a_map_that_makes_its_graph)
{
    set("edges", "file.txt");
    assert_null(ny_options_get(options, "neighbors"));
    set("map", "isomap");
    assert_string_equal(ny_options_get(options, "neighbors"), "5");
}

TEST(sigma_and_epsilon_set_gamma)
{
    set("sigma", "4");
    assert_string_equal(ny_options_get(options, "gamma"), "0.03125");
    set("epsilon", "4");
    assert_string_equal(ny_options_get(options, "gamma"), "0.25");
    set("sigma", "auto");
    assert_string_equal(ny_options_get(options, "gamma"), "auto");
    assert_null(ny_options_get(options, "sigma"));
    assert_int_equal(ny_options_set(options, "sigma", "1e-200"), NY_EUSAGE);
}

TEST(defaults_follow_other_options)
{
    uint64_t landmarks = 7;

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

TEST(pca_is_exact_until_landmarks_are_named)
{
    static const char *const of_landmarks[][2] = {{"landmarks", "90"}, {"select", "uniform"},
                                                  {"rank", "3"},       {"certify", "yes"},
                                                  {"tolerance", "1"},  {"online", "yes"}};

    set("map", "pca");
    set("tol", "1e-6");
    assert_string_equal(ny_options_get(options, "approx"), "exact");
    assert_null(ny_options_get(options, "landmarks"));
    for (size_t i = 0; i < sizeof(of_landmarks) / sizeof(of_landmarks[0]); i++) {
        struct ny_options *all = options;

        assert_int_equal(ny_options_copy(&options, all, ""), NY_OK);
        set(of_landmarks[i][0], of_landmarks[i][1]);
        assert_string_equal(ny_options_get(options, "approx"), "projected");
        ny_options_free(options);
        options = all;
    }
}

TEST(landmarks_of_a_file_imply_given)
{
    set("landmarks-file", "rows.npy");
    assert_string_equal(ny_options_get(options, "select"), "given");
    assert_null(ny_options_get(options, "landmarks"));
    assert_int_equal(ny_options_check(options, NY_GROUP_FIT), NY_OK);
    set("landmarks", "10");
    check_refuses(NY_GROUP_FIT);
}

/* Options set, then whether they are refused. */
struct check {
    const char *pairs[3][2];
    bool refused;
};

static void check_all(const struct check *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ny_options *kept = options;

        assert_int_equal(ny_options_new(&options, ctx), NY_OK);
        for (int k = 0; k < 3 && cases[i].pairs[k][0]; k++)
            set(cases[i].pairs[k][0], cases[i].pairs[k][1]);
        if (cases[i].refused)
            check_refuses(NY_GROUP_FIT);
        else if (ny_options_check(options, NY_GROUP_FIT))
            fail_msg("case %zu refused: %s", i, ny_context_message(ctx));
        ny_options_free(options);
        options = kept;
    }
}

TEST(checks_options_against_each_other)
{
    static const struct check cases[] = {
        {{{"degree", "3"}}, true},
        {{{"coef0", "3"}, {"kernel", "linear"}}, true},
        {{{"gamma", "3"}, {"kernel", "cosine"}}, true},
        {{{"gamma", "3"}, {"kernel", "laplacian"}}, false},
        {{{"gamma", "3"}, {"map", "pca"}}, true},
        {{{"tolerance", "0.1"}}, true},
        {{{"select", "greedy"}, {"landmarks", "9"}, {"pilot", "no"}}, false},
        {{{"select", "greedy"}, {"tolerance", "0.1"}, {"pilot", "no"}}, true},
        {{{"pilot", "no"}}, true},
        {{{"select", "greedy"}, {"tolerance", "0.1"}, {"landmarks", "9"}}, false},
        {{{"select", "given"}}, true},
        {{{"select", "uniform"}, {"landmarks-from", "a"}}, true},
        {{{"landmarks-file", "f"}, {"landmarks-from", "a"}}, true},
        {{{"kernel", "precomputed"}}, true},
        {{{"columns-file", "c"}, {"landmarks-file", "d"}}, false},
        {{{"columns-file", "c"}}, true},
        {{{"kernel", "rbf"}, {"columns-file", "c"}, {"landmarks-file", "d"}}, true},
        {{{"map", "pca"}, {"kernel", "rbf"}}, true},
        {{{"map", "pca"}, {"kernel", "linear"}}, false},
        {{{"map", "diffusion"}, {"knn", "sieve"}}, true},
        {{{"map", "svd"}, {"knn", "sieve"}}, true},
        {{{"map", "diffusion"}, {"knn", "sieve"}, {"neighbors", "9"}}, false},
        {{{"map", "diffusion"}, {"neighbors", "9"}, {"approx", "exact"}}, true},
        {{{"map", "eigenmaps"}, {"kernel", "linear"}}, true},
        {{{"map", "diffusion"}, {"neighbors", "9"}, {"kernel", "linear"}}, true},
        {{{"map", "svd"}, {"averages", "implicit"}}, true},
        {{{"affine", "yes"}}, false},
        {{{"columns-file", "c"}, {"landmarks-file", "d"}, {"scale", "unit"}}, true},
    };

    check_all(cases, sizeof(cases) / sizeof(cases[0]));
    set("labels", "l");
    set("label-column", "1");
    check_refuses(NY_GROUP_IMPORT);
    set("affine", NULL);
    check_refuses(NY_GROUP_SELECT);
}

TEST(checks_options_against_the_approximation)
{
    static const struct check cases[] = {
        {{{"inner", "exact"}, {"approx", "column"}}, true},
        {{{"inner", "exact"}}, false},
        {{{"inner", "randomized"}, {"oversample", "9"}, {"power", "3"}}, false},
        {{{"inner", "auto"}, {"power", "3"}}, true},
        {{{"oversample", "3"}}, true},
        {{{"inner", "exact"}, {"oversample", "3"}}, true},
        {{{"approx", "nystrom"}, {"inner", "exact"}, {"power", "1"}}, true},
        {{{"approx", "nystrom"}, {"oversample", "9"}, {"power", "1"}}, false},
        {{{"approx", "column"}, {"affine", "yes"}}, true},
        {{{"components", "9"}, {"rank", "8"}}, true},
        {{{"components", "8"}, {"rank", "8"}}, false},
        {{{"rank", "1"}}, true},
        {{{"rank", "8"}, {"approx", "column"}}, true},
        {{{"rank", "8"}, {"approx", "orthonystrom"}}, true},
        {{{"inner", "randomized"}, {"approx", "orthonystrom"}}, false},
        {{{"components", "9"}, {"rank", "8"}, {"approx", "ensemble"}}, false},
        {{{"experts", "8"}, {"approx", "projected"}}, true},
        {{{"approx", "exact"}}, false},
        {{{"approx", "exact"}, {"select", "all"}}, false},
        {{{"approx", "exact"}, {"select", "uniform"}}, true},
        {{{"approx", "exact"}, {"landmarks-file", "f"}}, true},
        {{{"approx", "exact"}, {"landmarks", "9"}}, true},
        {{{"approx", "exact"}, {"tolerance", "9"}}, true},
        {{{"approx", "exact"}, {"rank", "9"}}, true},
        {{{"weights", "ridge"}}, true},
    };

    check_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Refused because of --approx NAME or --select NAME, whatever else may be missing. */
static bool refused_for(const char *governor, const char *name, const char *option,
                        const char *value)
{
    struct ny_options *kept = options;
    bool refused;
    char *only = lend_text("--%s acts only with --select", option);
    char *none = lend_text("--%s does not act with --%s %s", option, governor, name);

    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
    set(governor, name);
    set(option, value);
    refused = ny_options_check(options, NY_GROUP_FIT) &&
              (strstr(ny_context_message(ctx), only) || strstr(ny_context_message(ctx), none));
    ny_options_free(options);
    options = kept;
    return refused;
}

TEST(entries_of_tables_name_their_options)
{
    static const char *const of_methods[][2] = {
        {"certify", "yes"}, {"rank", "9"},       {"inner", "exact"},   {"power", "3"},
        {"experts", "8"},   {"oversample", "3"}, {"weights", "ridge"},
    };
    static const char *const of_rules[][2] = {
        {"landmarks", "9"}, {"landmarks-file", "f"}, {"landmarks-from", "a"}, {"online", "yes"}};

    for (size_t i = 0; ny_method_at(i); i++)
        assert_true(refused_for("approx", ny_method_at(i)->name, "affine", "yes") !=
                    ny_method_at(i)->affine);
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

TEST(methods_bring_the_selection_that_suits_them)
{
    const struct ny_method *method;

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
    OWNED(ny_options) *other = NULL;
    uint64_t hash;

    assert_int_equal(ny_options_new(&other, ctx), NY_OK);
    if (name) assert_int_equal(ny_options_set(other, name, value), NY_OK);
    hash = ny_options_fingerprint(other, NY_GROUP_FIT | NY_GROUP_COMMON);
    return hash;
}

TEST(fingerprint_is_of_what_is_in_force)
{
    uint64_t plain = fingerprint_with(NULL, NULL);

    assert_true(fingerprint_with("landmarks", "1000") == plain);
    assert_true(fingerprint_with("landmarks", "01000") == plain);
    assert_true(fingerprint_with("gamma", "auto") == plain);
    assert_true(fingerprint_with("memory", "1G") == plain);
    assert_true(fingerprint_with("threads", "1") == plain);
    assert_true(fingerprint_with("restart", "yes") == plain);
    assert_true(fingerprint_with("format", "csv") == plain); /* of another group */
    assert_true(fingerprint_with("landmarks", "1001") != plain);
    assert_true(fingerprint_with("affine", "yes") != plain);
    assert_true(fingerprint_with("gamma", "0.5") != plain);
    assert_true(fingerprint_with("gamma", "0.5") == fingerprint_with("gamma", "5e-1"));
}

TEST(a_path_of_any_bytes_has_an_identity)
{
    OWNED(json_t) *stored = NULL;
    char *text;

    set("landmarks-file", "bad\xff\xc3.npy");
    stored = ny_options_to_json(options, NY_GROUP_FIT);
    assert_string_equal(json_string_value(json_object_get(stored, "landmarks-file")), "bad??.npy");
    text = ny_options_differences(options, NY_GROUP_FIT, stored);
    assert_string_equal(text, "");
    ny_free(ctx, text);
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

TEST(suggests_only_what_may_be_meant)
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

    suggests(of_verbs, sizeof(of_verbs) / sizeof(of_verbs[0]), verbs, 11);
    suggests(of_names, sizeof(of_names) / sizeof(of_names[0]), names, 5);
    assert_null(
        ny_suggest("a-word-that-is-much-longer-than-any-option-name-could-ever-be", verbs, 1));
    assert_null(ny_suggest("fit", NULL, 0));
}

AROUND_EACH(start, stop)
