/*
 * Writes the tables, charts and sentences of a report's page (report/page_facts.h) as HTML; the
 * holes of the page's template are filled by report/page.c with calls to it.
 *
 * Everything comes from the record of a result and its eigenvalues, but for the histogram of
 * residuals, which report/page_points.c has counted. Labels, numbers and units are those of
 * report/page_values.h. The certificate says what is known of the error, in sentences, and says so
 * if nothing is known. Charts are SVG within the page, 640 × 270 units large, without a script:
 * they can be read where scripts are not run.
 */
#include "report/page_facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "report/axis.h"
#include "report/page_values.h"
#include "report/words.h"

/* ---- tables ------------------------------------------------------------------------------- */

/* Begins a table in a box of its own, within which it scrolls if it is wider than the page. The
 * caption is for those who hear the page: others see the heading above. */
static void begin_table(struct ny_sink *sink, const char *box, const char *caption)
{
    ny_putf(sink, "<div class=\"%s\"><table><caption class=\"unseen\">%s</caption>", box, caption);
}

/* Returns the figure of a result that the comparison shows. The components of a graph are no
 * columns, as those of maps are. */
static const json_t *compared(const json_t *report, const char *key)
{
    bool graph = json_is_number(json_object_get(report, "edges"));

    return graph && strcmp(key, "components") == 0 ? NULL : json_object_get(report, key);
}

void ny_put_comparison(struct ny_sink *sink, const json_t *const *reports, const char *const *names,
                       size_t count)
{
    static const char *const keys[] = {
        "map",           "approx",       "select",      "kernel",  "gamma",
        "landmarks",     "components",   "n",           "trace_error",
        "variance_kept", "residual_max", "probe_error", "residual_variance",
        "seconds",       "peak_rss_bytes"};

    if (count < 2) return;
    begin_table(sink, "wide compare", "All results of this page, side by side");
    ny_put(sink, "<thead><tr><th scope=\"col\">result</th>");
    for (size_t i = 0; i < count; i++) {
        ny_put(sink, "<th scope=\"col\">");
        ny_put_html(sink, names[i]);
        ny_put(sink, "</th>");
    }
    ny_put(sink, "</tr></thead><tbody>");
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        ny_put(sink, "<tr><th scope=\"row\">");
        ny_put_key(sink, keys[k]);
        ny_put(sink, "</th>");
        for (size_t i = 0; i < count; i++) {
            ny_put(sink, "<td>");
            ny_put_value(sink, keys[k], compared(reports[i], keys[k]));
            ny_put(sink, "</td>");
        }
        ny_put(sink, "</tr>\n");
    }
    ny_put(sink, "</tbody></table></div>");
}

static void put_row(struct ny_sink *sink, const char *key, const json_t *value)
{
    ny_put(sink, "<tr><th scope=\"row\">");
    ny_put_key(sink, key);
    ny_put(sink, "</th><td>");
    ny_put_value(sink, key, value);
    ny_put(sink, "</td></tr>\n");
}

void ny_put_facts(struct ny_sink *sink, const json_t *report)
{
    const char *key;
    json_t *value;

    begin_table(sink, "wide", "All figures of the result");
    ny_put(sink, "<tbody>\n");
    json_object_foreach((json_t *)report, key, value)
    {
        if (json_is_null(value) || json_is_object(value) || json_is_array(value)) continue;
        put_row(sink, key, value);
    }
    ny_put(sink, "</tbody></table></div>");
}

/* A graph's own record has its figures; that of a fit which made one has them in an object. */
void ny_put_graph(struct ny_sink *sink, const json_t *report)
{
    static const char *const keys[] = {"neighbors",     "metric",         "edges",
                                       "degree_mean",   "components",     "largest",
                                       "largest_share", "distance_limit", "recall"};
    const json_t *graph = json_object_get(report, "graph");

    if (!json_is_object(graph)) graph = report;
    if (!json_is_number(json_object_get(graph, "edges"))) return;
    ny_put(sink, "<h3>Graph</h3>");
    begin_table(sink, "wide", "Figures of the graph");
    ny_put(sink, "<tbody>\n");
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        const json_t *value = json_object_get(graph, keys[k]);

        if (value && !json_is_null(value)) put_row(sink, keys[k], value);
    }
    ny_put(sink, "</tbody></table></div>");
}

/* Writes the share of the variance or trace that the components hold, if it is known. */
static void put_kept(struct ny_sink *sink, const json_t *report)
{
    double kept = ny_field_number(report, "variance_kept", NAN);
    uint64_t components = ny_field_count(report, "components", 0);
    char text[48], count[32];

    if (!isfinite(kept)) return;
    ny_putf(sink, "<li>%s %s component%s %s %s\u00a0%% of the %s.</li>",
            ny_field_is(report, "approx", "exact") ? "Exact; the" : "The",
            ny_grouped(components, count), components == 1 ? "" : "s",
            components == 1 ? "holds" : "hold", ny_percent_words(kept, text),
            ny_shared_word(report));
}

/* Writes the error of K̃, if landmarks or a probe tell it. */
static bool put_error(struct ny_sink *sink, const json_t *report)
{
    double trace = ny_field_number(report, "trace_error", NAN);
    double residual = ny_field_number(report, "residual_max", NAN);
    double probe = ny_field_number(report, "probe_error", NAN);
    double spread = ny_field_number(report, "probe_standard_error", NAN);
    const char *trace_of = ny_field_text(report, "trace_of");
    bool exact = ny_field_is(report, "approx", "exact");
    char text[48], percent[48];

    put_kept(sink, report);
    if (isfinite(trace) && !exact) {
        ny_putf(sink, "<li>Trace error %s: what the landmarks leave out of K%s",
                ny_short_number(trace, text), trace_of ? " (" : "");
        ny_put_html(sink, trace_of ? trace_of : "");
        ny_putf(sink, "%s is at most %s\u00a0%% of its trace.</li>", trace_of ? ")" : "",
                ny_short_number(trace > 0 ? 100 * trace : 0, percent));
    }
    if (isfinite(residual))
        ny_putf(sink,
                "<li>Largest residual %s: the squared distance of the row that the landmarks "
                "represent least.</li>",
                residual >= 1e-12 ? ny_short_number(residual, text) : "below 10⁻¹²");
    if (isfinite(probe)) {
        ny_putf(sink, "<li>Probe error %s", ny_short_number(probe, text));
        if (isfinite(spread)) ny_putf(sink, " ± %.1g", spread);
        ny_put(sink, " of K's Frobenius norm.</li>");
    }
    return isfinite(trace) || isfinite(residual) || isfinite(probe);
}

/* Writes how well distances of a map of a graph keep the paths, or the residuals of eigenvectors
 * that were found by products with a matrix. */
static bool put_found_error(struct ny_sink *sink, const json_t *report)
{
    double variance = ny_field_number(report, "residual_variance", NAN);
    double preserved = ny_field_number(report, "distance_preservation", NAN);
    const json_t *residuals = json_object_get(report, "eigenvector_residuals"), *residual;
    double most = 0;
    char text[48];
    size_t k;

    json_array_foreach((json_t *)residuals, k, residual) most =
        fmax(most, json_number_value(residual));
    if (isfinite(variance) && isfinite(preserved))
        ny_putf(sink,
                "<li>Residual variance %s, distances preserved to %.4g\u00a0%% (over %s pairs of "
                "rows).</li>",
                ny_short_number(variance, text), 100 * preserved,
                ny_grouped(ny_field_count(report, "sampled_pairs", 0), (char[32]){""}));
    if (json_array_size(residuals) && json_is_object(json_object_get(report, "graph")))
        ny_putf(sink, "<li>Residuals |Lu − λu| of at most %s.</li>", ny_short_number(most, text));
    else if (json_array_size(residuals))
        ny_putf(sink, "<li>Residuals |Au − λu|/λ of at most %s, where A is the matrix of %s.</li>",
                ny_short_number(most, text),
                ny_field_is(report, "side", "rows") ? "rows × rows, K" : "columns × columns");
    return (isfinite(variance) && isfinite(preserved)) || json_array_size(residuals);
}

void ny_put_certificate(struct ny_sink *sink, const struct ny_result *result)
{
    const json_t *report = result->report;
    double negative = ny_field_number(report, "negative_eigenvalues", 0);
    bool graph = json_is_object(json_object_get(report, "graph")), certified;

    if (!result->coordinates.pairs && isnan(ny_field_number(report, "residual_max", NAN))) return;
    ny_put(sink, "<section class=\"certificate\"><h3>Certificate</h3><ul>");
    certified = put_error(sink, report);
    certified = put_found_error(sink, report) || certified;
    if (!certified)
        ny_put(sink, graph || ny_field_is(report, "kernel", "precomputed")
                         ? "<li>None.</li>"
                         : "<li>None was made; <code>--probe</code> measures one.</li>");
    if (negative > 0)
        ny_putf(sink, "<li>%.0f negative eigenvalue%s dropped: %s.</li>", negative,
                negative > 1 ? "s were" : " was",
                graph ? "no flat space has exactly these path lengths"
                      : "K is not positive semidefinite");
    ny_put(sink, "</ul></section>");
}

void ny_put_dominant(struct ny_sink *sink, const json_t *report)
{
    const char *told = ny_field_text(report, "dominant_columns");

    if (!told) return;
    ny_put(sink, "<p><strong>The picture is one of few columns:</strong> ");
    ny_put_html(sink, told);
    ny_put(sink, ". The others hardly count; where their units differ, <code>--scale "
                 "standard</code> gives all of them the same weight.</p>");
}

static double most_seconds(const json_t *stages)
{
    const char *key;
    json_t *value;
    double most = 0;

    json_object_foreach((json_t *)stages, key, value) most = fmax(most, json_number_value(value));
    return most;
}

/* Writes the table of stages: time, a bar relative to the longest stage, and memory reserved. */
static void put_stages(struct ny_sink *sink, const json_t *report)
{
    const json_t *stages = json_object_get(report, "stages");
    const json_t *memory = json_object_get(report, "stage_memory_bytes");
    double most = most_seconds(stages);
    const char *key;
    json_t *value;

    begin_table(sink, "wide", "Time and memory of each stage");
    ny_put(sink, "<thead><tr><th scope=\"col\">stage</th><th scope=\"col\" class=\"n\">time</th>"
                 "<td></td><th scope=\"col\" class=\"n\">reserved</th></tr></thead><tbody>\n");
    json_object_foreach((json_t *)stages, key, value)
    {
        if (!json_is_number(value)) continue;
        ny_put(sink, "<tr><th scope=\"row\">");
        ny_put_key(sink, key);
        ny_put(sink, "</th><td class=\"n\">");
        ny_put_value(sink, "seconds", value);
        ny_putf(sink,
                "</td><td class=\"bars\"><span class=\"bar\" style=\"width:%.1f%%\"></span>"
                "</td><td class=\"n\">",
                most > 0 ? 100 * json_number_value(value) / most : 0);
        ny_put_value(sink, "bytes", json_object_get(memory, key));
        ny_put(sink, "</td></tr>\n");
    }
    ny_put(sink, "</tbody></table></div>");
}

void ny_put_cost(struct ny_sink *sink, const json_t *report)
{
    double seconds = ny_field_number(report, "seconds", NAN);
    double peak = ny_field_number(report, "peak_rss_bytes", NAN);
    double budget = ny_field_number(report, "memory_budget_bytes", NAN);
    char text[48];

    ny_put(sink, "<p>");
    if (isfinite(seconds)) ny_putf(sink, "%s in all. ", ny_time_words(seconds, text));
    if (isfinite(peak)) ny_putf(sink, "At most %s of memory", ny_size_words(peak, text));
    if (isfinite(peak) && budget > 0)
        ny_putf(sink, ", %s%.0f\u00a0%% of a budget of %s",
                peak < 0.01 * budget ? "less than " : "", fmax(1, 100 * peak / budget),
                ny_size_words(budget, text));
    ny_put(sink, isfinite(peak) ? ".</p>" : "</p>");
    if (json_object_size(json_object_get(report, "stages"))) put_stages(sink, report);
}

/* ---- charts ------------------------------------------------------------------------------- */

enum { WIDE = 640, HIGH = 270, LEFT = 86, TOP = 12, RIGHT = 628, BOTTOM = 220 };

/* Returns the height of a value in a chart, in its own units. */
static double chart_y(const struct ny_axis *axis, double value)
{
    return BOTTOM - ny_axis_place(axis, value) * (BOTTOM - TOP);
}

/* Begins an SVG with its lines and numbers; `alt` describes it to readers that do not see it. */
static void begin_chart(struct ny_sink *sink, const struct ny_axis *y, const char *alt)
{
    struct ny_ticks ticks;
    char text[48];

    ny_putf(sink, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDE,
            HIGH);
    ny_put_html(sink, alt);
    ny_put(sink, "\">");
    ny_ticks_make(&ticks, y, 4);
    for (size_t k = 0; k < ticks.count; k++) {
        double at = chart_y(y, ticks.at[k]);

        ny_putf(sink,
                "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" "
                "y=\"%.1f\" text-anchor=\"end\">%s</text>",
                LEFT, RIGHT, at, at, LEFT - 6, at + 4, ny_short_number(ticks.at[k], text));
    }
}

/* Writes a share as a percentage of three digits, also if the last of them are zeros, so that the
 * digits in a column are below one another. */
static const char *share_words(double share, char text[48])
{
    if (!(share < 0.9995)) return ny_percent_words(share, text);
    ny_decimal_print(text, 48, "%#.3g", 100 * share);
    return text;
}

static void put_spectrum_table(struct ny_sink *sink, const struct ny_result *result, size_t count,
                               bool open)
{
    const char *of = ny_shared_word(result->report);
    size_t first = ny_eigenvalue_first(result);
    bool shares = false;
    char text[64];

    for (size_t k = 0; k < count; k++)
        shares = shares || isfinite(ny_eigenvalue_share(result, k));
    ny_putf(sink, "<details%s><summary>Eigenvalues</summary>", open ? " open" : "");
    snprintf(text, sizeof(text), "Eigenvalues%s%s", shares ? " and their shares of the " : "",
             shares ? of : "");
    begin_table(sink, "wide", text);
    ny_put(sink, "<thead><tr><th scope=\"col\" class=\"n\">component</th><th scope=\"col\" "
                 "class=\"n\">eigenvalue</th>");
    if (shares) ny_putf(sink, "<th scope=\"col\" class=\"n\">of the %s</th>", of);
    ny_put(sink, "</tr></thead><tbody>\n");
    for (size_t k = 0; k < count; k++) {
        double share = ny_eigenvalue_share(result, k), value = ny_eigenvalue(result, k);

        ny_putf(sink, "<tr><td class=\"n\">%s%zu</td><td class=\"n\">%s</td>",
                first + k ? "" : "trivial: ", first + k,
                isnan(value) ? "not known" : ny_unit_words(value, text));
        if (shares) ny_put(sink, "<td class=\"n\">");
        if (isfinite(share)) ny_putf(sink, "%s\u00a0%%", share_words(share, text));
        ny_put(sink, shares ? "</td></tr>\n" : "</tr>\n");
    }
    ny_put(sink, "</tbody></table></div></details>");
}

/* The numbers of the components below a chart: the first, 0 or 1, and every step of 1, 2 or 5 times
 * a power of ten. */
static void put_numbers_below(struct ny_sink *sink, size_t first, size_t count, double wide)
{
    size_t step = 1;

    for (size_t k = 0; count / step > 12; k++)
        step = k % 3 == 1 ? step / 2 * 5 : step * 2;
    for (size_t k = first; k < first + count; k = k < step ? step : k + step)
        ny_putf(sink, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%zu</text>",
                LEFT + wide * ((double)(k - first) + 0.5), BOTTOM + 19, k);
    ny_putf(sink, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">component%s</text>",
            (LEFT + RIGHT) / 2, HIGH - 6, first ? "" : "; 0 is trivial, and not on the map");
}

static void put_scree(struct ny_sink *sink, const struct ny_result *result, size_t count)
{
    double step = (double)(RIGHT - LEFT) / (double)count;
    size_t drawn = ny_eigenvalues_known(result, count);
    struct ny_axis y = {0, 0};

    for (size_t k = 0; k < drawn; k++) {
        y.low = fmin(y.low, ny_eigenvalue(result, k));
        y.high = fmax(y.high, 1.05 * ny_eigenvalue(result, k));
    }
    if (!(y.high > y.low)) y.high = 1;
    begin_chart(sink, &y,
                "Scree plot: eigenvalues in the order of their number; the table below "
                "has the numbers.");
    ny_put(sink, "<polyline class=\"line\" points=\"");
    for (size_t k = 0; k < drawn; k++)
        ny_putf(sink, "%.1f,%.1f ", LEFT + step * ((double)k + 0.5),
                chart_y(&y, ny_eigenvalue(result, k)));
    ny_put(sink, "\"/>");
    for (size_t k = 0; k < drawn && count <= 100; k++)
        ny_putf(sink, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>",
                LEFT + step * ((double)k + 0.5), chart_y(&y, ny_eigenvalue(result, k)));
    put_numbers_below(sink, ny_eigenvalue_first(result), count, step);
    ny_put(sink, "</svg>");
}

/* A line through one or two points tells nothing that their numbers do not. */
void ny_put_spectrum(struct ny_sink *sink, const struct ny_result *result)
{
    enum { SHOWN = 200 };
    size_t count = ny_part_find("eigenvalues")->count(result);
    bool drawn = count > 2;

    if (!count) return;
    if (count > SHOWN) count = SHOWN;
    ny_put(sink, "<section class=\"spectrum\"><h3>Spectrum</h3>");
    if (drawn) put_scree(sink, result, count);
    put_spectrum_table(sink, result, count, !drawn);
    ny_put(sink, "</section>");
}

void ny_put_residuals(struct ny_sink *sink, const struct ny_page_points *points)
{
    const double step = (double)(RIGHT - LEFT) / NY_PAGE_BINS;
    struct ny_axis y = {0, 1};
    char text[48];

    if (!points->ctx || !(points->residual_most > 0)) return;
    for (size_t k = 0; k < NY_PAGE_BINS; k++)
        y.high = fmax(y.high, 1.05 * (double)points->bins[k]);
    ny_put(sink, "<h3>Residuals</h3>");
    begin_chart(sink, &y, "Histogram of the residuals of all rows, from 0 to the largest.");
    for (size_t k = 0; k < NY_PAGE_BINS; k++)
        ny_putf(sink,
                "<rect class=\"column\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                LEFT + step * (double)k, chart_y(&y, (double)points->bins[k]), step - 1,
                BOTTOM - chart_y(&y, (double)points->bins[k]));
    ny_putf(sink,
            "<text x=\"%d\" y=\"%d\">0</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>",
            LEFT, BOTTOM + 20, RIGHT, BOTTOM + 20, ny_short_number(points->residual_most, text));
    ny_putf(sink,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">residual; upwards: rows</text>"
            "</svg>",
            (LEFT + RIGHT) / 2, BOTTOM + 36);
}
