package import CaptureBundle
import CaptureNative
import Synchronization
import SystemPackage

/// File names from standard input, each ended by NUL (`find -print0`). They are read only when they are needed.
package final class NameList: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var start = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    private static let nameLimit = 1 << 16

    package init() {}

    /// Returns the bundles that a command reads, one by one.
    ///
    /// - Parameters:
    ///   - names: The names that are arguments; `-` means standard input.
    ///   - isList: Whether the names are on standard input instead.
    package static func bundles(
        _ names: [String], isList: Bool
    ) -> @Sendable () -> Result<BundleSource.Place, BundleError>? {
        if isList {
            let list = NameList()
            return { list.next()?.map { .file(FilePath(file: $0)) } }
        }
        let queue = Mutex(names.makeIterator())
        return { queue.withLock { $0.next() }.map { .success($0 == "-" ? .standardInput : .file(FilePath(file: $0))) } }
    }

    /// The next name; nil at the end. Empty names are skipped.
    ///
    /// - Returns: A failure if the name is not UTF-8, is too long or is cut off, or if standard input cannot be read.
    package func next() -> Result<String, BundleError>? {
        state.withLock { state in
            while true {
                let bytes: [UInt8]
                do throws(BundleError) {
                    guard let name = try Self.name(from: &state) else { return nil }
                    bytes = name
                } catch {
                    return .failure(error)
                }
                if bytes.isEmpty { continue }
                if let name = String(validating: bytes, as: UTF8.self) { return .success(name) }
                return .failure(
                    BundleError(
                        .inputUnreadable, "the name is not UTF-8", file: String(decoding: bytes, as: UTF8.self),
                        cause: .told, values: ["rename the file, or use a pipe"]))
            }
        }
    }

    private static func name(from state: inout State) throws(BundleError) -> [UInt8]? {
        var isTooLong = false
        while true {
            if let end = state.pending[state.start...].firstIndex(of: 0) {
                let name = Array(state.pending[state.start..<end])
                state.start = end + 1
                guard !isTooLong, name.count <= nameLimit else {
                    throw wrong("a name has more than \(nameLimit) bytes")
                }
                return name
            }
            if state.isEnded {
                let isCut = isTooLong || state.start < state.pending.count
                (state.pending, state.start) = ([], 0)
                guard isCut else { return nil }
                // Perhaps only a part of the name arrived, and that part could be the name of another file.
                throw wrong("the last name does not end with NUL")
            }
            state.pending.removeFirst(state.start)
            state.start = 0
            if state.pending.count > nameLimit {
                isTooLong = true
                state.pending = []
            }
            try readMore(&state)
        }
    }

    private static func readMore(_ state: inout State) throws(BundleError) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        do {
            let count = try FileHandle.standardInput.readSome(into: &buffer)
            state.pending += buffer[..<count]
            state.isEnded = count == 0
        } catch {
            (state.pending, state.start, state.isEnded) = ([], 0, true)
            throw BundleError(.inputOutput, "cannot be read: \(error.text)", file: "standard input")
        }
    }

    private static func wrong(_ message: String) -> BundleError {
        BundleError(.inputUnreadable, message, file: "standard input")
    }
}
