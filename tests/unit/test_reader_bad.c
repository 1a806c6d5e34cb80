/* Bad input, case by case: what is refused, with which status, naming what. Each case is read from
 * a file, from a pipe and from a gzip file. */
#include "reader_support.h"

#define TEXT(s) .content = s, .length = sizeof(s) - 1
#define NPY(text, s) .npy = text, .content = s, .length = sizeof(s) - 1
#define OPTIONS(...) .options = {__VA_ARGS__}

struct bad_case {
    const char *name; /* of the file; its suffix counts where no format is given */
    const char *content;
    size_t length;
    const char *npy; /* header text of an npy file before the content */
    struct ny_reader_options options;
    int status;           /* 0: NY_EDATA */
    uint64_t line;        /* of the error; 0: any */
    bool file_only;       /* a pipe or gzip has no size that tells it */
    const char *labels;   /* content of a label file */
};

static const struct bad_case cases[] = {
    /* files that are no tables */
    {"empty.csv", TEXT("")},
    {"empty.npy", TEXT("")},
    {"x.bin", TEXT("\1\2\3\4")},
    {"x.xz", TEXT("\xfd\x37zXZ\0\0\4")},
    {"x.npz", TEXT("PK\3\4 stuff")},
    {"x.h5", TEXT("\x89HDF\r\n")},
    {"x.csv", TEXT("\xff\xfe"
                   "1\0,\0002\0")},
    {"x.csv", TEXT("1,2\n"), OPTIONS(.format = "cvs"), .status = NY_EUSAGE},
    {"x.npy", TEXT("not an array"), OPTIONS(.format = "npy")},
    {"x.npy", TEXT("not an array")},
    {"x.idx", TEXT("not an array"), OPTIONS(.format = "idx")},
    /* npy: the header */
    {"x.npy", TEXT("\x93NUMPY")},
    {"x.npy", TEXT("\x93NUMPY\1\0\x76\0{'descr'")},
    {"x.npy", TEXT("\x93NUMPY\4\0\x76\0\0\0{'descr'")},
    {"x.npy", TEXT("\x93NUMPY\2\0\xff\xff\xff\xff{'descr'")},
    {"x.npy",
     NPY("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2, 1), }", "0123456789abcdef")},
    {"x.npy", NPY(NPY_HEADER("<c8", "(1, 2)"), "0123456789abcdef")},
    {"x.npy", NPY(NPY_HEADER("|O", "(1, 2)"), "01234567")},
    {"x.npy", NPY(NPY_HEADER("<U3", "(1,)"), "0123456789ab")},
    {"x.npy", NPY("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "0123")},
    {"x.npy", NPY(NPY_HEADER("<f4", "()"), "0123")},
    {"x.npy", NPY(NPY_HEADER("<f4", "(0, 4)"), "")},
    {"x.npy", NPY(NPY_HEADER("<f4", "(4, 0)"), "")},
    {"x.npy", NPY(NPY_HEADER("<f4", "(-1, 4)"), "0123")},
    {"x.npy", NPY("{'descr': '<f4', 'fortran_order': False, }", "0123")},
    {"x.npy", NPY("{'descr': '<f4', 'descr': '<f4', 'shape': (1, 1), }", "0123")},
    {"x.npy", NPY("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), } x", "0123")},
    {"x.npy", NPY("", "0123")},
    {"x.npy", NPY("{'descr': '<f4'", "0123")},
    /* npy: the shape and the size of the file */
    {"x.npy", NPY(NPY_HEADER("|u1", "(1099511627776, 4)"), "0123")},
    {"x.npy", NPY(NPY_HEADER("|u1", "(4, 1099511627776)"), "0123")},
    {"x.npy", NPY(NPY_HEADER("<f8", "(4, 18446744073709551615)"), "0123")},
    {"x.npy", NPY(NPY_HEADER("<f4", "(2, 99999999999, 99999999999)"), "0123")},
    {"x.npy", NPY(NPY_HEADER("<f4", "(3, 2)"), "0123456701234567")},
    {"x.npy", NPY(NPY_HEADER("|u1", "(2, 2)"), "01234")},
    /* npy: values */
    {"x.npy", NPY(NPY_HEADER("<f4", "(2, 2)"), "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xc0\x7f"), .line = 1},
    {"x.npy", NPY(NPY_HEADER(">f8", "(1, 1)"), "\xff\xf0\0\0\0\0\0\0")},
    {"x.npy", NPY(NPY_HEADER("<f2", "(1, 2)"), "\0\0\0\x7c")},
    {"x.npy", NPY(NPY_HEADER("<f4", "(1, 1)"), "\0\0\xc0\x7f"), OPTIONS(.nan_drop = true)},
    {"x.npy", NPY(NPY_HEADER("<i8", "(2, 1)"), "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\x20\0"), .line = 1},
    {"x.npy", NPY(NPY_HEADER("<u8", "(1, 1)"), "\xff\xff\xff\xff\xff\xff\xff\xff")},
    {"x.npy", NPY(NPY_HEADER("<i4", "(1, 2)"), "\0\0\0\0\1\0\0\1"), OPTIONS(.dtype = NY_F32)},
    {"x.npy", NPY(NPY_HEADER("<i2", "(1, 2)"), "\0\0\0\1"), OPTIONS(.dtype = NY_U8)},
    {"x.npy", NPY(NPY_HEADER("<f4", "(1, 1)"), "\0\0\0\x3f"), OPTIONS(.dtype = NY_I16)},
    {"x.npy", NPY(NPY_HEADER("<f8", "(1, 1)"), "\x9c\x75\0\x88\x3c\xe4\x37\x7e"),
     OPTIONS(.dtype = NY_F32)},
    {"x.npy", NPY(NPY_HEADER("|u1", "(1, 4)"), "0123"), OPTIONS(.dims = 3)},
    {"x.npy", NPY(NPY_HEADER("|u1", "(1, 4)"), "0123"), OPTIONS(.columns = "2,5"),
     .status = NY_EUSAGE},
    {"x.npy", NPY(NPY_HEADER("|u1", "(1, 4)"), "0123"), OPTIONS(.columns = "4-2"),
     .status = NY_EUSAGE},
    {"x.npy", NPY(NPY_HEADER("|u1", "(1, 4)"), "0123"), OPTIONS(.columns = "size"),
     .status = NY_EUSAGE},
    {"x.npy", NPY(NPY_HEADER("|u1", "(1, 4)"), "0123"), OPTIONS(.label_column = "1"),
     .status = NY_EUSAGE},
    /* csv: shape */
    {"x.csv", TEXT("1,2,3\n4,5\n"), OPTIONS(.format = "csv"), .line = 2, .file_only = true},
    {"x.csv", TEXT("1,2,3\n\n4,5,6,7,8\n"), OPTIONS(.format = "csv"), .line = 3},
    {"x.csv", TEXT("a,b\n1,2\n1,2\n3\n"), OPTIONS(.format = "csv"), .line = 4},
    {"x.csv", TEXT("\n\r\n \n\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("a,b,c\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("a,b,c")},
    {"x.csv", TEXT("1,2\n3,4\n"), OPTIONS(.dims = 3, .format = "csv")},
    {"x.csv", TEXT("7\n8\n"), OPTIONS(.label_column = "1", .format = "csv")},
    /* csv: values */
    {"x.csv", TEXT("1,2\n3,4\n5,oops\n"), OPTIONS(.format = "csv"), .line = 3},
    {"x.csv", TEXT("len,width\n1,2\n3,tall\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("kind,size\nM,2\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n3,1.5.2\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n3,0x10\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n3,1e\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1;2.5\n3;1,5\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n3,nan\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("x,y\n3,-Inf\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n,4\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n3,4\n5,"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n3,1e39\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n3,1e309\n"), OPTIONS(.dtype = NY_F64, .format = "csv")},
    {"x.csv", TEXT("1,2\n3,256\n"), OPTIONS(.dtype = NY_U8, .format = "csv")},
    {"x.csv", TEXT("1,2\n3,4.5\n"), OPTIONS(.dtype = NY_I16, .format = "csv")},
    {"x.csv", TEXT("1,2\n3,-32769\n"), OPTIONS(.dtype = NY_I16, .format = "csv")},
    {"x.csv", TEXT("nan,2\n,4\n"), OPTIONS(.nan_drop = true, .format = "csv")},
    {"x.csv", TEXT("1,2\n3,4\0\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n\0,4\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n3,4\n\"5"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("1,2\n3,\"4\"5\n"), OPTIONS(.format = "csv")},
    {"x.csv", TEXT("a,\"b\nc\"\n1,2\n3,x\n"), OPTIONS(.format = "csv"), .line = 4},
    {"x.csv", TEXT("\"a\"b,c\n1,2\n"), OPTIONS(.format = "csv")},
    /* csv: columns and labels */
    {"x.csv", TEXT("1,2\n3,4\n"), OPTIONS(.label_column = "3", .format = "csv"),
     .status = NY_EUSAGE},
    {"x.csv", TEXT("1,2\n3,4\n"), OPTIONS(.label_column = "0", .format = "csv"),
     .status = NY_EUSAGE},
    {"x.csv", TEXT("a,b\n3,4\n"), OPTIONS(.label_column = "c", .format = "csv"),
     .status = NY_EUSAGE},
    {"x.csv", TEXT("1,2\n3,4\n"),
     OPTIONS(.label_column = "c", .header = NY_HEADER_NO, .format = "csv"), .status = NY_EUSAGE},
    {"x.csv", TEXT("a,b\n3,4\n"), OPTIONS(.columns = "a,d", .format = "csv"), .status = NY_EUSAGE},
    {"x.csv", TEXT("a,b\n3,4\n"), OPTIONS(.columns = "", .format = "csv"), .status = NY_EUSAGE},
    {"x.csv", TEXT("1,2\n1,3\n1,x\n"), OPTIONS(.label_column = "2", .format = "csv"), .line = 3},
    {"x.csv", TEXT("1,caf\xe9\n"), OPTIONS(.label_column = "2", .format = "csv")},
    /* libsvm */
    {"x.svm", TEXT("1 1:2 3:4\n0 2\n"), OPTIONS(.format = "libsvm", .dims = 3), .line = 2},
    {"x.svm", TEXT("1 1:2\n0 2:\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 1:2\n0 2:x\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 1:2\n0 -1:2\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 1:2\n1:3 2:4\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 1:2 4:5\n"), OPTIONS(.format = "libsvm", .dims = 3), .line = 1},
    {"x.svm", TEXT("1 0:2 3:5\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 2:2 1:5\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 2:2 2:5\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 99999999999:2\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 1:nan\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 1:2\n1 2:1e60\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1 1:2\0\n"), OPTIONS(.format = "libsvm", .dims = 3)},
    {"x.svm", TEXT("1\n2\n"), OPTIONS(.format = "libsvm"), .file_only = true},
    {"x.svm", TEXT("# nothing\n\n"), OPTIONS(.format = "libsvm", .dims = 2)},
    {"x.svm", TEXT("1 1:2\n"), OPTIONS(.format = "libsvm", .dims = 2, .columns = "1"),
     .status = NY_EUSAGE},
    {"x.svm", TEXT("1 1:2\nspam 1:3\n"), OPTIONS(.format = "libsvm", .dims = 1)},
    /* idx */
    {"x.idx", TEXT("\0\0\x08\2\0\0"), OPTIONS(.format = "idx")},
    {"x.idx", TEXT("\0\0\x0f\1\0\0\0\1x"), OPTIONS(.format = "idx")},
    {"x.idx", TEXT("\0\0\x08\0x"), OPTIONS(.format = "idx")},
    {"x.idx",
     TEXT("\0\0\x08\2\0\0\0\3\0\0\0\2"
          "12345"),
     OPTIONS(.format = "idx")},
    {"x.idx",
     TEXT("\0\0\x08\2\0\0\0\3\0\0\0\2"
          "1234567"),
     OPTIONS(.format = "idx")},
    {"x.idx", TEXT("\0\0\x08\2\0\0\0\0\0\0\0\2"), OPTIONS(.format = "idx")},
    {"x.idx",
     TEXT("\0\0\x08\3\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff"
          "1"),
     OPTIONS(.format = "idx")},
    {"x.idx", TEXT("\0\0\x0d\1\0\0\0\1\x7f\xc0\0\0"), OPTIONS(.format = "idx")},
    /* fvecs, bvecs */
    {"x.fvecs", TEXT("\1\0"), OPTIONS(.format = "fvecs")},
    {"x.fvecs", TEXT("\0\0\0\0"), OPTIONS(.format = "fvecs")},
    {"x.fvecs",
     TEXT("\xff\xff\xff\xff"
          "0123"),
     OPTIONS(.format = "fvecs")},
    {"x.fvecs", TEXT("\1\0\0\0\0\0\0\0\1\0\0\0\0\0"), OPTIONS(.format = "fvecs")},
    {"x.fvecs", TEXT("\1\0\0\0\0\0\0\0\1\0"), OPTIONS(.format = "fvecs")},
    {"x.fvecs", TEXT("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0"), OPTIONS(.format = "fvecs"),
     .line = 1},
    {"x.bvecs",
     TEXT("\2\0\0\0"
          "ab"
          "\2\0\0\0"
          "ab"
          "\3\0\0\0"
          "abc"),
     OPTIONS(.format = "bvecs"), .line = 2},
    {"x.fvecs", TEXT("\1\0\0\0\0\0\x80\x7f"), OPTIONS(.format = "fvecs")},
    /* labels in a file of their own */
    {"x.csv", TEXT("1,2\n3,4\n5,6\n"), OPTIONS(.format = "csv"), .labels = "1\n2\n"},
    {"x.csv", TEXT("1,2\n3,4\n5,6\n"), OPTIONS(.format = "csv"), .labels = "1\n2\n3\n4\n5\n"},
    {"x.csv", TEXT("1,2\n3,4\n5,6\n"), OPTIONS(.format = "csv"), .labels = "1\n\n3\n4\n",
     .line = 2},
    {"x.csv", TEXT("1,2\n3,4\n5,6\n"), OPTIONS(.format = "csv"), .labels = "1\n2\nthree\n",
     .line = 3},
    {"x.csv", TEXT("1,2\n3,4\n5,6\n"), OPTIONS(.format = "csv"), .labels = ""},
    {"x.csv", TEXT("1,2\n3,4\n5,6\n"), OPTIONS(.format = "csv"), .labels = "\x93NUMPY\1xx"},
};

enum { BAD_CASES = sizeof(cases) / sizeof(*cases) };

static void check(const struct bad_case *bad, const char *how, const char *path, size_t batch_rows)
{
    struct ny_reader_options options = bad->options;
    struct support_table table;
    const struct ny_error *error;
    int status, expected = bad->status ? bad->status : NY_EDATA;

    options.nan_option = true; /* as of an import */
    if (bad->labels) options.labels_file = support_text("labels.txt", bad->labels);
    status = support_read(path, &options, batch_rows, &table);
    error = ny_context_error(ctx);
    if (status != expected)
        fail_msg("case %td (%s): status %d, expected %d: %s", bad - cases, how, status, expected,
                 ny_context_message(ctx));
    assert_int_equal(error->status, status);
    if (bad->line && (!error->has_line || error->line != bad->line))
        fail_msg("case %td (%s): line %llu, expected %llu", bad - cases, how,
                 (unsigned long long)error->line, (unsigned long long)bad->line);
    if (status == NY_EDATA) assert_non_null(error->file);
    assert_int_equal(ny_memory_used(ctx), 0);
}

/* The bytes of a case; the caller frees them. */
static unsigned char *bytes_of(const struct bad_case *bad, size_t *length)
{
    unsigned char *bytes = lend(bad->length + 512);

    memcpy(bytes, bad->content, bad->length);
    *length = bad->length;
    if (bad->npy) *length = support_npy(bytes, bad->npy, bad->content, bad->length);
    return bytes;
}

/* A pipe has no name that would tell the format. */
TEST(test_bad_files)
{
    for (const struct bad_case *bad = cases; bad < cases + BAD_CASES; bad++) {
        size_t length;
        unsigned char *bytes = bytes_of(bad, &length);
        const char *path = support_file(bad->name, bytes, length);
        struct support_pipe pipe;
        char name[64];

        check(bad, "file", path, 100);
        check(bad, "file, row by row", path, 1);
        if (bad->file_only) continue;
        snprintf(name, sizeof(name), "%s.gz", bad->name);
        check(bad, "gzip", support_gzip(name, bytes, length), 2);
        if (!bad->options.format && !bad->npy) continue;
        pipe = support_pipe(bytes, length, 3);
        check(bad, "pipe", pipe.path, 2);
        support_pipe_close(&pipe);
    }
}

TEST(test_paths)
{
    assert_refused(support_path("absent.csv"), NULL, NY_EIO);
    assert_refused(directory, NULL, NY_EIO);
    assert_refused("", NULL, NY_EIO);
}

TEST(test_libsvm_pipe_needs_dims)
{
    OWNED(support_pipe) pipe = support_pipe("1 1:2\n", 6, 6);
    const struct ny_reader_options options = {.format = "libsvm"};

    assert_refused(pipe.path, &options, NY_EUSAGE);
}

TEST(test_gzip_cut_or_damaged_anywhere)
{
    const char text[] = "1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n";
    unsigned char packed[256];
    const char *path = support_gzip("cut.csv.gz", text, sizeof(text) - 1);
    struct support_table table;
    FILE *file = fopen(path, "rb");
    size_t length = fread(packed, 1, sizeof(packed), file), padding = 0;

    fclose(file);
    assert_in_range(length, 20, 200);
    for (size_t cut = 3; cut < length; cut++) {
        assert_refused(support_file("cut.csv.gz", packed, cut), NULL, NY_EDATA);
    }
    /* The data and their checksum begin at byte 10; a flip there is never silent, except in the few
     * bits that pad the data to a byte. */
    for (size_t bit = 80; bit < 8 * length; bit++) {
        int status;

        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        path = support_file("cut.csv.gz", packed, length);
        status = support_read(path, NULL, 2, &table);
        if (status == NY_END) {
            assert_int_equal(table.rows, 6);
            for (int i = 0; i < 12; i++)
                assert_true(table.values[i] == i + 1);
            padding++;
        } else {
            assert_int_equal(status, NY_EDATA);
        }
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_in_range(padding, 0, 7);
}

TEST(test_field_above_64_kib)
{
    size_t length = 70000;
    char *text = lend(length);

    memset(text, '1', length);
    memcpy(text, "1,2\n3,", 6);
    text[length - 1] = '\n';
    assert_refused(support_file("x.csv", text, length), NULL, NY_EDATA);
    memset(text, 'x', length);
    memcpy(text, "1,2\n3,\"", 7); /* the quote is never closed */
    assert_refused(support_file("x.csv", text, length), NULL, NY_EDATA);
}

/* A row of 40 MiB of short fields ends in an error of data or budget, never in more memory. */
TEST(test_endless_line)
{
    size_t length = 40 << 20;
    char *text = lend(length);
    struct support_table table;
    int status;

    for (size_t i = 0; i < length; i++)
        text[i] = i % 2 ? ',' : '1';
    status = support_read(support_file("x.csv", text, length), NULL, 1, &table);
    assert_true(status == NY_EDATA || status == NY_EBUDGET);
    assert_int_equal(ny_memory_used(ctx), 0);
}

/* The reader reports any allocation that the budget refuses, and gives everything back. */
TEST(test_every_budget)
{
    static const char csv[] = "kind,x,y\na,1,2\nb,3,4\na,5,6\n", svm[] = "1 1:2\n2 3:4\n3 2:1\n";
    unsigned char npy[256];
    size_t npy_length = support_npy(npy, NPY_HEADER(">i4", "(3, 2)"), npy, 24);
    const struct {
        const char *path;
        struct ny_reader_options options;
    } inputs[] = {
        {support_gzip("budget.csv.gz", csv, sizeof(csv) - 1), {.label_column = "kind"}},
        {support_gzip("budget.svm.gz", svm, sizeof(svm) - 1), {0}},
        {support_file("budget.npy", npy, npy_length),
         {.columns = "2", .labels_file = support_text("budget.txt", "p\nq\nr\n")}},
    };
    for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
        struct support_table table;
        size_t budget = 64, refused = 0;
        int status;

        do {
            ny_context_set_memory(ctx, budget);
            status = support_read(inputs[i].path, &inputs[i].options, 2, &table);
            assert_true(status == NY_END || status == NY_EBUDGET);
            assert_int_equal(ny_memory_used(ctx), 0);
            refused += status == NY_EBUDGET;
            budget += 64 + budget / 64;
        } while (status != NY_END);
        assert_in_range(refused, 100, 2000);
        assert_in_range(budget, 1 << 18, 1 << 21);
    }
    ny_context_set_memory(ctx, 64 << 20);
    ny_error_clear(ctx);
}

AROUND_ALL(support_setup, remove_folder)
