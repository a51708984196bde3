import CaptureNative
import SystemPackage

/// The names of a key's files: which are taken, and that a key has one.
extension DeviceKeyFile {
    /// Refuses names that are taken, unless by what an interrupted `key new` left: the lock, a state with which nothing was
    /// signed, and the public half of the key that the state belongs to.
    ///
    /// - Returns: whether such a public half is there.
    func refuseTakenNames() throws(BundleError) -> Bool {
        guard !FileStatus.exists(path) else {
            throw .exists(path, hint: "a device key is never overwritten; choose another place with --key")
        }
        let another = "key new needs this name; move the file away, or choose another place with --key"
        if let lock = try? FileStatus.ofName(lockPath), lock.kind != .file || lock.size > 0 {
            throw .exists(lockPath, hint: another)
        }
        var unused: Digest?
        if FileStatus.exists(statePath) {
            guard let state = try plainFile(statePath).flatMap({ try? DeviceKeyState.decode($0) }), state.counter == 0
            else {
                let hint =
                    "a key has used this state: bring that key back, move the file away, or choose another --key"
                throw .exists(statePath, hint: hint)
            }
            unused = state.keyID
        }
        guard FileStatus.exists(publicPath) else { return false }
        let point = try plainFile(publicPath).flatMap { try? PublicKeyFile.point(pem: $0, name: publicPath.string) }
        guard let point, point.keyID == unused else { throw .exists(publicPath, hint: another) }
        return true
    }

    /// The bytes of a file; nil for anything else under its name. A disk that does not answer is an error.
    private func plainFile(_ path: FilePath) throws(BundleError) -> [UInt8]? {
        do {
            return try FileHandle.readingPlainFile(path)?.readAll(limit: Self.sizeLimit)
        } catch {
            if error.isMissing || error.isTooLarge { return nil }
            throw .reading(path, error)
        }
    }

    /// Called before the state is replaced: the old public half would not match the new state.
    func removePublicHalf() throws(BundleError) {
        do {
            let folder = try FolderHandle(publicPath.folder)
            if let name = publicPath.name { _ = try folder.removeFile(name) }
            try folder.synchronize()
        } catch {
            throw .writing(publicPath, error)
        }
    }

    /// Under each of its hard links a key would have a state of its own, and sign each counter twice. Which of the names is the
    /// right one, nobody can tell.
    func refuseSecondName() throws(BundleError) {
        let status = try native({ .reading(path, $0) }) { () throws(NativeError) in try FileStatus.of(realPath) }
        guard status.links > 1 else { return }
        throw BundleError(
            .keyState,
            "the key has \(status.links) names (hard links), expected one, because each name would have its own counter",
            file: path,
            hints: [
                "find the others with: find / -xdev -samefile \(ShellWord.quote(path))",
                "keep the name with the highest counter; make the others symbolic links",
            ])
    }
}
