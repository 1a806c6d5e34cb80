/*
 * NumPy's array files, versions 1.0 to 3.0 (numpy.lib.format): the header is read here, the rows
 * by io/binary.c.
 *
 * The header is a Python literal of three keys, in any order. It is parsed strictly, each key once
 * and nothing behind the brace, and an error says what should have been there. Arrays that are no
 * table of numbers (structured, of complex numbers, in Fortran order) are refused with the line of
 * NumPy that makes one of them. A header has at most 128 KiB; it may claim any shape, which
 * io/binary.c compares with the size of the file.
 */
#include "io/binary.h"

#include <string.h>

#include "io/number.h"

enum { MAGIC_BYTES = 6, HEADER_MAX = 128 * 1024 };

static const char magic[] = "\x93NUMPY";

/* Recognises the first six bytes. */
static enum ny_guess probe(const char *head, size_t length)
{
    return length >= MAGIC_BYTES && memcmp(head, magic, MAGIC_BYTES) == 0 ? NY_GUESS_SURE
                                                                          : NY_GUESS_NO;
}

/* The header is a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
struct header {
    const char *at;
    const char *wrong; /* what it should have been; NULL: so far so good */
    struct ny_shown descr;
    bool fortran, structured, seen_descr, seen_fortran, seen_shape;
    uint64_t rows, d;
    unsigned dimensions;
};

/* Python's literal may have blanks between any two tokens. */
static void skip_blanks(struct header *header)
{
    header->at += strspn(header->at, " \t\r\n");
}

/* Passes over the token, and blanks before it, if it comes next. */
static bool accept(struct header *header, const char *token)
{
    size_t length = strlen(token);

    skip_blanks(header);
    if (strncmp(header->at, token, length) != 0) return false;
    header->at += length;
    return true;
}

/* Passes over a token that must come next; else notes what should have been there, unless an
 * error was noted before. */
static void expect(struct header *header, const char *token, const char *what)
{
    if (!header->wrong && !accept(header, token)) header->wrong = what;
}

/* Reads a text in single or double quotes. A long one is cut, which matches no key. */
static struct ny_shown quoted(struct header *header, const char *what)
{
    struct ny_shown text = {""};
    const char *end;
    char quote;

    skip_blanks(header);
    quote = *header->at;
    end = quote == '\'' || quote == '"' ? strchr(header->at + 1, quote) : NULL;
    if (!end) {
        if (!header->wrong) header->wrong = what;
        return text;
    }
    text = ny_shown(header->at + 1, (size_t)(end - header->at - 1));
    header->at = end + 1;
    return text;
}

/* Reads the shape. The first number is that of the rows, and d is the product of the others. */
static void shape(struct header *header)
{
    header->d = 1;
    expect(header, "(", "a shape like (1000, 20)");
    while (!header->wrong && !accept(header, ")")) {
        uint64_t size;
        size_t digits;

        skip_blanks(header);
        digits = strspn(header->at, "0123456789");
        if (!ny_number_whole(header->at, digits, &size)) {
            header->wrong = "a shape like (1000, 20)";
            return;
        }
        header->at += digits;
        accept(header, "L"); /* Python 2 */
        if (header->dimensions++ == 0)
            header->rows =
                size < NY_ROWS_UNKNOWN ? size : NY_ROWS_UNKNOWN - 1; /* a claim all the same */
        else if (__builtin_mul_overflow(header->d, size, &header->d))
            header->d = UINT64_MAX;
        if (!accept(header, ",")) {
            expect(header, ")", "a shape like (1000, 20)");
            return;
        }
    }
}

/* Reads one key and its value. */
static void entry(struct header *header)
{
    struct ny_shown key = quoted(header, "a key in quotes");

    expect(header, ":", "':' after a key");
    if (header->wrong) return;
    if (strcmp(key.text, "descr") == 0 && !header->seen_descr) {
        header->seen_descr = true;
        header->structured = accept(header, "[");
        header->descr = quoted(header, "one number type as 'descr'");
    } else if (strcmp(key.text, "fortran_order") == 0 && !header->seen_fortran) {
        header->seen_fortran = true;
        header->fortran = accept(header, "True");
        if (!header->fortran) expect(header, "False", "True or False as 'fortran_order'");
    } else if (strcmp(key.text, "shape") == 0 && !header->seen_shape) {
        header->seen_shape = true;
        shape(header);
    } else {
        header->wrong = "each of the keys descr, fortran_order and shape once";
    }
}

/* Reads the whole literal. */
static void parse(struct header *header)
{
    expect(header, "{", "'{'");
    while (!header->wrong && !accept(header, "}")) {
        entry(header);
        if (!accept(header, ",")) {
            expect(header, "}", "'}'");
            break;
        }
    }
    skip_blanks(header);
    if (!header->wrong && *header->at != '\0') header->wrong = "nothing after '}'";
    if (!header->wrong && !(header->seen_descr && header->seen_fortran && header->seen_shape))
        header->wrong = "the keys descr, fortran_order and shape";
}

/* Finds the type and the byte order of a descr such as "<f4"; false: it is none that is read. */
static bool element_of(const char *descr, enum ny_element_type *type, bool *big_endian)
{
    static const struct {
        const char *code;
        enum ny_element_type type;
    } codes[] = {{"b1", NY_E_U1}, {"u1", NY_E_U1}, {"i1", NY_E_I1}, {"u2", NY_E_U2},
                 {"i2", NY_E_I2}, {"u4", NY_E_U4}, {"i4", NY_E_I4}, {"u8", NY_E_U8},
                 {"i8", NY_E_I8}, {"f2", NY_E_F2}, {"f4", NY_E_F4}, {"f8", NY_E_F8}};

    *big_endian = ny_host_is_big_endian();
    if (*descr == '<' || *descr == '>') *big_endian = *descr == '>';
    if (*descr != '\0' && strchr("<>=|", *descr)) descr++;
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if (strcmp(codes[i].code, descr) == 0) {
            *type = codes[i].type;
            return true;
        }
    return false;
}

/* Fails with what is wrong and how to mend it. */
static int fail(struct ny_reader *reader, const char *what, const char *cure)
{
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE, "%s: %s; %s", reader->path,
                      what, cure);
}

/* Places bytes->at on the header's text and gives its length. */
static int preamble(struct ny_reader *reader, size_t *length)
{
    struct ny_bytes *bytes = reader->bytes;
    const unsigned char *p;
    size_t field, have;
    int err = ny_bytes_need(bytes, MAGIC_BYTES + 6);

    if (err) return err;
    p = (const unsigned char *)bytes->at;
    have = (size_t)(bytes->end - bytes->at);
    if (probe(bytes->at, have) == NY_GUESS_NO)
        return fail(reader, "it does not begin like an npy file (\\x93NUMPY)",
                    "give the right --format");
    if (have < MAGIC_BYTES + 6)
        return fail(reader, "it ends inside the npy header", "the file is truncated");
    if (p[6] < 1 || p[6] > 3 || p[7] != 0)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s: npy version %d.%d is not known; versions 1.0, 2.0 and 3.0 are",
                          reader->path, p[6], p[7]);
    field = p[6] == 1 ? 2 : 4;
    *length = (size_t)p[8] | (size_t)p[9] << 8;
    if (field == 4) *length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (*length > HEADER_MAX)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s: the npy header claims %zu bytes, the most is %d; is it damaged?",
                          reader->path, *length, HEADER_MAX);
    bytes->at += MAGIC_BYTES + 2 + field;
    err = ny_bytes_need(bytes, *length);
    if (!err && (size_t)(bytes->end - bytes->at) < *length)
        err = fail(reader, "it ends inside the npy header", "the file is truncated");
    return err;
}

/* Turns the header into the layout of rows, or refuses the array and says how to save it. */
static int layout_of(struct ny_reader *reader, const struct header *header,
                     struct ny_binary_layout *layout)
{
    if (header->structured)
        return fail(reader, "it is a structured array, of several fields",
                    "save them as columns of one type "
                    "(numpy.lib.recfunctions.structured_to_unstructured)");
    if (header->wrong)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s: the npy header is malformed, it should hold %s; is it damaged?",
                          reader->path, header->wrong);
    *layout = (struct ny_binary_layout){.rows = header->rows, .d = header->d};
    if (!element_of(header->descr.text, &layout->type, &layout->big_endian))
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s holds elements of dtype '%s'; save it as one of bool, (u)int8 … "
                          "(u)int64, float16, float32, float64%s",
                          reader->path, header->descr.text,
                          strchr(header->descr.text, 'c') ? ", such as a.view(a.real.dtype)" : "");
    if (header->dimensions == 0)
        return fail(reader, "it holds a single number (shape ())",
                    "a table needs one dimension at least");
    if (header->fortran && header->dimensions > 1)
        return fail(reader, "it is in Fortran order, column after column",
                    "save it with numpy.ascontiguousarray(a)");
    return NY_OK;
}

/* Reads the header and leaves bytes->at at the data. A header of blanks at the end is usual, as
 * NumPy pads it to 64 bytes. */
static int open_npy(struct ny_reader *reader)
{
    struct ny_binary_layout layout;
    struct header header = {0};
    size_t length = 0;
    char text[2048];
    int err = preamble(reader, &length);

    if (err) return err;
    if (strnlen(reader->bytes->at, length) < length) {
        header.wrong = "text without NUL bytes";
    } else if (strspn(reader->bytes->at, " \n") < length) {
        size_t used = length;

        while (used > 0 && strchr(" \n", reader->bytes->at[used - 1]))
            used--;
        if (used >= sizeof(text)) {
            header.structured = true;
        } else {
            memcpy(text, reader->bytes->at, used);
            text[used] = '\0';
            header.at = text;
            parse(&header);
        }
    } else {
        header.wrong = "'{'";
    }
    reader->bytes->at += length;
    err = layout_of(reader, &header, &layout);
    return err ? err : ny_binary_open(reader, &layout);
}

const struct ny_format ny_format_npy = {
    .probe = probe,
    .open = open_npy,
    .next = ny_binary_next,
    .skip = ny_binary_skip,
    .close = ny_binary_close,
    .takes_columns = true,
};
