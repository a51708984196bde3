import QueueModel
import Synchronization

/// What all transfers to one destination know about the digests that it shows.
final class KnownDigests: Sendable {
    private let state: Mutex<DigestTraits>

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

    /// Whether the store refuses an upload with a wrong checksum.
    ///
    /// The lock is held during the trial, so that concurrent transfers try it once.
    ///
    /// - Parameter trial: tries it; nil if the answer does not tell.
    func refusesWrong(_ trial: () -> Bool?, _ keep: (DigestTraits) -> Void) -> Bool {
        state.withLock { traits in
            if let known = traits.refusesWrong { return known }
            guard let found = trial() else { return false }
            traits.refusesWrong = found
            keep(traits)
            return found
        }
    }
}
