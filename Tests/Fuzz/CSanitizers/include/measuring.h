#ifndef CSANITIZERS_MEASURING_H
#define CSANITIZERS_MEASURING_H

// Counts the allocations of this process from now on; 0 if AddressSanitizer has no room for more hooks.
int capture_count_allocations(void);

// Begins a measurement and returns the bytes in use.
long capture_begin_measurement(void);

// The most bytes that were in use at once since the measurement began.
long capture_most_bytes(void);

// The seconds that this thread has run on a processor.
double capture_processor_seconds(void);

#endif
