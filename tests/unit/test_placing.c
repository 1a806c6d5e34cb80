/* Names among the points of a picture: all within its axes, none on another, common ones first. */
#include "report/placing.h"
#include "support/test.h"

enum { TOP = 100, BOTTOM = 700, LINE = 30, GAP = 8, COUNT = 40 };

static const struct ny_name_room axes = {TOP, BOTTOM, LINE, GAP};

static void check(const struct ny_name_place *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i].left_out) continue;
        assert_true(names[i].y >= TOP + LINE / 2 && names[i].y <= BOTTOM - LINE / 2);
        for (size_t j = 0; j < i; j++)
            if (!names[j].left_out)
                assert_true(fabs(names[i].y - names[j].y) >= 0.999 * LINE ||
                            names[i].x >= names[j].x + names[j].width + GAP ||
                            names[j].x >= names[i].x + names[i].width + GAP);
    }
}

TEST(test_names_at_the_edge)
{
    struct ny_name_place names[] = {{"low", 200, BOTTOM - 2, 80, 9, false},
                                    {"lower", 210, BOTTOM + 1, 80, 8, false},
                                    {"high", 500, TOP - 40, 80, 7, false}};

    ny_place_names(names, 3, &axes);
    check(names, 3);
    for (size_t i = 0; i < 3; i++)
        assert_false(names[i].left_out);
    assert_true(names[0].y == BOTTOM - LINE / 2 && names[2].y == TOP + LINE / 2);
}

TEST(test_names_that_are_apart_stay)
{
    struct ny_name_place names[] = {{"b", 200, 300, 80, 5, false},
                                    {"a", 200, 340, 80, 5, false},
                                    {"c", 290, 300, 80, 50, false}};

    ny_place_names(names, 3, &axes);
    assert_true(names[0].text[0] == 'c' && names[1].text[0] == 'a' && names[2].text[0] == 'b');
    assert_true(names[0].y == 300 && names[1].y == 340 && names[2].y == 300);
}

/* The most common ones of many names at one place are kept, nearest to it. */
TEST(test_a_crowd)
{
    struct ny_name_place names[COUNT];
    size_t kept = 0;

    for (size_t i = 0; i < COUNT; i++)
        names[i] = (struct ny_name_place){"name", 200 + (double)(i % 3), 400, 80, i, false};
    ny_place_names(names, COUNT, &axes);
    check(names, COUNT);
    assert_true(names[0].rows == COUNT - 1 && names[0].y == 400);
    while (kept < COUNT && !names[kept].left_out)
        kept++;
    assert_int_equal(kept, 13);
    for (size_t i = kept; i < COUNT; i++)
        assert_true(names[i].left_out);
}
