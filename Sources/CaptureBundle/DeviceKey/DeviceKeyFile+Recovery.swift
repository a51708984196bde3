import CaptureNative

/// Makes a new state after the old one was lost. Neither a counter nor a link may be given out twice, so an intact state
/// is never lowered.
extension DeviceKeyFile {
    /// The bundle from which a lost state is recovered.
    package struct LastBundle: Sendable {
        let name: String
        let keyID: Digest
        let counter: UInt32
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
    }

    /// Makes a new state, or raises the counter and the link of an intact one. The next signature gets a higher counter
    /// than `counter` and than that of the last bundle.
    ///
    /// - Parameters:
    ///   - lastBundle: The newest bundle of the key. Without it, a new state does not know the chain.
    ///   - isForRealityCam: Whether the key signs for RealityCam. This cannot be changed for an existing state.
    /// - Throws: `key.state` if the existing state is valid and would be lowered, if its key signs for the other
    ///   purpose, or if another key signed the last bundle.
    package func recover(
        counter: UInt32?, lastBundle: LastBundle? = nil, isForRealityCam: Bool = false
    ) throws(BundleError) -> Recovered {
        let keyID = try publicKey().keyID
        if let lastBundle, lastBundle.keyID != keyID {
            throw BundleError(
                .keyState, "another key signed it, \(lastBundle.keyID); the key here is \(keyID)",
                file: lastBundle.name)
        }
        return try locked { () throws(BundleError) in
            let known = try soundState(of: keyID)
            if let known, let counter, known.counter > counter { throw lowered("counter", known.counter, counter) }
            var state: DeviceKeyState
            if let known {
                state = known
                if isForRealityCam { try adoptForRealityCam(&state) }
            } else {
                let salt = try native { () throws(NativeError) in try RandomBytes.make(32) }
                state = DeviceKeyState(keyID: keyID, counter: 0, salt: salt)
                if !isForRealityCam { state.chain.last = nil }
            }
            state.counter = max(state.counter, counter ?? 0, lastBundle?.counter ?? 0)
            if known == nil && isForRealityCam { state.realityCamHeader = state.counter }
            if let lastBundle { try raise(&state, to: lastBundle) }
            try save(state)
            return Recovered(state: state, isNewSalt: known == nil)
        }
    }

    /// Raises the chain of a state to that of the last bundle. Pending links before that one are given up.
    private func raise(_ state: inout DeviceKeyState, to lastBundle: LastBundle) throws(BundleError) {
        try refuseRealityCam(state)
        guard let end = state.chain.end, end != lastBundle.end else {
            if state.chain.last == nil { state.chain.last = lastBundle.end }
            return
        }
        guard lastBundle.end.seq >= end.seq else { throw lowered("link", end.seq, lastBundle.end.seq) }
        guard lastBundle.end.seq > end.seq else {
            throw BundleError(
                .keyState, "has link \(end.seq), but the key gave that link to another bundle too",
                file: lastBundle.name,
                hints: ["the key was copied, or its state was restored from a backup: make a new key"])
        }
        state.chain.pending = []
        state.chain.last = lastBundle.end
    }

    private func lowered(_ what: String, _ known: some BinaryInteger, _ wanted: some BinaryInteger) -> BundleError {
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
