/*
 * Small functions on texts: lists such as "a|b|c", and texts that are safe to print.
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

const char *ny_grouped(uint64_t number, char text[32])
{
    char plain[24];
    int length = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)number), at = 0;

    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) text[at++] = ',';
        text[at++] = plain[i];
    }
    text[at] = '\0';
    return text;
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

void ny_clean_text(const char *text, char *clean, size_t bytes)
{
    static const char dots[] = "…";
    size_t used = 0, room = bytes - sizeof(dots), cut = 0;

    while (*text) {
        size_t count = ny_utf8_bytes(text);
        bool good = count && !ny_utf8_is_control(text, count);
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
