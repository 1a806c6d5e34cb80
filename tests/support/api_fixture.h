/* One context, folder and store "s" for all tests of a program, made before them and removed behind
 * them (support/api_case.h). */
#ifndef TESTS_SUPPORT_API_FIXTURE_H
#define TESTS_SUPPORT_API_FIXTURE_H

#include "support/api_case.h"

static struct api_case c;

static void start(void)
{
    api_case_begin(&c, "s");
}

static void stop(void)
{
    api_case_end(&c);
}

#endif
