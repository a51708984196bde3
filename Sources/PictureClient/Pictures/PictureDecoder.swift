import CaptureBundle
package import PictureMessages
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
    /// The seconds that a process may take for one answer, or for one part of an archive.
    let timeLimit: Double
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
    func request(
        _ task: PictureRequest.Task, _ bytes: [UInt8], library: PictureLibrary? = nil
    ) throws(PictureFailure) -> [DecodedPart] {
        guard bytes.count <= PictureLimits.fileBytes else {
            throw PictureFailure(.tooLarge, "has more than \(PictureLimits.fileBytes >> 20) MiB")
        }
        if bytes.count < PictureLimits.memoryShare {
            do throws(PictureFailure) {
                return try DecoderMemory.shared.with(PictureLimits.memoryShare) { () throws(PictureFailure) in
                    try answer(task, bytes, library: library, hasAllMemory: false)
                }
            } catch {
                guard error.kind == .needsAllMemory else { throw error }
            }
        }
        return try DecoderMemory.shared.with(PictureLimits.memoryBytes) { () throws(PictureFailure) in
            try answer(task, bytes, library: library, hasAllMemory: true)
        }
    }

    /// An idle process may have been killed by somebody else. So if it died, the request is repeated with a new process.
    private func answer(
        _ task: PictureRequest.Task, _ bytes: [UInt8], library: PictureLibrary?, hasAllMemory: Bool
    ) throws(PictureFailure) -> [DecodedPart] {
        let known = idle.withLock { processes in
            processes.lastIndex { $0.library == library }.map { processes.remove(at: $0) }
        }
        if let process = known {
            do throws(PictureFailure) {
                return try answer(of: process, task, bytes, hasAllMemory: hasAllMemory)
            } catch {
                guard error.kind == .died else { throw error }
            }
        }
        return try answer(of: try DecoderProcess(try program(), library), task, bytes, hasAllMemory: hasAllMemory)
    }

    func program() throws(PictureFailure) -> FilePath { try DecoderProgram.find(given) }

    private func answer(
        of process: DecoderProcess, _ task: PictureRequest.Task, _ bytes: [UInt8], hasAllMemory: Bool
    ) throws(PictureFailure) -> [DecodedPart] {
        defer {
            if process.isUsable && process.secondsOfWork < Self.secondsOfWork {
                idle.withLock { $0.append(process) }
            }
        }
        return try process.request(task, bytes, hasAllMemory: hasAllMemory, timeLimit: timeLimit)
    }
}

extension PictureDecoder {
    package typealias SampleFormat = PictureRequest.SampleFormat
    package typealias PixelFormat = PictureRequest.PixelFormat

    /// Decodes a picture with one channel. The samples keep the values of the file.
    ///
    /// PNG: 8 or 16 bits. TIFF: a `SampleType`. OpenEXR: half or float. JPEG: grey. Several channels that are equal count
    /// as one. Other pictures of these formats are `unsupported`.
    ///
    /// - Parameter channel: The channel to take of an OpenEXR file.
    package func samples(
        _ file: [UInt8], _ format: SampleFormat, channel: String = ""
    ) throws(PictureFailure) -> SampleGrid {
        let name = Array(channel.utf8)
        guard name.count <= PictureLimits.channelBytes else {
            throw PictureFailure(.unsupported, "has no channel with a name of \(name.count) bytes")
        }
        let parts = try request(
            .samples(format, nameCount: name.count), name + file, library: format == .tiff ? .tiff : nil)
        guard case .samples(var grid)? = parts.first else { throw .misunderstood }
        for part in parts.dropFirst() {
            guard case .bytes(let head, let text) = part, head.kind == .note else { throw .misunderstood }
            grid.notes.append(String(decoding: text, as: UTF8.self))
        }
        return grid
    }

    /// Decodes a JPEG or PNG to pixels. Transparency is ignored, and 16 bits become 8.
    ///
    /// - Parameter eighths: The size of the result in eighths of the picture's size, rounded up: 1, 2, 4 or 8. For PNG it
    ///   must be 8.
    package func pixels(
        _ file: [UInt8], _ format: PixelFormat, eighths: Int = 8
    ) throws(PictureFailure) -> PixelImage {
        guard case .bytes(let head, let rgb)? = try request(.pixels(format, eighths: eighths), file).first,
            head.kind == .pixels, let image = PixelImage(width: head.width, height: head.height, rgb: rgb)
        else { throw .misunderstood }
        return image
    }

    /// Makes an upright JPEG of an eighth of the size, without metadata.
    ///
    /// - Parameters:
    ///   - orientation: The photo's EXIF orientation, 1 to 8; other values count as 1.
    ///   - quality: 1 to 100.
    package func thumbnail(_ jpeg: [UInt8], orientation: Int, quality: Int) throws(PictureFailure) -> [UInt8] {
        let turn = (1...8).contains(orientation) ? orientation : 1
        return try file(.thumbnail(orientation: turn, quality: min(max(quality, 1), 100)), jpeg)
    }

    /// Encodes a picture as a PNG file.
    package func png(_ image: PixelImage) throws(PictureFailure) -> [UInt8] {
        try file(.png(width: image.width, height: image.height), of: image)
    }

    /// Encodes a picture as a JPEG file without metadata.
    package func jpeg(_ image: PixelImage, quality: Int) throws(PictureFailure) -> [UInt8] {
        let quality = min(max(quality, 1), 100)
        return try file(.jpeg(width: image.width, height: image.height, quality: quality), of: image)
    }

    private func file(_ task: PictureRequest.Task, of image: PixelImage) throws(PictureFailure) -> [UInt8] {
        guard PictureLimits.bytes(width: image.width, height: image.height, each: 3) != nil else {
            throw PictureFailure(.tooLarge, "is larger than \(PictureLimits.side) pixels on a side")
        }
        return try file(task, image.rgb)
    }

    private func file(_ task: PictureRequest.Task, _ bytes: [UInt8]) throws(PictureFailure) -> [UInt8] {
        guard case .bytes(let head, let file)? = try request(task, bytes).first, head.kind == .file else {
            throw .misunderstood
        }
        return file
    }
}

extension PictureFailure {
    /// The failure for an answer whose parts do not match the request.
    static let misunderstood = PictureFailure(
        .died, "cannot be decoded: \(DecoderProgram.name) sent an invalid answer")
}
