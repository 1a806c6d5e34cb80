/* One sentence for each cause for which several readers refuse a file (io/refuse.h). */
#include "io/refuse.h"

#include <stdio.h>

#include "io/number.h"

#define ULL(x) ((unsigned long long)(x))

int ny_refuse_damaged(struct ny_context *ctx, const char *path, uint64_t row)
{
    if (row == NY_NO_LINE)
        return ny_fail_at(ctx, NY_EDATA, path, row,
                          "%s is damaged or truncated; fetch or write it again", path);
    return ny_fail_at(ctx, NY_EDATA, path, row,
                      "%s is damaged or truncated at row %llu (from 0); fetch or write it again",
                      path, ULL(row));
}

int ny_refuse_format(struct ny_context *ctx, const char *path, const char *format)
{
    return ny_fail_at(ctx, NY_EDATA, path, NY_NO_LINE,
                      "%s does not begin like %s; give the right --format", path, format);
}

int ny_refuse_dtype(struct ny_context *ctx, const char *path)
{
    return ny_fail_at(ctx, NY_EDATA, path, NY_NO_LINE,
                      "%s is not of bool, (u)int8 … (u)int64, float16, float32 or float64; convert "
                      "it to one of them",
                      path);
}

int ny_refuse_empty(struct ny_context *ctx, const char *path)
{
    return ny_fail_at(ctx, NY_EDATA, path, NY_NO_LINE, "%s holds no points", path);
}

int ny_refuse_wide(struct ny_context *ctx, const char *path, uint64_t columns)
{
    return ny_fail_at(ctx, NY_EDATA, path, NY_NO_LINE, "%s has %llu columns; the limit is %d", path,
                      ULL(columns), INT32_MAX);
}

int ny_refuse_pipe(struct ny_context *ctx, int status, const char *path)
{
    return ny_fail_at(ctx, status, path, NY_NO_LINE,
                      "%s cannot be read from a pipe or packed; write it to a file first", path);
}

int ny_refuse_count(struct ny_context *ctx, const char *path, const char *of)
{
    return ny_fail_at(ctx, NY_EDATA, path, NY_NO_LINE,
                      "%s needs one entry for each row, or column, of %s", path, of);
}

int ny_refuse_list(struct ny_context *ctx, const char *path)
{
    return ny_fail_at(ctx, NY_EDATA, path, NY_NO_LINE,
                      "%s has several columns; give one number a row", path);
}

int ny_refuse_index(struct ny_context *ctx, const char *path, uint64_t row)
{
    return ny_fail_at(ctx, NY_EDATA, path, row,
                      "%s, row %llu (from 0): it is not a number of a row or column, from 0", path,
                      ULL(row));
}

int ny_refuse_line(struct ny_context *ctx, const char *path, uint64_t line, const char *what)
{
    if (line == NY_NO_LINE) return ny_fail_at(ctx, NY_EDATA, path, line, "%s: %s", path, what);
    return ny_fail_at(ctx, NY_EDATA, path, line, "%s, line %llu: %s", path, ULL(line), what);
}

int ny_refuse_word(struct ny_context *ctx, const char *path, uint64_t line, const char *word,
                   size_t bytes, const char *what)
{
    char text[sizeof(struct ny_shown) + 160];

    snprintf(text, sizeof(text), "'%s' %s", ny_shown(word, bytes).text, what);
    return ny_refuse_line(ctx, path, line, text);
}

int ny_refuse_name(struct ny_context *ctx, const char *path, uint64_t number, const char *wrong)
{
    return ny_fail_at(ctx, NY_EDATA, path, number, "%s: name %llu %s", path, ULL(number), wrong);
}
