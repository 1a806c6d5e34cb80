/* Frames of genotypes: two bits each, whatever was in the room before. */
#include "base/random.h"
#include "store/codec.h"
#include "support/context.h"

TEST(genotypes_take_two_bits)
{
    enum { MOST = 41 };

    for (uint32_t count = 1; count <= MOST; count++) {
        struct ny_frame frame = {.store = 7, .number = 3, .rows = 1, .kind = NY_KIND_POINTS};
        struct ny_frame found = frame;
        uint8_t raw[MOST], room[MOST], value[sizeof(struct ny_header) + MOST], back[MOST];
        struct ny_packed packed;

        for (uint32_t i = 0; i < count; i++)
            raw[i] = (uint8_t)(4 * ny_hash01(1, count, i));
        memset(room, 0xff, sizeof(room));
        frame.raw_bytes = count;
        packed = ny_frame_pack_crumbs(&frame, raw, room);
        assert_int_equal(packed.bytes, (count + 3) / 4);
        for (uint32_t i = 0; i < 4 * packed.bytes; i++)
            assert_int_equal(room[i / 4] >> 2 * (i % 4) & 3, i < count ? raw[i] : 0);
        memcpy(value, &packed.header, sizeof(packed.header));
        memcpy(value + sizeof(packed.header), packed.stored, packed.bytes);
        assert_null(ny_frame_check(&found, value, sizeof(packed.header) + packed.bytes));
        assert_int_equal(found.raw_bytes, count);
        assert_int_equal(found.codec, NY_CODEC_CRUMBS);
        assert_null(ny_frame_decode(NULL, &found, value, sizeof(value), back));
        assert_memory_equal(back, raw, count);
        if (count % 4 != 1) continue;
        frame.raw_bytes = count + 4; /* of more values than there are */
        packed.header = ny_frame_seal(&frame, room, packed.bytes);
        memcpy(value, &packed.header, sizeof(packed.header));
        assert_string_equal(ny_frame_check(&found, value, sizeof(packed.header) + packed.bytes),
                            "its size is wrong");
    }
}

AROUND_EACH(start, stop)
