/*
 * Signals of a WFDB record, the format of PhysioNet: a header NAME.hea in text, which says how the
 * samples are packed in a file beside it. Samples of all signals at one time are a row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/bytes.h"
#include "io/number.h"
#include "tool.h"

static const char usage[] =
    "wfdb-rows RECORD.hea [-o OUT.npy]\n"
    "\n"
    "Writes the signals of a WFDB record (PhysioNet) as npy of int16, a row a time, a column a\n"
    "signal, in units of the converter: wfdb-rows 100.hea | windows - --lead 0. Formats 16 and\n"
    "212, all signals in one file beside the header; the header's checksums must be right.\n"
    "\n"
    "  -o OUT.npy   where to; standard output without it\n"
    "\n"
    "A sample that the device has missed is -32768, in format 212 -2048.\n";

#define ULL(x) ((unsigned long long)(x))
enum { SIGNALS_MAX = 64, LINE_BYTES = 1024 };

struct record {
    struct ny_context *ctx;
    const char *path; /* of the header */
    unsigned line;
    uint64_t signals, times, format, offset;
    char data[LINE_BYTES];         /* name of the file of samples */
    long long checks[SIGNALS_MAX]; /* sums of the samples, modulo 65536; NO_CHECK: not given */
    struct ny_bytes *bytes;
    bool held; /* 212: the second of two samples is in `next` */
    int16_t next;
};

#define NO_CHECK INT64_MAX

_Noreturn static void fail_line(const struct record *r, const char *what)
{
    tool_fail(NY_EDATA, "%s, line %u: %s.", r->path, r->line, what);
}

/* The next line with words in it. */
static char *next_line(struct record *r, FILE *file, char *line)
{
    do {
        r->line++;
        if (!fgets(line, LINE_BYTES, file)) fail_line(r, "the header ends before its last signal");
        if (!strchr(line, '\n') && !feof(file)) fail_line(r, "the line is too long");
    } while (line[0] == '#' || !line[strspn(line, " \t\r\n")]);
    return line;
}

static const char *word(char *line, char **rest)
{
    return strtok_r(line, " \t\r\n", rest);
}

/* The digits that a word begins with; 0 where it has none. */
static uint64_t leading_number(const char *text)
{
    uint64_t value = 0;

    if (text) ny_number_whole(text, strspn(text, "0123456789"), &value);
    return value;
}

/* "NAME SIGNALS [FREQUENCY [TIMES …]]" */
static void read_record_line(struct record *r, char *line)
{
    char *rest;
    const char *name = word(line, &rest), *signals = word(NULL, &rest);

    word(NULL, &rest); /* the frequency */
    if (strchr(name, '/'))
        fail_line(r, "the record is in segments; give the header of one of them");
    r->signals = leading_number(signals);
    r->times = leading_number(word(NULL, &rest));
    if (!r->signals || r->signals > SIGNALS_MAX)
        fail_line(r, "a record has 1 to 64 signals: NAME SIGNALS FREQUENCY TIMES");
}

/* "FILE FORMAT GAIN BITS ZERO FIRST CHECKSUM …" */
static void read_signal_line(struct record *r, char *line, uint64_t signal)
{
    char *rest;
    const char *file = word(line, &rest), *format = word(NULL, &rest), *check = NULL;
    const char *plus = format ? strchr(format, '+') : NULL;

    for (int i = 0; i < 5; i++)
        check = word(NULL, &rest);
    if (!format || format[strspn(format, "0123456789")] == 'x' || strchr(format, ':'))
        fail_line(r, "a signal is FILE FORMAT …, without samples of its own time");
    if (strchr(file, '/')) fail_line(r, "the file of samples must be beside the header");
    if (signal == 0) {
        strcpy(r->data, file);
        r->format = leading_number(format);
        r->offset = plus ? leading_number(plus + 1) : 0;
    }
    if (strcmp(file, r->data) || leading_number(format) != r->format)
        fail_line(r, "the signals are in several files or formats; in one they can be read");
    if (r->format != 16 && r->format != 212)
        fail_line(r, "the format is neither 16 nor 212; xform of the WFDB software makes these");
    r->checks[signal] = check ? atoll(check) : NO_CHECK;
}

static void read_header(struct record *r)
{
    char line[LINE_BYTES];
    FILE *file = fopen(r->path, "r");

    if (!file) tool_check(r->ctx, ny_fail_errno(r->ctx, "open", r->path));
    read_record_line(r, next_line(r, file, line));
    for (uint64_t i = 0; i < r->signals; i++)
        read_signal_line(r, next_line(r, file, line), i);
    fclose(file);
}

/* Samples that so many bytes hold: of format 212, three hold two, and two one. */
static uint64_t samples_in(const struct record *r, uint64_t bytes)
{
    return r->format == 16 ? bytes / 2 : bytes / 3 * 2 + bytes % 3 / 2;
}

static void open_samples(struct record *r)
{
    char path[2 * LINE_BYTES];
    const char *slash = strrchr(r->path, '/');
    int folder = slash ? (int)(slash + 1 - r->path) : 0;
    uint64_t passed, there;

    if (folder >= LINE_BYTES) tool_fail(NY_EUSAGE, "The path is too long.");
    snprintf(path, sizeof path, "%.*s%s", folder, r->path, r->data);
    tool_check(r->ctx, ny_bytes_open(&r->bytes, r->ctx, path));
    tool_check(r->ctx, ny_bytes_pass(r->bytes, r->offset, &passed));
    if (ny_bytes_left(r->bytes) == NY_BYTES_UNKNOWN)
        tool_fail(NY_EDATA, "%s is compressed or no file: unpack it first.", path);
    there = samples_in(r, ny_bytes_left(r->bytes)) / r->signals;
    if (!r->times) r->times = there;
    if (r->times > there)
        tool_fail(NY_EDATA, "%s is cut off: it has %llu of the %llu times that %s names.", path,
                  ULL(there), ULL(r->times), r->path);
    if (!r->times) tool_fail(NY_EDATA, "%s has no samples.", path);
}

/* Twelve bits as a number with a sign. */
static int16_t twelve(unsigned bits)
{
    return (int16_t)((int)(bits ^ 0x800) - 0x800);
}

static int16_t next_sample(struct record *r)
{
    unsigned char b[3] = {0};
    size_t got, wanted = r->format == 16 ? 2 : 3;

    if (r->held) {
        r->held = false;
        return r->next;
    }
    tool_check(r->ctx, ny_bytes_read(r->bytes, b, wanted, &got));
    if (got < 2) tool_fail(NY_EDATA, "%s has become shorter while it was read.", r->bytes->path);
    if (r->format == 16) return (int16_t)(uint16_t)(b[0] | b[1] << 8);
    r->held = true;
    r->next = twelve((unsigned)b[2] | (unsigned)(b[1] & 0xf0) << 4);
    return twelve((unsigned)b[0] | (unsigned)(b[1] & 0x0f) << 8);
}

static void read_row(struct record *r, int16_t *row)
{
    for (uint64_t i = 0; i < r->signals; i++)
        row[i] = next_sample(r);
}

/* Reads all once before a row is written: who reads a pipe has used what came. */
static void check_sums(struct record *r)
{
    int16_t row[SIGNALS_MAX];
    uint16_t sums[SIGNALS_MAX] = {0};
    uint64_t passed;

    for (uint64_t t = 0; t < r->times; t++) {
        read_row(r, row);
        for (uint64_t i = 0; i < r->signals; i++)
            sums[i] = (uint16_t)(sums[i] + (uint16_t)row[i]);
    }
    for (uint64_t i = 0; i < r->signals; i++)
        if (r->checks[i] != NO_CHECK && (uint16_t)r->checks[i] != sums[i])
            tool_fail(NY_EDATA, "%s: the checksum of signal %llu is not that of %s: it is damaged.",
                      r->bytes->path, ULL(i), r->path);
    r->held = false;
    tool_check(r->ctx, ny_bytes_rewind(r->bytes));
    tool_check(r->ctx, ny_bytes_pass(r->bytes, r->offset, &passed));
}

static void write_samples(struct record *r, const char *path)
{
    struct ny_writer *out = tool_create(r->ctx, path);
    int16_t row[SIGNALS_MAX];

    tool_write_npy_head(out, NY_I16, r->times, r->signals);
    for (uint64_t t = 0; t < r->times; t++) {
        read_row(r, row);
        tool_write(out, row, (size_t)r->signals * sizeof *row);
    }
    tool_close(out);
}

int main(int argc, char **argv)
{
    struct record r = {.path = NULL};
    const char *out = NULL;
    const struct tool_option options[] = {{"-o", TOOL_TEXT, &out}, {NULL, TOOL_TEXT, NULL}};

    tool_arguments(argc, argv, usage, options, (struct tool_positional){&r.path, 1, 0});
    r.ctx = tool_start();
    read_header(&r);
    open_samples(&r);
    check_sums(&r);
    write_samples(&r, out);
    ny_bytes_close(r.bytes);
    tool_end(r.ctx);
    return 0;
}
