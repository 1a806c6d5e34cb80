/* Numbers with their units, for people: sizes, times and rates of three digits. `space` stands
 * between a number and its unit: a blank, or in HTML a no-break one. All return `text`. */
#ifndef NY_BASE_UNITS_H
#define NY_BASE_UNITS_H

enum { NY_UNIT_BYTES = 48 };

/* Puts bytes in binary units: "41.6 MiB". */
const char *ny_size_words(double bytes, const char *space, char text[NY_UNIT_BYTES]);
/* Puts seconds in words: "0.2 ms", "4.6 s", "3 min 20 s", "2 h 05 min", "3 days 4 h". */
const char *ny_time_words(double seconds, const char *space, char text[NY_UNIT_BYTES]);
/* Puts a number in powers of 1,000 of a unit: "446 GF/s"; of "rows/s" also "1.20 M rows/s". */
const char *ny_scaled_words(double value, const char *unit, const char *space,
                            char text[NY_UNIT_BYTES]);

#endif
