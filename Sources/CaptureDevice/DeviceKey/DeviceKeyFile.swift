public import CaptureBundle
import CaptureNative
public import SystemPackage

/// A device key on disk: the key, its public half, its state and its lock (Spec/capture-bundle.md section 9.2). Or a key
/// in hardware, with its state and its lock on disk (section 9.4).
public struct DeviceKeyFile: Sendable {
    /// The path of the key itself, in PKCS#8 PEM. For a key in hardware its URI, without a PIN.
    public let path: FilePath
    let hardware: HardwareKey?

    private let followedPath: FilePath
    /// The path of the key with symbolic links resolved. The other files are named after it: a separate state for each
    /// link would use each counter twice.
    var realPath: FilePath { hardware?.place ?? followedPath }
    package var publicPath: FilePath { realPath.adding(".pub") }
    var statePath: FilePath { realPath.adding(".state") }
    var lockPath: FilePath { realPath.adding(".lock") }
    /// The key's own files, whether they exist or not. A key in hardware must have been located.
    var files: [FilePath] { [path, publicPath, statePath, lockPath] }
    static let sizeLimit = 1 << 20

    /// - Parameter path: A file, or a URI that begins with `pkcs11:` or `handle:`.
    public init(path: FilePath) {
        hardware = HardwareKeyURI(path).map(HardwareKey.init)
        self.path = hardware.map { FilePath($0.uri.shown) } ?? path
        followedPath = path.followed
    }

    /// Creates a key, and its folder with mode 0700 if it is missing. An existing key is never changed.
    ///
    /// The key file itself is written last, so that a crash never leaves a key without its state.
    ///
    /// - Parameter passphrase: Encrypts the key; nil stores it unencrypted.
    /// - Throws: `output.exists` if there is a key already, or a file that a part of the new key would replace;
    ///   `output.unusable` for a key in hardware.
    public func create(passphrase: [UInt8]?) throws(BundleError) -> DeviceKey {
        try refuseHardware("a key in hardware is made with the tools of the hardware", .madeInHardware)
        guard path.name != nil, (try? FileStatus.of(path))?.kind != .folder else {
            throw BundleError(.outputUnusable, "is a folder, expected the name of a file", file: path)
        }
        // The names are also checked here, so that a refusal leaves no lock behind.
        _ = try refuseTakenNames()
        try native({ .writing(path, $0) }) { _ = try Folders.create(path.folder, mode: 0o700) }
        return try locked { try createLocked(passphrase) }
    }

    private func createLocked(_ passphrase: [UInt8]?) throws(BundleError) -> DeviceKey {
        if try refuseTakenNames() { try removePublicHalf() }
        let key = try native { try P256PrivateKey.generate() }
        let device = try DeviceKey(key)
        let salt = try native { try RandomBytes.make(32) }
        try save(DeviceKeyState(keyID: device.point.keyID, counter: 0, salt: salt))
        try write(try device.publicPEM(), to: publicPath, mode: 0o644, .refuse)
        let pem = try native { try key.pem(passphrase: passphrase) }
        try write(pem, to: path, mode: 0o600, .refuse)
        return device
    }

    /// Loads the key, and gets its passphrase if the key is encrypted.
    ///
    /// - Throws: The same errors as `load(passphrase:)`.
    public func load(_ passphrase: Passphrase) throws(BundleError) -> DeviceKey {
        if let hardware { return try open(hardware, passphrase) }
        do {
            return try load(passphrase: nil)
        } catch {
            guard error.code == .keyPassphrase, let bytes = try passphrase.bytes(for: path) else { throw error }
            return try load(passphrase: bytes)
        }
    }

    /// Loads the key.
    ///
    /// - Throws: `key.missing`, `key.open` if others can read the key, `key.passphrase`, `key.damaged`.
    public func load(passphrase: [UInt8]?) throws(BundleError) -> DeviceKey {
        if let hardware { return try open(hardware, passphrase.map { .known($0) } ?? .none) }
        let pem = try readPrivate(path)
        return try native {
            do {
                return try DeviceKey(P256PrivateKey.load(pem: pem, passphrase: passphrase))
            } catch let failure as P256PrivateKey.LoadFailure {
                throw unusable(failure, pem)
            }
        }
    }

    private func unusable(_ failure: P256PrivateKey.LoadFailure, _ pem: [UInt8]) -> BundleError {
        switch failure {
        case .passphraseNeeded:
            fault(.keyPassphrase, "the key is encrypted and no passphrase was given", .passphraseNeeded)
        case .wrongPassphrase: fault(.keyPassphrase, "the passphrase is wrong")
        case .tooManyIterations(let count):
            fault(
                .keyDamaged,
                "its encryption has \(count) iterations, expected at most \(P256PrivateKey.mostIterations)")
        case .severalKeys(let count): fault(.keyDamaged, "has \(count) private keys, expected one")
        case .damaged: anotherKind(pem) ?? fault(.keyDamaged, "is not a PKCS#8 PEM file with a P-256 key")
        }
    }

    /// The public half, which needs no passphrase. It comes from the key itself if that is not encrypted, else from
    /// `device.key.pub`.
    ///
    /// - Throws: `key.missing`, `key.open`, `key.damaged`.
    public func publicKey() throws(BundleError) -> DevicePoint {
        if let hardware { return try publicHalf(hardware) }
        let own: DevicePoint
        do {
            own = try load(passphrase: nil).point
        } catch {
            guard [.keyPassphrase, .keyOpenToOthers, .inputUnreadable, .inputOutput].contains(error.code) else {
                throw error
            }
            return try publicFile()
        }
        if FileStatus.exists(publicPath), try publicFile() != own {
            throw otherHalf("is the public half of another key; the key here is \(own.keyID)")
        }
        return own
    }

    private func publicFile() throws(BundleError) -> DevicePoint {
        let bytes = try native({ otherHalf("the public half of the key cannot be read: \($0.text)", .halfLost) }) {
            try FileHandle.reading(publicPath).readAll(limit: Self.sizeLimit)
        }
        guard let point = try? PublicKeyFile.point(pem: bytes, name: publicPath.string) else {
            throw otherHalf("is not the PEM file with the public half of the key")
        }
        // An encrypted key does not reveal its public half, but a valid state names the key to which it belongs.
        let known = try? DeviceKeyState.decode(readPrivate(statePath))
        if let known, known.keyID != point.keyID {
            throw otherHalf("is the public half of another key; the state file belongs to \(known.keyID)")
        }
        return point
    }

    func otherHalf(_ message: String, _ cause: BundleError.Cause = .otherHalf) -> BundleError {
        BundleError(.keyDamaged, message, file: publicPath, cause: cause, values: [path.string])
    }

    /// The state, for `key show`.
    package func state() throws(BundleError) -> DeviceKeyState {
        // This takes no lock: the state file is replaced atomically, and `key show` must work on a read-only disk.
        try readState(of: publicKey().keyID)
    }

    /// Reserves `count` counters and returns the first one. Before this returns, they are recorded on disk as used, so
    /// that neither a crash nor another process can lead to using one twice.
    ///
    /// - Throws: `key.state` if the state is missing or damaged, `key.counter` if no counters are left.
    package func reserveCounters(_ count: Int, for device: DeviceKey) throws(BundleError) -> UInt32 {
        try locked {
            try refuseSecondName()
            var state = try readState(of: device.point.keyID)
            try refuseRealityCam(state)
            let first = try advance(&state, by: count)
            try save(state)
            return first
        }
    }

    /// Refuses a key that signs for RealityCam, where a key for bundles is needed.
    func refuseRealityCam(_ state: DeviceKeyState) throws(BundleError) {
        guard state.realityCamHeader != nil else { return }
        throw fault(
            .keyState, "this key signs uploads to RealityCam, expected a device key for bundles", .forRealityCam)
    }

    /// Advances the counter of a state. The caller saves the state.
    ///
    /// - Returns: The first of `count` counters.
    func advance(_ state: inout DeviceKeyState, by count: Int) throws(BundleError) -> UInt32 {
        guard count <= Int(UInt32.max) - Int(state.counter) else {
            throw BundleError(
                .keyCounterUsedUp,
                "the key is at counter \(state.counter) of \(UInt32.max), too few counters are left to sign \(count) more",
                file: statePath)
        }
        let first = state.counter + 1
        state.counter += UInt32(count)
        return first
    }

    /// The secret with which positions are salted.
    func saltSecret(for device: DeviceKey) throws(BundleError) -> [UInt8] {
        try readState(of: device.point.keyID).salt
    }
}

extension DeviceKeyFile {
    /// An error about the key itself.
    func fault(_ code: BundleError.Code, _ message: String, _ cause: BundleError.Cause? = nil) -> BundleError {
        BundleError(code, message, file: path, cause: cause)
    }

    /// Returns an error that says what the file is instead of a device key, such as a public key. Returns nil if the
    /// kind of the file is unknown.
    private func anotherKind(_ bytes: [UInt8]) -> BundleError? {
        KeyFileKind(insteadOfADeviceKey: bytes).map { other in
            fault(.keyDamaged, "is \(other.words), expected a private key (PKCS#8 PEM, P-256)", other.cause)
        }
    }

    private func missing() -> BundleError { fault(.keyMissing, "no device key here", .noDeviceKey) }

    /// The default path of the key: `$XDG_DATA_HOME/capbundle/device.key`.
    public static var usualPath: FilePath {
        ProcessEnvironment.folder("XDG_DATA_HOME", orInHome: ".local/share").appending("capbundle/device.key")
    }

    func locked<Value>(_ body: () throws -> Value) throws(BundleError) -> Value {
        try native({ $0.isMissing ? missing() : .writing(lockPath, $0) }) {
            try FileLock.withLock(path: lockPath, body)
        }
    }

    func readPrivate(_ file: FilePath) throws(BundleError) -> [UInt8] {
        _ = AtomicFile.isThere(file)
        return try native({ $0.isMissing ? missing() : .reading(file, $0) }) {
            guard let handle = try FileHandle.readingPlainFile(file) else {
                throw BundleError(.keyDamaged, "is not a regular file", file: file)
            }
            let status = try handle.status()
            guard status.isOurs else {
                throw BundleError(
                    .keyOpenToOthers, "belongs to another user (id \(status.owner)), expected you or root", file: file)
            }
            if let exposure = FileAccess.exposure(ofSecret: file, status) {
                // A public key may be open to others; the mode is not what is wrong with it.
                guard file == path, let bytes = try? handle.readAll(limit: Self.sizeLimit) else { throw exposure }
                throw anotherKind(bytes) ?? exposure
            }
            return try handle.readAll(limit: Self.sizeLimit)
        }
    }

    func readState(of keyID: Digest) throws(BundleError) -> DeviceKeyState {
        func unusable(_ reason: String, _ cause: BundleError.Cause = .counterLost) -> BundleError {
            BundleError(.keyState, reason, file: statePath, cause: cause, values: [path.string])
        }
        guard AtomicFile.isThere(statePath) else {
            guard hardware == nil else {
                throw unusable("the key has no counter on this machine: no such file", .counterNotHere)
            }
            guard FileStatus.exists(path) else { throw missing() }
            // Another name of the key may have the state.
            try refuseSecondName()
            throw unusable("the key's counter is lost: no such file")
        }
        guard let state = try DeviceKeyState.decode(readPrivate(statePath)) else {
            throw unusable("the key's counter is lost: the file is damaged")
        }
        guard state.keyID == keyID else {
            throw BundleError(
                .keyDamaged, "belongs to another key, \(state.keyID); the key here is \(keyID)", file: statePath,
                cause: .otherState, values: [path.string])
        }
        return state
    }

    func save(_ state: DeviceKeyState) throws(BundleError) {
        try write(state.encode(), to: statePath, mode: 0o600, .replace)
    }

    func write(
        _ bytes: [UInt8], to file: FilePath, mode: UInt32, _ existing: AtomicFile.Existing
    ) throws(BundleError) {
        try native({ .writing(file, $0) }) {
            try AtomicFile.write(bytes, to: file, mode: mode, existing: existing)
        }
    }
}
