/* make_image png|jpeg gray|color WIDTH HEIGHT FIRST FILE: pixels (or all of their channels, the red
 * one 100 above) FIRST, FIRST + 1, … line by line; in JPEG all are FIRST. */
#include <png.h>
#include <stdio.h>
#include <jpeglib.h>
#include <stdlib.h>
#include <string.h>

static void write_jpeg(const char *path, const unsigned char *pixels, unsigned width,
                       unsigned height, int channels)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(path, "wb");

    if (!file) exit(1);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = width;
    jpeg.image_height = height;
    jpeg.input_components = channels;
    jpeg.in_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < height) {
        JSAMPROW line = (JSAMPROW)pixels + (size_t)jpeg.next_scanline * width * (size_t)channels;

        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    if (fclose(file)) exit(1);
}

int main(int argc, char **argv)
{
    static unsigned char pixels[3 << 16];
    png_image image = {.version = PNG_IMAGE_VERSION};
    int channels, first;

    if (argc != 7) return 2;
    channels = strcmp(argv[2], "color") ? 1 : 3;
    image.width = (unsigned)atoi(argv[3]);
    image.height = (unsigned)atoi(argv[4]);
    first = atoi(argv[5]);
    if (image.width * image.height > 1 << 16) return 2;
    for (int i = 0; i < (int)(image.width * image.height); i++)
        for (int c = 0; c < channels; c++)
            pixels[i * channels + c] = (unsigned char)(first + (strcmp(argv[1], "png") ? 0 : i) +
                                                       (channels == 3 && c == 0 ? 100 : 0));
    if (!strcmp(argv[1], "jpeg")) {
        write_jpeg(argv[6], pixels, image.width, image.height, channels);
        return 0;
    }
    image.format = channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    return !png_image_write_to_file(&image, argv[6], 0, pixels, 0, NULL);
}
