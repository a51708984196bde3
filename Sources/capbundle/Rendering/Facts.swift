import CaptureBundle
import CommandSupport

/// The facts that a bundle states about its capture, as far as they were read.
enum Facts {
    static func table(_ report: VerificationReport) -> TextTable {
        var table = TextTable()
        guard let manifest = report.manifest else {
            table.add("read", Quantity.bytes(report.bytes))
            return table
        }
        table.add("id", manifest.id)
        table.add("device", device(report))
        table.add("key id", manifest.device.keyID.description)
        let claimed = report.isManifestGenuine ? "" : claimed
        let time = report.isManifestGenuine ? captured(manifest, report.metadata) : manifest.capturedAt.description
        table.add("captured", time + claimed)
        if let stamp = report.stamp { table.add("stamp", stamp.words) }
        if let model = report.metadata?.deviceModel { table.add("model", Visible.text(model) + claimed) }
        table.add("photo", part(.photo, of: manifest, in: report))
        table.add("depth", depth(manifest, report))
        table.add("location", part(.location, of: manifest, in: report))
        table.add("counter", report.authenticatorData.map { String($0.counter) } ?? "not readable")
        if let chain = manifest.chain { table.add("chain", "capture \(chain.seq) of this device") }
        table.add("size", Quantity.bytes(report.bytes))
        return table
    }

    /// Marks facts that no valid signature proves.
    static let claimed = " (unproven claim)"

    private static func device(_ report: VerificationReport) -> String {
        if !report.isManifestGenuine { return "not known" }
        let kind = report.authenticatorData.map { $0.kind == .apple ? "an Apple key" : "a key on disk" }
        let unnamed = report.verdict == .unknownDevice ? "not in the trust file" : nil
        return [report.trustedDevice.map { Visible.text($0.name) } ?? unnamed, kind].compactMap(\.self).joined(
            separator: ", ")
    }

    private static func captured(_ manifest: Manifest, _ metadata: CaptureMetadata?) -> String {
        let time = manifest.capturedAt.description
        guard let written = metadata?.capturedAtText, written != time else { return time }
        return "\(time) (written as \(written))"
    }

    private static func depth(_ manifest: Manifest, _ report: VerificationReport) -> String {
        let size = manifest.depth.map { "\($0.size) samples, " } ?? ""
        return size + part(.depth, of: manifest, in: report)
    }

    private static func part(_ path: EntryPath, of manifest: Manifest, in report: VerificationReport) -> String {
        guard let index = manifest.entries.firstIndex(where: { $0.path == path }) else { return "none" }
        switch report.entries[index] {
        case .withheld: return "withheld"
        case .altered: return "ALTERED"
        case .unread: return "not read"
        case .matched: return path == .location ? "in the bundle" : Quantity.bytes(manifest.entries[index].size)
        }
    }
}

/// The names of the devices in a trust file, for output that does not judge trust.
struct DeviceNames: Sendable {
    private var devices: [Digest: TrustedDeviceLine] = [:]

    init(_ trust: TrustFile) {
        for line in trust.devices {
            let known = devices[line.point.keyID]
            let isStricter = line.revocation?.isStricter(than: known?.revocation) == true
            if known == nil || isStricter { devices[line.point.keyID] = line }
        }
    }

    /// The device with this key id; nil if the trust file does not name the key. A revoked line decides, as it does for
    /// a verdict: the one that revokes most.
    func device(_ key: Digest) -> TrustedDeviceLine? { devices[key] }

    /// The device in words, without its key id.
    func words(_ key: Digest) -> String {
        guard let device = device(key) else { return "device not in the trust file" }
        return "device \(device.name)\(device.isRevoked ? " (revoked)" : "")"
    }
}
