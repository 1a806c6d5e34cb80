/*
 * Images of one size as rows of bytes: every PNG and JPEG file of a folder and the folders in it,
 * in the order of their names.
 */
#include <dirent.h>
#include <png.h>
#include <stdio.h> /* jpeglib.h wants it before */
#include <jpeglib.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "tool.h"

static const char usage[] =
    "image-rows FOLDER [-o OUT.npy] [--gray | --color] [--files FILE] [--labels FILE]\n"
    "\n"
    "Writes the PNG and JPEG images in FOLDER and below, in the order of their paths, as npy of\n"
    "uint8: a row an image, line by line from the top, in color red, green, blue of each pixel.\n"
    "All must have the size of the first, and be gray or in color as it is.\n"
    "\n"
    "  -o OUT.npy      where to; standard output without it\n"
    "  --gray          make all gray (--color: all in color)\n"
    "  --files FILE    also the paths, a line a row\n"
    "  --labels FILE   also the name of each image's folder, a line a row: import --labels FILE\n"
    "\n"
    "What is transparent is shown on black; 16 bits of a PNG are linear light, and become 8 of\n"
    "sRGB.\n";

enum { DEPTH_MAX = 32, PIXELS_MAX = 1 << 26 };

struct images {
    struct ny_context *ctx;
    char **paths;
    size_t count, room;
    bool gray, color; /* wanted by the user; one of them is set by the first image */
    unsigned width, height;
    size_t bytes; /* of a row */
    unsigned char *row;
};

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);

    return length > end && !strcasecmp(name + length - end, suffix);
}

static bool is_png(const char *name)
{
    return ends_in(name, ".png");
}

static bool is_jpeg(const char *name)
{
    return ends_in(name, ".jpg") || ends_in(name, ".jpeg");
}

static void add_path(struct images *x, char *path)
{
    if (x->count == x->room) {
        x->room = 2 * x->room + 1024;
        x->paths = ny_resize(x->ctx, NY_MEM_OTHER, x->paths, x->room * sizeof *x->paths);
        if (!x->paths) tool_check(x->ctx, NY_EBUDGET);
    }
    x->paths[x->count++] = path;
}

/* Adds the images of a folder, and of the folders in it; links to folders are not followed. */
static void look_into(struct images *x, const char *folder, int depth)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;

    if (!entries) tool_check(x->ctx, ny_fail_errno(x->ctx, "open the folder", folder));
    while ((entry = readdir(entries))) {
        size_t bytes = strlen(folder) + strlen(entry->d_name) + 2;
        struct stat info;
        char *path;

        if (entry->d_name[0] == '.') continue;
        path = ny_alloc(x->ctx, NY_MEM_OTHER, bytes);
        if (!path) tool_check(x->ctx, NY_EBUDGET);
        snprintf(path, bytes, "%s/%s", folder, entry->d_name);
        if (is_png(path) || is_jpeg(path)) {
            add_path(x, path);
            continue;
        }
        if (depth < DEPTH_MAX && !lstat(path, &info) && S_ISDIR(info.st_mode))
            look_into(x, path, depth + 1);
        ny_free(x->ctx, path);
    }
    closedir(entries);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The first image decides; all others must be like it. Called when a header is read. */
static void check_shape(struct images *x, const char *path, unsigned width, unsigned height,
                        bool color)
{
    if (!x->row) {
        if (!x->gray && !x->color) *(color ? &x->color : &x->gray) = true;
        x->width = width;
        x->height = height;
        if (!width || !height || (uint64_t)width * height > PIXELS_MAX)
            tool_fail(NY_EDATA, "%s has %u x %u pixels; 1 to %d can be read.", path, width, height,
                      PIXELS_MAX);
        x->bytes = (size_t)width * height * (x->color ? 3 : 1);
        x->row = tool_alloc(x->ctx, x->bytes, 1);
    }
    if (width != x->width || height != x->height)
        tool_fail(NY_EDATA,
                  "%s has %u x %u pixels, %s %u x %u: bring all to one size first, as by "
                  "mogrify -resize %ux%u! of ImageMagick.",
                  path, width, height, x->paths[0], x->width, x->height, x->width, x->height);
}

static void check_color(const struct images *x, const char *path, bool color, bool asked)
{
    if (asked || color == x->color) return;
    tool_fail(NY_EDATA, "%s is %s, %s is not: say --gray or --color for all.", path,
              color ? "in color" : "gray", x->paths[0]);
}

static void read_png(struct images *x, const char *path, bool asked)
{
    const png_color black = {0, 0, 0};
    png_image image = {.version = PNG_IMAGE_VERSION};
    bool color;

    if (!png_image_begin_read_from_file(&image, path))
        tool_fail(NY_EDATA, "%s cannot be read as PNG: %s.", path, image.message);
    color = image.format & PNG_FORMAT_FLAG_COLOR;
    check_shape(x, path, image.width, image.height, color);
    check_color(x, path, color, asked);
    image.format = x->color ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    /* It succeeds with warnings, of what else is in the file; a picture that is cut short is an
     * error. */
    if (!png_image_finish_read(&image, &black, x->row, 0, NULL))
        tool_fail(NY_EDATA, "%s cannot be read as PNG: %s.", path, image.message);
}

/* libjpeg's errors and warnings (bytes that are missing are one) end the tool. */
struct jpeg_reader {
    struct jpeg_error_mgr errors;
    const char *path;
};

_Noreturn static void fail_jpeg(j_common_ptr jpeg)
{
    const struct jpeg_reader *reader = (const struct jpeg_reader *)jpeg->err;
    char text[JMSG_LENGTH_MAX];

    jpeg->err->format_message(jpeg, text);
    tool_fail(NY_EDATA, "%s cannot be read as JPEG: %s.", reader->path, text);
}

static void tell_jpeg(j_common_ptr jpeg, int level)
{
    if (level < 0) fail_jpeg(jpeg);
}

static void read_jpeg(struct images *x, const char *path, bool asked)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_reader reader = {.path = path};
    FILE *file = fopen(path, "rb");
    bool color;

    if (!file) tool_check(x->ctx, ny_fail_errno(x->ctx, "open", path));
    jpeg.err = jpeg_std_error(&reader.errors);
    reader.errors.error_exit = fail_jpeg;
    reader.errors.emit_message = tell_jpeg;
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    color = jpeg.num_components > 1;
    check_shape(x, path, jpeg.image_width, jpeg.image_height, color);
    check_color(x, path, color, asked);
    jpeg.out_color_space = x->color ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW line = x->row + x->bytes / x->height * jpeg.output_scanline;

        jpeg_read_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    fclose(file);
}

static void read_image(struct images *x, const char *path, bool asked)
{
    if (is_png(path))
        read_png(x, path, asked);
    else
        read_jpeg(x, path, asked);
}

static void write_images(struct images *x, const char *path)
{
    struct ny_writer *out = tool_create(x->ctx, path);
    bool asked = x->gray || x->color;

    for (size_t i = 0; i < x->count; i++) {
        read_image(x, x->paths[i], asked);
        if (i == 0) tool_write_npy_head(out, NY_U8, x->count, x->bytes);
        tool_write(out, x->row, x->bytes);
    }
    tool_close(out);
}

/* A line for each image: its path, or the name of its folder. */
static void write_names(const struct images *x, const char *path, bool folders)
{
    struct ny_writer *out = tool_create(x->ctx, path);

    for (size_t i = 0; i < x->count; i++) {
        const char *from = x->paths[i], *end = from + strlen(from);

        if (folders) {
            end = strrchr(from, '/');
            for (from = end; from > x->paths[i] && from[-1] != '/';)
                from--;
        }
        if (memchr(from, '\n', (size_t)(end - from)))
            tool_fail(NY_EDATA, "A name has a line end in it: %s.", x->paths[i]);
        tool_write(out, from, (size_t)(end - from));
        tool_write(out, "\n", 1);
    }
    tool_close(out);
}

int main(int argc, char **argv)
{
    struct images x = {.gray = false};
    const char *folder = NULL, *out = NULL, *files = NULL, *labels = NULL;
    const struct tool_option options[] = {{"-o", TOOL_TEXT, &out},
                                          {"--gray", TOOL_SWITCH, &x.gray},
                                          {"--color", TOOL_SWITCH, &x.color},
                                          {"--files", TOOL_TEXT, &files},
                                          {"--labels", TOOL_TEXT, &labels},
                                          {NULL, TOOL_TEXT, NULL}};

    tool_arguments(argc, argv, usage, options, (struct tool_positional){&folder, 1, 0});
    if (x.gray && x.color) tool_fail(NY_EUSAGE, "Give --gray or --color, not both.");
    tool_apart(out ? out : "-", files);
    tool_apart(out ? out : "-", labels);
    tool_apart(files, labels);
    x.ctx = tool_start();
    look_into(&x, folder, 0);
    if (!x.count)
        tool_fail(NY_EDATA, "%s has no image: no file in it ends in .png, .jpg or .jpeg.", folder);
    qsort(x.paths, x.count, sizeof *x.paths, by_name);
    write_images(&x, out);
    if (files) write_names(&x, files, false);
    if (labels) write_names(&x, labels, true);
    for (size_t i = 0; i < x.count; i++)
        ny_free(x.ctx, x.paths[i]);
    ny_free(x.ctx, x.paths);
    tool_end(x.ctx);
    return 0;
}
