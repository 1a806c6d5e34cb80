/* ny_options_differences(): what the options of a call and of a result differ in, for messages. */
#include "unit/options_case.h"

TEST(differences_are_named)
{
    OWNED(json_t) *stored = ny_options_to_json(options, NY_GROUP_FIT);
    char *text = ny_options_differences(options, NY_GROUP_FIT, stored);

    assert_string_equal(text, "");
    ny_free(ctx, text);
    set("map", "pca");
    set("landmarks", "500");
    set("certify", NULL);
    text = ny_options_differences(options, NY_GROUP_FIT, stored);
    assert_string_equal(text, "map: kpca → pca, landmarks: 1000 → 500, kernel: rbf → linear, "
                              "gamma: auto → unset, certify: no → yes");
    ny_free(ctx, text);
    /* written by a version that did not have the option yet */
    json_object_del(stored, "landmarks");
    json_object_del(stored, "map");
    json_object_del(stored, "seed");
    text = ny_options_differences(options, NY_GROUP_FIT, stored);
    assert_non_null(strstr(text, "landmarks: 1000 → 500"));
    assert_null(strstr(text, "seed"));
    ny_free(ctx, text);
}

/* Sets these options and no others: names and values by turns, up to a NULL. */
static void set_all(const char *const *words)
{
    ny_options_free(options);
    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
    for (size_t i = 0; words[i]; i += 2)
        set(words[i], words[i + 1]);
}

/* All options that differ are named, also defaults that follow from others. */
TEST(all_that_differs_is_named)
{
    static const struct {
        const char *then[7], *now[7], *text;
    } cases[] = {
        {{"map", "pca"},
         {"map", "pca", "landmarks", "100"},
         "approx: exact → projected, select: all → rpcholesky, landmarks: unset → 100, "
         "averages: landmarks → implicit, certify: unset → no"},
        {{"gamma", "0.125"}, {"kernel", "linear"}, "kernel: rbf → linear, gamma: 0.125 → unset"},
        {{"map", "kpca"}, {"gamma", "0.125"}, "gamma: auto → 0.125"},
        {{"map", "kpca"}, {"kernel", "matern"}, "kernel: rbf → matern, nu: unset → 1.5"},
        {{"kernel", "matern"}, {"kernel", "matern", "nu", "0.5"}, "nu: 1.5 → 0.5"},
        {{"kernel", "matern"},
         {"kernel", "rational-quadratic"},
         "kernel: matern → rational-quadratic, alpha: unset → 1"},
        {{"map", "diffusion", "neighbors", "5"},
         {"map", "diffusion", "neighbors", "6"},
         "neighbors: 5 → 6"},
        {{"map", "diffusion", "neighbors", "5"},
         {"map", "diffusion"},
         "approx: unset → projected, select: unset → rpcholesky, landmarks: unset → 1000, "
         "averages: unset → implicit, row-normalize: unset → no, neighbors: 5 → unset, "
         "certify: unset → no, check-rows: unset → 64"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OWNED(json_t) *stored = NULL;
        char *text;

        set_all(cases[i].then);
        stored = ny_options_to_json(options, NY_GROUP_FIT);
        set_all(cases[i].now);
        text = ny_options_differences(options, NY_GROUP_FIT, stored);
        assert_string_equal(text, cases[i].text);
        ny_free(ctx, text);
    }
}

/* Identities keep what they have of parameters that their kernel does not list, and of kernels to
 * come they have none; neither tells them apart. */
TEST(parameters_of_other_kernels_do_not_count)
{
    OWNED(json_t) *stored = NULL, *earlier = NULL;

    set_all((const char *const[]){"kernel", "rbf", NULL});
    stored = ny_options_to_json(options, NY_GROUP_FIT);
    assert_true(json_is_null(json_object_get(stored, "coef0")));
    assert_null(json_object_get(stored, "nu"));
    earlier = json_deep_copy(stored);
    json_object_del(earlier, "coef0");
    json_object_set_new(earlier, "alpha", json_null());
    assert_null(ny_options_other(stored, earlier));
    json_object_set_new(earlier, "alpha", json_string("2"));
    assert_string_equal(ny_options_other(stored, earlier), "alpha");
}

/* A version may change defaults: then nobody has typed what differs. */
TEST(differences_that_no_option_explains_are_named)
{
    OWNED(json_t) *stored = ny_options_to_json(options, NY_GROUP_FIT);
    char *text;

    json_object_set_new(stored, "affine", json_string("of an earlier version"));
    json_object_set_new(stored, "averages", json_string("landmarks"));
    json_object_set_new(stored, "landmarks", json_null());
    set("components", "3");
    text = ny_options_differences(options, NY_GROUP_FIT, stored);
    assert_string_equal(text, "landmarks: unset → 1000, components: 2 → 3, "
                              "averages: landmarks → implicit, "
                              "affine: of an earlier version → unset");
    ny_free(ctx, text);
}

AROUND_EACH(start, stop)
