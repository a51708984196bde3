package import CaptureBundle
import CaptureNative
package import SystemPackage

/// The chain of a device key, as its state file records it (Spec/capture-bundle.md sections 9.2 and 9.3).
package struct ChainRecord: Equatable, Sendable {
    /// The last link of a chain: `seq` is 0 and `manifest` is nil before the first one.
    package struct End: Equatable, Sendable {
        package let seq: Int
        package let manifest: Digest?

        static let start = End(seq: 0, manifest: nil)

        /// The link that follows this one; nil after the highest number that a manifest can have.
        var next: Manifest.ChainLink? {
            seq + 1 < ChainRecord.seqLimit ? Manifest.ChainLink(seq: seq + 1, prev: manifest) : nil
        }
    }

    /// The last link that was given out for good; nil if nobody knows it, because the state was lost.
    package var last: End? = .start
    /// The links that are being given out, in order.
    package var pending: [PendingLink] = []

    /// The last link of all, including the pending ones.
    package var end: End? { pending.last?.end ?? last }

    private static let chain = "chain"
    private static let unknown = "unknown"
    /// Integers of a manifest are below this number.
    fileprivate static let seqLimit = 1 << 53

    /// The lines of the state file.
    var lines: [String] {
        let first = last.map { "\($0.seq) \($0.manifest?.description ?? "-")" } ?? Self.unknown
        return ["\(Self.chain) \(first)"] + pending.map(\.line)
    }

    package init() {}

    /// Parses the lines; nil if they are not a chain whose links follow each other.
    ///
    /// - Parameter counter: The last counter that was given out.
    init?(_ lines: [String], counter: UInt32) {
        guard let fields = lines.first?.pieces(by: " ", keepsEmpty: true), fields.count >= 2 else { return nil }
        if fields[1] == Self.unknown {
            last = nil
        } else {
            guard fields.count == 3, let seq = Int(fields[1]), (0..<Self.seqLimit) ~= seq else { return nil }
            last = End(seq: seq, manifest: Digest(hex: fields[2]))
            guard (seq == 0) == (last?.manifest == nil) else { return nil }
        }
        var lastCounter: UInt32 = 0
        for line in lines.dropFirst() {
            guard let link = PendingLink(line), link.link == end?.next, link.counter > lastCounter,
                link.counter <= counter
            else { return nil }
            lastCounter = link.counter
            pending.append(link)
        }
    }
}

/// A link that is being given out: it is on the disk, and its bundle may be incomplete.
package struct PendingLink: Equatable, Sendable {
    /// The files of the bundle, both with absolute paths.
    package struct Files: Equatable, Sendable {
        package let temporary: FilePath
        package let target: FilePath
    }

    package let link: Manifest.ChainLink
    package let counter: UInt32
    /// The SHA-256 of the manifest with this link.
    package let manifest: Digest
    /// nil for a bundle that goes to standard output.
    package let files: Files?

    var end: ChainRecord.End { ChainRecord.End(seq: link.seq, manifest: manifest) }

    private static let word = "pending"

    init(_ link: Manifest.ChainLink, counter: UInt32, manifest: Digest, files: Files?) {
        (self.link, self.counter, self.manifest, self.files) = (link, counter, manifest, files)
    }

    fileprivate var line: String {
        let paths = files.map { [StatePath.encode($0.temporary), StatePath.encode($0.target)] } ?? ["-", "-"]
        let fields = ["\(link.seq)", "\(counter)", link.prev?.description ?? "-", manifest.description] + paths
        return ([Self.word] + fields).joined(separator: " ")
    }

    /// Parses a line; nil if it is damaged. The caller encodes it again to check its form.
    fileprivate init?(_ line: String) {
        let fields = line.pieces(by: " ", keepsEmpty: true)
        guard fields.count == 7, fields[0] == Self.word, let seq = Int(fields[1]), let counter = UInt32(fields[2]),
            let manifest = Digest(hex: fields[4])
        else { return nil }
        (self.counter, self.manifest) = (counter, manifest)
        link = Manifest.ChainLink(seq: seq, prev: Digest(hex: fields[3]))
        if fields[5] == "-" {
            files = nil
        } else {
            guard let temporary = StatePath.decode(fields[5]), let target = StatePath.decode(fields[6]) else {
                return nil
            }
            files = Files(temporary: temporary, target: target)
        }
    }
}

/// Absolute paths in the state file: `%` and each byte outside 0x21 to 0x7e is written as `%` and two hex digits.
private enum StatePath {
    static func encode(_ path: FilePath) -> String {
        let bytes = path.components.flatMap { [UInt8(ascii: "/")] + $0.bytes }
        return bytes.map { byte in
            (0x21...0x7e).contains(byte) && byte != UInt8(ascii: "%")
                ? String(Unicode.Scalar(byte)) : "%" + Hex.encode([byte])
        }.joined()
    }

    static func decode(_ text: String) -> FilePath? {
        let parts = text.pieces(by: "/", keepsEmpty: true)
        guard parts.count > 1, parts[0].isEmpty else { return nil }
        var path: FilePath = "/"
        for part in parts.dropFirst() {
            guard let bytes = decodedBytes(part), let name = FilePath.Component(bytes) else { return nil }
            path.append(name)
        }
        return path
    }

    private static func decodedBytes(_ text: String) -> [UInt8]? {
        let pieces = text.pieces(by: "%", keepsEmpty: true)
        var bytes = Array((pieces.first ?? "").utf8)
        for piece in pieces.dropFirst() {
            let digits = Array(piece.utf8.prefix(2))
            guard let byte = Hex.decode(String(decoding: digits, as: UTF8.self)), byte.count == 1 else { return nil }
            bytes += byte + piece.utf8.dropFirst(2)
        }
        return bytes.isEmpty ? nil : bytes
    }
}

/// The state of a key that gives out links of a chain (Spec/capture-bundle.md section 9.3).
extension DeviceKeyFile {
    /// Calls `body` with the state while the key is locked. `body` saves the state.
    ///
    /// - Throws: `key.state` if the key cannot give out links.
    func withChain<Value>(
        of device: DeviceKey, _ body: (inout DeviceKeyState) throws -> Value
    ) throws(BundleError) -> Value {
        try locked {
            try refuseSecondName()
            var state = try readState(of: device.point.keyID)
            _ = try chainEnd(state)
            return try body(&state)
        }
    }

    /// The end of the chain, after which the next capture would get its link now. Nothing is reserved.
    ///
    /// - Throws: `key.state` if the key cannot give out links.
    func chainEnd(for device: DeviceKey) throws(BundleError) -> ChainRecord.End {
        try chainEnd(readState(of: device.point.keyID))
    }

    /// Takes the next link and its counter. The caller adds the pending link.
    ///
    /// - Parameter counter: The counter that an earlier run took for this link; nil takes the next one.
    /// - Throws: `key.counter` if no link or no counter is left.
    func reserveLink(
        _ state: inout DeviceKeyState, reusing counter: UInt32? = nil
    ) throws(BundleError) -> (link: Manifest.ChainLink, counter: UInt32) {
        let next = try link(after: chainEnd(state))
        if let counter { return (next, counter) }
        return (next, try advance(&state, by: 1))
    }

    /// The link that follows another one.
    func link(after end: ChainRecord.End) throws(BundleError) -> Manifest.ChainLink {
        guard let next = end.next else {
            throw BundleError(
                .keyCounterUsedUp, "the key's chain is at link \(end.seq), the highest one, so no link is left",
                file: statePath)
        }
        return next
    }

    /// Removes the line of a pending link whose bundle is complete, unless another run has removed it already.
    func finish(_ pending: PendingLink, for device: DeviceKey) throws(BundleError) {
        try locked {
            var state = try readState(of: device.point.keyID)
            guard state.chain.pending == [pending] else { return }
            state.chain.last = pending.end
            state.chain.pending = []
            try save(state)
        }
    }

    /// The remark about bundles without a link; nil if the key has not begun a chain.
    ///
    /// - Throws: The errors of reading the state.
    func unlinkedRemark(for device: DeviceKey) throws(BundleError) -> Remark? {
        guard let end = try readState(of: device.point.keyID).chain.end, end.seq > 0 else { return nil }
        return Remark(
            weight: .note, code: "chain.unlinked", file: path.string,
            message: "this key makes a chain; this bundle has no link, since --chain is missing")
    }

    private func chainEnd(_ state: DeviceKeyState) throws(BundleError) -> ChainRecord.End {
        try refuseRealityCam(state)
        guard let end = state.chain.end else {
            throw BundleError(
                .keyState, "the last link of the key's chain is lost", file: statePath,
                cause: .linkLost, values: [path.string])
        }
        return end
    }
}
