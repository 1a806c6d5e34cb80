/*
 * Finds the shortest path that a report shows, and writes it (report/page_path.h); report/page.c
 * calls it for each result. The graph is the one that the result was made of, or the first result
 * of the report that is a graph alone. A long path is shown by rows that are spread evenly over it.
 */
#include "report/page_path.h"

#include <stdio.h>

#include "base/memory.h"
#include "maps/graph_map.h"
#include "results/graphs.h"
#include "results/path.h"
#include "report/axis.h"
#include "report/markup.h"

enum { ROWS_SHOWN = 400, IMAGES_SHOWN = 40 };

/* Returns number k of `count` that are spread evenly over `all`, both ends among them. */
static size_t spread(size_t k, size_t count, size_t all)
{
    return count < 2 ? 0 : k * (all - 1) / (count - 1);
}

/* Keeps the rows of the path that are shown, with their lengths, and how long the whole path is. */
static int keep(struct ny_page_path *path, const struct ny_stored_path *found)
{
    path->steps = found->count;
    path->length = found->lengths[found->count - 1];
    path->count = found->count < ROWS_SHOWN ? found->count : ROWS_SHOWN;
    path->own.ctx = path->ctx;
    path->rows = ny_lay(&path->own, NY_MEM_OTHER, path->count, sizeof(uint64_t));
    path->lengths = ny_lay(&path->own, NY_MEM_OTHER, path->count, sizeof(double));
    if (path->own.err) return path->own.err;
    for (size_t k = 0; k < path->count; k++) {
        size_t at = spread(k, path->count, found->count);

        path->rows[k] = found->rows[at];
        path->lengths[k] = found->lengths[at];
    }
    return NY_OK;
}

/* Reads images of as many rows of the path as their share of the page's bytes allows. */
static int take_images(struct ny_page_path *path, struct ny_store *store, const size_t images[3])
{
    size_t pixels = images[0] * images[1], count = pixels ? images[2] / pixels : 0;
    uint64_t rows[IMAGES_SHOWN];

    if (count > IMAGES_SHOWN) count = IMAGES_SHOWN;
    if (count > path->count) count = path->count;
    for (size_t k = 0; k < count; k++)
        rows[k] = path->rows[spread(k, count, path->count)];
    return ny_page_images_new(&path->images, store, images, rows, count);
}

int ny_page_path_new(struct ny_page_path *path, const struct ny_result *result,
                     const struct ny_result *graph, const uint64_t ends[2], const size_t images[3])
{
    struct ny_named_graph made_of = {.record.of = NULL};
    struct ny_stored_graph stored = {0};
    struct ny_stored_path found = {0};
    int err = NY_OK;

    *path = (struct ny_page_path){0};
    if (ny_stored_graph_any(&result->graph))
        stored = result->graph;
    else if (json_is_object(json_object_get(result->report, "graph")))
        err = ny_graph_need_of(result->store, result->name, result->record, &made_of);
    if (err == NY_OK && made_of.record.of) {
        stored = made_of.graph;
        err = ny_graph_check_adopted(result->name, ny_record_of(result->record), &stored,
                                     made_of.record);
    } else if (graph && !ny_stored_graph_any(&stored)) {
        stored = graph->graph;
    }
    if (err || !ny_stored_graph_any(&stored)) goto done;
    path->ctx = result->ctx;
    snprintf(path->graph, sizeof(path->graph), "%s", stored.keep.name);
    if (result->rows.lost.rows || (graph && graph->rows.lost.rows))
        err = ny_fail(path->ctx, NY_EUSAGE, "--path: rows of %s were lost; repeat the import",
                      ny_store_path(result->store));
    if (err == NY_OK) err = ny_stored_graph_lengths(&stored, "--path");
    if (err == NY_OK) err = ny_stored_path_find(&found, &stored, ends[0], ends[1]);
    if (err == NY_OK) err = keep(path, &found);
    if (err == NY_OK) err = take_images(path, result->store, images);
done:
    ny_stored_path_release(&found);
    ny_record_free(made_of.record);
    return err;
}

void ny_page_path_release(struct ny_page_path *path)
{
    if (!path->ctx) return;
    ny_page_images_release(&path->images);
    ny_layout_free(&path->own);
    path->ctx = NULL;
}

/* Writes the images of the path in their order; the script draws them side by side. */
static void put_strip(struct ny_sink *sink, const struct ny_page_path *path)
{
    ny_put(sink, "<div class=\"strip\" tabindex=\"0\" role=\"group\" aria-label=\"Rows of the path "
                 "as images\"><script type=\"application/json\">{\"rows\":[");
    for (size_t k = 0; k < path->images.count; k++)
        ny_putf(sink, "%s%llu", k ? "," : "",
                (unsigned long long)path->rows[spread(k, path->images.count, path->count)]);
    ny_put(sink, "],\"images\":");
    ny_put_images(sink, &path->images);
    ny_put(sink, "}</script></div>\n");
}

static void put_table(struct ny_sink *sink, const struct ny_page_path *path)
{
    char text[48];

    ny_put(sink,
           "<details><summary>Rows of the path</summary><div class=\"wide\"><table><caption "
           "class=\"unseen\">Rows of the path</caption><thead><tr><th scope=\"col\" "
           "class=\"n\">row</th><th scope=\"col\" class=\"n\">length up to it</th></tr></thead>"
           "<tbody>\n");
    for (size_t k = 0; k < path->count; k++)
        ny_putf(sink, "<tr><td class=\"n\">%llu</td><td class=\"n\">%s</td></tr>\n",
                (unsigned long long)path->rows[k], ny_short_number(path->lengths[k], text));
    ny_put(sink, "</tbody></table></div></details>");
}

void ny_put_path(struct ny_sink *sink, const struct ny_page_path *path)
{
    char steps[32], length[48];

    if (!path->ctx) return;
    ny_put(sink, "<h3>Shortest path</h3><p>From row ");
    ny_putf(sink, "%llu to row %llu of graph ", (unsigned long long)path->rows[0],
            (unsigned long long)path->rows[path->count - 1]);
    ny_put_html(sink, path->graph);
    ny_putf(sink, ": %s rows, length %s", ny_grouped(path->steps, steps),
            ny_short_number(path->length, length));
    if (path->count < path->steps) ny_putf(sink, "; %zu of them are shown", path->count);
    ny_put(sink, ".</p>\n");
    if (path->images.count) put_strip(sink, path);
    put_table(sink, path);
}
