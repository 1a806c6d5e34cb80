/*
 * Options, for the functions behind the public header: typed reading of what ny_options_set()
 * checked, the rules between options, and the identity of a set of options, by which a job knows
 * whether it is asked for the same thing again.
 *
 * "In force" is the typed value, else the default that the other options imply: `--map pca` implies
 * the linear kernel, `--landmarks-from` implies `--select given`, an option that cannot act here
 * (degree of rbf, landmarks of greedy) has no value.
 */
#ifndef NY_API_OPTIONS_H
#define NY_API_OPTIONS_H

#include <jansson.h>

#include "base/context.h"

struct ny_map;

/* The fields are for api/options*.c alone. */
struct ny_options {
    struct ny_context *ctx;
    char **typed; /* ny_option_count() texts; NULL where the user set nothing */
    /* ny_option_count() copies of tables that stand for files, NULL where none was set. */
    struct ny_table **tables;
};

/* Returns the options that a public function was given, or for NULL options of which none is set,
 * in *none. */
const struct ny_options *ny_options_given(const struct ny_options *options,
                                          struct ny_context *context, struct ny_options *none);

/* Makes a copy with the tables that were set, without the options named in `but` ("a|b"; "": with
 * all); ny_options_free() it. */
int ny_options_copy(struct ny_options **out, const struct ny_options *options, const char *but);
/* Tells whether the user set it, to any value. */
bool ny_options_is_set(const struct ny_options *options, const char *name);
/* NY_EUSAGE where one of the options "a|b" is set: it does not act with `with`. */
int ny_options_refuse(const struct ny_options *options, const char *names, const char *with);
/* Tells whether the value in force is "yes". */
bool ny_options_flag(const struct ny_options *options, const char *name);
/* The number in force; false, and *value untouched, when there is none or it is "auto". */
bool ny_options_number(const struct ny_options *options, const char *name, double *value);
/* Reads a time, in seconds; false, and *seconds untouched, where there is none. */
bool ny_options_seconds(const struct ny_options *options, const char *name, double *seconds);
/* Reads a whole number, or bytes in units; false, and *value untouched, where there is none. */
bool ny_options_size(const struct ny_options *options, const char *name, uint64_t *value);
/* Returns the whole number in force, or `fallback` for an option without a value. */
size_t ny_options_count(const struct ny_options *options, const char *name, size_t fallback);
/* Returns the place of the value in force among the words of the option table, which enums have the
 * order of; 0 where there is no value. */
unsigned ny_options_choice(const struct ny_options *options, const char *name);
/* The map in force: where a graph's options are typed, what it is of a graph. */
const struct ny_map *ny_options_map(const struct ny_options *options);

/* Rules between options, for those of `groups` (enum ny_option_group, or-ed): NY_EUSAGE for a typed
 * option that cannot act beside the others, and for one that is missing. */
int ny_options_check(const struct ny_options *options, unsigned groups);

/* The identity: name → value in force, as text or null, for every option of `groups` that makes
 * the result what it is (not: memory, threads, restart, tmpdir). Numbers are in one spelling. NULL
 * when there is no memory. */
json_t *ny_options_to_json(const struct ny_options *options, unsigned groups);
/* A 64-bit hash of the identity. */
uint64_t ny_options_fingerprint(const struct ny_options *options, unsigned groups);
/* "kernel: rbf → linear, landmarks: 1000 → 500", from the identity stored earlier to the one now;
 * "" when they agree. Options that were typed come first. A name that is not in `stored` counts as
 * its default. ny_free() it; NULL with the error set when there is no memory. */
char *ny_options_differences(const struct ny_options *options, unsigned groups,
                             const json_t *stored);
/* Names the first option whose values in two stored identities differ; NULL: none does. A name that
 * is in one of them alone counts as its default in the other. */
const char *ny_options_other(const json_t *stored, const json_t *other);
/* Options that have the stored identity; NY_EUSAGE with the difference where one that is typed in
 * `typed` has another value. ny_options_free() them. */
int ny_options_of_stored(struct ny_options **out, const struct ny_options *typed, unsigned groups,
                         const json_t *stored, const char *name);
/* Tells whether an option is typed that makes the result what it is. */
bool ny_options_choose(const struct ny_options *options);
/* Options that have the stored identity, and for the rest (restart, tmpdir, …) what is typed in
 * `typed`, which does not choose. ny_options_free() them, also after a failure. */
int ny_options_again(struct ny_options **out, const struct ny_options *typed, unsigned groups,
                     const json_t *stored, const char *name);

#endif
