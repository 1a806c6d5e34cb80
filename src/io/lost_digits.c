/* Digits of whole numbers in text that the type of the table does not hold: counted as the rows are
 * read, and told once, at the end of the file. */
#include "io/text.h"

#include "base/text.h"

#define ULL(x) ((unsigned long long)(x))

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Tells whether the digits at `text` are those of another number than its value in f64. */
static bool differs(const char *text, double value)
{
    uint64_t whole = 0;

    if (*text == '-' || *text == '+') text++;
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole))
            return true;
    if (*text == '.') text++;
    while (*text == '0')
        text++;
    if (is_digit(*text) || *text == 'e' || *text == 'E') return false;
    return whole != (uint64_t)fabs(value);
}

void ny_digits_note(struct ny_lost_digits *lost, enum ny_dtype dtype, const char *text,
                    double value, uint64_t column)
{
    bool beyond;

    if (fabs(value) >= 0x1p64 || floor(value) != value) return;
    beyond = fabs(value) >= 0x1p53 && differs(text, value);
    if (!beyond && (dtype != NY_F32 || (double)(float)value == value)) return;
    if (lost->count++ == 0) lost->column = column;
    lost->beyond |= beyond;
}

void ny_digits_add(struct ny_lost_digits *lost, const struct ny_lost_digits *record, uint64_t line)
{
    if (!record->count) return;
    if (!lost->count) {
        lost->line = line;
        lost->column = record->column;
    }
    lost->count += record->count;
    lost->beyond |= record->beyond;
}

void ny_digits_tell(const struct ny_reader *reader, const struct ny_lost_digits *lost,
                    const char *column)
{
    bool one = lost->count == 1, asked = reader->options.dtype && !reader->options.dtype_follows;
    enum ny_dtype dtype = reader->table.dtype;

    if (!lost->count || reader->options.again || (asked && dtype == NY_F32)) return;
    ny_log(reader->ctx, NY_LOG_WARNING,
           "%s: %s, %s line %llu, %s %llu, %s more digits than %s holds and %s rounded; %s%s",
           reader->path, ny_counted(lost->count, "whole number", "whole numbers").text,
           one ? "in" : "the first in", ULL(lost->line), column, ULL(lost->column),
           one ? "has" : "have", ny_dtype_name(dtype), one ? "was" : "were",
           lost->beyond ? "no type of a store keeps all whole numbers beyond 2^53"
                        : "--dtype f64 keeps them",
           lost->beyond && reader->entry->format->takes_id_column
               ? ": leave the column out, or have it name the rows, by --id-column"
               : "");
}
