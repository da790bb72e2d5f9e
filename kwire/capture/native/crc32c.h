/* CRC-32C (Castagnoli, RFC 3720), by the processor's instruction where it has one. */
#ifndef KWIRE_CRC32C_H
#define KWIRE_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Call it once, before the others. Returns whether there is the instruction. */
bool crc32c_prepare(void);

uint32_t crc32c(uint32_t crc, const unsigned char *bytes, size_t size);

/* The same while the bytes are copied: memory is what both wait for. */
uint32_t crc32c_copy(uint32_t crc, unsigned char *to, const unsigned char *from, size_t size);

#endif
