/* Traits, which are what rows have in common, are compared field by field: the first that differs
 * is named, with both values and a cure; columns of the same names are found in any order. */
#include "base/traits.h"
#include "support/context.h"

OWNS(ny_names, ny_names_release(at, ctx))

enum { ALL = 255 & ~NY_SAME_NOTED };

/* Makes names of a list of letters. */
static struct ny_names names_of(const char *letters)
{
    struct ny_names names = {0};

    for (size_t i = 0; letters[i]; i++)
        assert_int_equal(ny_names_add(&names, ctx, letters + i, 1), NY_OK);
    return names;
}

static struct ny_party party_of(const char *whose, const struct ny_names *columns)
{
    return (struct ny_party){.whose = whose,
                             .traits = {.d = columns->count,
                                        .dtype = NY_F32,
                                        .columns = ny_names_digest(columns),
                                        .classes = 7},
                             .columns = columns};
}

TEST(each_fact_is_compared_where_it_is_asked_for)
{
    static const struct {
        unsigned same;
        size_t at; /* of its lowest byte */
        const char *says;
    } facts[] = {
        {NY_SAME_D, offsetof(struct ny_traits, d), "one has 4 columns, but two has 3"},
        {NY_SAME_DTYPE, offsetof(struct ny_traits, dtype), "again with --dtype f32"},
        {NY_SAME_LAYOUT, offsetof(struct ny_traits, layout), "again with --layout dense"},
        {NY_SAME_PREPARATION, offsetof(struct ny_traits, preparation.values), "--values raw"},
        {NY_SAME_CLASSES, offsetof(struct ny_traits, classes), "the classes of one"},
        {NY_SAME_COLUMNS, offsetof(struct ny_traits, columns), "the columns of one"}};
    OWNED(ny_names) names = names_of("abc");
    struct ny_party two = party_of("two", &names);

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        struct ny_party one = two;

        one.whose = "one";
        one.columns = NULL;
        assert_int_equal(ny_traits_compare(ctx, &one, &two, ALL, NULL), NY_OK);
        ny_error_clear(ctx);
        ++*((unsigned char *)&one.traits + facts[i].at);
        assert_int_equal(ny_traits_compare(ctx, &one, &two, ALL, NULL), NY_EDATA);
        assert_non_null(strstr(ny_context_message(ctx), facts[i].says));
        assert_int_equal(ny_traits_compare(ctx, &one, &two, facts[i].same, NULL), NY_EDATA);
        assert_int_equal(ny_traits_compare(ctx, &one, &two, ALL & ~facts[i].same, NULL), NY_OK);
        one.traits.d = 0; /* nothing is known */
        assert_int_equal(ny_traits_compare(ctx, &one, &two, ALL, NULL), NY_OK);
    }
    ny_error_clear(ctx);
}

TEST(columns_are_found_by_their_names)
{
    static const struct {
        const char *mine, *theirs;
        int place[4]; /* −1: they are refused; 0 0 0 0: as they stand */
    } cases[] = {{"abcd", "abcd", {0, 0, 0, 0}},  {"abcd", "dbca", {3, 1, 2, 0}},
                 {"dcab", "abcd", {2, 3, 1, 0}},  {"abcd", "abcx", {-1, 0, 0, 0}},
                 {"abca", "acba", {-1, 0, 0, 0}}, {"aabb", "abab", {-1, 0, 0, 0}}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OWNED(ny_names) mine = names_of(cases[i].mine), theirs = names_of(cases[i].theirs);
        const struct ny_party one = party_of("one", &mine), two = party_of("two", &theirs);
        bool equal = strcmp(cases[i].mine, cases[i].theirs) == 0;
        uint32_t *place;
        int err = ny_traits_compare(ctx, &one, &two, NY_SAME_COLUMNS, &place);

        assert_int_equal(err, cases[i].place[0] < 0 ? NY_EDATA : NY_OK);
        assert_true(!place == (equal || err));
        for (size_t j = 0; place && j < 4; j++)
            assert_int_equal(place[j], cases[i].place[j]);
        ny_free(ctx, place);
        err = ny_traits_compare(ctx, &one, &two, NY_SAME_COLUMNS, NULL);
        assert_int_equal(err, equal ? NY_OK : NY_EDATA); /* in their order */
    }
    ny_error_clear(ctx);
}

TEST(columns_without_names_stand_as_they_are)
{
    OWNED(ny_names) names = names_of("abc");
    struct ny_party two = party_of("two", &names), one = two;

    one.traits.columns = 0;
    assert_int_equal(ny_traits_compare(ctx, &one, &two, NY_SAME_COLUMNS, NULL), NY_OK);
    assert_int_equal(ny_traits_compare(ctx, &two, &one, NY_SAME_COLUMNS, NULL), NY_OK);
    assert_int_equal(ny_traits_compare(ctx, &one, &two, NY_SAME_COLUMNS | NY_SAME_NAMED, NULL),
                     NY_EDATA);
    assert_non_null(strstr(ny_context_message(ctx), "import it again, with names"));
    ny_error_clear(ctx);
}

AROUND_ALL(start, stop)
