import CurlClient
import QueueModel
import Synchronization

/// What all transfers to one destination know about the digests that it shows.
final class KnownDigests: Sendable {
    private let state: Mutex<DigestTraits>
    /// How many captures this run read back because of a coding.
    private let coded = Mutex(0)
    private let missesFolder = Mutex(false)
    /// Whether this run has tried to send a wrong checksum.
    private let hasTried = Atomic(false)

    init(_ traits: DigestTraits) { state = Mutex(traits) }

    var traits: DigestTraits { state.withLock(\.self) }

    /// Remembers that ETags of the destination are not MD5s although they look like them.
    func hasOtherETags(_ keep: (DigestTraits) -> Void) {
        state.withLock { traits in
            guard traits.hasMD5ETags else { return }
            traits.hasMD5ETags = false
            keep(traits)
        }
    }

    /// Remembers that a folder seems to be missing.
    ///
    /// - Parameter again: whether an earlier try of the delivery has seen that.
    /// - Returns: whether it was seen before.
    func isMissingFolder(again: Bool) -> Bool {
        missesFolder.withLock { seen in
            defer { seen = true }
            return seen || again
        }
    }

    /// Counts a capture whose bytes are read back because the server codes what it has, and names the price once.
    func readsBack(because answer: HTTPAnswer, _ warn: (String) -> Void) {
        let count = coded.withLock { count in
            count += 1
            return count
        }
        guard count == 3 else { return }
        warn(
            "the server returns what it has as \(answer["content-encoding"] ?? "") and tells no length, so each capture "
                + "is read back to prove it, which costs as many bytes as sending it; let it return captures uncoded")
    }

    /// Whether the store refuses an upload with a wrong checksum.
    ///
    /// The lock is held during the trial, so that concurrent transfers try it once.
    ///
    /// - Parameter trial: tries it; its result is nil if the answer does not tell, and then a later run tries again. nil
    ///   if nothing may be tried.
    func refusesWrong(_ trial: (() -> Bool?)?, _ keep: (DigestTraits) -> Void) -> Bool {
        state.withLock { traits in
            if let known = traits.refusesWrong { return known }
            guard let trial, !hasTried.exchange(true, ordering: .relaxed) else { return false }
            guard let found = trial() else { return false }
            traits.refusesWrong = found
            keep(traits)
            return found
        }
    }
}
