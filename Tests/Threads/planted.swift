// What ThreadSanitizer must report, and what it must not: a number that threads change, with a Mutex that makes them wait, or
// with nothing. usage: planted locked|racing
import Glibc
import Synchronization

final class Shared: @unchecked Sendable {
    let lock = Mutex(())
    let begun = Atomic(0)
    var number = 0
}

let shared = Shared()
let isLocked = CommandLine.arguments.last == "locked"
let threads = (0..<4).map { _ in
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { _ in
            // A thread that begins when another has ended may get its place in ThreadSanitizer, which then sees no race.
            shared.begun.add(1, ordering: .relaxed)
            while shared.begun.load(ordering: .relaxed) < 4 { sched_yield() }
            for _ in 0..<2_000 {
                if isLocked { shared.lock.withLock { _ in shared.number += 1 } } else { shared.number += 1 }
            }
            return nil
        }, nil)
    return thread
}
for thread in threads { pthread_join(thread, nil) }
print(shared.number)
