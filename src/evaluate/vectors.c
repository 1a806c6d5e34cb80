#include "evaluate/vectors.h"

int ny_vectors_read(struct ny_result *result, const struct ny_result_part *part, uint64_t first,
                    size_t count, struct ny_matrix out, double *room)
{
    bool f64 = ny_result_element(result, part) == NY_OUT_F64;
    size_t columns = part->columns(result);
    int err = ny_part_fill(result, part, first, count, room);
    const float *narrow = (const float *)room;

    for (size_t i = 0; err == NY_OK && i < count; i++)
        for (size_t k = 0; k < columns; k++)
            out.at[i * out.stride + k] =
                f64 ? room[i * columns + k] : (double)narrow[i * columns + k];
    return err;
}

double ny_vectors_value(const struct ny_result *result, size_t k)
{
    return json_number_value(json_array_get(json_object_get(result->report, "eigenvalues"), k));
}
