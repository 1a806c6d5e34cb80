/*
 * The codec of records: JSON to the state of a job, and back (job/state.h); and the lists that are
 * in JSON alone (job/record.h). Once the job is done, figures that follow from others are put, too.
 */
#include <math.h>

#include "base/memory.h"
#include "records/figures.h"
#include "records/record.h"

/* Functions of a type: one reads a field, one puts what differs. A field that has none of its
 * values any more goes, but for types that say so in the record. */
#define TYPE(type, says, get, set)                                                                 \
    static void read_##type(const json_t *object, const char *key, ny_state_##type *to)            \
    {                                                                                              \
        *to = get;                                                                                 \
    }                                                                                              \
    static void put_##type(json_t *object, const char *key, ny_state_##type *from)                 \
    {                                                                                              \
        ny_state_##type now, none;                                                                 \
                                                                                                   \
        read_##type(object, key, &now);                                                            \
        read_##type(NULL, key, &none);                                                             \
        if (memcmp(&now, from, sizeof(now)) == 0) return;                                          \
        if (!(says) && memcmp(&none, from, sizeof(none)) == 0)                                     \
            json_object_del(object, key);                                                          \
        else                                                                                       \
            set(object, key, *from);                                                               \
        read_##type(object, key, from);                                                            \
    }

static void set_flag(json_t *object, const char *key, bool value)
{
    ny_field_set_json(object, key, json_boolean(value));
}

static void set_fact(json_t *object, const char *key, uint64_t value)
{
    ny_field_set_json(object, key,
                      value == NY_NONE ? json_null() : json_integer((json_int_t)value));
}

static uint64_t answer_of(const json_t *value)
{
    return json_is_boolean(value) ? json_is_true(value) : NY_NONE;
}

static void set_answer(json_t *object, const char *key, uint64_t value)
{
    set_flag(object, key, value != 0);
}

TYPE(count, false, ny_field_count(object, key, 0), ny_field_set_count)
TYPE(index, false, ny_field_count(object, key, NY_NONE), ny_field_set_count)
TYPE(fact, true, ny_field_count(object, key, NY_NONE), set_fact)
TYPE(answer, false, answer_of(json_object_get(object, key)), set_answer)
TYPE(number, true, ny_field_number(object, key, NAN), ny_field_set_number)
TYPE(sum, false, ny_field_number(object, key, 0), ny_field_set_number)
TYPE(flag, true, json_is_true(json_object_get(object, key)), set_flag)
TYPE(text, false, ny_field_text(object, key), ny_field_set_text)

json_t *ny_graph_facts(const json_t *record)
{
    json_t *report = json_object_get(record, "report"), *graph = json_object_get(report, "graph");

    return json_is_object(graph) ? graph : report;
}

/* Returns the object of a section; NULL where the record has none. Facts about a graph are those of
 * a graph, or of a map with one of its own. */
static json_t *section_of(const json_t *record, const char *outer, const char *inner)
{
    json_t *object = outer ? json_object_get(record, outer) : (json_t *)record;

    if (!outer && inner) {
        object = ny_graph_facts(record);
        return object != json_object_get(record, "report") || ny_field_is(record, "kind", "graph")
                   ? object
                   : NULL;
    }
    return inner ? json_object_get(object, inner) : object;
}

/* Reads seconds and bytes, which are under the names of the stages. */
static void read_stages(const json_t *report, struct ny_state *state)
{
    const json_t *seconds = json_object_get(report, "stages");
    const json_t *bytes = json_object_get(report, "stage_memory_bytes");

    for (int s = 0; s < NY_STAGE_DONE; s++) {
        const char *name = ny_stage_name((enum ny_stage_id)s);

        state->stage_s[s] = ny_field_number(seconds, name, 0);
        state->stage_bytes[s] = ny_field_count(bytes, name, 0);
    }
}

static void put_stages(json_t *report, const struct ny_state *state)
{
    json_t *seconds = json_object_get(report, "stages");
    json_t *bytes = json_object_get(report, "stage_memory_bytes");

    for (int s = 0; s < NY_STAGE_DONE; s++) {
        const char *name = ny_stage_name((enum ny_stage_id)s);

        if (state->stage_s[s] > 0) ny_field_set_number(seconds, name, state->stage_s[s]);
        if (state->stage_bytes[s]) ny_field_set_count(bytes, name, state->stage_bytes[s]);
    }
}

struct ny_state ny_codec_state(struct ny_record from)
{
    const json_t *record = from.of;
    struct ny_state state;

#define READ_FIELD(type, key) read_##type(object, #key, &to->key);
#define READ(s, FIELDS, outer, inner)                                                              \
    {                                                                                              \
        const json_t *object = section_of(record, outer, inner);                                   \
        struct ny_state_##s *to = &state.s;                                                        \
        to->there = json_is_object(object);                                                        \
        FIELDS(READ_FIELD)                                                                         \
    }
    NY_STATE_WRITTEN(READ)
    NY_STATE_READ(READ)
    read_stages(json_object_get(record, "report"), &state);
    return state;
}

/* Returns the object of a section that is to be there, or NULL; makes it, or removes it. */
static json_t *open_section(json_t *record, bool there, const char *outer, const char *inner)
{
    json_t *object = section_of(record, outer, inner);

    if (there && json_is_object(object)) return object;
    json_object_del(record, outer);
    if (!there) return NULL;
    ny_field_set_json(record, outer, json_object());
    return section_of(record, outer, inner);
}

void ny_codec_put(struct ny_record to, struct ny_state *state)
{
    json_t *record = to.of;

#define PUT_FIELD(type, key) put_##type(object, #key, &from->key);
#define PUT(s, FIELDS, outer, inner)                                                               \
    {                                                                                              \
        struct ny_state_##s *from = &state->s;                                                     \
        json_t *object = open_section(record, from->there, outer, inner);                          \
        if (object) {                                                                              \
            FIELDS(PUT_FIELD)                                                                      \
        }                                                                                          \
    }
    NY_STATE_WRITTEN(PUT)
    put_stages(json_object_get(record, "report"), state);
    if (ny_is(state->record.stage, ny_stage_name(NY_STAGE_DONE))) ny_figures_derive(record);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* The places of lists: in the report, among the facts of the graph, or under "coordinates". */
static const struct {
    const char *key, *within;
} place[NY_LISTS] = {[NY_LIST_EIGENVALUES] = {"eigenvalues", "report"},
                     [NY_LIST_VARIANCE] = {"variance", "report"},
                     [NY_LIST_RESIDUALS] = {"eigenvector_residuals", "report"},
                     [NY_LIST_ERRORS] = {"component_errors", "report"},
                     [NY_LIST_ERRORS_SE] = {"component_errors_se", "report"},
                     [NY_LIST_CORRECTED] = {"eigenvalues_corrected", "report"},
                     [NY_LIST_P_VALUES] = {"component_p_values", "report"},
                     [NY_LIST_SHRINKAGE] = {"component_shrinkage", "report"},
                     [NY_LIST_SCALE] = {"scale", "coordinates"},
                     [NY_LIST_RECALL_INTERVAL] = {"recall_interval", NULL},
                     [NY_LIST_SWEEP] = {"sweep", NULL}};

static json_t *object_of(struct ny_record record, enum ny_list list)
{
    const char *within = place[list].within;

    return within ? json_object_get(record.of, within) : ny_graph_facts(record.of);
}

static json_t *list_of(struct ny_record record, enum ny_list list)
{
    return json_object_get(object_of(record, list), place[list].key);
}

void ny_codec_begin_list(struct ny_record record, enum ny_list list)
{
    ny_field_set_json(object_of(record, list), place[list].key, json_array());
}

/* The figures of a line of the table of components for numbers of neighbours. */
static const char *const swept[NY_SWEEP_FIGURES] = {"neighbors", "distance_limit", "components",
                                                    "largest_share"};

/* Appends a figure to that table; the first of a line begins it. Every second one is a count, but
 * for what others may have written in its place. */
static void append_swept(json_t *table, double number)
{
    const double counts = 9e18; /* that JSON has */
    json_t *line = json_array_get(table, json_array_size(table) - 1);
    size_t at = json_object_size(line);

    if (!line || at == NY_SWEEP_FIGURES) {
        ny_field_append(table, json_object());
        line = json_array_get(table, json_array_size(table) - 1);
        at = 0;
    }
    if (at % 2 == 0 && number >= 0 && number < counts)
        ny_field_set_count(line, swept[at], (uint64_t)number);
    else
        ny_field_set_number(line, swept[at], number);
}

void ny_codec_append(struct ny_record record, enum ny_list list, double number)
{
    if (list == NY_LIST_SWEEP)
        append_swept(list_of(record, list), number);
    else
        ny_field_append_number(list_of(record, list), number);
}

size_t ny_codec_count(struct ny_record record, enum ny_list list)
{
    size_t count = json_array_size(list_of(record, list));

    return list == NY_LIST_SWEEP ? NY_SWEEP_FIGURES * count : count;
}

double ny_codec_at(struct ny_record record, enum ny_list list, size_t k)
{
    const json_t *numbers = list_of(record, list), *number;

    number = list == NY_LIST_SWEEP ? json_object_get(json_array_get(numbers, k / NY_SWEEP_FIGURES),
                                                     swept[k % NY_SWEEP_FIGURES])
                                   : json_array_get(numbers, k);
    return json_is_number(number) ? json_number_value(number) : NAN;
}
