// Linked into the programs of Tests/Threads only. ThreadSanitizer sees the fast ways through a Mutex of Swift's Synchronization,
// because they are compiled into our code. A thread that has to wait, or that wakes one that waits, goes through
// libswiftSynchronization.so, which is not instrumented: what a thread wrote before it unlocked would look like a race. So these
// three functions of the library are called from here, and what they mean is said to ThreadSanitizer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"   // _MutexHandle._lockSlow(Swift.UInt32) -> ()
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"        // _MutexHandle._tryLockSlow() -> Swift.Bool
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"       // _MutexHandle._unlockSlow() -> ()

void __tsan_acquire(void *);
void __tsan_release(void *);

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock(SELF) __asm__(TRY);
SWIFT void unlock(SELF) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF) {
    ((SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK))(thread, handle);
    __tsan_acquire(handle);
}

SWIFT bool try_lock(SELF) {
    bool is_locked = ((SWIFT bool (*)(SELF))dlsym(RTLD_NEXT, TRY))(handle);
    if (is_locked) __tsan_acquire(handle);
    return is_locked;
}

SWIFT void unlock(SELF) {
    __tsan_release(handle);
    ((SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK))(handle);
}
