/*
 * Writes the tables, charts and sentences of a report's page (report/page_facts.h) as HTML; the
 * holes of the page's template are filled by report/page.c with calls to it.
 *
 * Everything comes from the record of a result and its eigenvalues. Labels, numbers and units are
 * those of report/page_values.h. The certificate has the sentences of records/certificate.h. The
 * chart of eigenvalues is SVG within the page, 640 × 270 units large, without a script: it can be
 * read where scripts are not run.
 */
#include "report/page_facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "records/certificate.h"
#include "report/axis.h"
#include "report/page_values.h"
#include "report/scree.h"
#include "report/words.h"
#include "results/clusters.h"

/* ---- tables ------------------------------------------------------------------------------- */

/* Begins a table in a box of its own, within which it scrolls if it is wider than the page. The
 * caption is for those who hear the page: others see the heading above. */
static void begin_table(struct ny_sink *sink, const char *box, const char *caption)
{
    ny_putf(sink, "<div class=\"%s\"><table><caption class=\"unseen\">%s</caption>", box, caption);
}

void ny_put_comparison(struct ny_sink *sink, const json_t *const *reports, const char *const *names,
                       size_t count)
{
    static const char *const keys[] = {"map",
                                       "approx",
                                       "select",
                                       "kernel",
                                       "gamma",
                                       "landmarks",
                                       "components",
                                       "n",
                                       "trace_error",
                                       "variance_kept",
                                       "residual_max",
                                       "probe_error",
                                       "residual_variance",
                                       "seconds",
                                       "peak_rss_bytes"};

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
            ny_put_value(sink, keys[k], json_object_get(reports[i], keys[k]));
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

/* Writes a row for each figure; parts of others are not figures. */
static void put_all(struct ny_sink *sink, const json_t *figures)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)figures, key, value)
    {
        if (json_is_null(value) || json_is_object(value) || json_is_array(value)) continue;
        put_row(sink, key, value);
    }
}

void ny_put_facts(struct ny_sink *sink, const struct ny_result *result)
{
    begin_table(sink, "wide", "All figures of the result");
    ny_put(sink, "<tbody>\n");
    put_all(sink, result->report);
    put_all(sink, json_object_get(result->report, "graph"));
    if (ny_stored_clusters(result)) put_all(sink, ny_stored_clusters_figures(result->record));
    ny_put(sink, "</tbody></table></div>");
    begin_table(sink, "wide", "Options that the result was made with");
    ny_put(sink, "<tbody>\n");
    put_all(sink, json_object_get(result->record, "options"));
    ny_put(sink, "</tbody></table></div>");
}

void ny_put_command(struct ny_sink *sink, const struct ny_result *result)
{
    const char *typed = ny_field_text(result->record, "command");

    if (!typed) return;
    ny_put(sink, "<h3>Made with</h3>\n<pre><code>");
    ny_put_html(sink, typed);
    ny_put(sink, "</code></pre>");
}

void ny_put_certificate(struct ny_sink *sink, const struct ny_result *result)
{
    json_t *sentences = ny_certificate(result->report, result->map != NULL), *sentence;
    size_t k;

    if (json_array_size(sentences)) {
        ny_put(sink, "<section class=\"certificate\"><h3>Certificate</h3><ul>");
        json_array_foreach(sentences, k, sentence)
        {
            ny_put(sink, "<li>");
            ny_put_html(sink, json_string_value(sentence));
            ny_put(sink, "</li>");
        }
        ny_put(sink, "</ul></section>");
    }
    json_decref(sentences);
    if (!sink->err) sink->err = ny_fields_check(result->ctx);
}

void ny_put_cost(struct ny_sink *sink, const struct ny_result *result)
{
    const json_t *report = result->report;

    ny_put(sink, "<p>");
    ny_put_value(sink, "seconds", json_object_get(report, "seconds"));
    ny_put(sink, " in all; at most ");
    ny_put_value(sink, "peak_rss_bytes", json_object_get(report, "peak_rss_bytes"));
    ny_put(sink, " of memory, of a budget of ");
    ny_put_value(sink, "memory_budget_bytes", json_object_get(report, "memory_budget_bytes"));
    ny_put(sink, ".</p>");
}

/* ---- eigenvalues ------------------------------------------------------------------------- */

enum { WIDE = 640, HIGH = 270, LEFT = 86, TOP = 12, RIGHT = 628, BOTTOM = 220 };

/* Returns the place of a value in the chart, in its own units. */
static double chart_x(const struct ny_axis *axis, double value)
{
    return LEFT + ny_axis_place(axis, value) * (RIGHT - LEFT);
}

static double chart_y(const struct ny_axis *axis, double value)
{
    return BOTTOM - ny_axis_place(axis, value) * (BOTTOM - TOP);
}

static void put_error(struct ny_sink *sink, double error)
{
    char text[48] = "not known";

    if (isfinite(error)) ny_decimal_print(text, sizeof(text), "%.2g\u00a0%%", 100 * error);
    ny_putf(sink, "<td class=\"n\">%s</td>", text);
}

static void put_spectrum_table(struct ny_sink *sink, const struct ny_result *result, size_t count)
{
    const char *of = ny_shared_word(result->report);
    size_t first = ny_eigenvalue_first(result);
    bool shares = ny_field_number(result->report, "trace", NAN) > 0;
    bool errors = json_is_array(json_object_get(result->report, "component_errors"));
    char text[64];

    ny_put(sink, "<details><summary>Eigenvalues</summary>");
    snprintf(text, sizeof(text), "Eigenvalues%s%s", shares ? " and their shares of the " : "",
             shares ? of : "");
    begin_table(sink, "wide", text);
    ny_put(sink, "<thead><tr><th scope=\"col\" class=\"n\">component</th><th scope=\"col\" "
                 "class=\"n\">eigenvalue</th>");
    if (shares) ny_putf(sink, "<th scope=\"col\" class=\"n\">of the %s</th>", of);
    if (errors) ny_put(sink, "<th scope=\"col\" class=\"n\">right to</th>");
    ny_put(sink, "</tr></thead><tbody>\n");
    for (size_t k = 0; k < count; k++) {
        double share = ny_eigenvalue_share(result, k), value = ny_eigenvalue(result, k);

        ny_putf(sink, "<tr><td class=\"n\">%s%zu</td><td class=\"n\">%s</td>",
                first + k ? "" : "trivial: ", first + k,
                isnan(value) ? "not known" : ny_unit_words(value, text));
        if (shares) ny_put(sink, "<td class=\"n\">");
        if (isfinite(share)) ny_putf(sink, "%s\u00a0%%", ny_percent_words(share, text));
        if (shares) ny_put(sink, "</td>");
        if (errors) put_error(sink, ny_eigenvalue_error(result, k));
        ny_put(sink, "</tr>\n");
    }
    ny_put(sink, "</tbody></table></div></details>");
}

/* Begins an SVG with its lines, numbers and the title of the axis below. */
static void begin_chart(struct ny_sink *sink, const struct ny_axis *x, const struct ny_axis *y,
                        size_t count, bool trivial)
{
    struct ny_ticks ticks;
    char text[48];

    ny_putf(sink,
            "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Scree plot: "
            "eigenvalues in the order of their number; the table below has the numbers.\">",
            WIDE, HIGH);
    ny_ticks_make(&ticks, y, 4);
    for (size_t k = 0; k < ticks.count; k++) {
        double at = chart_y(y, ticks.at[k]);

        ny_putf(sink,
                "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" "
                "y=\"%.1f\" text-anchor=\"end\">%s</text>",
                LEFT, RIGHT, at, at, LEFT - 6, at + 4, ny_short_number(ticks.at[k], text));
    }
    ny_ticks_make(&ticks, x, count < 8 ? count : 8);
    for (size_t k = 0; k < ticks.count; k++)
        ny_putf(sink, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>",
                chart_x(x, ticks.at[k]), BOTTOM + 19, ticks.at[k]);
    ny_putf(sink, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">component%s</text>",
            (LEFT + RIGHT) / 2, HIGH - 6, trivial ? "; 0 is trivial, and not on the map" : "");
}

static void put_scree(struct ny_sink *sink, const struct ny_result *result, size_t count)
{
    size_t drawn = ny_eigenvalues_known(result, count), first = ny_eigenvalue_first(result);
    struct ny_axis x, y;

    ny_scree_axes(result, count, &x, &y);
    begin_chart(sink, &x, &y, count, first == 0);
    ny_put(sink, "<polyline class=\"line\" points=\"");
    for (size_t k = 0; k < drawn; k++)
        ny_putf(sink, "%.1f,%.1f ", chart_x(&x, (double)(first + k)),
                chart_y(&y, ny_eigenvalue(result, k)));
    ny_put(sink, "\"/>");
    for (size_t k = 0; k < drawn; k++) {
        double value = ny_eigenvalue(result, k), error = value * ny_eigenvalue_error(result, k);

        if (error > 0)
            ny_putf(sink, "<path class=\"error\" d=\"M%.1f %.1fV%.1f\"/>",
                    chart_x(&x, (double)(first + k)), chart_y(&y, value - error),
                    chart_y(&y, value + error));
    }
    for (size_t k = 0; k < drawn && count <= 100; k++)
        ny_putf(sink, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>",
                chart_x(&x, (double)(first + k)), chart_y(&y, ny_eigenvalue(result, k)));
    ny_put(sink, "</svg>");
}

void ny_put_spectrum(struct ny_sink *sink, const struct ny_result *result)
{
    enum { SHOWN = 200 };
    size_t count = ny_part_find("eigenvalues")->count(result);

    if (!count) return;
    if (count > SHOWN) count = SHOWN;
    ny_put(sink, "<section class=\"spectrum\"><h3>Spectrum</h3>");
    put_scree(sink, result, count);
    put_spectrum_table(sink, result, count);
    ny_put(sink, "</section>");
}
