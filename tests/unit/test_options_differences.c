/* ny_options_differences(): what the options of a call and of a result differ in, for messages. */
#include "unit/options_case.h"

#include <string.h>

static void differences_are_named(void **state)
{
    json_t *stored = ny_options_to_json(options, NY_GROUP_FIT);
    char *text = ny_options_differences(options, NY_GROUP_FIT, stored);

    (void)state;
    assert_string_equal(text, "");
    ny_free(ctx, text);
    set("map", "pca");
    set("landmarks", "500");
    set("certify", NULL);
    text = ny_options_differences(options, NY_GROUP_FIT, stored);
    assert_string_equal(text, "map: kpca → pca, landmarks: 1000 → 500, certify: no → yes");
    ny_free(ctx, text);
    /* written by a version that did not have the option yet */
    json_object_del(stored, "landmarks");
    json_object_del(stored, "map");
    json_object_del(stored, "seed");
    text = ny_options_differences(options, NY_GROUP_FIT, stored);
    assert_non_null(strstr(text, "landmarks: 1000 → 500"));
    assert_null(strstr(text, "seed"));
    ny_free(ctx, text);
    json_decref(stored);
}

/* Sets these options and no others: names and values by turns, up to a NULL. */
static void set_all(const char *const *words)
{
    ny_options_free(options);
    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
    for (size_t i = 0; words[i]; i += 2)
        set(words[i], words[i + 1]);
}

/* Defaults that follow from options in the message are not in it, wherever those were typed. */
static void differences_that_follow_from_others_are_left_out(void **state)
{
    static const struct {
        const char *then[7], *now[7], *text;
    } cases[] = {
        {{"map", "pca"}, {"map", "pca", "landmarks", "100"}, "landmarks: unset → 100"},
        {{"map", "pca", "landmarks", "100"}, {"map", "pca"}, "landmarks: 100 → unset"},
        {{"map", "pca", "landmarks", "100"},
         {"map", "pca", "components", "7"},
         "landmarks: 100 → unset, components: 2 → 7"},
        {{"sigma", "2"}, {"kernel", "linear"}, "kernel: rbf → linear, gamma: 0.125 → unset"},
        {{"approx", "nystrom"}, {"sigma", "2"}, "approx: nystrom → projected, sigma: auto → 2"},
        {{"select", "greedy", "tolerance", "0.5"},
         {"landmarks", "20"},
         "select: greedy → rpcholesky, landmarks: unset → 20, tolerance: 0.5 → unset"},
        {{"map", "diffusion"}, {"map", "diffusion", "neighbors", "5"}, "neighbors: unset → 5"},
        {{"map", "diffusion", "neighbors", "5"}, {"map", "diffusion"}, "neighbors: 5 → unset"},
        {{"map", "diffusion", "neighbors", "5"},
         {"map", "kpca"},
         "map: diffusion → kpca, neighbors: 5 → unset"},
        {{"map", "isomap"}, {"map", "kpca"}, "map: isomap → kpca"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *stored;
        char *text;

        set_all(cases[i].then);
        stored = ny_options_to_json(options, NY_GROUP_FIT);
        set_all(cases[i].now);
        text = ny_options_differences(options, NY_GROUP_FIT, stored);
        assert_string_equal(text, cases[i].text);
        ny_free(ctx, text);
        json_decref(stored);
    }
}

/* A version may change defaults: then nobody has typed what differs. */
static void differences_that_no_option_explains_are_named(void **state)
{
    json_t *stored = ny_options_to_json(options, NY_GROUP_FIT);
    char *text;

    (void)state;
    json_object_set_new(stored, "affine", json_string("of an earlier version"));
    json_object_set_new(stored, "averages", json_string("landmarks"));
    json_object_set_new(stored, "landmarks", json_null());
    set("components", "3");
    text = ny_options_differences(options, NY_GROUP_FIT, stored);
    assert_string_equal(text, "landmarks: unset → 1000, components: 2 → 3, "
                              "averages: landmarks → implicit, "
                              "affine: of an earlier version → unset");
    ny_free(ctx, text);
    json_decref(stored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(differences_are_named, start, stop),
        cmocka_unit_test_setup_teardown(differences_that_follow_from_others_are_left_out, start,
                                        stop),
        cmocka_unit_test_setup_teardown(differences_that_no_option_explains_are_named, start, stop),
    };
    return cmocka_run_group_tests_name("options_differences", tests, NULL, NULL);
}
