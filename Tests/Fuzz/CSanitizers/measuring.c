#include "measuring.h"

#include <stddef.h>
#include <time.h>

// AddressSanitizer calls the hooks at each allocation, also within Swift's runtime. So they are not Swift functions, which
// may allocate memory themselves.
extern int __sanitizer_install_malloc_and_free_hooks(
    void (*malloc_hook)(const volatile void *, size_t), void (*free_hook)(const volatile void *));
extern size_t __sanitizer_get_allocated_size(const volatile void *);

static long live_bytes, peak_bytes;

static void note_malloc(const volatile void *place, size_t size) {
    (void)place;
    long live = __atomic_add_fetch(&live_bytes, (long)size, __ATOMIC_RELAXED);
    long peak = __atomic_load_n(&peak_bytes, __ATOMIC_RELAXED);
    while (live > peak
           && !__atomic_compare_exchange_n(&peak_bytes, &peak, live, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static void note_free(const volatile void *place) {
    if (place) __atomic_sub_fetch(&live_bytes, (long)__sanitizer_get_allocated_size(place), __ATOMIC_RELAXED);
}

int capture_count_allocations(void) { return __sanitizer_install_malloc_and_free_hooks(note_malloc, note_free); }

long capture_begin_measurement(void) {
    long live = __atomic_load_n(&live_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&peak_bytes, live, __ATOMIC_RELAXED);
    return live;
}

long capture_most_bytes(void) { return __atomic_load_n(&peak_bytes, __ATOMIC_RELAXED); }

double capture_processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
