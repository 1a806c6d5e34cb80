/* Prints the table of widths of plan --gamma-grid. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

/* Returns a fact as a number; NAN, which is printed as "-", where it does not apply. */
static double number(const json_t *facts, const char *key)
{
    double value;

    return cli_fact_number(facts, key, &value) ? value : NAN;
}

/* Prints a number of so many digits in `width` columns; "-" where it does not apply. */
static void print_digits(FILE *file, int width, int digits, double value)
{
    if (isnan(value))
        fprintf(file, "%*s", width, "-");
    else
        fprintf(file, "%*.*g", width, digits, value);
}

/* Prints it with so many decimals, and `unit` behind it, in the same way. */
static void print_decimals(FILE *file, int width, int decimals, double value, const char *unit)
{
    char text[32] = "-";

    if (!isnan(value)) snprintf(text, sizeof(text), "%.*f%s", decimals, value, unit);
    fprintf(file, "%*s", width, text);
}

/* Prints from which sample the numbers come, and the titles of the columns. The fit may have more
 * landmarks than the sample; a line then says that its errors are smaller. */
static void print_head(FILE *file, const json_t *facts)
{
    double landmarks = number(facts, "landmarks"), rows = number(facts, "sample_rows");
    double wanted = number(facts, "landmarks_wanted");

    fprintf(file, "%s kernel, map %s, %s rows; from a sample with ", cli_fact_text(facts, "kernel"),
            cli_fact_text(facts, "map"), cli_count(number(facts, "n")).text);
    fprintf(file, "%s uniform landmarks and %s other rows\n", cli_count(landmarks).text,
            cli_count(rows - landmarks).text);
    if (wanted > landmarks)
        fprintf(file, "with the %s landmarks of the fit the errors are smaller\n",
                cli_count(wanted).text);
    fprintf(file, "%12s%11s%12s%9s%9s%9s%9s   %s\n", "gamma", "sigma", "trace error", "in top",
            "90 % in", "eff.rank", "mean k", "reading");
}

/* Tells whether a width is the one that a fit with these options would take. */
static bool is_centre(double gamma, double centre)
{
    return fabs(gamma / centre - 1) < 1e-9;
}

/* Prints the numbers of one width. A star marks the width of the fit. */
static void print_row(FILE *file, const json_t *row, double centre)
{
    double gamma = number(row, "gamma");

    fprintf(file, "%c", is_centre(gamma, centre) ? '*' : ' ');
    print_digits(file, 11, 4, gamma);
    print_digits(file, 11, 4, number(row, "sigma"));
    print_digits(file, 12, 3, number(row, "trace_error"));
    print_decimals(file, 9, 1, 100 * number(row, "top_share"), " %");
    print_decimals(file, 9, 0, number(row, "rank_90"), "");
    print_decimals(file, 9, 1, number(row, "effective_rank"), "");
    print_digits(file, 9, 3, number(row, "mean_kernel"));
    fprintf(file, "   %s\n", cli_fact_text(row, "reading"));
}

void cli_print_gamma_grid(FILE *file, const json_t *facts, const char *width)
{
    const json_t *grid = json_object_get(facts, "grid"), *row;
    double centre = number(facts, "centre");
    bool starred = false;
    bool normalised = strcmp(cli_fact_text(facts, "trace_of"), "normalised") == 0;
    size_t index;

    print_head(file, facts);
    json_array_foreach((json_t *)grid, index, row)
    {
        print_row(file, row, centre);
        starred |= is_centre(number(row, "gamma"), centre);
    }
    fprintf(file,
            "trace error: share of K's trace that the landmarks leave out; in top: share of it in "
            "the %s components;\n90 %% in: eigenvalues that hold 90 %% of it%s; mean k: 1 if all "
            "rows look alike, 0 if no row is near another%s%s\n",
            cli_count(number(facts, "components")).text,
            normalised ? " without the trivial one" : "", starred ? "; *: " : "",
            starred ? width : "");
}
