#include "job/state.h"

#include <math.h>

/* The values of fields that a record has not. */
#define NONE_count 0
#define NONE_index NY_NONE
#define NONE_fact NY_NONE
#define NONE_number NAN
#define NONE_sum 0
#define NONE_flag false
#define NONE_answer NY_NONE
#define NONE_text NULL

struct ny_state ny_state_none(void)
{
    struct ny_state state = {0};

#define NONE(type, key) section->key = NONE_##type;
#define SECTION_NONE(s, FIELDS, ...)                                                               \
    {                                                                                              \
        struct ny_state_##s *section = &state.s;                                                   \
        section->there = false;                                                                    \
        FIELDS(NONE)                                                                               \
    }
    NY_STATE_WRITTEN(SECTION_NONE)
    NY_STATE_READ(SECTION_NONE)
    return state;
}
