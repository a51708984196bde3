import CaptureBundle

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
