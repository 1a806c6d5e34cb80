/* api/settings.h and fit/wishes.h: from options, by wishes, to what is decided about a fit. */
#include "api/settings.h"

#include <unistd.h>

#include "fit/wishes.h"
#include "spectral/methods.h"
#include "support/store_folder.h"

enum { N = 60, D = 3 };

static struct ny_store *store;

static void start(void)
{
    static float rows[N * D];
    struct ny_ingest_spec spec = {.d = D, .dtype = NY_F32};
    struct ny_ingest_rows all = {.values = rows, .count = N, .consumed = N};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows[i] = (float)sin((double)i);
    make_folder();
    assert_int_equal(ny_store_create(&store, ctx, path), NY_OK);
    assert_int_equal(case_ingest(store, &spec, &all), NY_OK);
}

static void stop(void)
{
    ny_store_close(store);
    remove_folder();
}

/* "option value option value …" */
static struct ny_options *options_of(const char *text)
{
    struct ny_options *options;
    char *rest, *name;
    char *words = lend_text("%s", text);

    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
    for (name = strtok_r(words, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        const char *value = strtok_r(NULL, " ", &rest);

        if (ny_options_set(options, name, value))
            fail_msg("--%s %s refused: %s", name, value, ny_context_message(ctx));
    }
    return options;
}

/* The status of the settings that a fit with these options has. */
static int settings_of(const char *text, struct ny_fit_settings *fit)
{
    OWNED(ny_options) *options = options_of(text);
    struct ny_owned_settings settings;
    int err = ny_settings_new(&settings, store, options, NY_GROUP_FIT, NULL);

    *fit = settings.fit;
    ny_settings_release(&settings, ctx);
    return err;
}

/* Words of options are places in enums. */
TEST(words_have_the_order_of_their_enums)
{
    static const struct {
        const char *option, *word;
        int is;
    } words[] = {
        {"header", "auto", NY_HEADER_AUTO},
        {"header", "yes", NY_HEADER_YES},
        {"header", "no", NY_HEADER_NO},
        {"scale", "none", NY_SCALE_NONE},
        {"scale", "standard", NY_SCALE_STANDARD},
        {"scale", "unit", NY_SCALE_UNIT},
        {"precision", "f32", NY_PRECISION_F32},
        {"precision", "f64", NY_PRECISION_F64},
        {"inner", "auto", NY_INNER_AUTO},
        {"inner", "exact", NY_INNER_EXACT},
        {"inner", "randomized", NY_INNER_RANDOMIZED},
        {"weights", "uniform", NY_WEIGHTS_UNIFORM},
        {"weights", "exponential", NY_WEIGHTS_EXPONENTIAL},
        {"weights", "ridge", NY_WEIGHTS_RIDGE},
        {"edge-weights", "heat", NY_EDGES_HEAT},
        {"edge-weights", "binary", NY_EDGES_BINARY},
        {"averages", "landmarks", false},
        {"averages", "implicit", true},
        {"normalize", "symmetric", false},
        {"normalize", "asymmetric", true},
        {"metric", "euclidean", false},
        {"metric", "cosine", true},
        {"knn", "auto", NY_KNN_AUTO},
        {"knn", "exact", NY_KNN_EXACT},
        {"knn", "sieve", NY_KNN_SIEVE},
        {"knn", "tree", NY_KNN_TREE},
        {"knn", "sieve", NY_KNN_SIEVE},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char text[64];
        OWNED(ny_options) *options = NULL;

        snprintf(text, sizeof(text), "%s %s", words[i].option, words[i].word);
        options = options_of(text);
        if ((int)ny_options_choice(options, words[i].option) != words[i].is)
            fail_msg("%s is not %d", text, words[i].is);
    }
}

/* A fit of 60 rows of 3 columns has these settings. */
TEST(wishes_become_settings)
{
    static const struct {
        const char *options;
        const struct ny_method *method;
        const char *kernel;
        enum ny_normalisation normalisation;
        size_t landmarks;
        bool hull, affine, online;
    } cases[] = {
        {"landmarks 20", &ny_method_projected, "rbf", NY_CENTRED_IMPLICIT, 20, 0, 0, 0},
        {"map svd", &ny_method_projected, "rbf", NY_RAW, N, 0, 0, 0},
        {"landmarks 20 inner randomized", &ny_method_krylov, "rbf", NY_CENTRED_IMPLICIT, 20, 0, 0,
         0},
        {"landmarks 20 approx nystrom inner randomized", &ny_method_nystrom, "rbf",
         NY_CENTRED_LANDMARKS, 20, 0, 0, 0},
        {"landmarks 20 averages landmarks", &ny_method_projected, "rbf", NY_CENTRED_LANDMARKS, 20,
         0, 0, 0},
        {"landmarks 20 map laplacian", &ny_method_projected, "rbf", NY_DIVIDED_IMPLICIT, 20, 0, 0,
         0},
        {"map pca approx exact", &ny_method_scatter, NY_COORDINATES_KERNEL, NY_CENTRED_IMPLICIT, D,
         0, 0, 0},
        {"map kpca approx exact", &ny_method_exact, "rbf", NY_CENTRED_LANDMARKS, N, 0, 0, 0},
        {"approx randomized", &ny_method_randomized, "rbf", NY_CENTRED_IMPLICIT, SIZE_MAX, 0, 0, 0},
        {"select greedy tolerance 0.3", &ny_method_projected, "rbf", NY_CENTRED_IMPLICIT, SIZE_MAX,
         1, 0, 0},
        {"select greedy tolerance 0.3 online yes", &ny_method_projected, "rbf", NY_CENTRED_IMPLICIT,
         SIZE_MAX, 0, 0, 1},
        {"select greedy tolerance 0.3 affine yes", &ny_method_projected, "rbf", NY_CENTRED_IMPLICIT,
         SIZE_MAX, 1, 1, 0},
        {"select greedy tolerance 0.3 affine yes approx nystrom", &ny_method_nystrom, "rbf",
         NY_CENTRED_LANDMARKS, SIZE_MAX, 1, 0, 0},
        {"select greedy map svd landmarks 9", &ny_method_projected, "rbf", NY_RAW, 9, 0, 0, 0},
        {"map isomap landmarks 20", &ny_method_nystrom, NULL, NY_CENTRED_LANDMARKS, 20, 0, 0, 0},
        {"map eigenmaps", NULL, "rbf", NY_CENTRED_LANDMARKS, 0, 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ny_fit_settings fit;

        if (settings_of(cases[i].options, &fit))
            fail_msg("%s: %s", cases[i].options, ny_context_message(ctx));
        if (fit.method != cases[i].method || fit.normalisation != cases[i].normalisation ||
            fit.landmarks != cases[i].landmarks || fit.dictionary.affine != cases[i].hull ||
            fit.affine != cases[i].affine || fit.online != cases[i].online)
            fail_msg("%s is decided otherwise", cases[i].options);
        if (cases[i].kernel)
            assert_string_equal(fit.kernel->name, cases[i].kernel);
        else
            assert_null(fit.kernel);
    }
}

/* Sizes that the points or the landmarks do not have are refused; the first of two is told. */
TEST(sizes_are_checked)
{
    static const struct {
        const char *options, *words;
    } cases[] = {
        {"components 61", "--components 61 needs more rows than 60"},
        {"components 9 landmarks 8", "--components 9 needs more landmarks than 8"},
        {"map laplacian components 8 landmarks 8", "--components 8 needs more landmarks than 8"},
        {"approx randomized components 61", "--components 61 needs more rows than 60"},
        {"approx ensemble landmarks 30 experts 31", "--experts 31 needs more landmarks than 30"},
        {"approx ensemble landmarks 30 weights ridge experts 31", "serve to weigh the experts"},
        {"approx ensemble landmarks 30 rank 1 experts 2 components 3", "--components 3 needs more experts than 2"},
        {"map eigenmaps components 60", "--components 60 needs more rows than 60"},
        {"map isomap landmarks 5 components 6", "--components 6 needs more landmarks than 5"},
        {"map isomap neighbors 60", "--neighbors 60 needs more rows than 60"},
        {"map isomap neighbors 60 components 61", "--components 61 needs more landmarks than 60"},
        {"select greedy tolerance 2", "--tolerance is below 2, not '2'"},
        {"select greedy tolerance 2 components 61", "--tolerance is below 2"},
        {"approx nystrom averages implicit components 61", "--averages does not act with --approx nystrom"},
        {"approx nystrom landmarks 20 power 3", "--power does not act with --inner auto"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ny_fit_settings fit;

        assert_int_equal(settings_of(cases[i].options, &fit), NY_EUSAGE);
        if (!strstr(ny_context_message(ctx), cases[i].words))
            fail_msg("%s: '%s' is not in '%s'", cases[i].options, cases[i].words,
                     ny_context_message(ctx));
    }
}

/* A graph of as many neighbours as by default is one all the same, and not the map of a kernel. */
TEST(maps_of_graphs_are_restored_as_such)
{
    static const char *const typed[] = {"map diffusion neighbors 5", "map diffusion neighbors 9",
                                        "map diffusion graph g", "map isomap neighbors 5"};
    struct ny_options none, *options, *again;

    for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++) {
        OWNED(json_t) *stored = NULL;
        char *text;

        options = options_of(typed[i]);
        stored = ny_options_to_json(options, NY_GROUP_FIT);
        CHECK(ny_options_of_stored(&again, ny_options_given(NULL, ctx, &none), NY_GROUP_FIT, stored,
                                   "a"));
        text = ny_options_differences(again, NY_GROUP_FIT, stored);
        assert_string_equal(text, "");
        assert_ptr_equal(ny_options_map(again), ny_options_map(options));
        ny_free(ctx, text);
        ny_options_free(again);
        ny_options_free(options);
    }
}

AROUND_EACH(start, stop)
