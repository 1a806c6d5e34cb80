/*
 * Letters of UTF-8, of which names and texts from files and stores consist, or not. Header only:
 * the command, which sees the public functions of the library alone, judges texts as the library
 * does.
 */
#ifndef NY_BASE_UTF8_H
#define NY_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the UTF-8 sequence at `text` (RFC 3629), 0 when it is not one. */
static inline size_t ny_utf8_bytes(const char *string)
{
    const unsigned char *text = (const unsigned char *)string;
    static const struct {
        unsigned char first, last, low, high; /* lead bytes; range of the second byte */
        size_t bytes;
    } leads[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
                 {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                 {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

    if (text[0] < 0x80) return 1;
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        if (text[0] < leads[i].first || text[0] > leads[i].last) continue;
        if (text[1] < leads[i].low || text[1] > leads[i].high) return 0;
        for (size_t k = 2; k < leads[i].bytes; k++)
            if (text[k] < 0x80 || text[k] > 0xbf) return 0;
        return leads[i].bytes;
    }
    return 0;
}

/* Tells whether the letter of so many bytes is a control character of ASCII or of Latin-1 (U+0080
 * to U+009F), which a terminal might obey. */
static inline bool ny_utf8_is_control(const char *text, size_t bytes)
{
    unsigned char first = (unsigned char)text[0];

    return bytes == 1 ? first < 0x20 || first == 0x7f
                      : bytes == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0;
}

#endif
