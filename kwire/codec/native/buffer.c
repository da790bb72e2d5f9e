/* The buffer that is written into. */
#include "shared.h"

bool buffer_grow(Buffer *buffer, size_t more)
{
    size_t used = (size_t)(buffer->at - buffer->start);
    if (more > (size_t)PY_SSIZE_T_MAX / 2 - used)
        return false;
    size_t size = 2 * (used + more);
    unsigned char *start = PyMem_Realloc(buffer->start, size);
    if (!start)
        return false;
    buffer->start = start;
    buffer->at = start + used;
    buffer->end = start + size;
    return true;
}
