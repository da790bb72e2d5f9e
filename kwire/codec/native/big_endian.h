/* Big-endian integers, of which compilers make one instruction each; without Python. */
#ifndef KWIRE_BIG_ENDIAN_H
#define KWIRE_BIG_ENDIAN_H

#include <stdint.h>

static inline uint16_t load16(const unsigned char *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t load32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t load64(const unsigned char *p)
{
    return (uint64_t)load32(p) << 32 | load32(p + 4);
}

static inline void store16(unsigned char *p, uint16_t value)
{
    p[0] = (unsigned char)(value >> 8);
    p[1] = (unsigned char)value;
}

static inline void store32(unsigned char *p, uint32_t value)
{
    store16(p, (uint16_t)(value >> 16));
    store16(p + 2, (uint16_t)value);
}

static inline void store64(unsigned char *p, uint64_t value)
{
    store32(p, (uint32_t)(value >> 32));
    store32(p + 4, (uint32_t)value);
}

#endif
