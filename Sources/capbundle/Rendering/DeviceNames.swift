import CaptureBundle

/// The names of the devices in a trust file, for output that does not judge trust.
struct DeviceNames: Sendable {
    struct Device: Sendable {
        let name: String
        let isRevoked: Bool
    }

    private var devices: [Digest: Device] = [:]

    init(_ trust: TrustFile) {
        for line in trust.devices {
            let known = devices[line.point.keyID]
            if known == nil || line.isRevoked && known?.isRevoked == false {
                devices[line.point.keyID] = Device(name: line.name, isRevoked: line.isRevoked)
            }
        }
    }

    /// The device with this key id; nil if the trust file does not name the key. A revoked line decides, as it does for
    /// a verdict.
    func device(_ key: Digest) -> Device? { devices[key] }

    /// The device in words, without its key id.
    func words(_ key: Digest) -> String {
        guard let device = device(key) else { return "device not in the trust file" }
        return "device \(device.name)\(device.isRevoked ? " (revoked)" : "")"
    }
}
