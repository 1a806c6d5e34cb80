/* plan --gamma-grid: a table of widths. */
#include "cli/cli.h"

#include <math.h>

static double number(const json_t *facts, const char *key)
{
    double value;

    return cli_fact_number(facts, key, &value) ? value : NAN;
}

/* In `width` columns; "-" where it does not apply. */
static void print_cell(FILE *file, int width, const char *format, double value)
{
    char text[32] = "-";

    if (!isnan(value)) snprintf(text, sizeof(text), format, value);
    fprintf(file, "%*s", width, text);
}

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

static void print_row(FILE *file, const json_t *row, double centre)
{
    double gamma = number(row, "gamma");

    fprintf(file, "%c", fabs(gamma / centre - 1) < 1e-9 ? '*' : ' ');
    print_cell(file, 11, "%.4g", gamma);
    print_cell(file, 11, "%.4g", number(row, "sigma"));
    print_cell(file, 12, "%.3g", number(row, "trace_error"));
    print_cell(file, 9, "%.1f %%", 100 * number(row, "top_share"));
    print_cell(file, 9, "%.0f", number(row, "rank_90"));
    print_cell(file, 9, "%.1f", number(row, "effective_rank"));
    print_cell(file, 9, "%.3g", number(row, "mean_kernel"));
    fprintf(file, "   %s\n", cli_fact_text(row, "reading"));
}

void cli_print_gamma_grid(FILE *file, const json_t *facts)
{
    const json_t *grid = json_object_get(facts, "grid"), *row;
    size_t index;

    print_head(file, facts);
    json_array_foreach((json_t *)grid, index, row)
    {
        print_row(file, row, number(facts, "centre"));
    }
    fprintf(file,
            "trace error: share of K that the landmarks miss; in top: share of its trace in the %s "
            "components;\n90 %% in: eigenvalues that hold 90 %% of it; mean k: 1 where all rows "
            "look alike, 0 where none sees another%s\n",
            cli_count(number(facts, "components")).text,
            number(facts, "centre") > 0 ? "; *: --gamma" : "");
}
