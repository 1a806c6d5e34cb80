/*
 * Labels in text become numbers: either they are numbers, or words that are numbered in the order
 * of their appearance, from 0.
 *
 * The csv and libsvm readers call ny_classes_label() for every label. The first label that is not
 * missing decides which of the two kinds all of them are, so that "7" among words is a word, and a
 * word among numbers is NY_EDATA with its line. Names are kept in a hash table with open
 * addressing that is at most half full. There are at most 65,536 of them, of at most 1,024 bytes:
 * more look like a column that is not a label. An import passes the names on to the store
 * (ny_ingest_class_names()).
 */
#include "io/classes.h"

#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "io/number.h"
#include "io/refuse.h"

enum { FIRST_SLOTS = 64 };

struct ny_classes {
    struct ny_context *ctx;
    enum { UNDECIDED, NUMBERS, WORDS } kind;
    char **names;
    size_t count;
    uint32_t *slots; /* open addressing, 1 + index of the name, 0: free; names has slots/2 room */
    size_t slot_count;
    ny_classes_ask_fn *ask; /* who numbers new names; NULL: they are numbered as they come */
    void *ask_arg;
};

int ny_classes_new(struct ny_classes **out, struct ny_context *ctx)
{
    *out = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(**out));
    if (!*out) return NY_EBUDGET;
    (*out)->ctx = ctx;
    return NY_OK;
}

void ny_classes_free(struct ny_classes *classes)
{
    if (!classes) return;
    for (size_t i = 0; i < classes->count; i++)
        ny_free(classes->ctx, classes->names[i]);
    ny_free(classes->ctx, classes->names);
    ny_free(classes->ctx, classes->slots);
    ny_free(classes->ctx, classes);
}

/* The slot of a name, or the free one where it belongs. */
static uint32_t *slot_of(const struct ny_classes *classes, const char *text, size_t length)
{
    size_t mask = classes->slot_count - 1;
    size_t at = (size_t)ny_checksum(text, length) & mask;

    for (;; at = (at + 1) & mask) {
        uint32_t *slot = &classes->slots[at];
        const char *name = *slot ? classes->names[*slot - 1] : NULL;

        if (!name || (strncmp(name, text, length) == 0 && name[length] == '\0')) return slot;
    }
}

/* Makes room for twice as many names and enters those that there are again. */
static int grow(struct ny_classes *classes)
{
    size_t slots = classes->slot_count ? 2 * classes->slot_count : FIRST_SLOTS;
    int err = ny_resize_array(classes->ctx, NY_MEM_IO, &classes->names, slots / 2, sizeof(char *));

    if (err) return err;
    ny_free(classes->ctx, classes->slots);
    classes->slot_count = 0;
    classes->slots = ny_calloc(classes->ctx, NY_MEM_IO, slots, sizeof(*classes->slots));
    if (!classes->slots) return NY_EBUDGET;
    classes->slot_count = slots;
    for (size_t i = 0; i < classes->count; i++)
        *slot_of(classes, classes->names[i], strlen(classes->names[i])) = (uint32_t)(i + 1);
    return NY_OK;
}

/* Keeps a copy of the name, which gets the next number; grow() has made room for it. */
static int add(struct ny_classes *classes, const char *text, size_t length, uint32_t *slot)
{
    char *name = ny_alloc(classes->ctx, NY_MEM_IO, length + 1);

    if (!name) return NY_EBUDGET;
    memcpy(name, text, length);
    name[length] = '\0';
    classes->names[classes->count++] = name;
    *slot = (uint32_t)classes->count;
    return NY_OK;
}

void ny_classes_ask(struct ny_classes *classes, ny_classes_ask_fn *ask, void *arg)
{
    classes->ask = ask;
    classes->ask_arg = arg;
}

/* Has somebody else number a name, and the names before it. */
static int ask_for(struct ny_classes *classes, const char *text, size_t length)
{
    ny_classes_ask_fn *ask = classes->ask;
    int err;

    classes->ask = NULL;
    err = ask(classes->ask_arg, classes, text, length);
    classes->ask = ask;
    return err;
}

/* The number of a name, from 1, which is new where it has none. */
static int enter(struct ny_classes *classes, const char *text, size_t length, uint32_t *number)
{
    uint32_t *slot;
    int err = NY_OK;

    if (classes->count >= classes->slot_count / 2) err = grow(classes);
    if (err) return err;
    slot = slot_of(classes, text, length);
    if (*slot == 0 && classes->ask) {
        err = ask_for(classes, text, length);
        if (!err) slot = slot_of(classes, text, length);
    }
    if (!err && *slot == 0) err = add(classes, text, length, slot);
    *number = *slot;
    return err;
}

int ny_classes_know(struct ny_classes *classes, char *const *names, size_t count)
{
    uint32_t number;
    int err = NY_OK;

    for (size_t i = 0; i < count && err == NY_OK; i++)
        err = enter(classes, names[i], strlen(names[i]), &number);
    return err;
}

/* Tells whether the name has a number already, from a label before or from ny_classes_know(). */
static bool known(const struct ny_classes *classes, const char *text, size_t length)
{
    return classes->count > 0 && *slot_of(classes, text, length);
}

/* Enters a label that is no number, or says why it cannot be one of the words. */
static int word(struct ny_classes *classes, const char *path, uint64_t line, const char *text,
                size_t length, double *label)
{
    const char *wrong = NULL;
    uint32_t number = 0;
    int err;

    if (classes->kind == NUMBERS)
        wrong = "is a label that is a word, but those before are numbers; give words or numbers";
    else if (length > NY_CLASS_BYTES_MAX || memchr(text, '\0', length) ||
             !ny_is_utf8(text, length) ||
             (classes->count >= NY_CLASSES_COUNT_MAX && !known(classes, text, length)))
        wrong = "is no label; labels are numbers, or up to 65536 words of UTF-8";
    if (wrong) return ny_refuse_word(classes->ctx, path, line, text, length, wrong);
    classes->kind = WORDS;
    err = enter(classes, text, length, &number);
    *label = (double)number - 1;
    return err;
}

int ny_classes_label(struct ny_classes *classes, const char *path, uint64_t line, const char *text,
                     size_t length, double *label)
{
    double value;

    if (ny_number_missing(text, length, &value) && isnan(value)) {
        *label = value;
        return NY_OK;
    }
    if (classes->kind != WORDS && !known(classes, text, length) &&
        ny_number(text, &value) == text + length && isfinite(value)) {
        classes->kind = NUMBERS;
        *label = value;
        return NY_OK;
    }
    return word(classes, path, line, text, length, label);
}

int ny_classes_word(struct ny_classes *classes, const char *path, const char *text, double *label)
{
    size_t length = strlen(text);

    if (!ny_number_missing(text, length, label) || !isnan(*label))
        return word(classes, path, NY_NO_LINE, text, length, label);
    return NY_OK;
}

void ny_classes_names(const struct ny_classes *classes, const char *const **names, size_t *count)
{
    *names = (const char *const *)classes->names;
    *count = classes->kind == WORDS ? classes->count : 0;
}
