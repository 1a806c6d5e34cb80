/* csv, tsv and libsvm: quoting, headers, delimiters, numbers, labels, windows cut anywhere. */
#include "reader_support.h"

#include "base/random.h"
#include "io/classes.h"
#include "io/number.h"

/* A text and the table that it must be read as. */
struct text_case {
    const char *text;
    struct ny_reader_options options;
    uint64_t d, rows;
    double values[12];
    double labels[4]; /* where the reader has them */
    const char *format;
    uint64_t dropped;
};

#define OPTIONS(...) .options = {__VA_ARGS__}
#define COMMA OPTIONS(.decimal = NY_DECIMAL_COMMA)

static const struct text_case cases[] = {
    {"1,2\n3,4\n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"1,2\r\n3,4\r\n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"1,2\r3,4\r", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"1,2\n3,4", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"\xef\xbb\xbf"
     "1,2\n3,4\n",
     .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"\n\n1,2\n\n  \n3,4\n\n\n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"1\t2\n3\t4\n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"1;2\n3;4\n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"1 2\n3 4\n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"  1   2 \n 3 \t 4", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {" 1 , 2\n3 ,\t4 \n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"1\n2\n3\n", .d = 1, .rows = 3, .values = {1, 2, 3}, .format = "csv"},
    {"7", .d = 1, .rows = 1, .values = {7}, .format = "csv"},
    {"1 2\t3\n", OPTIONS(.format = "tsv", .label_column = "1"), .d = 1, .rows = 1, .values = {3},
     .labels = {0}, .format = "tsv"},
    /* headers */
    {"x,y\n1,2\n3,4\n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"id,\"a \"\"b\"\",\n c\"\n1,2\n", .d = 2, .rows = 1, .values = {1, 2}, .format = "csv"},
    {"na\xefve,y\n1,2\n", .d = 2, .rows = 1, .values = {1, 2}, .format = "csv"},
    {"2019,2020\n1,2\n", OPTIONS(.header = NY_HEADER_YES), .d = 2, .rows = 1, .values = {1, 2},
     .format = "csv"},
    {"2019,2020\n1,2\n", .d = 2, .rows = 2, .values = {2019, 2020, 1, 2}, .format = "csv"},
    {"x,y\n,2\n1,2\n", OPTIONS(.nan_drop = true), .d = 2, .rows = 1, .values = {1, 2},
     .format = "csv", .dropped = 1},
    /* quotes */
    {"\"1\",\"2\"\n\"3\", \"4\" \n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    {"1,\"a,b\"\"\nc\",2\n3,\"\",4\n", OPTIONS(.columns = "1,3"), .d = 2, .rows = 2,
     .values = {1, 2, 3, 4}, .format = "csv"},
    {"1,5\" pipe,2\n", OPTIONS(.label_column = "2"), .d = 2, .rows = 1, .values = {1, 2},
     .labels = {0}, .format = "csv"},
    /* labels and columns */
    {"T,1,2\nI,3,4\nT,5,6\n", OPTIONS(.label_column = "1"), .d = 2, .rows = 3,
     .values = {1, 2, 3, 4, 5, 6}, .labels = {0, 1, 0}, .format = "csv"},
    {"1,2,7\n3,4,-1.5\n", OPTIONS(.label_column = "3"), .d = 2, .rows = 2, .values = {1, 2, 3, 4},
     .labels = {7, -1.5}, .format = "csv"},
    {"x,kind,y\n1,a,2\n3,b,4\n", OPTIONS(.label_column = "kind"), .d = 2, .rows = 2,
     .values = {1, 2, 3, 4}, .labels = {0, 1}, .format = "csv"},
    {"x,kind,y\n1,a,2\n3,,4\n", OPTIONS(.label_column = "kind"), .d = 2, .rows = 2,
     .values = {1, 2, 3, 4}, .labels = {0, NAN}, .format = "csv"},
    {"x,class,y\n1,\"a\"\"b\",2\n3,\"a\"\"b\",4\n", OPTIONS(.label_column = "class"), .d = 2,
     .rows = 2, .values = {1, 2, 3, 4}, .labels = {0, 0}, .format = "csv"},
    {"a,x-y,b,c\n1,2,3,4\n5,6,7,8\n", OPTIONS(.columns = "x-y,b"), .d = 2, .rows = 2,
     .values = {2, 3, 6, 7}, .format = "csv"},
    {"a,x-y,b,c\n1,2,3,4\n5,6,7,8\n", OPTIONS(.columns = "b,x-y,b"), .d = 2, .rows = 2,
     .values = {3, 2, 7, 6}, .format = "csv"},
    {"a,b,class,c\n1,2,9,4\n5, 6,8,x\n", OPTIONS(.columns = "class,b,a", .label_column = "class"),
     .d = 2, .rows = 2, .values = {2, 1, 6, 5}, .labels = {9, 8}, .format = "csv"},
    {"1,2,3,4\n5,6,7,8\n", OPTIONS(.columns = "1,3-4"), .d = 3, .rows = 2,
     .values = {1, 3, 4, 5, 7, 8}, .format = "csv"},
    {"1,2,3,4\n5,6,7,8\n", OPTIONS(.columns = "1-3", .label_column = "2"), .d = 2, .rows = 2,
     .values = {1, 3, 5, 7}, .labels = {2, 6}, .format = "csv"},
    /* decimal commas */
    {"1,5;2\n-3,25e1;,5\n", .d = 2, .rows = 2, .values = {1.5, 2, -32.5, 0.5}, .format = "csv"},
    {"a;b\n1;2\n3;4,5\n", .d = 2, .rows = 2, .values = {1, 2, 3, 4.5}, .format = "csv"},
    {"\xef\xbb\xbf"
     "a;b\r\n1,5;2\r\n3;\"4,5\"",
     COMMA, .d = 2, .rows = 2, .values = {1.5, 2, 3, 4.5}, .format = "csv"},
    {"1.5;2\n3;4.5\n", .d = 2, .rows = 2, .values = {1.5, 2, 3, 4.5}, .format = "csv"},
    {"a;name;b\n1;\"Smith, J.\";2.5\n3;1,5;4\n", OPTIONS(.id_column = "2", .names = true), .d = 2,
     .rows = 2, .values = {1, 2.5, 3, 4}, .format = "csv"},
    {"day;x;y\n31.12;1,5;2\n1.1;;2,5\n2.1;3;4\n",
     OPTIONS(.drop_columns = "day", .nan_drop = true, .decimal = NY_DECIMAL_COMMA), .d = 2,
     .rows = 2, .values = {1.5, 2, 3, 4}, .format = "csv", .dropped = 1},
    {"1,5;2;0,25\n3;4;7\n", OPTIONS(.label_column = "3", .decimal = NY_DECIMAL_COMMA), .d = 2,
     .rows = 2, .values = {1.5, 2, 3, 4}, .labels = {0.25, 7}, .format = "csv"},
    {"1;2;\"0,25\"\n3,5;4;7\n", OPTIONS(.label_column = "3", .decimal = NY_DECIMAL_COMMA), .d = 2,
     .rows = 2, .values = {1, 2, 3.5, 4}, .labels = {0.25, 7}, .format = "csv"},
    {"1,500;2\n3;4\n", COMMA, .d = 2, .rows = 2, .values = {1.5, 2, 3, 4}, .format = "csv"},
    {"1,5\t2\n3\t4,5\n", COMMA, .d = 2, .rows = 2, .values = {1.5, 2, 3, 4.5}, .format = "csv"},
    {"1,5 2,25\n3 4,5\n", COMMA, .d = 2, .rows = 2, .values = {1.5, 2.25, 3, 4.5}, .format = "csv"},
    {"1,5\n2,25\n", COMMA, .d = 1, .rows = 2, .values = {1.5, 2.25}, .format = "csv"},
    {"\"1,5\",2\n3,\"4,5\"\n", COMMA, .d = 2, .rows = 2, .values = {1.5, 2, 3, 4.5},
     .format = "csv"},
    {"1,5\t2\n", OPTIONS(.format = "tsv", .decimal = NY_DECIMAL_COMMA), .d = 2, .rows = 1,
     .values = {1.5, 2}, .format = "tsv"},
    /* comments */
    {"# x,y\n\n#1,2\n1,2\n3,4\n", .d = 2, .rows = 2, .values = {1, 2, 3, 4}, .format = "csv"},
    /* missing values */
    {"1,2\nnan,4\n5,6\n7,Inf\n,8\nNA,1\n9,-INFINITY\n", OPTIONS(.nan_drop = true), .d = 2,
     .rows = 2, .values = {1, 2, 5, 6}, .format = "csv", .dropped = 5},
    {"1,2,b\nnan,4,c\n5,6,a\n", OPTIONS(.nan_drop = true, .label_column = "3"), .d = 2, .rows = 2,
     .values = {1, 2, 5, 6}, .labels = {0, 1}, .format = "csv", .dropped = 1},
    /* types */
    {"0,255\n7,1e2\n", OPTIONS(.dtype = NY_U8), .d = 2, .rows = 2, .values = {0, 255, 7, 100},
     .format = "csv"},
    {"-32768,32767\n", OPTIONS(.dtype = NY_I16), .d = 2, .rows = 1, .values = {-32768, 32767},
     .format = "csv"},
    {"0.1,1e-320\n", OPTIONS(.dtype = NY_F64), .d = 2, .rows = 1, .values = {0.1, 1e-320},
     .format = "csv"},
    {"+1.,.5\n-0.25e+1,25E-1\n", .d = 2, .rows = 2, .values = {1, .5, -2.5, 2.5}, .format = "csv"},
    /* libsvm */
    {"1 1:2 3:4\n-1 2:5\n", .d = 3, .rows = 2, .values = {2, 0, 4, 0, 5, 0}, .labels = {1, -1},
     .format = "libsvm"},
    {"+1 0:2 2:4\r\n2.5 1:5", .d = 3, .rows = 2, .values = {2, 0, 4, 0, 5, 0}, .labels = {1, 2.5},
     .format = "libsvm"},
    {"# made\n\n1 1:2 # c\n 2 qid:7\t2:3 \n#end", OPTIONS(.dims = 3), .d = 3, .rows = 2,
     .values = {2, 0, 0, 0, 3, 0}, .labels = {1, 2}, .format = "libsvm"},
    {"1\n2 1:1\n3\n", .d = 1, .rows = 3, .values = {0, 1, 0}, .labels = {1, 2, 3},
     .format = "libsvm"},
    {"spam 1:1\nham 2:1\nspam\n", OPTIONS(.format = "libsvm"), .d = 2, .rows = 3,
     .values = {1, 0, 0, 1, 0, 0}, .labels = {0, 1, 0}, .format = "libsvm"},
    {"none 1:1\n2 1:3\n", OPTIONS(.format = "libsvm"), .d = 1, .rows = 2, .values = {1, 3},
     .labels = {NAN, 2}, .format = "libsvm"},
    {"1 1:1\n2 1:nan\n3 1:inf\n4 1:2\n", OPTIONS(.format = "libsvm", .nan_drop = true), .d = 1,
     .rows = 2, .values = {1, 2}, .labels = {1, 4}, .format = "libsvm", .dropped = 2},
    {"1 1:1 2:255\n", OPTIONS(.dtype = NY_U8), .d = 2, .rows = 1, .values = {1, 255}, .labels = {1},
     .format = "libsvm"},
};

static void check_table(const struct support_table *table, const struct text_case *expected)
{
    ptrdiff_t number = expected - cases;

    if (table->d != expected->d || table->rows != expected->rows)
        fail_msg("case %td: %llu × %llu", number, (unsigned long long)table->rows,
                 (unsigned long long)table->d);
    assert_string_equal(table->format, expected->format);
    assert_int_equal(table->dropped, expected->dropped);
    assert_int_equal(table->consumed, table->rows + table->dropped);
    for (uint64_t i = 0; i < table->rows * table->d; i++) {
        double value = expected->values[i];

        if (table->dtype == NY_F32) value = (double)(float)value;
        if (table->values[i] != value)
            fail_msg("case %td, value %llu: %g", number, (unsigned long long)i, table->values[i]);
    }
    for (uint64_t r = 0; r < table->rows; r++) {
        bool same = isnan(expected->labels[r]) ? isnan(table->labels[r])
                                               : table->labels[r] == expected->labels[r];

        if ((expected->options.label_column || strcmp(table->format, "libsvm") == 0) && !same)
            fail_msg("case %td, label %llu: %g", number, (unsigned long long)r, table->labels[r]);
    }
}

TEST(test_texts)
{
    struct support_table table;

    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++)
        for (size_t batch = 1; batch < 4; batch++) {
            const char *path = support_text("text", cases[c].text);

            assert_reads(path, &cases[c].options, batch, &table);
            check_table(&table, &cases[c]);
        }
}

TEST(test_texts_through_pipes_and_gzip)
{
    struct support_table table;

    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        struct ny_reader_options options = cases[c].options;
        size_t length = strlen(cases[c].text);
        OWNED(support_pipe) pipe = support_pipe(cases[c].text, length, 1);

        assert_reads(support_gzip("text.gz", cases[c].text, length), &options, 2, &table);
        check_table(&table, &cases[c]);
        if (strcmp(cases[c].format, "libsvm") == 0) options.dims = cases[c].d;
        assert_reads(pipe.path, &options, 2, &table);
        check_table(&table, &cases[c]);
    }
}

/* Padding in front of a table moves the end of the window (256 KiB) over each of its bytes. */
TEST(test_every_cut)
{
    static const char tail[] = "1.25,\"4\"\"\n,2\",-3e2\r\n\r\n\"7\" ,plain, 8\r\n";
    const struct ny_reader_options options = {.label_column = "2"};
    size_t pad = 256 * 1024, tail_length = sizeof(tail) - 1;
    char *text = lend(pad + tail_length + 16);
    struct support_table table;

    for (size_t cut = 0; cut <= tail_length; cut++) {
        size_t length = 0, lines = 0;
        const char *path;

        memcpy(text, "5,word,6\n", 9);
        for (length = 9; length < pad - cut; length++, lines++)
            text[length] = '\n';
        memcpy(text + length, tail, tail_length);
        assert_reads(support_file("cut.csv", text, length + tail_length), &options, 2, &table);
        assert_int_equal(table.rows, 3);
        assert_true(table.values[2] == 1.25 && table.values[3] == -300);
        assert_true(table.values[4] == 7 && table.values[5] == 8);
        assert_true(table.labels[1] == 1 && table.labels[2] == 2);
        /* lines are counted right across the cut: one in the first row, two CRLF, one in quotes */
        memcpy(text + length + tail_length, "bad,word,1\n", 11);
        path = support_file("cut.csv", text, length + tail_length + 11);
        assert_int_equal(support_read(path, &options, 2, &table), NY_EDATA);
        assert_int_equal(ny_context_error(ctx)->line, 1 + lines + 1 + 2 + 1 + 1);
    }
}

TEST(test_class_names)
{
    const struct ny_reader_options options = {.label_column = "2"};
    const char *const *names;
    char *text = lend(1 << 16), *end = text;
    struct support_table table;
    OWNED(ny_reader) *reader = NULL;
    size_t count;

    for (int i = 0; i < 3000; i++)
        end += sprintf(end, "%d,\"class \"\"%d\"\"\"\n", i, i * 7 % 1000);
    assert_int_equal(ny_reader_open(&reader, ctx, support_text("x.csv", text), &options), NY_OK);
    assert_int_equal(support_rest(reader, 64, &table), NY_END);
    ny_reader_class_names(reader, &names, &count);
    assert_int_equal(count, 1000);
    for (int i = 0; i < 3000; i++) {
        char *name = lend_text("class \"%d\"", i * 7 % 1000);

        assert_string_equal(names[(size_t)table.labels[i]], name);
    }
}

/* Names that come before keep their numbers, in as many files as have the same classes. */
TEST(test_known_classes)
{
    char *const animals[] = {"cat", "7"};
    const char *const texts[] = {"1,7\n2,owl\n3,cat\n", "1,cat\n2,emu\n3,owl\n"};
    const double labels[][3] = {{1, 2, 0}, {0, 3, 2}};
    struct ny_reader_options options = {.label_column = "2"};
    const char *const *names;
    struct ny_reader *reader;
    size_t count;

    assert_int_equal(ny_classes_new(&options.classes, ctx), NY_OK);
    assert_int_equal(ny_classes_know(options.classes, animals, 2), NY_OK);
    ny_classes_names(options.classes, &names, &count);
    assert_int_equal(count, 0); /* no label yet */
    for (int i = 0; i < 2; i++) {
        struct support_table table;

        CHECK(ny_reader_open(&reader, ctx, support_text("x.csv", texts[i]), &options));
        assert_int_equal(support_rest(reader, 64, &table), NY_END);
        for (int r = 0; r < 3; r++)
            assert_true(table.labels[r] == labels[i][r]);
        ny_reader_class_names(reader, &names, &count);
        assert_int_equal(count, 3 + i);
        assert_string_equal(names[1], "7");
        ny_reader_close(reader);
    }
    ny_classes_free(options.classes);
}

/* Reads the most words that there may be, then one of them again, then one more. */
TEST(test_most_classes)
{
    enum { MOST = 65536, BYTES = 10 };
    struct ny_reader_options options = {.label_column = "2"};
    char *text = lend((MOST + 2) * BYTES + 1);
    struct support_table table;
    struct ny_reader *reader;

    for (size_t i = 0; i < MOST; i++)
        snprintf(text + i * BYTES, BYTES + 1, "1,w%06zu\n", i);
    strcpy(text + MOST * BYTES, "1,w000007\n");
    assert_int_equal(ny_reader_open(&reader, ctx, support_text("x.csv", text), &options), NY_OK);
    assert_int_equal(support_rest(reader, 4096, &table), NY_END);
    assert_int_equal(table.rows, MOST + 1);
    assert_true(table.labels[MOST] == 7);
    ny_reader_close(reader);
    strcpy(text + MOST * BYTES, "1,another\n");
    ny_error_clear(ctx);
    assert_int_equal(ny_reader_open(&reader, ctx, support_text("x.csv", text), &options), NY_OK);
    assert_int_equal(support_rest(reader, 4096, &table), NY_EDATA);
    ny_reader_close(reader);
}

/* A long row: the window grows, and the row is right. */
TEST(test_wide_row)
{
    const size_t d = 100000;
    char *text = lend(d * 16 * 2), *end = text;
    struct support_table table;
    OWNED(support_pipe) pipe;

    for (int r = 0; r < 2; r++)
        for (size_t c = 0; c < d; c++)
            end += sprintf(end, "%zu.5%c", c + (size_t)r, c + 1 == d ? '\n' : ',');
    pipe = support_pipe(text, (size_t)(end - text), 50000);
    for (int how = 0; how < 2; how++) {
        const char *path = how ? pipe.path : support_text("wide.csv", text);

        assert_reads(path, NULL, 1, &table);
        assert_int_equal(table.d, d);
        assert_int_equal(table.rows, 2);
        for (size_t i = 0; i < 2 * d; i++)
            assert_true(table.values[i] == (double)(i % d + i / d) + 0.5);
    }
}

TEST(test_skip_equals_reading)
{
    static const char *const texts[] = {"kind,x\na,1\nb,nan\n\nc,3\n\"b\",4\na,5\nd,\n\"c\",7\n",
                                        "a 1:1\nb 1:nan\nc 1:3\nb 1:4\na 1:5\nd 1:inf\nc 1:7\n"};
    const struct ny_reader_options options[] = {{.label_column = "kind", .nan_drop = true},
                                                {.format = "libsvm", .nan_drop = true}};

    for (int t = 0; t < 2; t++) {
        struct support_table all = check_skip(support_text("skip", texts[t]), &options[t]);

        assert_true(all.rows == 5 && all.consumed == 7 && all.dropped == 2);
    }
}

/* The base of a pipe is what its beginning says; index 0 later is refused. */
TEST(test_libsvm_base_of_a_pipe)
{
    const struct ny_reader_options options = {.format = "libsvm", .dims = 2};
    size_t length = 0, room = 1 << 18;
    char *text = lend(room);
    struct support_table table;
    struct support_pipe pipe;

    while (length < room - 64)
        length += (size_t)sprintf(text + length, "1 1:2\n");
    length += (size_t)sprintf(text + length, "1 0:2\n");
    pipe = support_pipe(text, length, 4096);
    assert_refused(pipe.path, &options, NY_EDATA);
    support_pipe_close(&pipe);
    assert_reads(support_file("x.svm", text, length), &options, 100, &table);
    assert_true(table.values[0] == 0 && table.values[1] == 2); /* from 0: index 1 is the second */
}

/* Any decimal text is read as strtod reads it, to the last bit, in any locale. */
TEST(test_numbers_are_correctly_rounded)
{
    static const char *const special[] = {"0",
                                          "-0",
                                          "1e22",
                                          "1e23",
                                          "9007199254740993",
                                          "9007199254740992.5",
                                          "0.1",
                                          "1e-22",
                                          "123456789012345678",
                                          "1234567890123456789",
                                          "12345678901234567890",
                                          "4.9e-324",
                                          "2e-324",
                                          "1.7976931348623157e308",
                                          "1.7976931348623159e308",
                                          "1e-400",
                                          "0e99999999999",
                                          "0.000000000000000000000000000000123",
                                          "8.5070591730234615e37",
                                          "1e27",
                                          "3e-27",
                                          "7e28",
                                          "2.2250738585072011e-308",
                                          "100000000000000000000000000000000000000000",
                                          "1e0000000000001",
                                          "5e-324",
                                          "0.30000000000000004",
                                          "9223372036854775807",
                                          "18446744073709551615"};
    char text[64];
    double value;

    for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++) {
        assert_ptr_equal(ny_number(special[i], &value), special[i] + strlen(special[i]));
        assert_true(value == strtod(special[i], NULL));
        assert_int_equal(signbit(value) != 0, special[i][0] == '-');
        strcpy(text, special[i]);
        if (strchr(text, '.')) *strchr(text, '.') = ',';
        assert_ptr_equal(ny_number_with_comma(text, &value), text + strlen(text));
        assert_true(value == strtod(special[i], NULL));
    }
    for (uint64_t i = 0; i < 300000; i++) {
        uint64_t bits = ny_hash64(1, NY_STREAM_DATA, i), more = ny_hash64(2, NY_STREAM_DATA, i);
        double random;

        memcpy(&random, &bits, sizeof(bits));
        switch (i % 4) {
        case 0:
            snprintf(text, sizeof(text), "%.*e", (int)(more % 20), random);
            break;
        case 1:
            snprintf(text, sizeof(text), "%.17g", (double)(bits % 100000) / 997);
            break;
        case 2:
            snprintf(text, sizeof(text), "%llu.%llue%d", (unsigned long long)(bits % 1000000),
                     (unsigned long long)(more % 1000000000000), (int)(more % 64) - 32);
            break;
        default:
            snprintf(text, sizeof(text), "0.%019llu",
                     (unsigned long long)(bits % UINT64_C(10000000000000000000)));
        }
        if (strchr(text, 'n')) continue; /* nan, inf */
        assert_ptr_equal(ny_number(text, &value), text + strlen(text));
        if (value != strtod(text, NULL)) fail_msg("%s: %.17g", text, value);
    }
}

TEST(test_numbers_that_are_none)
{
    static const struct {
        const char *text;
        size_t length; /* of the number at its beginning */
    } texts[] = {{"", 0},     {"-", 0},    {".", 0},    {"+.", 0},  {"e5", 0},  {"-e5", 0},
                 {"nan", 0},  {"inf", 0},  {" 1", 0},   {"--1", 0}, {"1e", 1},  {"1e+", 1},
                 {"1.e2", 4}, {"1..2", 2}, {"0x10", 1}, {"1,5", 1}, {"1_0", 1}, {"1e5.5", 3}};
    double value;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_int_equal(ny_number(texts[i].text, &value) - texts[i].text, texts[i].length);
}

TEST(test_shown_text_is_short_and_clean)
{
    char long_text[200];
    struct ny_shown shown;

    assert_string_equal(ny_shown("a\nb\x80z\xc3\xa9", 7).text, "a?b?z\xc3\xa9");
    memset(long_text, 'x', sizeof(long_text));
    shown = ny_shown(long_text, sizeof(long_text));
    assert_int_equal(strlen(shown.text), 40 + strlen("…"));
    assert_true(ny_is_utf8("\xf0\x9f\x98\x80", 4));
    assert_false(ny_is_utf8("\xf0\x9f\x98", 3));     /* cut */
    assert_false(ny_is_utf8("\xc0\x80", 2));         /* overlong */
    assert_false(ny_is_utf8("\xed\xa0\x80", 3));     /* surrogate */
    assert_false(ny_is_utf8("\xf4\x90\x80\x80", 4)); /* beyond U+10FFFF */
}

/* Real files, where the environment says where they are. */
TEST(test_real_data)
{
    static const struct {
        const char *path;
        struct ny_reader_options options;
        uint64_t rows, d;
        const char *format;
    } files[] = {
        {"a9a/a9a.gz", {0}, 32561, 123, "libsvm"},
        {"a9a/a9a.t.gz", {.dims = 123}, 16281, 123, "libsvm"},
        {"letter/letter.csv.gz", {.label_column = "lettr"}, 20000, 16, "csv"},
        {"shuttle/shuttle.csv.gz", {.label_column = "class"}, 58000, 9, "csv"},
        {"abalone/abalone.csv", {.label_column = "rings", .columns = "2-8"}, 4177, 7, "csv"},
        {"kin8nm/kin8nm.csv.gz", {0}, 8192, 9, "csv"},
        {"mnist/t10k-images-idx3-ubyte.gz", {0}, 10000, 784, "idx"},
        {"news20_w1000/news20_w1000_test.libsvm.gz", {0}, 7489, 1000, "libsvm"},
    };
    const char *folder = getenv("NYSTREAM_DATA");

    if (!folder || !*folder) {
        print_message("NYSTREAM_DATA is not set: real files are not read\n");
        skip();
    }
    for (size_t f = 0; f < sizeof(files) / sizeof(*files); f++) {
        OWNED(ny_reader) *reader = NULL;
        struct ny_row_batch batch = {0};
        uint64_t rows = 0;
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", folder, files[f].path);
        ny_error_clear(ctx);
        CHECK(ny_reader_open(&reader, ctx, path, &files[f].options) != NY_OK);
        assert_string_equal(ny_reader_table(reader)->format, files[f].format);
        assert_int_equal(ny_reader_table(reader)->d, files[f].d);
        batch.values = lend(1000 * files[f].d * sizeof(double));
        while (ny_reader_next(reader, 1000, &batch) == NY_OK)
            rows += batch.count;
        assert_string_equal(ny_context_message(ctx), "");
        assert_int_equal(rows, files[f].rows);
    }
}

AROUND_ALL(support_setup, remove_folder)
