import CaptureBundle
import CaptureDevice
import CaptureNative
import SystemPackage

/// The photo of a raw folder.
extension RawCaptureReader {
    mutating func readPhoto(_ search: RawFolderSearch) throws(BundleError) -> RawCapture.Photo {
        guard search.holds(Self.photoName) else { throw search.missingPhoto(Self.photoName) }
        let file = path(Self.photoName)
        return try native({ .reading(file, $0) }) {
            let handle = try open(Self.photoName)
            let size = try handle.status().size
            guard size <= BundleLimits.entryBytes else {
                throw wrong(Self.photoName, "has \(size) bytes, at most \(BundleLimits.entryBytes) fit a bundle")
            }
            PhotoRemarks.size(size, file: file, &remarks)
            guard size <= PayloadContent.memoryLimit else { return try readLargePhoto(handle, size: size) }
            var bytes = [UInt8](repeating: 0, count: size)
            var more: [UInt8] = [0]
            guard try handle.read(into: &bytes) == size, try handle.read(into: &more) == 0 else {
                throw BundleError(.inputUnreadable, "changed while it was being packed", file: file)
            }
            let structure = try judge { () throws(JPEGStructure.Failure) in try JPEGStructure(bytes) }
            return RawCapture.Photo(
                file: file, content: .bytes(bytes), size: size, sha256: try Digest.of(bytes), structure: structure)
        }
    }

    private mutating func readLargePhoto(_ handle: FileHandle, size: Int) throws(BundleError) -> RawCapture.Photo {
        let file = path(Self.photoName)
        var walk = JPEGWalk(size: size)
        let sha256 = try PayloadContent.hash(handle, name: file.string, expecting: size) { piece throws(BundleError) in
            do throws(JPEGStructure.Failure) { try walk.take(piece) } catch {
                throw PhotoRemarks.notAPhoto(error, file)
            }
        }
        let structure = try judge { () throws(JPEGStructure.Failure) in try walk.finish() }
        return RawCapture.Photo(
            file: file, content: .file(handle, name: file.string), size: size, sha256: sha256, structure: structure)
    }

    private mutating func judge(
        _ read: () throws(JPEGStructure.Failure) -> JPEGStructure
    ) throws(BundleError) -> JPEGStructure {
        let structure: JPEGStructure
        do { structure = try read() } catch { throw PhotoRemarks.notAPhoto(error, path(Self.photoName)) }
        PhotoRemarks.oddity(structure, file: path(Self.photoName), &remarks)
        return structure
    }
}
