/*
 * Small functions on texts: lists such as "a|b|c", UTF-8, and texts that are safe to print.
 * ny_clean_text() is for names that come from outside: what is not UTF-8 or is a control character
 * becomes "?", and a text that is too long is cut before a letter and ends in "…".
 */
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool ny_one_of(const char *text, const char *words)
{
    size_t length = text ? strlen(text) : 0;

    while (text && words && *words) {
        size_t word = strcspn(words, "|");

        if (word == length && strncmp(text, words, word) == 0) return true;
        words += word + (words[word] == '|');
    }
    return false;
}

void ny_join(const char *const *words, size_t count, char *text, size_t bytes)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && length < bytes; i++)
        length += (size_t)snprintf(text + length, bytes - length, "%s%s", i ? "|" : "", words[i]);
}

struct ny_counted ny_counted(uint64_t count, const char *one, const char *many)
{
    struct ny_counted counted;

    snprintf(counted.text, sizeof(counted.text), "%llu %s", (unsigned long long)count,
             count == 1 ? one : many);
    return counted;
}

bool ny_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcasecmp(text + length - end_length, end) == 0;
}

size_t ny_utf8_bytes(const char *string)
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

/* Tells whether the letter is a control character of ASCII or of Latin-1 (U+0080 to U+009F),
 * which a terminal might obey. */
static bool is_control(const char *text, size_t bytes)
{
    unsigned char first = (unsigned char)text[0];

    return bytes == 1 ? first < 0x20 || first == 0x7f
                      : bytes == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0;
}

void ny_clean_text(const char *text, char *clean, size_t bytes)
{
    static const char dots[] = "…";
    size_t used = 0, room = bytes - sizeof(dots), cut = 0;

    while (*text) {
        size_t count = ny_utf8_bytes(text);
        bool good = count && !is_control(text, count);
        size_t wide = good ? count : 1;

        if (used <= room) cut = used;
        if (used + wide >= bytes) {
            memcpy(clean + cut, dots, sizeof(dots));
            return;
        }
        if (good)
            memcpy(clean + used, text, count);
        else
            clean[used] = '?';
        used += wide;
        text += count ? count : 1;
    }
    clean[used] = '\0';
}
