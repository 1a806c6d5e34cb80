/*
 * The rules of options about graphs from a file: which options --edges takes, and which words of
 * --edge-weights are for graphs and which for fits. ny_options_check() applies them after its own.
 */
#include <string.h>

#include "api/options_private.h"
#include "base/text.h"

/* Returns what the user has set, whether it can act or not. */
static const char *typed(const struct ny_options *options, const char *name)
{
    return options->typed[ny_option_find(name)];
}

/* Tells whether the option is about neighbours that are looked for. */
static bool is_of_neighbors(int option)
{
    return ny_option_at(option)->groups & NY_GROUP_GRAPH &&
           (ny_option_rule(option)->acts & NY_ACTS_OF_NEW_GRAPH ||
            ny_one_of(ny_option_at(option)->name, "sweep|seed"));
}

/* Refuses, of the verb graph, options of neighbours beside --edges, and those of edges without
 * it. */
static int check_graph(const struct ny_options *options)
{
    const char *edges = typed(options, "edges"), *weights = typed(options, "edge-weights");
    const struct ny_option_info *option;

    for (int i = 0; edges && (option = ny_option_at(i)); i++)
        if (options->typed[i] && is_of_neighbors(i))
            return ny_fail(options->ctx, NY_EUSAGE,
                           "--%s does not act with --edges, whose file has the edges; leave it "
                           "out%s",
                           option->name,
                           strcmp(option->name, "connect") == 0
                               ? ", and add edges to the file that join its components, or give "
                                 "maps of the graph --largest"
                               : "");
    if (!edges && (typed(options, "nodes") || weights))
        return ny_fail(options->ctx, NY_EUSAGE, "--%s acts only with --edges FILE",
                       weights ? "edge-weights" : "nodes");
    if (!weights || ny_one_of(weights, "lengths|affinity")) return NY_OK;
    return ny_fail(options->ctx, NY_EUSAGE,
                   "--edge-weights of a graph is lengths or affinity; %s is for fits, which "
                   "compute it from lengths",
                   weights);
}

int ny_options_refuse_made(const struct ny_options *options, const char *option, const char *graph)
{
    return ny_fail(
        options->ctx, NY_EUSAGE,
        "--%s does not act with --graph %s, which is already made: it is for 'nystream graph', "
        "which looks for neighbors%s",
        option, graph,
        strcmp(option, "connect") == 0
            ? "; a graph from a file needs more edges, which join its components, or --largest"
            : "");
}

int ny_options_check_edges(const struct ny_options *options, unsigned groups)
{
    if (groups & NY_GROUP_GRAPH) return check_graph(options);
    if (!(groups & NY_GROUP_FIT) || !ny_one_of(typed(options, "edge-weights"), "lengths|affinity"))
        return NY_OK;
    return ny_fail(
        options->ctx, NY_EUSAGE,
        "--edge-weights of a fit are heat or binary; a graph of --edges says whether its "
        "weights are lengths or affinities");
}
