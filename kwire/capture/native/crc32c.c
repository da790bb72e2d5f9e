/* CRC-32C by SSE 4.2's instruction, or eight bytes a step by eight tables. */
#include "crc32c.h"

#include <string.h>

#define POLYNOMIAL 0x82F63B78u  /* reflected */
#define STRIDE 2048  /* bytes of each of the three parts of a block */

static uint32_t tables[8][256];

static void fill_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        tables[0][byte] = crc;
    }
    for (int table = 1; table < 8; table++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][before & 0xFF];
        }
}

static uint32_t load_low(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static uint32_t by_tables(uint32_t crc, const unsigned char *p, size_t size)
{
    for (; size >= 8; p += 8, size -= 8) {
        uint32_t low = load_low(p) ^ crc, high = load_low(p + 4);
        crc = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF]
            ^ tables[4][low >> 24] ^ tables[3][high & 0xFF] ^ tables[2][high >> 8 & 0xFF]
            ^ tables[1][high >> 16 & 0xFF] ^ tables[0][high >> 24];
    }
    for (; size; p++, size--)
        crc = crc >> 8 ^ tables[0][(crc ^ *p) & 0xFF];
    return crc;
}

#if defined(__x86_64__) && defined(__GNUC__)
/* What a sum becomes by STRIDE zeros behind it, for each value of each of its bytes. */
static uint32_t shifts[4][256];

static void fill_shifts(void)
{
    static const unsigned char zeros[STRIDE];
    for (int place = 0; place < 4; place++)
        for (int bit = 0; bit < 8; bit++) {
            uint32_t shifted = by_tables(1u << (8 * place + bit), zeros, STRIDE);
            for (int byte = 0; byte < 256; byte++)
                if (byte >> bit & 1)
                    shifts[place][byte] ^= shifted;
        }
}

static uint32_t shift(uint32_t crc)
{
    return shifts[0][crc & 0xFF] ^ shifts[1][crc >> 8 & 0xFF] ^ shifts[2][crc >> 16 & 0xFF]
         ^ shifts[3][crc >> 24];
}

__attribute__((target("sse4.2")))
static uint32_t by_instruction(uint32_t crc, const unsigned char *p, size_t size)
{
    uint64_t wide = crc, word;
    for (; size >= 8; p += 8, size -= 8) {
        memcpy(&word, p, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; size; p++, size--)
        crc = __builtin_ia32_crc32qi(crc, *p);
    return crc;
}

/* Three sums at once: one alone would wait for its last step, three times as long as a step takes. The
 * parts are too short for the processor to see that they go on, so that it is told what comes next. */
__attribute__((target("sse4.2")))
static uint32_t copy_blocks(uint32_t crc, unsigned char *to, const unsigned char *from, size_t blocks)
{
    for (; blocks; blocks--, to += 3 * STRIDE, from += 3 * STRIDE) {
        uint64_t sums[3] = {crc, 0, 0}, word;
        for (size_t at = 0; at < STRIDE; at += 8)
            for (size_t part = at; part < 3 * STRIDE; part += STRIDE) {
                if (at % 64 == 0 && blocks > 1)
                    __builtin_prefetch(from + part + 3 * STRIDE);
                memcpy(&word, from + part, 8);
                memcpy(to + part, &word, 8);
                sums[part / STRIDE] = __builtin_ia32_crc32di(sums[part / STRIDE], word);
            }
        crc = shift(shift((uint32_t)sums[0]) ^ (uint32_t)sums[1]) ^ (uint32_t)sums[2];
    }
    return crc;
}

static bool has_instruction;

bool crc32c_prepare(void)
{
    fill_tables();
    memset(shifts, 0, sizeof shifts);
    fill_shifts();
    return has_instruction = __builtin_cpu_supports("sse4.2");
}

uint32_t crc32c(uint32_t crc, const unsigned char *bytes, size_t size)
{
    return ~(has_instruction ? by_instruction : by_tables)(~crc, bytes, size);
}

uint32_t crc32c_copy(uint32_t crc, unsigned char *to, const unsigned char *from, size_t size)
{
    size_t blocks = has_instruction ? size / (3 * STRIDE) : 0, done = blocks * 3 * STRIDE;
    crc = blocks ? ~copy_blocks(~crc, to, from, blocks) : crc;
    memcpy(to + done, from + done, size - done);
    return crc32c(crc, from + done, size - done);
}
#else
bool crc32c_prepare(void)
{
    fill_tables();
    return false;
}

uint32_t crc32c(uint32_t crc, const unsigned char *bytes, size_t size)
{
    return ~by_tables(~crc, bytes, size);
}

uint32_t crc32c_copy(uint32_t crc, unsigned char *to, const unsigned char *from, size_t size)
{
    memcpy(to, from, size);
    return crc32c(crc, from, size);
}
#endif
