/*
 * Parses MatrixMarket files (https://math.nist.gov/MatrixMarket/formats.html) for io/mtx.c.
 *
 * A file begins with "%%MatrixMarket matrix coordinate FIELD SYMMETRY" in letters of any case;
 * comments follow, then a line with rows, columns and entries, then an entry a line: row and column
 * from 1, and a value unless the field is pattern. With "array" for "coordinate" the line of sizes
 * has rows and columns, and a line a value: all of them are entries, column after column. Lines are
 * parsed only when they are whole in the window, so that nothing is parsed twice and the end of the
 * window needs no test: a NUL follows it, which no token contains. Short whole numbers, as counts
 * are, are parsed eight bytes at once. Measured with 5·10⁷ entries in 671 MB of text, which are
 * read twice: the whole import took 3.1 seconds of CPU, and 4.8 with a loop over digits.
 */
#include "io/mtx_text.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/convert.h"
#include "io/number.h"
#include "io/refuse.h"

/* Whole numbers of so many digits are exact in f64 and do not overflow. */
enum { SHORT_DIGITS = 15, INDEX_DIGITS = 18 };

/* Returns the bytes of a token, which blanks, line ends and NULs end. */
static size_t token_length(const char *p)
{
    return strcspn(p, " \t\r\n");
}

/* Fails because of the token at `p`. */
static int wrong(struct ny_reader *reader, const char *p, const char *what)
{
    p = ny_skip_blanks(p);
    return ny_refuse_word(reader->ctx, reader->path, reader->bytes->line, p, token_length(p), what);
}

/* Fails because of a word of the first line. */
static int wrong_header(struct ny_reader *reader, const char *p)
{
    return wrong(reader, p,
                 "is no word here; write %%MatrixMarket matrix, coordinate or array, real, integer "
                 "or pattern, and general or symmetric");
}

/* Fails because of the entry on the line. */
static int wrong_entry(struct ny_reader *reader)
{
    return wrong(reader, reader->bytes->at,
                 "does not begin an entry, i j value, that the header allows");
}

/* Passes over the end of the line at `p`, where nothing but blanks may stand. */
static int end_line(struct ny_reader *reader, const char *p)
{
    struct ny_bytes *bytes = reader->bytes;

    p = ny_skip_blanks(p);
    if (*p != '\n' && p < bytes->end)
        return wrong(reader, p, "follows the entry; write one entry a line");
    bytes->at = p < bytes->end ? p + 1 : p;
    bytes->line++;
    return NY_OK;
}

/* Passes over comments and empty lines to the next line with a token. */
static int next_line(struct ny_reader *reader, bool *more)
{
    struct ny_bytes *bytes = reader->bytes;

    for (;;) {
        const char *p;
        int err = ny_bytes_whole_line(bytes, more);

        if (err || !*more) return err;
        p = ny_skip_blanks(bytes->at);
        if (*p != '\n' && *p != '%' && p < bytes->end) return NY_OK;
        p = memchr(p, '\n', (size_t)(bytes->end - p));
        bytes->at = p ? p + 1 : bytes->end;
        bytes->line++;
    }
}

/* Parses a whole number; NULL where none is there, or one of too many digits. */
static const char *parse_index(const char *p, uint64_t *index)
{
    const char *begin = p = ny_skip_blanks(p);

    *index = 0;
    while ((unsigned char)(*p - '0') < 10 && p - begin < INDEX_DIGITS)
        *index = 10 * *index + (uint64_t)(*p++ - '0');
    return p == begin || (*p != '\0' && !ny_is_blank(*p) && *p != '\n') ? NULL : p;
}

/* ---- the header ----------------------------------------------------------------------------- */

/* Tells whether the token at *p is this word, and passes over it. */
static bool accept(const char **p, const char *word)
{
    size_t length = strlen(word);
    const char *at = ny_skip_blanks(*p);

    if (token_length(at) != length || strncasecmp(at, word, length) != 0) return false;
    *p = at + length;
    return true;
}

/* Parses the words of the first line. */
static int parse_words(struct ny_reader *reader, struct ny_mtx_text *text)
{
    const char *p = reader->bytes->at;

    if (!accept(&p, "%%MatrixMarket")) return ny_refuse_format(reader->ctx, reader->path, "mtx");
    if (!accept(&p, "matrix")) return wrong_header(reader, p);
    text->array = accept(&p, "array");
    if (!text->array && !accept(&p, "coordinate")) return wrong_header(reader, p);
    if (accept(&p, "integer") || accept(&p, "unsigned-integer"))
        text->field = NY_MTX_INTEGER;
    else if (!text->array && accept(&p, "pattern"))
        text->field = NY_MTX_PATTERN;
    else if (!accept(&p, "real") && !accept(&p, "double"))
        return wrong_header(reader, p);
    text->symmetric = !text->array && accept(&p, "symmetric");
    if (!text->symmetric && !accept(&p, "general")) return wrong_header(reader, p);
    return end_line(reader, p);
}

/* Parses the line of sizes. Returns what follows them, or NULL. */
static const char *parse_sizes(const char *p, struct ny_mtx_text *text)
{
    p = parse_index(p, &text->rows);
    if (p) p = parse_index(p, &text->columns);
    if (p && !text->array) return parse_index(p, &text->entries);
    /* more than any file has: the check of its size refuses that */
    if (__builtin_mul_overflow(text->rows, text->columns, &text->entries))
        text->entries = UINT64_MAX / 4;
    return p;
}

int ny_mtx_begin(struct ny_reader *reader, struct ny_mtx_text *text)
{
    const char *p;
    bool more;
    int err;

    *text = (struct ny_mtx_text){0};
    err = ny_bytes_whole_line(reader->bytes, &more);
    if (!err) err = parse_words(reader, text);
    if (!err) err = next_line(reader, &more);
    if (err) return err;
    if (!more) return ny_refuse_damaged(reader->ctx, reader->path, NY_NO_LINE);
    p = parse_sizes(reader->bytes->at, text);
    if (!p)
        return wrong(reader, reader->bytes->at,
                     "does not begin the line of sizes: rows, columns and, unless it is an array, "
                     "entries");
    err = end_line(reader, p);
    if (!err && text->symmetric && text->rows != text->columns)
        return ny_refuse_damaged(reader->ctx, reader->path, NY_NO_LINE);
    if (err || (text->rows && text->columns)) return err;
    return ny_refuse_empty(reader->ctx, reader->path);
}

/* ---- entries -------------------------------------------------------------------------------- */

/* Parses a value; NaN for nan and inf in any spelling. */
static const char *parse_value(const char *p, double *value)
{
    const char *begin = p = ny_skip_blanks(p);
    uint64_t whole = 0;
    size_t length;

    while ((unsigned char)(*p - '0') < 10 && p - begin < SHORT_DIGITS)
        whole = 10 * whole + (uint64_t)(*p++ - '0');
    *value = (double)whole;
    if (p > begin && (*p == '\n' || ny_is_blank(*p) || *p == '\0')) return p;
    p = ny_number(begin, value);
    length = token_length(begin);
    if (p > begin && p == begin + length) return p;
    return length > 0 && ny_number_missing(begin, length, value) ? begin + length : NULL;
}

/* ---- short entries of whole numbers ------------------------------------------------------------
 */

/* Parses one to seven digits at once: eight bytes are made numbers, those behind the digits are
 * shifted out, and neighbours are joined to numbers of two, four and eight digits. Returns how many
 * digits there are; 0 where there are none, or more. The window is padded, so that eight bytes can
 * be read at its end. For machines whose first byte is the lowest. */
static inline size_t short_number(const char *p, uint64_t *value)
{
    const uint64_t zeros = 0x3030303030303030, above_nine = 0x7676767676767676;
    const uint64_t high = 0x8080808080808080, pairs = 0x000000ff000000ff;
    uint64_t bytes, others;
    size_t digits;

    memcpy(&bytes, p, sizeof(bytes));
    bytes ^= zeros;
    others = ((bytes + above_nine) | bytes) & high;
    digits = others ? (size_t)__builtin_ctzll(others) / 8 : 0;
    if (digits == 0) return 0;
    bytes <<= 64 - 8 * digits;
    bytes = 10 * bytes + (bytes >> 8);
    *value = ((bytes & pairs) * (100 + (1000000ULL << 32)) +
              (bytes >> 16 & pairs) * (1 + (10000ULL << 32))) >>
             32;
    return digits;
}

/* Parses an entry as programs write most of them: "i j value", or "i j" of a pattern, in whole
 * numbers of few digits with single blanks. False: the line is to be parsed with care. */
static inline bool short_entry(struct ny_reader *reader, const struct ny_mtx_text *text,
                               struct ny_mtx_entry *entry)
{
    struct ny_bytes *bytes = reader->bytes;
    const char *p = bytes->at;
    uint64_t value = 1;
    size_t digits;

    digits = short_number(p, &entry->row);
    if (!digits || !ny_is_blank(p[digits])) return false;
    p += digits + 1;
    digits = short_number(p, &entry->column);
    if (!digits) return false;
    p += digits;
    if (text->field != NY_MTX_PATTERN) {
        if (!ny_is_blank(*p)) return false;
        digits = short_number(++p, &value);
        if (!digits) return false;
        p += digits;
    }
    if (*p != '\n' || --entry->row >= text->rows || --entry->column >= text->columns) return false;
    entry->value = (double)value;
    bytes->at = p + 1;
    bytes->line++;
    return true;
}

/* Judges the end of the file, where as many entries must have come as the header says. */
static int end_entries(struct ny_reader *reader, const struct ny_mtx_text *text, bool more)
{
    if (!more && text->read == text->entries) return NY_END;
    return ny_refuse_line(reader->ctx, reader->path, reader->bytes->line,
                          "there are other entries than the header says; fetch the file again");
}

/* Parses the row and the column of an entry, which an array does not write. */
static const char *parse_place(const char *p, const struct ny_mtx_text *text,
                               struct ny_mtx_entry *entry)
{
    if (text->array) {
        entry->row = text->read % text->rows;
        entry->column = text->read / text->rows;
        return p;
    }
    p = parse_index(p, &entry->row);
    if (p) p = parse_index(p, &entry->column);
    entry->row--;
    entry->column--;
    return p;
}

int ny_mtx_next(struct ny_reader *reader, struct ny_mtx_text *text, struct ny_mtx_entry *entry)
{
    const char *p;
    bool more;
    int err;

    if (reader->bytes->at < reader->bytes->whole && text->read < text->entries && !text->array &&
        !ny_host_is_big_endian() && short_entry(reader, text, entry)) {
        text->read++;
        return NY_OK;
    }
    err = next_line(reader, &more);
    if (err) return err;
    if (!more || text->read == text->entries) return end_entries(reader, text, more);
    entry->value = 1;
    p = parse_place(reader->bytes->at, text, entry);
    if (p && text->field != NY_MTX_PATTERN) p = parse_value(p, &entry->value);
    if (!p || entry->row >= text->rows || entry->column >= text->columns ||
        (text->field == NY_MTX_INTEGER && floor(entry->value) != entry->value))
        return wrong_entry(reader);
    text->read++;
    return end_line(reader, p);
}
