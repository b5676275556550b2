/* What rustc's ThreadSanitizer code calls and gcc's runtime calls by its plain name; the runtime intercepts these. */
#include <stddef.h>
#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t n) { return memcpy(to, from, n); }
void *__tsan_memmove(void *to, const void *from, size_t n) { return memmove(to, from, n); }
void *__tsan_memset(void *to, int byte, size_t n) { return memset(to, byte, n); }
