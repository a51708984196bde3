import CaptureBundle
import CaptureNative
import SystemPackage

/// Checks the names of a key's files: whether they are taken, and that the key has only one name.
extension DeviceKeyFile {
    /// Refuses names that are taken. Files that an interrupted `key new` left behind do not count: the lock, a state
    /// with which nothing was signed, and the public half of the key to which that state belongs.
    ///
    /// - Returns: Whether such a public half exists.
    func refuseTakenNames() throws(BundleError) -> Bool {
        guard !FileStatus.exists(path) else {
            throw .exists(path, .keyExists)
        }
        if let lock = try? FileStatus.ofName(lockPath), lock.kind != .file || lock.size > 0 {
            throw .exists(lockPath, .keyNameTaken)
        }
        var unused: Digest?
        if FileStatus.exists(statePath) {
            guard let state = try plainFile(statePath).flatMap({ try? DeviceKeyState.decode($0) }), state.counter == 0
            else {
                throw .exists(statePath, .usedStateExists)
            }
            unused = state.keyID
        }
        guard FileStatus.exists(publicPath) else { return false }
        let point = try plainFile(publicPath).flatMap { try? PublicKeyFile.point(pem: $0, name: publicPath.string) }
        guard let point, point.keyID == unused else { throw .exists(publicPath, .keyNameTaken) }
        return true
    }

    /// The bytes of a regular file; nil if the file is missing, too large or of another kind. Other read errors are
    /// thrown.
    private func plainFile(_ path: FilePath) throws(BundleError) -> [UInt8]? {
        try native({ .reading(path, $0) }) {
            try allowing({ $0.isMissing || $0.isTooLarge }) {
                try FileHandle.readingPlainFile(path)?.readAll(limit: Self.sizeLimit)
            }
        }
    }

    /// Removes the public half. It is called before the state is replaced, because the old public half would not match
    /// the new state.
    func removePublicHalf() throws(BundleError) {
        try native({ .writing(publicPath, $0) }) {
            let folder = try FolderHandle(publicPath.folder)
            if let name = publicPath.name { _ = try folder.removeFile(name) }
            try folder.synchronize()
        }
    }

    /// Refuses a key that has more than one hard link. Each name would have a separate state, so each counter would be
    /// used twice, and nothing tells which name is the right one.
    func refuseSecondName() throws(BundleError) {
        guard hardware == nil else { return }
        let status = try native({ .reading(path, $0) }) { try FileStatus.of(realPath) }
        guard status.links > 1 else { return }
        throw fault(
            .keyState,
            "the key has \(status.links) names (hard links), expected one, because each name would have its own counter",
            .severalNames)
    }
}
