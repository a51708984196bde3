import QueueModel
import Synchronization

/// Captures in a row that a server said yes to and does not show (Spec/upload.md section 4.3). The transfers of a
/// destination share it.
final class UnprovenCaptures: Sendable {
    private struct State {
        var captures: Set<Int> = []
        var isBlocked: Bool
    }

    /// This many captures in a row block the destination.
    static let most = 3
    private let state: Mutex<State>

    /// A destination that was blocked for it before stays so until one is proven.
    init(_ destination: Destination) {
        state = Mutex(State(isBlocked: destination.block?.reason == .unproven))
    }

    /// - Parameter capture: its number in the queue (`seq`).
    /// - Returns: whether the destination is to be blocked.
    func add(_ capture: Int) -> Bool {
        state.withLock { state in
            state.captures.insert(capture)
            state.isBlocked = state.isBlocked || state.captures.count >= Self.most
            return state.isBlocked
        }
    }

    /// A capture was proven to be there.
    func clear() { state.withLock { $0 = State(isBlocked: false) } }
}
