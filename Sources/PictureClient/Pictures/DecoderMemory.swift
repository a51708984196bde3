import CaptureNative
import PictureMessages
import Synchronization

/// The memory that all decoders of this process may use together. Who asks first gets its part first, so a large picture
/// does not wait for ever.
package final class DecoderMemory: Sendable {
    package static let shared = DecoderMemory(PictureLimits.memoryBytes)

    private struct State {
        var free: Int
        /// The numbers of those who asked and of those who got their part.
        var asked = 0
        var served = 0
    }

    private let state: Mutex<State>
    private let isChanged = Signal()

    package init(_ bytes: Int) { state = Mutex(State(free: bytes)) }

    /// Waits until `bytes` bytes are free, and calls `body` with them. `body` must not ask for more.
    package func with<Value, Failure: Error>(
        _ bytes: Int, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let place = state.withLock { state in
            state.asked += 1
            return state.asked
        }
        isChanged.wait {
            state.withLock { state -> Void? in
                guard state.served == place - 1, state.free >= bytes else { return nil }
                state.served = place
                state.free -= bytes
                return ()
            }
        }
        isChanged.raise()
        defer {
            state.withLock { $0.free += bytes }
            isChanged.raise()
        }
        return try body()
    }
}
