/* The codec of the state of a job: JSON to struct, and back (job/state.h). */
#include "job/state.h"

#include <math.h>

#include "job/fields.h"

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

TYPE(count, false, ny_field_count(object, key, 0), ny_field_set_count)
TYPE(index, false, ny_field_count(object, key, NY_NONE), ny_field_set_count)
TYPE(number, true, ny_field_number(object, key, NAN), ny_field_set_number)
TYPE(sum, false, ny_field_number(object, key, 0), ny_field_set_number)
TYPE(flag, true, json_is_true(json_object_get(object, key)), set_flag)
TYPE(text, false, ny_field_text(object, key), ny_field_set_text)

json_t *ny_graph_facts(const json_t *record)
{
    json_t *report = json_object_get(record, "report"), *graph = json_object_get(report, "graph");

    return json_is_object(graph) ? graph : report;
}

/* Returns the object of a section; NULL where the record has none. */
static json_t *section_of(const json_t *record, const char *outer, const char *inner)
{
    json_t *object = outer ? json_object_get(record, outer) : (json_t *)record;

    if (!outer && inner) return ny_graph_facts(record);
    return inner ? json_object_get(object, inner) : object;
}

struct ny_state ny_state_of(const json_t *record)
{
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

void ny_state_put(struct ny_state *state, json_t *record)
{
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
}
