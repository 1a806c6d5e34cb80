/*
 * Writes the manual page nystream.1 for `nystream help --man`, from the tables of verbs and options
 * and from the status codes of the public header. The build installs what it prints.
 *
 * The output is plain ASCII roff that groff and mandoc read: every other character becomes
 * \[uXXXX], and dashes and quotes are escaped so that examples can be pasted.
 */
#include "cli/cli.h"

#include <string.h>

/* Reads the code point of the UTF-8 sequence at *text, which moves past it; *text is our own. */
static unsigned next_character(const char **text)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    unsigned point = bytes[0];
    int more = point >= 0xf0 ? 3 : point >= 0xe0 ? 2 : point >= 0xc0 ? 1 : 0;

    if (more) point &= 0x3fu >> more;
    for (int i = 1; i <= more; i++)
        point = point << 6 | (bytes[i] & 0x3fu);
    *text += 1 + more;
    return point;
}

/* Writes text of a table, escaped; a line never begins with a control character because of \&. */
static void put(FILE *file, const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", file);
    while (*text) {
        unsigned point = next_character(&text);

        if (point == '-')
            fputs("\\-", file);
        else if (point == '\\')
            fputs("\\e", file);
        else if (point == '`' || point == '\'' || point == '^' || point == '~')
            fprintf(file, "\\(%s",
                    point == '`'    ? "ga"
                    : point == '\'' ? "aq"
                    : point == '^'  ? "ha"
                                    : "ti");
        else if (point < 0x80)
            fputc((int)point, file);
        else
            fprintf(file, "\\[u%04X]", point);
    }
}

static void put_line(FILE *file, const char *text)
{
    put(file, text);
    fputc('\n', file);
}

/* Writes a description, whose lines "- word: what it is" become a list. */
static void put_description(FILE *file, const char *text)
{
    bool listed = false;

    for (size_t length; *text; text += length + (text[length] == '\n')) {
        char line[2048];

        length = strcspn(text, "\n");
        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        if (strncmp(line, "- ", 2) == 0) {
            fputs(".IP \\(bu 2\n", file);
            put_line(file, line + 2);
        } else {
            if (listed) fputs(".PP\n", file);
            put_line(file, line);
        }
        listed = strncmp(line, "- ", 2) == 0;
    }
}

static void print_head(FILE *file, const struct verb *verbs)
{
    char synopsis[256];

    fprintf(file, ".TH NYSTREAM 1 \"\" \"nystream %s\" \"User Commands\"\n", ny_version());
    fputs(".ad l\n.nh\n.SH NAME\nnystream \\- spectral embeddings of data sets that do not fit in "
          "memory\n"
          ".SH SYNOPSIS\n.nf\n",
          file);
    for (const struct verb *verb = verbs; verb->name; verb++) {
        cli_synopsis(verb, synopsis, sizeof(synopsis));
        fputs("\\fBnystream\\fR ", file);
        put_line(file, synopsis);
    }
    fputs(".fi\n", file);
}

/* Writes the general paragraph, then for each verb a section of its own with its examples. */
static void print_description(FILE *file, const struct verb *verbs)
{
    fputs(".SH DESCRIPTION\n", file);
    put_line(file, "Points are imported into a store, a directory, and streamed from it in passes "
                   "of bounded memory. Kernel matrices are approximated from landmark columns, so "
                   "that millions of points fit on one machine. By convention, STORE is named "
                   "NAME.nys. Rows are numbered from 0, lines and columns of files from 1. Data "
                   "go to the standard output or to the file of -o, messages to the standard "
                   "error. Options may come before or after operands; -- ends the options.");
    for (const struct verb *verb = verbs; verb->name; verb++) {
        fprintf(file, ".SS %s ", verb->name);
        put_line(file, verb->operands);
        put_description(file, verb->description);
        fputs(".PP\n.nf\n.RS 4\n", file);
        put_line(file, verb->examples);
        fputs(".RE\n.fi\n", file);
    }
}

/* Writes " (fit, plan)": the verbs that have this option, unless all have it. */
static void print_verbs_of(FILE *file, const struct verb *verbs, const struct option_view *view)
{
    const char *separator = " (";
    size_t all = 0, having = 0;
    struct option_view same;

    for (; verbs[all].name; all++)
        having += cli_option_find(&verbs[all], view->name, &same) && same.own == view->own;
    if (having == all) return;
    for (const struct verb *verb = verbs; verb->name; verb++) {
        if (!cli_option_find(verb, view->name, &same) || same.own != view->own) continue;
        fprintf(file, "%s%s", separator, verb->name);
        separator = ", ";
    }
    fputs(")", file);
}

/* Writes an entry of the list of options: its letter, names and argument, its full text, the
 * default and the verbs that have it. */
static void print_option(FILE *file, const struct verb *verbs, const struct option_view *view)
{
    fputs(".TP\n", file);
    if (view->letter) fprintf(file, "\\fB\\-%c\\fR, ", view->letter);
    fputs("\\fB\\-\\-", file);
    put(file, view->name);
    fputs("\\fR", file);
    if (view->switch_both_ways) {
        fputs(", \\fB\\-\\-no\\-", file);
        put(file, view->name);
        fputs("\\fR", file);
    }
    if (view->argument) {
        fputs(" \\fI", file);
        put(file, view->argument);
        fputs("\\fR", file);
    }
    fputc('\n', file);
    put(file, view->summary);
    if (view->fallback) {
        fputs("; default ", file);
        put(file, view->fallback);
    }
    print_verbs_of(file, verbs, view);
    fputc('\n', file);
}

static void print_options(FILE *file, const struct verb *verbs)
{
    struct option_view view;

    fputs(".SH OPTIONS\nThe verbs that take an option are in parentheses, unless all do.\n", file);
    for (size_t i = 0; cli_option_at(NULL, i, &view); i++)
        print_option(file, verbs, &view);
    fputs(".PP\nParts of a result for \\fB\\-\\-part\\fR:", file);
    for (size_t i = 0; ny_export_parts()[i]; i++)
        fprintf(file, "%s %s", i ? "," : "", ny_export_parts()[i]);
    fputs(".\n", file);
}

/* Writes the codes and meanings of NY_STATUS_MAP. NY_END is left out, which is no exit status. */
static void print_exit_status(FILE *file)
{
    static const struct {
        int status;
        const char *meaning;
    } codes[] = {
#define NY_CLI_STATUS(name, value, kind, meaning) {value, meaning},
        NY_STATUS_MAP(NY_CLI_STATUS)
#undef NY_CLI_STATUS
    };

    fputs(".SH EXIT STATUS\n", file);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].status == NY_END) continue;
        fprintf(file, ".TP\n%d\n", codes[i].status);
        put_line(file, codes[i].meaning);
    }
    fputs(".PP\n", file);
    put_line(file, "With --strict, 9 also says that all is done, but there was a warning.");
    fputs(".PP\n", file);
    put_line(file, "A second SIGHUP, SIGINT or SIGTERM ends the process at once. The store stays "
                   "intact.");
}

/* Writes the sections that no table holds: memory, files, environment and examples. */
static void print_rest(FILE *file)
{
    fputs(".SH MEMORY\n", file);
    put_line(file, "The resident memory of a run, including mapped pages, stays within --memory. "
                   "The default is half of the free memory (import: 256M). K, M, G and T are "
                   "binary units. `plan` reports what a fit needs and the smallest budget that "
                   "works. A fit with a smaller budget exits 8 and names it. The budget affects "
                   "the time of a run, but never the bytes of its result.");
    fputs(".SH FILES\n.TP\nSTORE/\n", file);
    put_line(file, "A directory with two databases: points (append-only blocks of rows, each with "
                   "a checksum) and results. It records the version of its format. A store of a "
                   "newer format is refused, and the message names that version (exit 5).");
    fputs(".TP\nMODEL.nym\n", file);
    put_line(file, "A model exported with --part model: all that transform needs, without points.");
    fputs(".SH ENVIRONMENT\n.TP\nCOLUMNS, LINES\n", file);
    put_line(file, "The size of help and of `plot --terminal` if there is no terminal to ask.");
    fputs(".TP\nTMPDIR\n", file);
    put_line(file, "The directory in which `transform` sorts the entries of sparse files, if they "
                   "are in another order, and in which `bench` measures the disk. Default: /tmp.");
    fputs(".TP\nNYSTREAM_HDF5\n", file);
    put_line(file,
             "The program that reads .h5ad and .h5. Default: nystream-hdf5, beside nystream or on "
             "PATH.");
    fputs(".TP\nNYSTREAM_MPI\n", file);
    put_line(file, "The plug-in for MPI. Default: libnystream-mpi.so, beside nystream or among the "
                   "system libraries.");
    fputs(".TP\nOPENBLAS_CORETYPE\n", file);
    put_line(file, "The type of CPU for which OpenBLAS chooses its code. If it is not set and "
                   "OpenBLAS does not know the CPU, nystream sets it to the nearest known type.");
    fputs(".SH EXAMPLES\n.nf\n", file);
    put_line(file, "nystream embed table.csv -o embedding.npy");
    fputs(".sp\n", file);
    put_line(file, "nystream import digits.nys images-idx3-ubyte.gz --labels labels-idx1-ubyte.gz");
    put_line(file, "nystream plan digits.nys --landmarks 4000 --memory 2G");
    put_line(file, "nystream fit digits.nys first --landmarks 4000 --components 10 --memory 2G");
    put_line(file, "nystream info digits.nys first");
    put_line(file, "nystream export digits.nys first -o first.npy");
    put_line(file, "nystream transform digits.nys first --input new.npy -o placed.npy");
    fputs(".fi\n", file);
}

void cli_print_man(FILE *file, const struct verb *verbs)
{
    print_head(file, verbs);
    print_description(file, verbs);
    print_options(file, verbs);
    print_exit_status(file);
    print_rest(file);
}
