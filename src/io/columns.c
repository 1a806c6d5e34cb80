/*
 * Selections of columns such as "1,3-5,name" (io/columns.h). The csv reader and the readers of
 * binary files parse --columns and --drop-columns with it, and --label-column.
 *
 * An item is tried as a number first, then as a name, so that a column whose name is "7" is found
 * by its place alone. A dash may be part of a name: "x-y" is a range only if it is not a column
 * itself and the header has both of its sides.
 */
#include "io/columns.h"

#include <string.h>

#include "io/number.h"

/* Fails because of what a list says. */
static int unknown(struct ny_context *ctx, const struct ny_header_names *header, const char *option,
                   struct ny_shown column)
{
    return ny_fail(ctx, NY_EUSAGE, "%s: there is no column '%s' among the %zu", option, column.text,
                   header->count);
}

/* The column of this name, or header->count. */
static size_t named(const struct ny_header_names *header, const char *text, size_t length)
{
    size_t i = 0;

    while (header->names && i < header->count &&
           (strlen(header->names[i]) != length || memcmp(header->names[i], text, length) != 0))
        i++;
    return header->names ? i : header->count;
}

/* Finds a column by its number from 1, or by its name. */
static int find(struct ny_context *ctx, const struct ny_header_names *header, const char *option,
                const char *text, size_t length, size_t *column)
{
    uint64_t number;

    if (ny_number_whole(text, length, &number)) {
        *column = (size_t)number - 1;
        if (number >= 1 && number <= header->count) return NY_OK;
    } else {
        *column = named(header, text, length);
        if (*column < header->count) return NY_OK;
    }
    return unknown(ctx, header, option, ny_shown(text, length));
}

int ny_column_find(struct ny_context *ctx, const struct ny_header_names *header, const char *option,
                   const char *text, size_t *column)
{
    return find(ctx, header, option, text, strlen(text), column);
}

/* "3-5": true with the position of the dash. */
static bool is_range(const char *text, size_t length, size_t *dash)
{
    const char *at = memchr(text, '-', length);
    uint64_t number;

    if (!at) return false;
    *dash = (size_t)(at - text);
    return ny_number_whole(text, *dash, &number) &&
           ny_number_whole(at + 1, length - *dash - 1, &number);
}

/* "first-last" of names, which may have dashes of their own; a name as a whole is no range. */
static bool is_range_of_names(const struct ny_header_names *header, const char *text, size_t length,
                              size_t *dash)
{
    if (named(header, text, length) < header->count) return false;
    for (*dash = 1; *dash + 1 < length; ++*dash)
        if (text[*dash] == '-' && named(header, text, *dash) < header->count &&
            named(header, text + *dash + 1, length - *dash - 1) < header->count)
            return true;
    return false;
}

/* Marks the columns of a list; those that are kept are numbered as they come. */
static int parse(struct ny_context *ctx, const struct ny_header_names *header, const char *option,
                 const char *list, struct ny_kept_columns *kept)
{
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ","), dash, first, last;
        bool range = is_range(p, length, &dash) || is_range_of_names(header, p, length, &dash);
        int err = find(ctx, header, option, p, range ? dash : length, &first);

        last = first;
        if (!err && range) err = find(ctx, header, option, p + dash + 1, length - dash - 1, &last);
        if (err) return err;
        if (first > last) return unknown(ctx, header, option, ny_shown(p, length));
        for (size_t i = first; i <= last; i++) {
            if (!kept->keep[i]) kept->order[kept->count++] = i;
            kept->keep[i] = true;
        }
        p += length;
        if (*p == '\0') return NY_OK;
    }
}

/* Turns a list of columns to leave out into those that are kept. */
static void invert(const struct ny_header_names *header, struct ny_kept_columns *kept)
{
    kept->count = 0;
    for (size_t i = 0; i < header->count; i++) {
        kept->keep[i] = !kept->keep[i];
        if (kept->keep[i]) kept->order[kept->count++] = i;
    }
}

int ny_columns_choose(struct ny_context *ctx, const struct ny_header_names *header,
                      const struct ny_column_lists *lists, struct ny_kept_columns *kept)
{
    int err = NY_OK;

    memset(kept->keep, 0, header->count * sizeof(*kept->keep));
    kept->count = 0;
    kept->turned = false;
    if (lists->kept) {
        err = parse(ctx, header, "--columns", lists->kept, kept);
    } else {
        if (lists->dropped) err = parse(ctx, header, "--drop-columns", lists->dropped, kept);
        invert(header, kept);
    }
    for (size_t i = 1; i < kept->count; i++)
        kept->turned |= kept->order[i] < kept->order[i - 1];
    return err;
}

int ny_columns_refuse_turned(struct ny_context *ctx)
{
    return ny_fail(ctx, NY_EUSAGE, "--columns has to list columns in the order of the file");
}

bool ny_columns_named(const char *list)
{
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ","), dash;
        uint64_t number;

        if (!ny_number_whole(p, length, &number) && !is_range(p, length, &dash)) return true;
        p += length;
        if (*p == '\0') return false;
    }
}
