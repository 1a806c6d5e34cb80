/* Labels in text: numbers, or words that become class numbers in order of appearance. */
#ifndef NY_IO_CLASSES_H
#define NY_IO_CLASSES_H

#include "base/context.h"

/* The most classes that labels can have, and the most bytes of the name of one. */
enum { NY_CLASSES_COUNT_MAX = 65536, NY_CLASS_BYTES_MAX = 1024 };

struct ny_classes;

/* Makes an empty set of classes, which is not decided between numbers and words. */
int ny_classes_new(struct ny_classes **out, struct ny_context *ctx);
/* Frees the set and its names; NULL is fine. */
void ny_classes_free(struct ny_classes *classes);
/* The label in a text (blanks trimmed, quotes removed, a NUL after it). Missing (empty, nan, NA):
 * NaN. The first label that is there decides between numbers and words; a word among numbers is
 * NY_EDATA at path and line. */
int ny_classes_label(struct ny_classes *classes, const char *path, uint64_t line, const char *text,
                     size_t length, double *label);
/* Likewise the label in a text that is a word even where it reads as a number. */
int ny_classes_word(struct ny_classes *classes, const char *path, const char *text, double *label);
/* Names that come before, in their order: words keep these numbers. They decide nothing, but a name
 * among them is a word even where it reads as a number. */
int ny_classes_know(struct ny_classes *classes, char *const *names, size_t count);
/* Has `ask` called for each name that is met and not known, which is to make the classes know it,
 * with all that come before it, by ny_classes_know(). Without it names are numbered as they come.
 */
typedef int ny_classes_ask_fn(void *arg, struct ny_classes *classes, const char *text,
                              size_t length);
/* Sets that function; it is not asked about names of ny_classes_know() that it calls itself. */
void ny_classes_ask(struct ny_classes *classes, ny_classes_ask_fn *ask, void *arg);
/* Gives no names where the labels are numbers, or where there was no label. */
void ny_classes_names(const struct ny_classes *classes, const char *const **names, size_t *count);

#endif
