/*
 * The command: what its files share. It sees the public header alone, and the words of facts and of
 * numbers.
 *
 * A command line is parsed against two tables, the verbs (cli/verbs.c) and the options: those of
 * the library (ny_option_at()) and the command's own (cli/options.c). Help, man page and
 * completions are written from the same tables. Data go to the standard output, words to the
 * standard error.
 */
#ifndef NY_CLI_CLI_H
#define NY_CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"
#include "nystream.h"

/* Options that are the command's and not the library's. */
enum own_option {
    OWN_OUTPUT = 1,
    OWN_INPUT = 2,
    OWN_PART = 4,
    OWN_JSON = 8,
    OWN_QUIET = 16,
    OWN_VERBOSE = 32,
    OWN_HELP = 64,
    OWN_MAN = 128,
    OWN_BASH = 256,
    OWN_ZSH = 512,
    OWN_SKIP_DAMAGED = 1024,
    OWN_TERMINAL = 2048,
    OWN_LABELS = 4096,
    OWN_ALL = 16384,
    OWN_DISTANCES = 32768,
    OWN_NEIGHBORS = 65536,
    OWN_RAW = 131072,
    OWN_NAME = 262144,
    OWN_RECALL = 524288,
    OWN_WITH = 1048576,
    OWN_CLUSTERS = 2097152,
    OWN_KEEP = 4194304,
    OWN_DROP_RESULTS = 8388608,
    OWN_ROWS = 16777216,
    OWN_STRICT = 33554432
};

struct command;

struct verb {
    const char *name;
    const char *operands;    /* "STORE NAME"; the first `least` words are required */
    const char *required;    /* options that must be there: "-o OUT.npy" */
    size_t least, most;      /* number of operands */
    unsigned groups;         /* of the library's options: enum ny_option_group */
    unsigned own;            /* enum own_option */
    const char *summary;     /* one line */
    const char *description; /* sentences; after a line's end what short help leaves out */
    const char *examples;    /* lines; in a folder with table.csv all of them run */
    int (*run)(struct command *command);
    bool resumable; /* stopped, it leaves something to go on with */
};

/* Progress and messages on the standard error. */
struct display {
    bool terminal;
    bool quiet;       /* no progress, no notes */
    bool verbose;     /* details too */
    bool json;        /* warnings as JSON */
    bool warned;      /* there was a warning */
    int width;        /* columns that the line on the screen takes now; 0: no line */
    double printed_s; /* when a line last went to a pipe */
    double started_s;
};

struct command {
    const struct verb *verbs; /* the table; its last has no name */
    const struct verb *verb;
    struct ny_context *context;
    struct ny_options *options;
    int argc;
    char **argv;           /* the whole command line */
    const char **operands; /* room for argc */
    size_t operand_count;
    unsigned typed;  /* options of the command itself that were typed: flags OWN_… */
    unsigned chosen; /* how many of the library's were there, but for --memory and --threads */
    const char *output, *input, *part, *distances, *clusters, *neighbors, *recall, *name, *with;
    const char *keep, *rows;
    bool json, quiet, verbose, strict;
    bool json_wanted; /* --json is somewhere on the line, perhaps behind an error */
    struct display display;
};

/* ---- verbs.c: the table, and the functions that it names ------------------------------------ */

extern const struct verb cli_verbs[]; /* for main() alone, which puts it into struct command */

int cli_run_import(struct command *command);
int cli_run_info(struct command *command);
int cli_run_verify(struct command *command);
int cli_run_plan(struct command *command);
int cli_run_fit(struct command *command);
int cli_run_select(struct command *command);
int cli_run_graph(struct command *command);
int cli_run_path(struct command *command);
int cli_run_eval(struct command *command);
int cli_run_transform(struct command *command);
int cli_run_export(struct command *command);
int cli_run_plot(struct command *command);
int cli_run_report(struct command *command);
int cli_run_embed(struct command *command);
int cli_run_merge(struct command *command);
int cli_run_list(struct command *command);
int cli_run_repair(struct command *command);
int cli_run_truncate(struct command *command);
int cli_run_compact(struct command *command);
int cli_run_rm(struct command *command);
int cli_run_bench(struct command *command);
int cli_run_version(struct command *command);
int cli_run_help(struct command *command);

/* ---- options.c ---------------------------------------------------------------------------- */

/* An option as help, man page and completions show it. */
struct option_view {
    char letter; /* 0: none */
    const char *name, *argument, *fallback, *summary, *section;
    unsigned own;          /* its bit; 0: an option of the library */
    size_t to;             /* what it sets in struct command, from its beginning; 0: only `typed` */
    unsigned groups;       /* groups of the library's options */
    bool switch_both_ways; /* --name and --no-name */
    bool rare;             /* short help leaves it out */
};
/* The verb's options in the order of help; false past the last. verb NULL: all there are. */
bool cli_option_at(const struct verb *verb, size_t index, struct option_view *view);
bool cli_option_find(const struct verb *verb, const char *name, struct option_view *view);
bool cli_option_by_letter(const struct verb *verb, char letter, struct option_view *view);
const char *cli_option_suggest(const struct verb *verb, const char *name);

/* ---- arguments.c -------------------------------------------------------------------------- */

/* Fills in verb, operands and options; `--help` and `--version` become the verbs of that name. */
int cli_parse(struct command *command);
/* Finds the verb of that name; NULL where there is none. */
const struct verb *cli_verb_find(const struct command *command, const char *name);
/* A word that is no verb: with the one that is meant, where there is one. */
int cli_fail_verb(struct command *command, const char *word);
/* Something that the verb needs is missing. */
int cli_needs(struct command *command, const char *what);

/* ---- output.c: errors, and the end of the standard output --------------------------------- */

#define CLI_PRINTF(text_index, first) __attribute__((format(printf, text_index, first)))
/* One sentence on the standard error, or one JSON object; returns `status`. */
int cli_fail(struct command *command, int status, const char *format, ...) CLI_PRINTF(3, 4);
/* Causes that several verbs have in common. */
int cli_no_memory(struct command *command);
int cli_fail_both(struct command *command, const char *one, const char *other);
int cli_fail_only(struct command *command, const char *option, const char *with);
int cli_fail_value(struct command *command, const char *option, const char *takes,
                   const char *value);
/* Like cli_fail(), with the verb's usage line below (not in JSON). */
int cli_fail_usage(struct command *command, const char *format, ...) CLI_PRINTF(2, 3);
/* The error of the context; returns `status`. */
int cli_fail_library(struct command *command, int status);
/* Like cli_fail_library(), for a verb that can be resumed: adds the line that goes on, if any. */
int cli_fail_resumable(struct command *command, int status);
/* The text printed for an interruption that cannot wait, made beforehand and cut if too long. */
struct cli_last_words {
    const char *message;
    bool resumable; /* the same command goes on */
};
void cli_print_last_words(const struct command *command, struct cli_last_words words, int status,
                          char *text, size_t bytes);
/* Refuses a file to write that is the standard output, where --json has the report there. */
int cli_check_output(struct command *command);
/* The report as JSON on the standard output. */
int cli_print_json(struct command *command, const struct ny_report *report);
/* The end of a verb that prints a report, which is freed: its error, or the report as JSON or, of
 * its facts, as `print` puts it. */
typedef void cli_print_fn(const struct command *command, const json_t *facts);
int cli_print_report(struct command *command, int status, struct ny_report *report,
                     cli_print_fn *print);
/* Names the file of -o that was written, and its shape, on the standard error (written.c). */
void cli_print_written(const struct command *command);
/* Names a second file of the same rows, such as that of --clusters; NULL: there is none. */
void cli_print_second(const struct command *command, const char *path, const char *what);
/* Reports a file of a verb that has no other report: like cli_print_written() or, with --json, as
 * an object on the standard output, unless that is the file (written.c). */
void cli_print_output(const struct command *command);
/* Tells whether the file to write is the standard output. */
bool cli_writes_to_stdout(const struct command *command);
/* Flushes the standard output: a failure (closed pipe, full disk) is NY_EIO. */
int cli_finish_output(struct command *command, int status);
/* The process has all its CPUs again (one_cpu.c). */
void cli_use_all_cpus(void);
/* Descriptors 0, 1, 2 are open after this, so that no data file takes their number; a closed
 * pipe is an error of write(), not a signal. */
void cli_prepare_output(void);

/* ---- text.c ------------------------------------------------------------------------------- */

/* Writes text as a string of JSON, with ? for bytes that are not UTF-8; null for NULL. */
void cli_write_json_string(FILE *file, const char *text);
/* Prints text with ? for bytes that are not UTF-8 and for control characters, as a terminal would
 * obey those that files and stores hold. */
void cli_print_text(FILE *file, const char *text);
/* Prints it so, and blanks up to `columns` characters, of which printf() would count the bytes. */
void cli_print_padded(FILE *file, const char *text, int columns);
/* Reads `length` bytes of text as a whole number; false where they are none. */
bool cli_read_whole(const char *text, size_t length, uint64_t *number);

/* ---- resume.c ----------------------------------------------------------------------------- */

/* Hands the command line, of a verb that can be resumed, to the context: jobs remember it. */
void cli_remember_command(struct command *command);
/* The command line that goes on after a failure with `status`; NULL where there is none. It lives
 * as long as the command's context. */
const char *cli_find_resume(const struct command *command, int status);
/* Tells whether the command has no options that choose anything, and NAME is there, of this kind:
 * then it is for ny_resume(). */
bool cli_goes_on(const struct command *command, const char *kind);

/* ---- signals.c ---------------------------------------------------------------------------- */

/* The first SIGHUP, SIGINT or SIGTERM asks the command to stop, and ends the process where it does
 * not stop soon (a long solve); the second ends it at once. NULL: nothing is left to stop. */
void cli_watch_signals(struct command *command);

/* ---- progress.c --------------------------------------------------------------------------- */

/* Sends progress and log of the context to the standard error. */
void cli_display_start(struct command *command);
/* Prints the time and memory that the command took, if --verbose asks. */
void cli_display_end(struct command *command);
/* Takes the line off the screen. */
void cli_display_clear(struct display *display);
/* The size of the terminal, else by COLUMNS and LINES, else 80 and 24. */
int cli_terminal_width(void);
int cli_terminal_lines(void);

/* ---- words.c: numbers for people ---------------------------------------------------------- */

struct words {
    char text[64];
};
struct words cli_bytes(double bytes);                                      /* 1.50 GiB */
struct words cli_counted(double count, const char *one, const char *many); /* 1 pass, 2 passes */
struct words cli_number(double value, int digits); /* 0.025; 0.99989, not 1 */
struct words cli_bytes_option(double bytes);       /* 143M: rounded up, for --memory */
struct words cli_duration(double seconds);         /* 3 min 20 s */
struct words cli_count(double count); /* 60,000; numbers of rows are plain, as options take them */

/* Writes how many rows each cluster has, by number, in at most so many columns, and no more than
 * twelve; else only the smallest and the largest of them: "30 to 19,965". */
enum { CLI_SIZES_BYTES = 1024 };
void cli_sizes(const json_t *sizes, int columns, char text[CLI_SIZES_BYTES]);
struct words cli_scaled(double x, const char *unit); /* 446 GF/s; for "rows/s" 1.2 M rows/s */
/* Tells whether a path is that of a model's file: a store is a folder, whatever its name. */
bool cli_is_model(const char *path);
/* Columns of a text on a terminal: characters, not bytes. */
int cli_columns(const char *text);
/* Bytes of the first sentence, which is what short help and completions show of a summary. */
int cli_first_sentence(const char *text);
/* Prints words of `text` between `indent` and `width`, control characters as ?; the first line is
 * already at `column`. */
void cli_wrap(FILE *file, const char *text, int column, int indent, int width);

/* ---- facts.c: reports for people ---------------------------------------------------------- */

/* The report as an object of jansson; json_decref() it. NULL when there is no memory. */
json_t *cli_facts(const struct ny_report *report);
/* True when `key` is there and not null. */
bool cli_fact_number(const json_t *facts, const char *key, double *value);
const char *cli_fact_text(const json_t *facts, const char *key);
/* Every fact that applies, a line each, known ones first and with their label. */
void cli_print_facts(FILE *file, const json_t *facts);
void cli_print_fact(FILE *file, const char *label, const char *format, ...) CLI_PRINTF(3, 4);
/* The passes of a job or, planned, of one to come: "2 passes plus 3 for landmark selection". Those
 * of a selection are counted apart, as the data decide about them. Labelled: without the word. */
struct words cli_passes(const json_t *facts, bool planned, bool labelled);
/* Prints "by stage   select 1.2 s, solve 3.4 s". */
void cli_print_stages(FILE *file, const json_t *facts);
/* The certificate in sentences. */
void cli_print_certificate(FILE *file, const json_t *facts);

/* ---- gamma_grid.c ------------------------------------------------------------------------- */

/* The table of ny_gamma_grid(). `width` says where the width with the star comes from, such as
 * "--gamma". */
void cli_print_gamma_grid(FILE *file, const json_t *facts, const char *width);

/* ---- help.c, listing.c, man.c, completion.c ----------------------------------------------- */

/* Prints what the command is for, with a line for each verb. */
void cli_print_overview(FILE *file, const struct verb *verbs);
void cli_print_usage(FILE *file, const struct verb *verb);
/* "fit STORE NAME [options]" */
void cli_synopsis(const struct verb *verb, char *text, size_t bytes);
/* Prints the first sentence of common options, or with `all` the full text of all options. */
void cli_print_help(FILE *file, const struct verb *verb, bool all);
/* Prints verbs, or only this one, with their options as an array of JSON (listing.c). */
int cli_print_listing(struct command *command, const struct verb *only);
void cli_print_man(FILE *file, const struct verb *verbs);
void cli_print_bash_completion(FILE *file, const struct verb *verbs);
void cli_print_zsh_completion(FILE *file, const struct verb *verbs);

#endif
