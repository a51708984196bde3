import PictureMessages
import Synchronization
public import SystemPackage

/// Decodes foreign pictures in `capbundle-decode`, a program in a sandbox without access to keys or paths.
///
/// A process decodes many pictures. Several threads may use one decoder at the same time: each takes an idle process,
/// or starts one.
///
/// Answers are not trusted: sizes and counts are checked before memory is allocated, and a process that breaks the
/// protocol, dies or takes too long is replaced.
public final class PictureDecoder: Sendable {
    /// The seconds that a process may take for one picture.
    package static let timeLimit = 60.0
    /// The seconds of work after which a process is replaced, far below the process's own limit of processor time.
    private static let secondsOfWork = 100.0

    private let given: FilePath?
    private let timeLimit: Double
    private let idle = Mutex<[DecoderProcess]>([])

    /// - Parameter executable: The path of `capbundle-decode`. If it is nil, the decoder is searched in the folder of the
    ///   running program, then in `../libexec/capbundle` relative to that folder. The environment variable
    ///   `CAPBUNDLE_DECODE` takes precedence.
    public convenience init(executable: FilePath? = nil) {
        self.init(executable: executable, timeLimit: Self.timeLimit)
    }

    package init(executable: FilePath?, timeLimit: Double) {
        given = executable
        self.timeLimit = timeLimit
    }

    /// The process ids of the idle processes, for tests.
    package var idleProcesses: [Int32] { idle.withLock { $0.compactMap(\.number) } }

    /// Sends a request to a process, and returns the parts of its answer. It waits for memory that other decoders use.
    func ask(
        _ task: PictureRequest.Task, _ bytes: [UInt8], library: PictureLibrary? = nil
    ) throws(PictureFailure) -> [DecodedPart] {
        guard bytes.count <= PictureLimits.fileBytes else {
            throw PictureFailure(.tooLarge, "has more than \(PictureLimits.fileBytes >> 20) MiB")
        }
        if bytes.count < PictureLimits.memoryShare {
            do throws(PictureFailure) {
                return try DecoderMemory.shared.with(PictureLimits.memoryShare) { () throws(PictureFailure) in
                    try answer(task, bytes, library, hasAllMemory: false)
                }
            } catch {
                guard error.kind == .needsAllMemory else { throw error }
            }
        }
        return try DecoderMemory.shared.with(PictureLimits.memoryBytes) { () throws(PictureFailure) in
            try answer(task, bytes, library, hasAllMemory: true)
        }
    }

    /// An idle process may have been killed by somebody else. So if it died, the request is repeated with a new process.
    private func answer(
        _ task: PictureRequest.Task, _ bytes: [UInt8], _ library: PictureLibrary?, hasAllMemory: Bool
    ) throws(PictureFailure) -> [DecodedPart] {
        if let process = takeIdle(library) {
            do throws(PictureFailure) {
                return try answer(of: process, task, bytes, hasAllMemory)
            } catch {
                guard error.kind == .died else { throw error }
            }
        }
        return try answer(of: try DecoderProcess(try program(), library), task, bytes, hasAllMemory)
    }

    /// The seconds that a process may take for one part of an archive.
    var partTimeLimit: Double { timeLimit }

    func program() throws(PictureFailure) -> FilePath { try DecoderProgram.find(given) }

    private func takeIdle(_ library: PictureLibrary?) -> DecoderProcess? {
        idle.withLock { processes in
            guard let index = processes.lastIndex(where: { $0.library == library }) else { return nil }
            return processes.remove(at: index)
        }
    }

    private func answer(
        of process: DecoderProcess, _ task: PictureRequest.Task, _ bytes: [UInt8], _ hasAllMemory: Bool
    ) throws(PictureFailure) -> [DecodedPart] {
        let result = Result { () throws(PictureFailure) in
            try process.ask(task, bytes, hasAllMemory: hasAllMemory, timeLimit: timeLimit)
        }
        if process.isUsable && process.secondsOfWork < Self.secondsOfWork {
            idle.withLock { $0.append(process) }
        }
        return try result.get()
    }
}
