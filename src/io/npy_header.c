/*
 * Reads the header of NumPy's array files, versions 1.0 to 3.0 (numpy.lib.format): of .npy files
 * (io/npy.c) and of the members of .npz files (io/npz.c).
 *
 * The header is a Python literal of three keys, in any order. It is parsed strictly, each key once
 * and nothing behind the brace. It may claim any shape: the caller compares it with the bytes that
 * there are.
 */
#include "io/npy_header.h"

#include <stdio.h>
#include <string.h>

#include "io/reader.h"

/* Bytes of the magic, and the most of a header's text. */
enum { MAGIC_BYTES = 6, HEADER_MAX = 128 * 1024 };

/* Python's literal may have blanks between any two tokens. */
static void skip_blanks(struct ny_npy_header *header)
{
    header->at += strspn(header->at, " \t\r\n");
}

/* Passes over the token, and blanks before it, if it comes next. */
static bool accept(struct ny_npy_header *header, const char *token)
{
    size_t length = strlen(token);

    skip_blanks(header);
    if (strncmp(header->at, token, length) != 0) return false;
    header->at += length;
    return true;
}

/* Passes over a token that must come next. */
static void expect(struct ny_npy_header *header, const char *token)
{
    if (!header->wrong && !accept(header, token)) header->wrong = true;
}

/* Reads a text in single or double quotes. A long one is cut, which matches no key. */
static struct ny_shown quoted(struct ny_npy_header *header)
{
    struct ny_shown text = {""};
    const char *end;
    char quote;

    skip_blanks(header);
    quote = *header->at;
    end = quote == '\'' || quote == '"' ? strchr(header->at + 1, quote) : NULL;
    if (!end) {
        header->wrong = true;
        return text;
    }
    text = ny_shown(header->at + 1, (size_t)(end - header->at - 1));
    header->at = end + 1;
    return text;
}

/* Reads the shape. The first number is that of the rows, and d is the product of the others. */
static void shape(struct ny_npy_header *header)
{
    header->d = 1;
    expect(header, "(");
    while (!header->wrong && !accept(header, ")")) {
        uint64_t size;
        size_t digits;

        skip_blanks(header);
        digits = strspn(header->at, "0123456789");
        if (!ny_number_whole(header->at, digits, &size)) {
            header->wrong = true;
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
            expect(header, ")");
            return;
        }
    }
}

/* Reads one key and its value. */
static void entry(struct ny_npy_header *header)
{
    struct ny_shown key = quoted(header);

    expect(header, ":");
    if (header->wrong) return;
    if (strcmp(key.text, "descr") == 0 && !header->seen_descr) {
        header->seen_descr = true;
        header->structured = accept(header, "[");
        header->descr = quoted(header);
    } else if (strcmp(key.text, "fortran_order") == 0 && !header->seen_fortran) {
        header->seen_fortran = true;
        header->fortran = accept(header, "True");
        if (!header->fortran) expect(header, "False");
    } else if (strcmp(key.text, "shape") == 0 && !header->seen_shape) {
        header->seen_shape = true;
        shape(header);
    } else {
        header->wrong = true;
    }
}

/* Reads the whole literal. */
static void parse(struct ny_npy_header *header)
{
    expect(header, "{");
    while (!header->wrong && !accept(header, "}")) {
        entry(header);
        if (!accept(header, ",")) {
            expect(header, "}");
            break;
        }
    }
    skip_blanks(header);
    if (!header->wrong && *header->at != '\0') header->wrong = true;
    if (!header->wrong && !(header->seen_descr && header->seen_fortran && header->seen_shape))
        header->wrong = true;
}

/* Parses the text of a header, which blanks may end as NumPy pads it. */
static void parse_text(struct ny_npy_header *header, const char *text, size_t length)
{
    char literal[2048];

    *header = (struct ny_npy_header){0};
    while (length > 0 && strchr(" \n", text[length - 1]))
        length--;
    if (length == 0 || memchr(text, '\0', length)) {
        header->wrong = true;
    } else if (length >= sizeof(literal)) { /* only many fields make it so long */
        header->structured = true;
    } else {
        memcpy(literal, text, length);
        literal[length] = '\0';
        header->at = literal;
        parse(header);
        header->at = NULL;
    }
}

bool ny_npy_begins(const char *head, size_t length)
{
    return length >= MAGIC_BYTES && memcmp(head, NY_NPY_MAGIC, MAGIC_BYTES) == 0;
}

int ny_npy_read_header(struct ny_bytes *bytes, struct ny_npy_header *header)
{
    const unsigned char *p;
    unsigned field;
    size_t length;
    int err = ny_bytes_must(bytes, MAGIC_BYTES + 6);

    if (err) return err;
    p = (const unsigned char *)bytes->at;
    if (!ny_npy_begins(bytes->at, MAGIC_BYTES) || p[6] < 1 || p[6] > 3 || p[7])
        return ny_bytes_damaged(bytes);
    field = p[6] == 1 ? 2 : 4;
    length = (size_t)ny_low_first(p + 8, field);
    if (length > HEADER_MAX) return ny_bytes_damaged(bytes);
    bytes->at += MAGIC_BYTES + 2 + field;
    err = ny_bytes_must(bytes, length);
    if (err) return err;
    parse_text(header, bytes->at, length);
    bytes->at += length;
    return header->wrong ? ny_bytes_damaged(bytes) : NY_OK;
}

bool ny_npy_element(const char *descr, enum ny_element_type *type, bool *big_endian)
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

void ny_npy_header_text(char header[NY_NPY_HEADER_BYTES], const char *descr, const char *shape)
{
    char order = descr[0] == 'S' ? '|' : ny_host_is_big_endian() ? '>' : '<';
    int used;

    memcpy(header, NY_NPY_MAGIC "\1", MAGIC_BYTES + 2);
    header[8] = (char)(NY_NPY_HEADER_BYTES - 10);
    header[9] = 0;
    used = 10 + snprintf(header + 10, NY_NPY_HEADER_BYTES - 10,
                         "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }", order, descr,
                         shape);
    memset(header + used, ' ', (size_t)(NY_NPY_HEADER_BYTES - used));
    header[NY_NPY_HEADER_BYTES - 1] = '\n';
}
