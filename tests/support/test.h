/* A test program is a file of these: TEST(a_name) { … } makes a test and has it run, in the order
 * of the file. The program's main() is here, too; what tests assert is cmocka's, and the headers
 * that most tests need are included. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/owned.h"

#define TEST(name)                                                                                 \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void add_test_##name(void)                                 \
    {                                                                                              \
        test_add(__LINE__, #name, name);                                                           \
    }                                                                                              \
    static void name(void)

/* Called before and after each test of the file; before the first one and after the last. They
 * assert what the tests need; NULL: nothing is called. */
#define AROUND_EACH(start, stop) TEST_AROUND(test_around_each, start, stop)
#define AROUND_ALL(start, stop) TEST_AROUND(test_around_all, start, stop)

#define TEST_AROUND(way, start, stop)                                                              \
    __attribute__((constructor)) static void call_##way(void)                                      \
    {                                                                                              \
        way(start, stop);                                                                          \
    }

/* Memory that is given back when the test ends; what AROUND_ALL's `start` takes stays until the
 * last one ends. All its bits are 1, so that a float or a double which nobody writes is NaN; or 0.
 */
void *lend(size_t bytes);
void *lend_zeros(size_t bytes);
__attribute__((format(printf, 1, 2))) char *lend_text(const char *format, ...);

/* Fails unless |x − y| ≤ tolerance. */
void assert_near(double x, double y, double tolerance);

/* The call succeeds, in the context `ctx`. */
#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != NY_OK) fail_msg("%s: %s", #call, ny_context_message(ctx));                   \
    } while (0)

/* The call fails with this status, which the error of `ctx` has, too; it is cleared. */
#define REFUSED(call, wanted)                                                                      \
    do {                                                                                           \
        assert_int_equal(call, wanted);                                                            \
        assert_int_equal(ny_context_error(ctx)->status, wanted);                                   \
        ny_error_clear(ctx);                                                                       \
    } while (0)

typedef void test_function(void);

void test_add(int line, const char *name, test_function *function);
void test_around_each(test_function *start, test_function *stop);
void test_around_all(test_function *start, test_function *stop);

#endif
