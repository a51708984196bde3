import CaptureNative
package import SystemPackage

/// Copies a file whose hash is known.
package enum FileCopy {
    /// Copies the file. The target receives nothing before the whole file is read and its hash matches.
    ///
    /// - Throws: `entry.sha256` if the hash does not match; `input.unreadable`, `output.exists`, `output.unusable`,
    ///   `io.failed`.
    package static func copy(_ path: FilePath, to place: OutputPlace, sha256: Digest) throws(BundleError) {
        let source = try native({ .reading(path, $0) }) { () throws(NativeError) in try FileHandle.reading(path) }
        try OutputPlace.examine([place], reading: try? source.status())
        let target = try OutputTarget(place, holdsBack: true)
        let hash = try DigestStream()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count: Int
            do { count = try source.readSome(into: &buffer) } catch { throw .reading(path, error) }
            if count == 0 { break }
            let piece = buffer.span.extracting(first: count)
            try hash.update(piece)
            try target.write(piece)
        }
        let found = try hash.finish()
        guard found == sha256 else {
            throw BundleError(.entrySHA256, "SHA-256 is \(found), expected \(sha256)", file: path)
        }
        try target.commit()
    }
}
