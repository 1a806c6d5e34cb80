/*
 * Points of a PLY file (Turk 1994), as scanners and viewers write them: numbers of each vertex, in
 * text or in binary, little-endian form. The header names the elements and their properties; what
 * comes before the vertices is passed over, what comes after them is not read.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/bytes.h"
#include "io/number.h"
#include "tool.h"

static const char usage[] =
    "ply-rows FILE.ply [-o OUT.npy] [--properties x,y,z]\n"
    "\n"
    "Writes the points (element vertex) of a PLY file, plain or .gz, as npy; - is standard input.\n"
    "Text and binary little-endian; float32 where every property fits it, else float64.\n"
    "\n"
    "  -o OUT.npy          where to; standard output without it\n"
    "  --properties LIST   columns, by their names in the file (x,y,z)\n"
    "\n"
    "An .xyz file, a point a line, is read by nystream itself: nystream import STORE FILE.xyz\n";

#define ULL(x) ((unsigned long long)(x))
enum { PROPERTIES_MAX = 64, LINE_MAX_BYTES = 1 << 16 };

enum kind { I8, U8, I16, U16, I32, U32, F32, F64, KINDS };
static const struct {
    const char *names[2];
    size_t bytes;
    bool wide; /* float32 does not hold every value */
} kinds[KINDS] = {
    [I8] = {{"char", "int8"}, 1, false},      [U8] = {{"uchar", "uint8"}, 1, false},
    [I16] = {{"short", "int16"}, 2, false},   [U16] = {{"ushort", "uint16"}, 2, false},
    [I32] = {{"int", "int32"}, 4, true},      [U32] = {{"uint", "uint32"}, 4, true},
    [F32] = {{"float", "float32"}, 4, false}, [F64] = {{"double", "float64"}, 8, true}};

struct property {
    char name[32];
    enum kind kind;
    size_t at;  /* in a binary vertex */
    int column; /* of the output; -1: left out */
};

struct ply {
    struct ny_context *ctx;
    const char *path;
    struct ny_bytes *bytes;
    bool text;
    /* of the header: what comes before the vertices */
    enum { BEFORE, VERTICES, BEHIND } place;
    uint64_t lines, octets, each; /* each: elements of the one that is being declared */
    bool lists;
    struct property properties[PROPERTIES_MAX];
    int count;
    uint64_t n;
    size_t size; /* of a binary vertex */
    size_t columns;
    enum ny_dtype dtype;
};

_Noreturn static void fail_header(const struct ply *ply, const char *what)
{
    tool_fail(NY_EDATA, "%s, line %llu: %s.", ply->path, ULL(ply->bytes->line), what);
}

/* The next line without its end, which the last one need not have, as a string in the window. */
static char *next_line(struct ply *ply)
{
    struct ny_bytes *bytes = ply->bytes;
    const char *end, *next;
    char *line;

    while (!(end = memchr(bytes->at, '\n', (size_t)(bytes->end - bytes->at)))) {
        if (bytes->ended && bytes->at < bytes->end) break;
        if (bytes->ended)
            tool_fail(NY_EDATA, "%s ends in line %llu, before its last point.", ply->path,
                      ULL(bytes->line + 1));
        if (bytes->end - bytes->at > LINE_MAX_BYTES) fail_header(ply, "the line is too long");
        tool_check(ply->ctx, ny_bytes_more(bytes));
    }
    line = bytes->buffer + (bytes->at - bytes->buffer);
    next = end ? end + 1 : bytes->end;
    if (!end) end = bytes->end;
    line[end - bytes->at] = '\0';
    if (end > bytes->at && end[-1] == '\r') line[end - 1 - bytes->at] = '\0';
    bytes->at = next;
    bytes->line++;
    return line;
}

static enum kind kind_named(const struct ply *ply, const char *name)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; name && i < 2; i++)
            if (!strcmp(name, kinds[kind].names[i])) return (enum kind)kind;
    fail_header(ply, "a property has no type that is known, such as float or uchar");
}

static void read_format(struct ply *ply, const char *form)
{
    ply->text = form && !strcmp(form, "ascii");
    if (ply->text || (form && !strcmp(form, "binary_little_endian"))) return;
    fail_header(ply, "the format is neither ascii nor binary_little_endian; write the file again "
                     "as one of these");
}

static void read_element(struct ply *ply, const char *name, const char *number)
{
    uint64_t count;

    if (!name || !number || !ny_number_whole(number, strlen(number), &count) ||
        count > INT64_MAX / 4096)
        fail_header(ply, "an element has a name and a number");
    if (ply->place != BEFORE || !strcmp(name, "vertex")) {
        ply->place = ply->place == BEFORE ? VERTICES : BEHIND;
        if (ply->place == VERTICES) ply->n = count;
        return;
    }
    ply->each = count;
    ply->lines += count;
}

static void read_property(struct ply *ply, const char *type, const char *name)
{
    struct property *property = &ply->properties[ply->count];
    bool list = type && !strcmp(type, "list");

    if (ply->place == BEHIND) return;
    if (ply->place == BEFORE) {
        ply->lists |= list;
        if (!list) ply->octets += ply->each * kinds[kind_named(ply, type)].bytes;
        return;
    }
    if (list) fail_header(ply, "a vertex has a list, which is no column");
    if (ply->count == PROPERTIES_MAX || !name || strlen(name) >= sizeof property->name)
        fail_header(ply, "a vertex has too many properties, or one without a name");
    *property = (struct property){.kind = kind_named(ply, type), .at = ply->size, .column = -1};
    memcpy(property->name, name, strlen(name) + 1);
    ply->size += kinds[property->kind].bytes;
    ply->count++;
}

static void read_header(struct ply *ply)
{
    tool_check(ply->ctx, ny_bytes_need(ply->bytes, 4));
    if (ply->bytes->end - ply->bytes->at < 4 || strncmp(ply->bytes->at, "ply", 3) ||
        strcmp(next_line(ply), "ply"))
        tool_fail(NY_EDATA,
                  "%s is not a PLY file: it does not begin with \"ply\". A table of "
                  "numbers nystream reads itself (nystream import).",
                  ply->path);
    for (;;) {
        char *rest, *line = next_line(ply), *word = strtok_r(line, " \t", &rest);
        const char *first = word ? strtok_r(NULL, " \t", &rest) : NULL;
        const char *second = first ? strtok_r(NULL, " \t", &rest) : NULL;

        if (!word || !strcmp(word, "comment") || !strcmp(word, "obj_info")) continue;
        if (!strcmp(word, "end_header")) return;
        if (!strcmp(word, "format"))
            read_format(ply, first);
        else if (!strcmp(word, "element"))
            read_element(ply, first, second);
        else if (!strcmp(word, "property"))
            read_property(ply, first, second);
        else
            fail_header(ply, "this is no line of a PLY header");
    }
}

static void choose_columns(struct ply *ply, const char *names)
{
    char list[1024] = "", *rest, *words = list;

    if (!ply->count) tool_fail(NY_EDATA, "%s has no points (element vertex).", ply->path);
    snprintf(list, sizeof list, "%s", names);
    ply->dtype = NY_F32;
    for (char *name; (name = strtok_r(words, ",", &rest)); words = NULL) {
        int i = 0;

        while (i < ply->count && strcmp(name, ply->properties[i].name))
            i++;
        if (i == ply->count || ply->properties[i].column >= 0) {
            fprintf(stderr, "The points have:");
            for (int j = 0; j < ply->count; j++)
                fprintf(stderr, " %s",
                        ny_shown(ply->properties[j].name, strlen(ply->properties[j].name)).text);
            tool_fail(NY_EUSAGE, ". Not %s%s: give --properties of these.", name,
                      i < ply->count ? " twice" : "");
        }
        ply->properties[i].column = (int)ply->columns++;
        if (kinds[ply->properties[i].kind].wide) ply->dtype = NY_F64;
    }
    if (!ply->columns) tool_fail(NY_EUSAGE, "--properties is a list like x,y,z.");
}

/* To the first vertex. */
static void pass_elements(struct ply *ply)
{
    uint64_t passed;

    if (ply->text) {
        for (uint64_t i = 0; i < ply->lines; i++)
            next_line(ply);
        return;
    }
    if (ply->lists)
        tool_fail(NY_EDATA,
                  "%s has lists before its points, in binary: write it as text, or with "
                  "the points first.",
                  ply->path);
    tool_check(ply->ctx, ny_bytes_pass(ply->bytes, ply->octets, &passed));
    if (ny_bytes_left(ply->bytes) != NY_BYTES_UNKNOWN &&
        ny_bytes_left(ply->bytes) / ply->size < ply->n)
        tool_fail(NY_EDATA, "%s is cut off: it has %llu of its %llu points.", ply->path,
                  ULL(ny_bytes_left(ply->bytes) / ply->size), ULL(ply->n));
}

static double binary_value(enum kind kind, const unsigned char *at)
{
    uint64_t bits = 0;
    float narrow;
    double wide;

    for (size_t i = kinds[kind].bytes; i-- > 0;)
        bits = bits << 8 | at[i];
    switch (kind) {
    case I8:
        return (int8_t)bits;
    case I16:
        return (int16_t)bits;
    case I32:
        return (int32_t)bits;
    case F32:
        memcpy(&narrow, &(uint32_t){(uint32_t)bits}, sizeof narrow);
        return (double)narrow;
    case F64:
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    default:
        return (double)bits;
    }
}

static void read_binary(struct ply *ply, double *row, uint64_t number)
{
    unsigned char vertex[PROPERTIES_MAX * 8];
    size_t got;

    tool_check(ply->ctx, ny_bytes_read(ply->bytes, vertex, ply->size, &got));
    if (got < ply->size)
        tool_fail(NY_EDATA, "%s is cut off: it has %llu of its %llu points.", ply->path,
                  ULL(number), ULL(ply->n));
    for (int i = 0; i < ply->count; i++)
        if (ply->properties[i].column >= 0)
            row[ply->properties[i].column] =
                binary_value(ply->properties[i].kind, vertex + ply->properties[i].at);
}

static void read_text(struct ply *ply, double *row)
{
    const char *at = next_line(ply);

    for (int i = 0; i < ply->count; i++) {
        const char *from = at + strspn(at, " \t");
        double value = 0;

        at = ny_number(from, &value);
        if (at == from || (*at && *at != ' ' && *at != '\t'))
            tool_fail(NY_EDATA, "%s, line %llu: %s of the point is \"%s\", not a number.",
                      ply->path, ULL(ply->bytes->line), ply->properties[i].name,
                      ny_shown(from, strcspn(from, " \t")).text);
        if (ply->properties[i].column >= 0) row[ply->properties[i].column] = value;
    }
    if (at[strspn(at, " \t")])
        tool_fail(NY_EDATA, "%s, line %llu: the point has more than its %d numbers.", ply->path,
                  ULL(ply->bytes->line), ply->count);
}

static void write_points(struct ply *ply, struct ny_writer *out)
{
    double row[PROPERTIES_MAX];
    float narrow[PROPERTIES_MAX];

    tool_write_npy_head(out, ply->dtype, ply->n, ply->columns);
    for (uint64_t i = 0; i < ply->n; i++) {
        if (ply->text)
            read_text(ply, row);
        else
            read_binary(ply, row, i);
        for (size_t j = 0; j < ply->columns; j++)
            narrow[j] = (float)row[j];
        tool_write(out, ply->dtype == NY_F64 ? (const void *)row : narrow,
                   ply->columns * ny_dtype_size(ply->dtype));
    }
}

int main(int argc, char **argv)
{
    struct ply ply = {.path = NULL};
    const char *out = NULL, *names = "x,y,z";
    const struct tool_option options[] = {
        {"-o", TOOL_TEXT, &out}, {"--properties", TOOL_TEXT, &names}, {NULL, TOOL_TEXT, NULL}};
    struct ny_writer *points;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){&ply.path, 1, 0});
    ply.ctx = tool_start();
    tool_check(ply.ctx, ny_bytes_open(&ply.bytes, ply.ctx, ply.path));
    ply.path = ply.bytes->path;
    ply.bytes->line = 0; /* lines that were read */
    read_header(&ply);
    choose_columns(&ply, names);
    if (!ply.n) tool_fail(NY_EDATA, "%s has no points.", ply.path);
    pass_elements(&ply);
    points = tool_create(ply.ctx, out);
    write_points(&ply, points);
    tool_close(points);
    ny_bytes_close(ply.bytes);
    tool_end(ply.ctx);
    return 0;
}
