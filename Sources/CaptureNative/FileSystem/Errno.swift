import Glibc

extension NativeError {
    /// The failure that `errno` describes at the moment.
    static func system(_ call: String) -> NativeError { system(call, errno) }

    static func system(_ call: String, _ code: Int32) -> NativeError {
        let text = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        // Our own limit for what is read has this code too.
        let cause = code == EFBIG && call != "read" ? " (ulimit -f)" : ""
        return NativeError(origin: .system, call: call, code: code, text: text.lowercasedFirst + cause)
    }

    /// Calls a function of the system again as long as a signal interrupts it.
    ///
    /// - Throws: The failure that the function reports with a negative number.
    @discardableResult
    static func retrying<Number: SignedInteger>(
        _ name: String, _ call: () -> Number
    ) throws(NativeError) -> Number {
        while true {
            let number = call()
            if number >= 0 { return number }
            if errno != EINTR { throw .system(name) }
        }
    }

    package func isErrno(_ codes: Int32...) -> Bool { origin == .system && codes.contains(code) }

    /// The file or folder does not exist.
    package var isMissing: Bool { isErrno(ENOENT, ENOTDIR) }
    /// The path, or a name in it, is longer than the file system allows.
    package var isTooLong: Bool { isErrno(ENAMETOOLONG) }
    /// The device failed, or was taken away.
    package var isOfDevice: Bool { isErrno(EIO) }
    /// A part of the path exists but is not a folder.
    package var isNoFolder: Bool { isErrno(ENOTDIR) }
    /// A folder where a file was expected.
    package var isFolder: Bool { isErrno(EISDIR) }
    /// A symbolic link where links are not followed.
    package var isLoop: Bool { isErrno(ELOOP) }
    /// There are more bytes than the caller allows.
    package var isTooLarge: Bool { isErrno(EFBIG) }
    /// The two folders are on different mounts, or parts of a file system between which nothing can be moved.
    package var isOtherMount: Bool { isErrno(EXDEV) }
    /// Something with that name already exists.
    package var isExisting: Bool { isErrno(EEXIST) }
    /// The disk or the user's quota is full.
    package var isDiskFull: Bool { isErrno(ENOSPC, EDQUOT) }
    /// The quota of the user, or of the part of the disk, is full, although the disk may not be.
    package var isQuotaFull: Bool { isErrno(EDQUOT) }
    /// The file system is mounted read-only.
    package var isReadOnlyDisk: Bool { isErrno(EROFS) }
    /// This user may not open the file.
    package var isForbidden: Bool { isErrno(EACCES, EPERM) }
    /// The target cannot be created: no such folder, no permission, a folder where a file should be, a read-only disk.
    package var isUncreatable: Bool {
        isErrno(ENOENT, ENOTDIR, EACCES, EPERM, EISDIR, EROFS, ENAMETOOLONG, ELOOP, EINVAL, ENXIO)
    }
    /// Bytes could not be read or written: a device error, a full disk, a broken pipe.
    package var isInputOutput: Bool { origin == .system && !isMissing && !isForbidden }
}

extension String {
    /// The text with a lower-case first letter, as our messages begin; `strerror` begins with an ASCII upper-case
    /// letter.
    fileprivate var lowercasedFirst: String {
        guard let first = utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return self }
        return String(decoding: [first + 32] + utf8.dropFirst(), as: UTF8.self)
    }
}
