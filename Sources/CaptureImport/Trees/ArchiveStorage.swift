import CaptureBundle
import CaptureNative
import PictureClient
import Synchronization
import SystemPackage

/// The files of an archive, unpacked one after the other into a temporary file without a name. Nothing is unpacked to a
/// path (Spec/raw-captures.md section 1).
final class ArchiveStorage: RawTreeStorage {
    private let temporary: FileHandle
    private let listing: ArchiveListing
    /// The threads that read frames share the position in the temporary file.
    private let reading = Mutex(())

    /// Unpacks the archive at `path`. If its only top-level entry is a folder, that folder is the root.
    ///
    /// - Throws: `raw.archive` for an archive that is broken, hostile or above the limits; `input.unreadable`.
    init(_ path: FilePath, _ decoder: PictureDecoder) throws(BundleError) {
        let archive = try native({ .reading(path, $0) }) { try FileHandle.reading(path) }
        let temporary = try OutputTarget.temporary()
        var listing = ArchiveListing()
        do throws(BundleError) {
            try decoder.unpack(archive, named: path) { event throws(BundleError) in
                switch event {
                case .file(let name):
                    listing.add(name.split(separator: UInt8(ascii: "/")).filter { $0 != [UInt8(ascii: ".")] })
                case .bytes(let bytes):
                    guard listing.extend(by: bytes.count) else { return }
                    try native(OutputTarget.temporaryFailure) { try temporary.write(bytes) }
                }
            }
        } catch {
            // A compressed file without a single file in it may be something else than an archive.
            guard listing.isEmpty, let kind = FileKind(file: path), kind.family == .compressed else { throw error }
            var failure = error
            failure.values += [kind.format?.rawValue].compactMap(\.self)
            throw failure
        }
        listing.finish()
        (self.temporary, self.listing) = (temporary, listing)
        guard listing.place(of: "manifest.json") == nil || listing.place(of: "assertion.cbor") == nil else {
            throw BundleError(
                .rawArchive, "holds a capture bundle, which is packed already", file: path, cause: .packedAlready)
        }
    }

    func names(in folder: FilePath) -> [FilePath.Component] { listing.names(in: folder) }

    func holds(_ path: FilePath) -> Bool { listing.place(of: path) != nil || listing.hasFolder(path) }

    func read(_ path: FilePath, limit: Int, label: FilePath) throws(BundleError) -> [UInt8] {
        guard let place = listing.place(of: path) else {
            let message = !listing.hasFolder(path) ? "no such file or folder" : "is a folder, expected a file"
            throw BundleError(.inputUnreadable, message, file: label)
        }
        guard place.count <= limit else {
            throw BundleError(.rawCapture, "has more than the \(limit) bytes that are allowed", file: label)
        }
        var bytes = [UInt8](repeating: 0, count: place.count)
        let count = try native({ .reading(label, $0) }) {
            try reading.withLock { _ throws(NativeError) in
                try temporary.seek(to: place.lowerBound)
                return try temporary.read(into: &bytes)
            }
        }
        guard count == place.count else {
            throw BundleError(.inputUnreadable, "changed while it was being packed", file: label)
        }
        return bytes
    }
}
