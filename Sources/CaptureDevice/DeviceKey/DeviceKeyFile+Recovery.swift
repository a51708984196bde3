package import CaptureBundle
import CaptureNative
import SystemPackage

/// Makes a new state after the old one was lost. Neither a counter nor a link may be given out twice, so an intact state
/// is never lowered.
extension DeviceKeyFile {
    /// A bundle of the key, from which a lost state is recovered.
    package struct LastBundle: Sendable {
        let name: String
        let keyID: Digest
        let counter: UInt32
        /// The link of the bundle; `start` if it has no chain.
        let end: ChainRecord.End

        /// Reads the manifest and the assertion. The payload is not read.
        ///
        /// - Throws: The codes of Spec/capture-bundle.md if the file is not a bundle, or its signature is wrong.
        package init(_ source: BundleSource) throws(BundleError) {
            name = source.name
            do throws(BundleError) {
                let head = try BundleReader(source).readHead()
                let manifest = try Manifest.decode(head.manifest)
                let assertion = try Assertion(decoding: head.assertion)
                guard try assertion.isValid(for: head.manifest, of: manifest.device) else {
                    throw BundleError(.assertionSignature, "the signature is wrong")
                }
                keyID = manifest.device.keyID
                counter = assertion.authenticatorData.counter
                let sha256 = try Digest.of(head.manifest)
                end = manifest.chain.map { ChainRecord.End(seq: $0.seq, manifest: sha256) } ?? .start
            } catch {
                throw error.file == nil ? error.about(file: source.name) : error
            }
        }
    }

    /// What `recover` did.
    package struct Recovered: Sendable {
        package let state: DeviceKeyState
        /// Whether a new salt secret was made.
        package let isNewSalt: Bool
        /// Whether the chain was unknown and now begins at link 1, because no last bundle has a chain.
        package let startsChain: Bool
    }

    /// Writes the public half again if it is missing or empty, for example after the key was restored from a backup. For a
    /// key in hardware, opens the key: its public half has no file.
    ///
    /// - Parameter passphrase: Opens an encrypted key, since nothing else tells its public half.
    /// - Returns: Whether it was written.
    /// - Throws: The errors of `load`; `key.state` if the key has several names; `output.unusable`, `io.failed`.
    package func recoverPublicHalf(_ passphrase: Passphrase) throws(BundleError) -> Bool {
        if let hardware {
            _ = try open(hardware, passphrase)
            return false
        }
        guard lacksPublicHalf else {
            // Only a sound state tells without the passphrase to which encrypted key a public half belongs.
            let half = try publicKey()
            if (try? readState(of: half.keyID)) == nil, try load(passphrase).point != half {
                throw otherHalf("is the public half of another key")
            }
            return false
        }
        let pem = try load(passphrase).publicPEM()
        try refuseSecondName()
        return try locked {
            guard lacksPublicHalf else { return false }
            try write(pem, to: publicPath, mode: 0o644, .replace)
            return true
        }
    }

    private var lacksPublicHalf: Bool {
        guard let status = try? FileStatus.ofName(publicPath) else { return !FileStatus.exists(publicPath) }
        return status.kind == .file && status.size == 0
    }

    /// Makes a new state, or raises the counter and the link of an intact one. The next signature gets a higher counter
    /// than `counter` and than those of the last bundles. The next link follows the highest link of the last bundles.
    ///
    /// - Parameters:
    ///   - lastBundles: Bundles of the key: the newest one, and the newest one of the chain. Without any, a new state
    ///     does not know the chain.
    ///   - isForRealityCam: Whether the key signs for RealityCam. This cannot be changed for an existing state.
    /// - Throws: `key.state` if the existing state is valid and would be lowered, if its key signs for the other
    ///   purpose, if another key signed a last bundle, or if two bundles have one link. `key.counter` if a last bundle
    ///   has the highest link.
    package func recover(
        counter: UInt32?, lastBundles: [LastBundle] = [], isForRealityCam: Bool = false
    ) throws(BundleError) -> Recovered {
        let keyID = try publicKey().keyID
        if let foreign = lastBundles.first(where: { $0.keyID != keyID }) {
            throw BundleError(
                .keyState, "another key signed it, \(foreign.keyID); the key here is \(keyID)", file: foreign.name)
        }
        try refuseSecondName()
        if hardware != nil {
            try native({ .writing(realPath.folder, $0) }) { _ = try Folders.create(realPath.folder, mode: 0o700) }
        }
        return try locked {
            let known = try soundState(of: keyID)
            if let known, let counter, known.counter > counter { throw lowered("counter", known.counter, to: counter) }
            var state: DeviceKeyState
            if let known {
                state = known
                if isForRealityCam { try adoptForRealityCam(&state) }
            } else {
                let salt = try native { try RandomBytes.make(32) }
                state = DeviceKeyState(keyID: keyID, counter: 0, salt: salt)
                // A key that never signed has no chain.
                if !isForRealityCam && (counter != 0 || !lastBundles.isEmpty) { state.chain.last = nil }
            }
            state.counter = max(state.counter, counter ?? 0, lastBundles.map(\.counter).max() ?? 0)
            if known == nil && isForRealityCam { state.realityCamHeader = state.counter }
            let startsChain = try raise(&state, to: lastBundles)
            try save(state)
            return Recovered(state: state, isNewSalt: known == nil, startsChain: startsChain)
        }
    }

    /// Raises the chain of a state to the highest link of the bundles. Pending links before that one are given up.
    ///
    /// - Returns: Whether the chain was unknown and now begins at link 1.
    private func raise(_ state: inout DeviceKeyState, to lastBundles: [LastBundle]) throws(BundleError) -> Bool {
        guard let newest = lastBundles.max(by: { $0.end.seq < $1.end.seq }) else { return false }
        try refuseRealityCam(state)
        do { _ = try link(after: newest.end) } catch { throw error.about(file: newest.name) }
        if let twin = lastBundles.first(where: { $0.end.seq == newest.end.seq && $0.end != newest.end }) {
            throw usedTwice(twin)
        }
        guard let end = state.chain.end else {
            state.chain.last = newest.end
            return newest.end == .start
        }
        // A bundle without a chain says nothing about the chain.
        guard newest.end != .start, newest.end != end else { return false }
        guard newest.end.seq >= end.seq else { throw lowered("link", end.seq, to: newest.end.seq) }
        guard newest.end.seq > end.seq else { throw usedTwice(newest) }
        state.chain.pending = []
        state.chain.last = newest.end
        return false
    }

    private func usedTwice(_ bundle: LastBundle) -> BundleError {
        BundleError(
            .keyState, "has link \(bundle.end.seq), but the key gave that link to another bundle too",
            file: bundle.name, cause: .linkTwice)
    }

    private func lowered(_ what: String, _ known: some BinaryInteger, to wanted: some BinaryInteger) -> BundleError {
        BundleError(
            .keyState, "the state file is intact with \(what) \(known), which cannot be lowered to \(wanted)",
            file: statePath)
    }

    /// Reads the state; nil if it is missing or damaged. A disk error is thrown, because the state may still be valid.
    private func soundState(of keyID: Digest) throws(BundleError) -> DeviceKeyState? {
        do {
            return try readState(of: keyID)
        } catch {
            guard error.code == .keyState else { throw error }
            return nil
        }
    }
}
