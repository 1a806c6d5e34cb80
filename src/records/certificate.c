/*
 * Says in sentences what the numbers of a report mean for the error of its result
 * (records/certificate.h). They are in the reports that api/ hands out and on pages; the command
 * and the Python package show them as they are.
 */
#include "records/certificate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"
#include "records/fields.h"

struct certificate {
    const json_t *report;
    json_t *sentences;
};

NY_PRINTF(2, 3) static void say(struct certificate *c, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    ny_decimal_vprint(text, sizeof(text), format, args);
    va_end(args);
    ny_field_append(c->sentences, json_string(text));
}

static double number(const struct certificate *c, const char *key)
{
    return ny_field_number(c->report, key, NAN);
}

/* "1 component", "15,090 pairs" */
static const char *counted(uint64_t count, const char *one, const char *many, char text[64])
{
    char number[32];

    snprintf(text, 64, "%s %s", ny_grouped(count, number), count == 1 ? one : many);
    return text;
}

static bool of_graph(const struct certificate *c)
{
    return json_is_object(json_object_get(c->report, "graph"));
}

/* The components' share of the matrix. The rest is no error: it is left out on purpose. */
static void say_kept(struct certificate *c, bool exact)
{
    double kept = number(c, "variance_kept");
    uint64_t components = ny_field_count(c->report, "components", 0);
    char share[32], words[64];

    if (!isfinite(kept) || !components) return;
    ny_decimal_print(share, sizeof(share), "%.3g", 100 * kept);
    if (kept < 1 && strcmp(share, "100") == 0) /* 100 % is said only of all */
        ny_decimal_print(share, sizeof(share), "%.6g", 100 * kept);
    say(c, "%sthe %s %s %s %% of the %s", exact ? "exact; " : "",
        counted(components, "component", "components", words), components == 1 ? "holds" : "hold",
        share, ny_field_is(c->report, "trace_of", "centred") ? "variance" : "trace");
}

/* Returns how many components from `first` on have no error above the bound. */
static size_t within(const json_t *errors, size_t first, size_t count, double bound)
{
    size_t end = first;

    while (end < count && json_number_value(json_array_get(errors, end)) <= bound)
        end++;
    return end - first;
}

/* Returns how many pairs from `first` on have eigenvalues that their errors do not tell apart. */
static size_t turned(const struct certificate *c, const json_t *errors, size_t first, size_t count)
{
    const json_t *values = json_object_get(c->report, "eigenvalues");
    size_t end = first + 1;

    for (; end < count; end++) {
        double upper = json_number_value(json_array_get(values, end - 1));
        double lower = json_number_value(json_array_get(values, end));
        double error = fmax(json_number_value(json_array_get(errors, end - 1)),
                            json_number_value(json_array_get(errors, end)));

        if (upper - lower > error * upper) break;
    }
    return end - first;
}

/* Says which components are right together alone: each of them may be any direction of their span.
 */
static void say_turned(struct certificate *c, const json_t *errors, size_t trivial, size_t count)
{
    char text[256] = "";

    if (!json_is_array(json_object_get(c->report, "eigenvalues"))) return; /* rows of a model */
    for (size_t k = trivial, more; k < count; k += more) {
        size_t length = strlen(text);

        more = turned(c, errors, k, count);
        if (more > 1 && length < sizeof(text) - 64)
            snprintf(text + length, sizeof(text) - length, "%s%zu-%zu", length ? ", " : "",
                     k - trivial + 1, k - trivial + more);
    }
    if (text[0]) say(c, "components %s may be turned among themselves: close eigenvalues", text);
}

/* Says to what share components are right: "components 1-6 are right to 2 %, 7-10 to 20 %". */
static void say_components(struct certificate *c)
{
    static const double bounds[] = {0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
    const json_t *errors = json_object_get(c->report, "component_errors");
    size_t trivial = (size_t)ny_field_count(c->report, "eigenvalues_trivial", 0), next = trivial;
    size_t count = json_array_size(errors);
    char text[256] = "", which[64];

    while (count && !json_is_number(json_array_get(errors, count - 1)))
        count--; /* pairs that do not exist */
    for (size_t b = 0; b < sizeof(bounds) / sizeof(bounds[0]); b++) {
        size_t more = within(errors, next, count, bounds[b]), length = strlen(text);

        if (!more) continue;
        snprintf(which, sizeof(which), "%zu", next - trivial + 1);
        if (more > 1)
            snprintf(which, sizeof(which), "%zu-%zu", next - trivial + 1, next - trivial + more);
        if (length)
            ny_decimal_print(text + length, sizeof(text) - length, ", %s to %g %%", which,
                             100 * bounds[b]);
        else
            ny_decimal_print(text, sizeof(text), "component%s %s %s right to %g %%",
                             more > 1 ? "s" : "", which, more > 1 ? "are" : "is", 100 * bounds[b]);
        next += more;
    }
    if (text[0])
        say(c, "%s%s", text,
            ny_field_text(c->report, "component_errors_from")
                ? ", of the rows that the model was fitted on"
                : "");
    say_turned(c, errors, trivial, next);
    if (next < count)
        say(c, "components from %zu on are artefacts of the landmarks: they take more of these",
            next - trivial + 1);
}

static void say_trace_error(struct certificate *c)
{
    const char *of = ny_field_text(c->report, "trace_of");
    double error = number(c, "trace_error");

    if (!isfinite(error)) return;
    say(c, "trace error %.3g: what %s out of K%s%s%s is at most %.3g %% of its trace", error,
        ny_field_is(c->report, "trace_error_from", "rounding") ? "rounding leaves"
                                                               : "the landmarks leave",
        of ? " (" : "", of ? of : "", of ? ")" : "", fmax(100 * error, 0));
}

/* The residual of the row that the landmarks represent least. The kernels whose k(x,x) is 1 say by
 * it whether anything of that row is represented. */
static void say_largest(struct certificate *c)
{
    bool of_one =
        ny_field_is(c->report, "kernel", "rbf") || ny_field_is(c->report, "kernel", "laplacian");
    double value = number(c, "residual_max"), row = number(c, "residual_max_row");
    char residual[32] = "below 1e-12", which[64] = ""; /* f64 tells no more */

    if (!isfinite(value)) return;
    if (value >= 1e-12) ny_decimal_print(residual, sizeof(residual), "%.3g", value);
    if (value >= 1e-12 && isfinite(row)) snprintf(which, sizeof(which), "row %.0f", row);
    if (of_one && value >= 0.995)
        say(c,
            "largest residual %s of k(x,x) = 1: at least one row is not represented by the "
            "landmarks at all%s%s",
            residual, which[0] ? ", the first of them " : "", which);
    else
        say(c, "largest residual %s%s: that of %s%s which the landmarks represent least", residual,
            of_one ? " of k(x,x) = 1" : " (a squared distance)", which[0] ? which : "the row",
            which[0] ? "," : "");
}

static void say_probe(struct certificate *c)
{
    double error = number(c, "probe_error"), spread = number(c, "probe_standard_error");
    char interval[32] = "", words[64];

    if (!isfinite(error)) return;
    if (isfinite(spread)) ny_decimal_print(interval, sizeof(interval), " ± %.1g", spread);
    say(c, "probe error %.3g%s (relative to K, Frobenius norm; %s)", error, interval,
        counted(ny_field_count(c->report, "probe_columns", 0), "column", "columns", words));
}

/* How well distances of a map keep the lengths of a graph's paths. */
static void say_preservation(struct certificate *c)
{
    double variance = number(c, "residual_variance");
    double preserved = number(c, "distance_preservation");
    char words[64];

    if (!isfinite(variance) || !isfinite(preserved)) return;
    say(c, "residual variance %.3g, distances preserved to %.4g %% (over %s of rows)", variance,
        100 * preserved,
        counted(ny_field_count(c->report, "sampled_pairs", 0), "pair", "pairs", words));
}

/* Residuals of eigenvectors that were found by products with a matrix: of a graph, whose diffusion
 * maps have the eigenvalues 1 − λ, or of the rows. */
static void say_residuals(struct certificate *c)
{
    const json_t *residuals = json_object_get(c->report, "eigenvector_residuals");
    const json_t *values = json_object_get(c->report, "eigenvalues");
    double most = 0, last = json_number_value(json_array_get(values, json_array_size(values) - 1));
    uint64_t above = ny_field_count(c->report, "components_above_noise", 0);
    size_t count = above ? (size_t)above : json_array_size(residuals);
    char share[64] = "", words[64];

    if (!json_array_size(residuals)) return;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, json_number_value(json_array_get(residuals, k)));
    if (!of_graph(c)) {
        say(c, "residuals |Au - lambda u|/lambda of at most %.2g%s, where A is the matrix of %s",
            most, above ? " above noise" : "",
            ny_field_is(c->report, "side", "rows") ? "rows x rows, K" : "columns x columns");
        return;
    }
    if (ny_field_is(c->report, "map", "diffusion")) last = 1 - last;
    if (last > most)
        ny_decimal_print(share, sizeof(share), " (%.2g of the largest eigenvalue)", most / last);
    say(c, "residuals |Lu - lambda u| of at most %.2g%s, after %s with the graph's matrix", most,
        share, counted(ny_field_count(c->report, "products", 0), "product", "products", words));
}

/* Components of genotypes that noise alone does not have. */
static void say_noise(struct certificate *c)
{
    const json_t *p = json_object_get(c->report, "component_p_values");
    const json_t *shrinkage = json_object_get(c->report, "component_shrinkage");
    size_t count = json_array_size(p);
    uint64_t above = ny_field_count(c->report, "components_above_noise", 0);
    char words[64];

    if (!count) return;
    say(c, "%s out of noise (Tracy-Widom, p < 0.05)%s",
        counted(above, "component stands", "components stand", words),
        above < count ? "; the others are not waited for" : "");
    if (above)
        say(c, "new rows come out at %.3g of their distance on the last of them (shrinkage)",
            json_number_value(json_array_get(shrinkage, (size_t)above - 1)));
}

/* Eigenvalues that were below 0 and therefore dropped. */
static void say_negative(struct certificate *c)
{
    uint64_t count = ny_field_count(c->report, "negative_eigenvalues", 0);
    double share = number(c, "negative_share");
    char of_all[64] = "", words[64];

    if (!count) return;
    if (isfinite(share))
        ny_decimal_print(of_all, sizeof(of_all), " (%.2g of the sum of magnitudes)", share);
    say(c, "%s%s %s dropped: %s",
        counted(count, "negative eigenvalue", "negative eigenvalues", words), of_all,
        count == 1 ? "was" : "were",
        of_graph(c) ? "no flat space has exactly these path lengths"
                    : "K is not positive semidefinite");
}

json_t *ny_certificate(const json_t *report, bool done)
{
    struct certificate c = {report, json_array()};
    bool exact = ny_field_is(report, "approx", "exact");

    if (exact)
        say_kept(&c, true);
    else if (!of_graph(&c))
        say_components(&c);
    if (!exact) say_trace_error(&c);
    say_largest(&c);
    say_probe(&c);
    say_preservation(&c);
    say_residuals(&c);
    say_noise(&c);
    if (json_array_size(c.sentences) && !exact) say_kept(&c, false);
    if (!json_array_size(c.sentences) && done && ny_field_text(report, "approx") &&
        !ny_field_is(report, "kernel", "precomputed") && !of_graph(&c))
        ny_field_append(c.sentences, json_string(exact ? "exact: K itself was decomposed"
                                                       : "none; the option probe measures one"));
    say_negative(&c);
    return c.sentences;
}
