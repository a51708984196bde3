import CaptureBundle
import CaptureNative
import PictureMessages
import Synchronization
import SystemPackage

/// A part of an answer with its bytes or samples.
enum DecodedPart: Sendable {
    case samples(SampleGrid)
    /// All other parts.
    case bytes(PicturePart, [UInt8])
}

/// One running `capbundle-decode`. Only one thread uses it at a time.
final class DecoderProcess: Sendable {
    let library: PictureLibrary?
    private let process: HelperProcess
    private let state = Mutex(State())

    private struct State {
        var isReady = false
        var isUsable = true
        var secondsOfWork = 0.0
    }

    /// The maximum number of parts of an answer.
    private static let partLimit = 16

    /// Starts a process.
    ///
    /// - Parameter input: The archive that the process unpacks; nil for a process that answers requests.
    init(
        _ program: FilePath, _ library: PictureLibrary?, input: FileHandle? = nil
    ) throws(PictureFailure) {
        self.library = library
        do throws(NativeError) {
            process = try HelperProcess(program, arguments: library.map { [$0.rawValue] } ?? [], input: input)
        } catch {
            throw PictureFailure(
                .noDecoder, "cannot be decoded: \(program.string) cannot be started: \(error.text)")
        }
    }

    var number: Int32? { process.processNumber }
    /// Whether the last answer was read to its end, so that another request can follow.
    var isUsable: Bool { state.withLock(\.isUsable) }
    var secondsOfWork: Double { state.withLock(\.secondsOfWork) }

    /// Sends a request and reads the whole answer, within `timeLimit` seconds.
    func request(
        _ task: PictureRequest.Task, _ bytes: [UInt8], hasAllMemory: Bool, timeLimit: Double
    ) throws(PictureFailure) -> [DecodedPart] {
        let started = MonotonicClock.seconds
        let deadline = started + timeLimit
        let wasReady = state.withLock { state in
            state.isUsable = false
            return state.isReady
        }
        defer { state.withLock { $0.secondsOfWork += MonotonicClock.seconds - started } }
        do {
            if !wasReady { try handshake(deadline) }
            let request = PictureRequest(task, byteCount: bytes.count, hasAllMemory: hasAllMemory)
            try process.send(request.head, deadline: deadline)
            try process.send(bytes, deadline: deadline)
            var parts: [DecodedPart] = []
            while true {
                let head = try readHead(deadline)
                switch head.kind {
                case .end:
                    state.withLock { $0.isUsable = true }
                    return parts
                case .failure: throw try refusal(head, deadline)
                default:
                    guard parts.count < Self.partLimit else { throw Broken() }
                    parts.append(try readPart(head, deadline))
                }
            }
        } catch let failure as PictureFailure {
            throw failure
        } catch {
            throw ended(error as? NativeError, timeLimit)
        }
    }

    /// Reads the parts of the only answer of a process that unpacks an archive, and passes each to `body`.
    func parts(timeLimit: Double, _ body: (PicturePart, [UInt8]) throws -> Void) throws {
        do {
            try handshake(MonotonicClock.seconds + timeLimit)
            while true {
                // The limit does not include the time that `body` takes.
                let deadline = MonotonicClock.seconds + timeLimit
                let head = try readHead(deadline)
                if head.kind == .end { return }
                if head.kind == .failure { throw try refusal(head, deadline) }
                try body(head, try process.receive(head.byteCount, deadline: deadline))
            }
        } catch let error as NativeError {
            throw ended(error, timeLimit)
        } catch is Broken {
            throw ended(nil, timeLimit)
        }
    }

    /// The error for an answer that breaks the protocol.
    private struct Broken: Error {}

    /// Reads what a new process sends first.
    private func handshake(_ deadline: Double) throws {
        let head = try readHead(deadline)
        if head.kind == .failure { throw try refusal(head, deadline) }
        guard head.kind == .ready, head.detail == PicturePart.version else {
            throw PictureFailure(
                .noDecoder, "cannot be decoded: \(DecoderProgram.name) and this program have different versions",
                cause: .otherVersion)
        }
        state.withLock { $0.isReady = true }
    }

    private func readHead(_ deadline: Double) throws -> PicturePart {
        guard let head = PicturePart(head: try process.receive(PicturePart.headCount, deadline: deadline)) else {
            throw Broken()
        }
        return head
    }

    private func readPart(_ head: PicturePart, _ deadline: Double) throws -> DecodedPart {
        guard head.kind == .samples else {
            return .bytes(head, try process.receive(head.byteCount, deadline: deadline))
        }
        // The initializer of the head has checked the sizes.
        let count = head.width * head.height
        guard let type = SampleType(code: head.detail),
            let size = DepthSize(width: head.width, height: head.height)
        else { throw Broken() }
        var grid: SampleGrid
        switch type {
        case .uint16:
            let values = try process.receive(count, as: UInt16.self, deadline: deadline)
            grid = SampleGrid(size: size, values: .uint16(values), type: type)
        case .float32:
            let values = try process.receive(count, as: Float.self, deadline: deadline)
            grid = SampleGrid(size: size, values: .float32(values), type: head.bits == 16 ? .float16 : type)
        default:
            let bytes = try process.receive(head.byteCount, deadline: deadline)
            grid = try SampleGrid(bytes[...], type, isLittleEndian: 1.littleEndian == 1, size: size)
        }
        if head.bits > 0 && !type.isFloat { grid.highest = UInt32(1) << UInt32(head.bits) - 1 }
        return .samples(grid)
    }

    /// Receives the reason for a failure. The process can answer further requests after it.
    private func refusal(_ head: PicturePart, _ deadline: Double) throws -> PictureFailure {
        let text = String(decoding: try process.receive(head.byteCount, deadline: deadline), as: UTF8.self)
        guard let kind = PicturePart.Refusal(rawValue: head.detail) else { throw Broken() }
        state.withLock { $0.isUsable = $0.isReady }
        return PictureFailure(refusal: kind, text)
    }

    /// Kills a process that did not send a complete answer, and returns the failure.
    private func ended(_ error: NativeError?, _ seconds: Double) -> PictureFailure {
        let signal = process.end()
        guard let error else { return .misunderstood }
        if error.isLate {
            return PictureFailure(
                .late, "cannot be decoded: \(DecoderProgram.name) took more than \(Int(seconds.rounded(.up))) seconds")
        }
        let how = signal.map { " (signal \($0))" } ?? ""
        return PictureFailure(
            .died, "cannot be decoded: \(DecoderProgram.name) ended\(how) before it had decoded the file")
    }
}

/// Finds `capbundle-decode`.
enum DecoderProgram {
    static let name = "capbundle-decode"
    static let variable = "CAPBUNDLE_DECODE"

    static func find(_ given: FilePath?) throws(PictureFailure) -> FilePath {
        if let path = ProcessEnvironment.path(variable) ?? given { return path }
        // /proc/self/exe is the running program, also if it was started through a link.
        let folder = FilePath("/proc/self/exe").linkTarget?.folder
        let places =
            folder.map { [$0.appending(name), $0.folder.appending("libexec/capbundle").appending(name)] } ?? []
        for place in places where (try? FileStatus.of(place))?.kind == .file { return place }
        let names = places.map(\.string).joined(separator: " or ")
        throw PictureFailure(.noDecoder, "cannot be decoded: \(name) was not found (expected \(names))")
    }
}

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
