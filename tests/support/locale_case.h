/* Shared by tests of hosts with a decimal comma. */
#ifndef TESTS_SUPPORT_LOCALE_CASE_H
#define TESTS_SUPPORT_LOCALE_CASE_H

#include <locale.h>

#include "support/store_case.h"
#include "support/test.h"

/* Holds the locale that localedef has compiled; empty: none. */
static char compiled[128];

/* Compiles a locale that has its numbers from the German one, and all else, which would take
 * seconds, from POSIX. For systems without a locale with a comma; removed by locale_case_end(). */
static bool compile_locale(void)
{
    char command[500];

    if (compiled[0]) return false;
    case_directory(compiled);
    setenv("LOCPATH", compiled, 1);
    snprintf(command, sizeof(command),
             "cd %s && { for of in CTYPE COLLATE MONETARY TIME MESSAGES; do"
             " printf 'LC_%%s\\ncopy \"POSIX\"\\nEND LC_%%s\\n' $of $of; done;"
             " printf 'LC_NUMERIC\\ncopy \"de_DE\"\\nEND LC_NUMERIC\\n'; } >comma &&"
             " localedef -c -i comma -f UTF-8 ./de_DE.UTF-8 2>/dev/null",
             compiled);
    return system(command) >= 0 && setlocale(LC_ALL, "de_DE.UTF-8");
}

/* Sets a locale with a decimal comma, or skips the test with words. */
static void set_comma(void)
{
    char text[8];

    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !compile_locale()) {
        print_message("no locale with a decimal comma here: localedef and its files (locales)\n");
        skip();
    }
    snprintf(text, sizeof(text), "%.1f", 0.5);
    assert_string_equal(text, "0,5");
}

/* Removes what set_comma() has compiled, at the end of a group of tests. */
static void locale_case_end(void)
{
    if (compiled[0]) case_remove(compiled);
}

#endif
