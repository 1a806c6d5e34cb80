/* Fuzzes the reader of csv and tsv files. */
#include "fuzz/fuzz_reader.h"

FUZZ_READER({.format = "csv"},
            {.format = "csv", .label_column = "1", .nan_drop = true, .dtype = NY_U8},
            {.format = "csv", .id_column = "2", .names = true},
            {.format = "csv", .header = NY_HEADER_YES, .columns = "2-2,x", .dtype = NY_F64},
            {.format = "csv", .decimal = NY_DECIMAL_COMMA, .label_column = "1"},
            {.format = "tsv", .nan_drop = true})
