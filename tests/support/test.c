#include "support/test.h"

#include <errno.h>
#include <stdatomic.h>

enum { TESTS_MAX = 100 };

static struct entry {
    int line;
    const char *name;
    test_function *function;
} entries[TESTS_MAX];
static size_t count;
static test_function *each[2], *all[2];
static bool stopped; /* all[1] has come to its end, which cmocka does not tell */

/* Taken by any thread, and given back by the one of the tests. */
struct piece {
    struct piece *next;
    max_align_t at[];
};
static struct piece *_Atomic pieces, *kept;

static void *lend_piece(struct piece *piece)
{
    if (!piece) abort();
    piece->next = atomic_load(&pieces);
    while (!atomic_compare_exchange_weak(&pieces, &piece->next, piece))
        ;
    return piece->at;
}

void *lend(size_t bytes)
{
    void *at = lend_piece(malloc(sizeof(struct piece) + bytes));

    return memset(at, 0xff, bytes);
}

void *lend_zeros(size_t bytes)
{
    return lend_piece(calloc(1, sizeof(struct piece) + bytes));
}

char *lend_text(const char *format, ...)
{
    va_list values;
    char *text;

    va_start(values, format);
    text = lend(1 + (size_t)vsnprintf(NULL, 0, format, values));
    va_end(values);
    va_start(values, format);
    vsprintf(text, format, values);
    va_end(values);
    return text;
}

static void give_back(struct piece *piece)
{
    while (piece) {
        struct piece *next = piece->next;

        free(piece);
        piece = next;
    }
}

void test_add(int line, const char *name, test_function *function)
{
    if (count == TESTS_MAX) abort();
    entries[count++] = (struct entry){line, name, function};
}

void test_around_each(test_function *start, test_function *stop)
{
    each[0] = start;
    each[1] = stop;
}

void test_around_all(test_function *start, test_function *stop)
{
    all[0] = start;
    all[1] = stop;
}

/* Constructors are called in any order. */
static int by_line(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->line - y->line;
}

void assert_near(double x, double y, double tolerance)
{
    if (!(fabs(x - y) <= tolerance)) fail_msg("%.17g is not %.17g within %g", x, y, tolerance);
}

static int start_all(void **state)
{
    (void)state;
    if (all[0]) all[0]();
    kept = atomic_exchange(&pieces, NULL);
    return 0;
}

static int stop_all(void **state)
{
    (void)state;
    if (all[1]) all[1]();
    stopped = true;
    give_back(kept);
    return 0;
}

static int start_each(void **state)
{
    (void)state;
    if (each[0]) each[0]();
    return 0;
}

static void run(void **state)
{
    const struct entry *entry = *state;

    entry->function();
}

static int stop_each(void **state)
{
    (void)state;
    if (each[1]) each[1]();
    give_back(atomic_exchange(&pieces, NULL));
    return 0;
}

int main(void)
{
    struct CMUnitTest tests[TESTS_MAX];

    qsort(entries, count, sizeof(*entries), by_line);
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){entries[i].name, run, start_each, stop_each, &entries[i]};
    return _cmocka_run_group_tests(program_invocation_short_name, tests, count, start_all,
                                   stop_all) || !stopped;
}
