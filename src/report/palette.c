#include "report/palette.h"

#include <math.h>

/* The first ten are those of Okabe and Ito, blue first and yellow last, with a brown and a grey:
 * what few classes take stands out on white. Each of the ten behind them is the colour that is
 * farthest from all before it in CIELAB, so that no two are nearer than 26, as near as two of the
 * first ten. */
const uint32_t ny_class_color[NY_CLASS_COLORS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                                  0x56b4e9, 0x000000, 0x7b4f2c, 0x8c8c8c, 0xf0e442,
                                                  0x4400aa, 0x33ee55, 0xff00bb, 0xee0055, 0x441155,
                                                  0xaa88ff, 0x668800, 0xffaa88, 0x003300, 0xbbdd99};

enum ny_shape ny_class_shape(size_t number)
{
    return (enum ny_shape)((number % NY_CLASS_COLORS + number / NY_CLASS_COLORS) % NY_SHAPES);
}

/* Colours of matplotlib's table, at fifteenths. */
static const uint32_t viridis[] = {0x440154, 0x481a6c, 0x472f7d, 0x414487, 0x39568c, 0x31688e,
                                   0x2a788e, 0x23888e, 0x1f988b, 0x22a884, 0x35b779, 0x54c568,
                                   0x7ad151, 0xa5db36, 0xd2e21b, 0xfde725};

static uint32_t channel_between(uint32_t a, uint32_t b, unsigned shift, double t)
{
    double from = a >> shift & 255, to = b >> shift & 255;

    return (uint32_t)lround(from + (to - from) * t) << shift;
}

uint32_t ny_viridis(double t)
{
    const size_t last = sizeof(viridis) / sizeof(viridis[0]) - 1;
    double at = (t > 0 ? t < 1 ? t : 1 : 0) * (double)last; /* NaN: 0 */
    size_t k = at < (double)last ? (size_t)at : last - 1;
    uint32_t a = viridis[k], b = viridis[k + 1];

    at -= (double)k;
    return channel_between(a, b, 16, at) | channel_between(a, b, 8, at) |
           channel_between(a, b, 0, at);
}

uint32_t ny_amount_color(double t)
{
    const double lightest = 0.9; /* yellow is hard to see on white */

    return ny_viridis(lightest * (1 - t));
}
