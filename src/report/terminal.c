/*
 * Draws a picture in letters for a terminal (report/terminal.h); ny_plot_text() in api/plot.c calls
 * it.
 *
 * The points are counted in a raster of 2 × 4 dots a letter, for braille, or of one cell a letter.
 * Braille sets more dots where more points lie, by a threshold that differs from dot to dot, and at
 * least one where there is any; where no dot has more than eight points, each that has one is set.
 * Colours are those of the 6 × 6 × 6 cube that terminals share. A screen without UTF-8 gets signs
 * from . to @ and words in ASCII, such as 10^-7. A screen without colours gets a letter for each
 * class, and so does every screen if there are more classes than colours. Up to 62 classes have
 * letters of their own; further ones share them.
 */
#include "report/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/palette.h"
#include "report/words.h"

enum {
    CELL_WIDTH = 2, /* dots of a letter of braille */
    CELL_HEIGHT = 4,
    MARGIN = 10, /* columns left of the axes, at least */
    AROUND = 6,  /* lines above and below */
    LEAST_COLUMNS = 30,
    LEAST_LINES = 10,
    NO_COLOR = -1,
    LETTERS = 62,    /* that classes are shown by, as in `signs` */
    FEW_IN_A_DOT = 8 /* up to that many every dot with a point is set */
};

static const char signs[LETTERS + 1] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

struct page {
    struct ny_scene scene;
    struct ny_screen screen;
    struct ny_raster raster;
    size_t columns, lines; /* of letters within the axes */
    size_t margin;         /* columns left of them */
    bool braille, letters; /* letters: classes have one each, of these: */
    char letter_of[LETTERS];
    uint64_t most_in_dot, most_in_letter;
    struct ny_sink *out;
    int color; /* in force */
};

/* ---- words without UTF-8 ------------------------------------------------------------------ */

/* Characters of the picture's words that a screen without UTF-8 gets in ASCII. */
static const struct {
    const char *from, *to;
} plain[] = {{"−", "-"}, {"γ", "gamma"}, {"λ", "lambda"}, {"×", "x"}, {"…", "..."}, {"⁻", "-"},
             {"⁰", "0"}, {"¹", "1"},     {"²", "2"},      {"³", "3"}, {"⁴", "4"},   {"⁵", "5"},
             {"⁶", "6"}, {"⁷", "7"},     {"⁸", "8"},      {"⁹", "9"}};

/* Tells whether a character is a raised digit or minus; a ^ then comes before the first one. */
static bool is_raised(const char *text, size_t bytes)
{
    return bytes > 1 && (strncmp(text, "⁻", bytes) == 0 || strncmp(text, "⁰", 2) == 0 ||
                         strncmp(text, "¹", bytes) == 0 || strncmp(text, "²", bytes) == 0 ||
                         strncmp(text, "³", bytes) == 0);
}

/* Writes text as it is, or in ASCII: 10⁻⁷ becomes 10^-7. Returns the columns that it takes. */
static size_t put_words(struct page *page, const char *text)
{
    bool raised = false;
    size_t columns = 0;

    while (*text) {
        size_t bytes = ny_utf8_bytes(text);
        char letter[8] = "?";
        const char *shown = letter;

        if (page->screen.utf8 || bytes == 1)
            snprintf(letter, sizeof(letter), "%.*s", (int)bytes, text);
        for (size_t i = 0; !page->screen.utf8 && i < sizeof(plain) / sizeof(plain[0]); i++)
            if (strncmp(plain[i].from, text, bytes) == 0) shown = plain[i].to;
        if (!page->screen.utf8 && is_raised(text, bytes) && !raised) {
            ny_put(page->out, "^");
            columns++;
        }
        raised = is_raised(text, bytes);
        ny_put(page->out, shown);
        columns += page->screen.utf8 ? 1 : strlen(shown);
        text += bytes ? bytes : 1;
    }
    return columns;
}

static size_t columns_of(const char *text)
{
    size_t columns = 0;

    for (; *text; text += ny_utf8_bytes(text))
        columns++;
    return columns;
}

/* ---- colours ------------------------------------------------------------------------------ */

/* The nearest of the 6 × 6 × 6 colours that terminals have; black is left to the terminal. */
static int color_number(uint32_t rgb)
{
    int number = 16;

    for (unsigned shift = 16, weight = 36; weight; shift -= 8, weight /= 6) {
        int v = (int)(rgb >> shift & 255);

        number += (int)weight * (v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40);
    }
    return number == 16 ? NO_COLOR : number;
}

/* Changes the colour by an escape sequence, and only if it is another one. */
static void set_color(struct page *page, int color)
{
    if (!page->screen.colors || color == page->color) return;
    if (color == NO_COLOR)
        ny_put(page->out, "\033[0m");
    else
        ny_putf(page->out, "\033[38;5;%dm", color);
    page->color = color;
}

/* ---- letters ------------------------------------------------------------------------------ */

/* Returns the first letter or digit of a text that is no class's yet, or, if `first`, its first one
 * of all if that is free; '\0' where there is none. */
static char free_letter(const struct page *page, const char *text, bool first)
{
    for (; *text; text++) {
        if (!strchr(signs, *text)) continue;
        if (!memchr(page->letter_of, *text, LETTERS)) return *text;
        if (first) break;
    }
    return '\0';
}

/* Chooses the letter of each class, in the order of the legend. Names that begin with a letter or
 * digit that is free take it first, so that class 3 is a 3 and none takes the initial of another
 * one. The rest take another letter of their name that is free, and at last any. */
static void choose_letters(struct page *page)
{
    enum { INITIALS, OTHERS, ANY };
    const struct ny_tint *tint = &page->scene.tint;

    for (int turn = INITIALS; turn <= ANY; turn++)
        for (size_t i = 0; i < tint->count; i++) {
            size_t k = tint->order[i];

            if (k >= LETTERS || page->letter_of[k]) continue;
            page->letter_of[k] =
                free_letter(page, turn == ANY ? signs : tint->classes[k].name, turn == INITIALS);
        }
}

/* The dots of a letter: their sums. */
struct cell {
    uint64_t dots[CELL_WIDTH * CELL_HEIGHT], points;
    uint64_t slots[LETTERS + 1];
    double sum;
};

/* Adds up the cells of the raster that lie under one letter. */
static void sum_cell(const struct page *page, size_t column, size_t line, struct cell *cell)
{
    const struct ny_raster *r = &page->raster;
    size_t wide = r->width / page->columns, high = r->height / page->lines;

    *cell = (struct cell){.points = 0};
    for (size_t k = 0; k < wide * high; k++) {
        size_t at = (line * high + k / wide) * r->width + column * wide + k % wide;

        for (size_t s = 0; s < r->slots; s++) {
            cell->dots[k] += r->counts[at * r->slots + s];
            cell->slots[s] += r->counts[at * r->slots + s];
        }
        cell->points += cell->dots[k];
        if (r->sums) cell->sum += r->sums[at];
    }
}

/* Finds the most points in a dot and in a letter, by which levels are judged. */
static void find_most(struct page *page)
{
    struct cell cell;

    page->most_in_dot = ny_raster_most(&page->raster);
    for (size_t i = 0; i < page->lines * page->columns; i++) {
        sum_cell(page, i % page->columns, i / page->columns, &cell);
        if (cell.points > page->most_in_letter) page->most_in_letter = cell.points;
    }
}

/* The class that a cell shows. */
static size_t shown_slot(const struct page *page, const struct cell *cell)
{
    size_t shown = 0;

    for (size_t s = 1; s < page->raster.slots; s++)
        if (ny_raster_shows(&page->raster, s, cell->slots[s], shown, cell->slots[shown])) shown = s;
    return shown;
}

/* Tells whether a slot of the raster counts points of a class, as all but the last one do. */
static bool is_class(const struct page *page, size_t slot)
{
    return slot < page->raster.slots - 1;
}

static int color_of(const struct page *page, const struct cell *cell)
{
    const double darkest = 0.25; /* on a dark screen dark violet cannot be seen */
    size_t slot = shown_slot(page, cell);
    double level;

    switch (page->scene.tint.kind) {
    case NY_RASTER_CLASSES:
        return color_number(is_class(page, slot) ? ny_class_color[slot % NY_CLASS_COLORS]
                                                 : NY_NO_CLASS_COLOR);
    case NY_RASTER_VALUES:
        level = cell->sum / (double)cell->points;
        break;
    default:
        level = ny_raster_level(cell->points, page->most_in_letter);
    }
    return color_number(ny_viridis(darkest + (1 - darkest) * level));
}

/* Writes a cell in braille: more dots are set where more points lie, and at least one. */
static void put_braille(struct page *page, const struct cell *cell)
{
    static const unsigned char bit[] = {0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80};
    static const double threshold[] = {.06, .56, .81, .31, .19, .69, .94, .44};
    unsigned dots = 0, any = 0;
    char letter[4] = "\xe2";

    for (size_t k = 0; k < CELL_WIDTH * CELL_HEIGHT; k++) {
        double level = log1p((double)cell->dots[k]) / log1p((double)page->most_in_dot);

        if (!cell->dots[k]) continue;
        if (!any) any = bit[k];
        if (page->most_in_dot <= FEW_IN_A_DOT || level > threshold[k]) dots |= bit[k];
    }
    if (!dots) dots = any;
    letter[1] = (char)(0xa0 + (dots >> 6));
    letter[2] = (char)(0x80 + (dots & 63));
    ny_put(page->out, letter);
}

/* Writes a cell as one of nine signs that grow darker with the logarithm of its points. */
static void put_sign(struct page *page, const struct cell *cell)
{
    static const char shades[] = ".:-=+*#%@";
    double level = ny_raster_level(cell->points, page->most_in_letter);
    char letter[2] = {shades[(size_t)fmin(level * 9, 8)], '\0'};

    if (page->most_in_letter == 1) letter[0] = 'o';
    ny_put(page->out, letter);
}

static void put_cell(struct page *page, size_t column, size_t line)
{
    struct cell cell;
    size_t slot;

    sum_cell(page, column, line, &cell);
    if (!cell.points) {
        ny_put(page->out, " ");
        return;
    }
    set_color(page, color_of(page, &cell));
    slot = shown_slot(page, &cell);
    if (page->letters)
        ny_putf(page->out, "%c", is_class(page, slot) ? page->letter_of[slot] : '?');
    else if (page->braille)
        put_braille(page, &cell);
    else
        put_sign(page, &cell);
}

/* ---- around it ---------------------------------------------------------------------------- */

static void put_spaces(struct page *page, size_t count)
{
    while (count--)
        ny_put(page->out, " ");
}

/* Writes a tick's number, with its power of ten where it is short so, as in "1.5e-7": a terminal
 * has no place to say it once. */
static const char *tick_text(const struct ny_ticks *ticks, size_t k, char text[40])
{
    const char *point = strchr(ticks->text[k], '.');
    int decimals = (point ? (int)strlen(point + 1) : 0) - ticks->exponent;
    double at = ticks->at[k];

    if (at == 0)
        snprintf(text, 40, "0");
    else if (ticks->exponent < 0 && decimals <= 4)
        ny_decimal_print(text, 40, "%s%.*f", at < 0 ? "−" : "", decimals, fabs(at));
    else if (ticks->exponent)
        snprintf(text, 40, "%se%d", ticks->text[k], ticks->exponent);
    else
        snprintf(text, 40, "%s", ticks->text[k]);
    return text;
}

/* Writes what is left of a line of the picture: the number of a tick whose place is in this line,
 * or none. */
static void put_left(struct page *page, const struct ny_ticks *ticks, size_t line)
{
    const char *text = "";
    char number[40];

    for (size_t k = 0; k < ticks->count; k++) {
        double share = 1 - ny_axis_place(&page->scene.y, ticks->at[k]);

        if ((size_t)fmin(share * (double)page->lines, (double)page->lines - 1) == line)
            text = tick_text(ticks, k, number);
    }
    put_spaces(page, columns_of(text) < page->margin - 2 ? page->margin - 2 - columns_of(text) : 0);
    put_words(page, text);
    ny_put(page->out, !page->screen.utf8 ? *text ? " +" : " |" : *text ? " ┤" : " │");
}

/* Writes the line below the picture and the numbers of its ticks, leaving out those that would
 * touch. */
static void put_below(struct page *page, const struct ny_ticks *ticks)
{
    size_t at = 0;

    put_spaces(page, page->margin - 1);
    ny_put(page->out, page->screen.utf8 ? "└" : "+");
    for (size_t i = 0; i < page->columns; i++)
        ny_put(page->out, page->screen.utf8 ? "─" : "-");
    ny_put(page->out, "\n");
    put_spaces(page, page->margin);
    for (size_t k = 0; k < ticks->count; k++) {
        double share = ny_axis_place(&page->scene.x, ticks->at[k]);
        char text[40];
        size_t width = columns_of(tick_text(ticks, k, text));
        size_t place = (size_t)(share * (double)page->columns);

        place = place > width / 2 ? place - width / 2 : 0;
        if (place < at + (k > 0) || place + width > page->columns) continue;
        put_spaces(page, place - at);
        at = place + put_words(page, text);
    }
    ny_put(page->out, "\n");
}

/* Writes the legend: each class as its letter or in its colour, and its name, in lines that fit;
 * last the rows of none. */
static void put_classes(struct page *page)
{
    const struct ny_tint *tint = &page->scene.tint;
    size_t at = 0;

    for (size_t i = 0; i < tint->count + (tint->nameless > 0); i++) {
        bool none = i == tint->count;
        size_t k = none ? 0 : tint->order[i];
        const char *name = none ? ny_tint_rest(tint) : tint->classes[k].name;
        size_t width = columns_of(name) + 4;

        if (at && at + width > page->columns) {
            ny_put(page->out, "\n");
            at = 0;
        }
        if (!at) put_spaces(page, page->margin);
        set_color(page,
                  color_number(none ? NY_NO_CLASS_COLOR : ny_class_color[k % NY_CLASS_COLORS]));
        if (page->letters)
            ny_putf(page->out, "%c=", none ? '?' : page->letter_of[k % LETTERS]);
        else
            ny_put(page->out, page->screen.utf8 ? "● " : "* ");
        set_color(page, NO_COLOR);
        put_words(page, name);
        ny_put(page->out, "  ");
        at += width;
    }
    if (at) ny_put(page->out, "\n");
}

/* Says which column colours show, and the values of the darkest and the brightest rows. */
static void put_scale(struct page *page)
{
    const struct ny_tint *tint = &page->scene.tint;
    double least = fmax(tint->least, tint->range.low), most = fmin(tint->most, tint->range.high);
    char words[NY_WORDS_BYTES], number[48];

    if (tint->kind != NY_RASTER_VALUES || !page->screen.colors || !(least <= most)) return;
    ny_describe_column(&page->scene.frame, tint->column, words);
    put_spaces(page, page->margin);
    put_words(page, "colours: ");
    put_words(page, words);
    put_words(page, ", from ");
    put_words(page, ny_short_number(least, number));
    put_words(page, least > tint->least ? " or less (dark) to " : " (dark) to ");
    put_words(page, ny_short_number(most, number));
    put_words(page, most < tint->most ? " or more (bright)\n" : " (bright)\n");
}

static void put_notes(struct page *page)
{
    char words[NY_WORDS_BYTES], number[32];

    put_spaces(page, page->margin);
    ny_describe_column(&page->scene.frame, 0, words);
    put_words(page, words);
    if (page->raster.outside)
        ny_putf(page->out, "; %s outside the axes", ny_grouped(page->raster.outside, number));
    if (page->raster.missing)
        ny_putf(page->out, "; %s without a value", ny_grouped(page->raster.missing, number));
    ny_put(page->out, "\n");
    put_scale(page);
    if (page->scene.tint.kind == NY_RASTER_CLASSES) put_classes(page);
}

static void put_page(struct page *page, const char *title)
{
    char words[NY_WORDS_BYTES], name[128];
    struct ny_ticks x, y;

    ny_ticks_make(&x, &page->scene.x, page->columns / 14 + 1);
    ny_ticks_make(&y, &page->scene.y, page->lines / 4 + 1);
    ny_clean_text(title ? title : page->scene.frame.result.name, name, sizeof(name));
    ny_describe_result(&page->scene.frame.result, words);
    put_words(page, name);
    ny_put(page->out, ": ");
    put_words(page, words);
    ny_put(page->out, "\n");
    ny_describe_column(&page->scene.frame, 1, words);
    put_spaces(page, page->margin - 1);
    put_words(page, words);
    ny_put(page->out, "\n");
    for (size_t line = 0; line < page->lines; line++) {
        put_left(page, &y, line);
        for (size_t column = 0; column < page->columns; column++)
            put_cell(page, column, line);
        set_color(page, NO_COLOR);
        ny_put(page->out, "\n");
    }
    put_below(page, &x);
    put_notes(page);
}

static int count_points(void *user, const struct ny_data_frame *frame, size_t count)
{
    struct page *page = user;

    (void)frame;
    ny_scene_count(&page->scene, &page->raster, count);
    return NY_OK;
}

/* Gives the picture its size, and its axes one scale where they have to have one. Letters are about
 * twice as high as they are wide. Numbers beside the axes may need a wider margin. */
static void lay_out(struct page *page, size_t wide, size_t high)
{
    struct ny_ticks ticks;
    char text[40];

    page->margin = MARGIN;
    page->lines = high - AROUND;
    page->columns = wide - page->margin - 1;
    ny_scene_fit(&page->scene, (double)page->columns, 2 * (double)page->lines);
    ny_ticks_make(&ticks, &page->scene.y, page->lines / 4 + 1);
    for (size_t k = 0; k < ticks.count; k++) {
        size_t columns = columns_of(tick_text(&ticks, k, text)) + 2;

        if (columns > page->margin && columns <= wide / 2) page->margin = columns;
    }
    if (page->margin == MARGIN) return;
    page->columns = wide - page->margin - 1;
    ny_scene_fit(&page->scene, (double)page->columns, 2 * (double)page->lines);
}

/* Makes the raster: of one cell for each letter that stands for a class, or of dots. */
static int make_raster(struct page *page)
{
    const struct ny_tint *tint = &page->scene.tint;
    size_t classes = tint->count < LETTERS ? tint->count : LETTERS;

    if (page->letters)
        return ny_raster_new_classes(&page->raster, page->scene.ctx, classes ? classes : 1,
                                     page->columns, page->lines);
    return ny_raster_new(&page->raster, page->scene.ctx, tint->kind,
                         page->columns * (page->braille ? CELL_WIDTH : 1),
                         page->lines * (page->braille ? CELL_HEIGHT : 1), UINT64_MAX);
}

/* Chooses letters, braille or signs, counts all points, and writes the page. */
static int draw(struct page *page, const char *title)
{
    const struct ny_screen *screen = &page->screen;
    size_t wide = screen->columns > LEAST_COLUMNS ? screen->columns : LEAST_COLUMNS;
    size_t high = screen->lines > LEAST_LINES ? screen->lines : LEAST_LINES;
    int err;

    page->letters = page->scene.tint.kind == NY_RASTER_CLASSES &&
                    (!screen->colors || page->scene.tint.count > NY_CLASS_COLORS);
    page->braille = screen->utf8 && !page->letters;
    if (page->letters) choose_letters(page);
    lay_out(page, wide, high);
    err = make_raster(page);
    if (err) return err;
    ny_tint_lay(&page->scene.tint, &page->raster, page->columns * page->lines);
    err = ny_data_frame_walk(&page->scene.frame, "plot", count_points, page);
    if (err) return err;
    find_most(page);
    put_page(page, title);
    return page->out->err;
}

int ny_terminal_draw(struct ny_store *store, const char *name, const struct ny_scene_spec *spec,
                     const char *title, const struct ny_screen *screen, struct ny_sink *out)
{
    struct page page = {.screen = *screen, .out = out, .color = NO_COLOR};
    int err = ny_scene_open(&page.scene, store, name, spec);

    if (err == NY_OK) err = draw(&page, title);
    ny_raster_release(&page.raster);
    ny_scene_close(&page.scene);
    return err;
}
