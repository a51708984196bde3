// send-capture PHOTO
// Does what a rig does with each frame: makes a signed bundle of a photo, a depth map and metadata, pushes it into the
// usual queue, and sends what waits there. Creates the usual key and queue if they are missing. In place of a camera, the
// photo is the JPEG file PHOTO, and the depth map that of a wall. The exit code is 0 if nothing failed.

import CaptureDevice
import CaptureImport
import CaptureQueue
import Foundation
import QueueFiles
import SystemPackage

/// What a camera gives.
struct Frame {
    var photo: Data
    /// Metres, row by row from the top; 0 where nothing was measured.
    var depth: [Float]
    var width: Int
    var height: Int
    var time: Date
}

/// `metadata.json`. More members are kept, such as those that describe the lens.
struct Metadata: Encodable {
    var capturedAt: String
    var deviceModel: String
    var depthMapDimensions: [String: Int]
}

/// The time with milliseconds: two frames of one second are two captures. `Date.ISO8601Format` would cut some of them off.
func text(_ time: Date) -> String {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    return formatter.string(from: time)
}

/// Writes the three files of a raw capture.
func write(_ frame: Frame, to folder: URL) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    let metadata = Metadata(
        capturedAt: text(frame.time), deviceModel: "Rig 4",
        depthMapDimensions: ["width": frame.width, "height": frame.height])
    let floats = frame.depth.flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian, Array.init) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try frame.photo.write(to: folder.appending(path: "photo.jpg"))
    try Data(floats).write(to: folder.appending(path: "depth.f32"))
    try encoder.encode(metadata).write(to: folder.appending(path: "metadata.json"))
}

/// Packs a frame and pushes its bundle. When this returns, no crash and no power cut loses the capture.
func store(_ frame: Frame, in queue: UploadQueue) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (raw, bundle) = (folder.appending(path: "raw"), FilePath(folder.path).appending("cap.bundle"))
    try write(frame, to: raw)

    let key = DeviceKeyFile(path: DeviceKeyFile.usualPath)
    if (try? key.publicKey()) == nil { _ = try key.create(passphrase: nil) }
    _ = try Packer(key: key).pack(FilePath(raw.path), to: .file(bundle))
    return try queue.push(bundle).id
}

guard CommandLine.arguments.count == 2 else {
    print("usage: send-capture PHOTO")
    exit(64)
}

do {
    let (width, height) = (256, 192)
    let wall = (0..<width * height).map { 1.5 + Float($0 % width) / 100 }
    let photo = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))
    let frame = Frame(photo: photo, depth: wall, width: width, height: height, time: Date())

    // `keyFiles` signs the requests to a server with the device's key.
    let queue = try UploadQueue(at: QueueFolder.usual, createIfMissing: true, signers: .keyFiles)
    print("stored", try store(frame, in: queue))
    let result = try queue.run { event in
        if event.name == .completed || event.name == .failed, let id = event.id { print(event.name, id) }
    }
    print("waiting:", try queue.status().waiting)
    exit(result.failed == 0 ? 0 : 1)
} catch {
    print("send-capture: \(error)")
    exit(1)
}
