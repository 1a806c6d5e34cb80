/* Models in memory through the public interface: rows that they place, of any table into any room.
 */
#include "unit/table_case.h"
#include "support/results.h"

/* Rows of the fit are placed where they are, from tables of each type into rooms of both. */
TEST(rows_in_memory_are_placed)
{
    struct ny_table table = dense(NY_U8, 0), other;
    double *stored = lend_zeros(ROWS * 3 * sizeof(double)), wide[5 * 4];
    float narrow[5 * 3];
    OWNED(ny_model) *model = NULL;
    OWNED(ny_view) *view = NULL;

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    must_fit(in.ctx, in.store, "a", NULL, "precision=f64 components=3");
    ok(ny_view_open(&view, in.ctx, in.store, "a"));
    ok(ny_view_read(view, "embedding", 0, ROWS, stored));
    ok(ny_model_open(&model, in.ctx, in.store, "a"));
    for (int dtype = NY_U8; dtype <= NY_F64; dtype++) {
        other = dense(dtype, 2);
        other.rows = 5;
        ok(ny_model_place(model, &other, NY_F64, wide, 4 * sizeof(double)));
        ok(ny_place_rows(in.ctx, in.store, "a", &other,
                         &(struct ny_places_room){NY_F32, narrow, 3}));
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(wide[i * 4 + k] - stored[i * 3 + k]) < 1e-9);
                assert_true((float)wide[i * 4 + k] == narrow[i * 3 + k]);
            }
    }
    other = dense(NY_F32, 0);
    other.rows = 0;
    ok(ny_model_place(model, &other, NY_F64, wide, 0));
    other.rows = 5;
    fails(NY_EUSAGE, ny_model_place(model, &other, NY_F64, wide, 8));
    fails(NY_EUSAGE, ny_model_place(model, &other, NY_U8, wide, 0));
    case_put((void *)(uintptr_t)other.values, NY_F32, COLUMNS + 1, (double)NAN);
    fails(NY_EDATA, ny_model_place(model, &other, NY_F64, wide, 0));
    other.columns--;
    fails(NY_EDATA, ny_model_place(model, &other, NY_F64, wide, 0));
}

/* Places of another width than the room are refused, and nothing is written: the result may have
 * been fitted anew since its shape was asked for. */
TEST(a_room_of_another_width_is_refused)
{
    struct ny_table table = dense(NY_F32, 0);
    float places[5 * 3], before[5 * 3];
    struct ny_places_room room = {NY_F32, places, 2};

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_fit(in.ctx, in.store, "a", NULL, NULL));
    table.rows = 5;
    memset(places, 1, sizeof(places));
    memcpy(before, places, sizeof(places));
    ok(ny_place_rows(in.ctx, in.store, "a", &table, &room));
    assert_memory_equal(places + 10, before + 10, 5 * sizeof(float));
    memcpy(places, before, sizeof(places));
    must_fit(in.ctx, in.store, "a", NULL, "components=3 restart=yes");
    fails(NY_EUSAGE, ny_place_rows(in.ctx, in.store, "a", &table, &room));
    room.components = 0;
    fails(NY_EUSAGE, ny_place_rows(in.ctx, in.store, "a", &table, &room));
    room.components = 4;
    fails(NY_EUSAGE, ny_place_rows(in.ctx, in.store, "a", &table, &room));
    assert_memory_equal(places, before, sizeof(places));
    room.components = 3;
    ok(ny_place_rows(in.ctx, in.store, "a", &table, &room));
}

/* The first rows are placed alike with many others and alone: the same bits, by a tile of a unit
 * and by the shorter one that a model keeps. */
TEST(few_rows_get_the_bits_of_many)
{
    static const char *const fits[] = {"components=50 landmarks=400", "components=3 landmarks=400",
                                       "components=50 landmarks=400 precision=f64",
                                       "map=laplacian components=45 landmarks=400"};
    static const int counts[] = {1, 2, 17, 63, 512};
    static double many[ROWS * 50], few[512 * 50];

    for (size_t f = 0; f < sizeof(fits) / sizeof(fits[0]); f++) {
        int dtype = f == 2 ? NY_F64 : NY_F32;
        struct ny_table table = dense(dtype, 0), part = table;
        OWNED(ny_model) *model = NULL;
        size_t row;

        case_remove(in.store);
        ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
        must_fit(in.ctx, in.store, "a", NULL, "%s", fits[f]);
        ok(ny_model_open(&model, in.ctx, in.store, "a"));
        row = (size_t)ny_model_components(model) * sizes[dtype];
        ok(ny_model_place(model, &table, dtype, many, 0));
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            part.rows = (uint64_t)counts[c];
            ok(ny_model_place(model, &part, dtype, few, 0));
            assert_memory_equal(few, many, part.rows * row);
        }
    }
}

/* ---- what is around the library ------------------------------------------------------------ */

int openblas_get_num_threads(void);
void openblas_set_num_threads(int threads);

/* Each call that multiplies leaves OpenBLAS the threads that the program gave it, also when it
 * fails. */
TEST(threads_of_openblas_are_given_back)
{
    struct ny_table table = dense(NY_F32, 0);
    float placed[ROWS * 2];
    OWNED(ny_options) *few = NULL;
    struct ny_model *model;
    char *path = lend_text("%s/out.npy", in.folder);

#define KEEPS(call)                                                                                \
    do {                                                                                           \
        (void)(call);                                                                              \
        assert_int_equal(openblas_get_num_threads(), 3);                                           \
    } while (0)
    openblas_set_num_threads(3);
    KEEPS(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_options_new(&few, in.ctx));
    ok(ny_options_set(few, "landmarks", "40"));
    KEEPS(ny_plan(in.ctx, in.store, few, NULL));
    KEEPS(ny_gamma_grid(in.ctx, in.store, NULL, NULL));
    KEEPS(ny_fit(in.ctx, in.store, "a", few, NULL));
    KEEPS(ny_fit(in.ctx, in.store, "a", few, NULL)); /* which is done */
    KEEPS(ny_fit(in.ctx, "no.nys", "a", NULL, NULL));
    KEEPS(ny_resume(in.ctx, in.store, "a", NULL));
    KEEPS(ny_graph(in.ctx, in.store, "g", NULL, NULL));
    KEEPS(ny_evaluate(in.ctx, in.store, "a", NULL, NULL));
    KEEPS(ny_model_open(&model, in.ctx, in.store, "a"));
    KEEPS(ny_model_transform(model, table.values, ROWS, placed));
    KEEPS(ny_export(in.ctx, in.store, "a", "embedding", path));
    KEEPS(ny_transform(in.ctx, in.store, "a", path, path, NULL));
    ny_context_set_memory(in.ctx, 1 << 20);
    KEEPS(ny_fit(in.ctx, in.store, "b", NULL, NULL));
    KEEPS(ny_embed_file(in.ctx, path, path, NULL, NULL));
    KEEPS(ny_calibrate(in.ctx, NULL));
    openblas_set_num_threads(1);
    ny_model_free(model);
}

AROUND_EACH(setup, api_case_end)
