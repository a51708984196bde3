package import CaptureBundle
import CaptureNative
import Synchronization

/// File names from standard input, each ended by NUL (`find -print0`), read as they are asked for.
package final class NameList: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var start = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    private static let nameLimit = 1 << 16

    package init() {}

    /// The next name; nil at the end. Empty names are passed over.
    ///
    /// - Returns: a failure for a name that is no UTF-8 or far too long, or when standard input cannot be read.
    package func next() -> Result<String, BundleError>? {
        state.withLock { state in
            while true {
                guard let bytes = Self.name(from: &state) else { return nil }
                switch bytes {
                case .failure(let error): return .failure(error)
                case .success(let bytes) where bytes.isEmpty: continue
                case .success(let bytes):
                    if let name = String(validating: bytes, as: UTF8.self) { return .success(name) }
                    let shown = String(decoding: bytes, as: UTF8.self)
                    return .failure(
                        BundleError(
                            .inputUnreadable, "the name is not UTF-8", file: shown,
                            hints: ["rename the file, or go through a pipe"]))
                }
            }
        }
    }

    private static func name(from state: inout State) -> Result<[UInt8], BundleError>? {
        while true {
            if let end = state.pending[state.start...].firstIndex(of: 0) {
                let name = Array(state.pending[state.start..<end])
                state.start = end + 1
                return .success(name)
            }
            if state.isEnded || state.pending.count - state.start > nameLimit {
                let rest = Array(state.pending[state.start...])
                (state.pending, state.start, state.isEnded) = ([], 0, true)
                guard rest.count <= nameLimit else {
                    return .failure(
                        BundleError(
                            .inputUnreadable, "a name of more than \(nameLimit) bytes; names end with NUL",
                            file: "standard input"))
                }
                return rest.isEmpty ? nil : .success(rest)
            }
            state.pending.removeFirst(state.start)
            state.start = 0
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            do {
                let count = try FileHandle.standardInput.readSome(into: &buffer)
                state.pending += buffer[..<count]
                state.isEnded = count == 0
            } catch {
                state.isEnded = true
                return .failure(
                    BundleError(.inputOutput, "cannot be read: \(error.text)", file: "standard input"))
            }
        }
    }
}
