import CaptureBundle
public import SystemPackage

/// The settings for a server of the capture API.
public struct HTTPSettings: StoredSettings, Hashable, Sendable {
    /// Where the server is asked which captures have arrived.
    public enum Lookup: Hashable, Sendable {
        case url(URLTemplate)
        case never
    }

    /// The device that signs requests, by the profile of the server.
    public enum Signer: Hashable, Sendable {
        case device(Device)
        /// A server of Spec/upload.md section 6.
        case realityCam(RealityCam)
    }

    public struct Device: Hashable, Sendable {
        /// The UUID that the server gave the device.
        public var id: String
        /// The key file; nil for the default path.
        public var keyFile: FilePath?
        public var passphraseFile: FilePath?

        public init(id: String) { self.id = id }
    }

    public struct RealityCam: Hashable, Sendable {
        public var device: Device
        public var rpID = RealityCamRPID.usual
        public var hasAssertion = true

        public init(device: Device) { self.device = device }
    }

    /// The URL of the server, or the one to which captures are posted.
    public var url: URLTemplate
    /// nil for `verify-file` beside the URL.
    public var lookup: Lookup?
    /// The signer; nil if requests are not signed.
    public var signer: Signer?
    public var token: TokenSettings?
    public var connection = ConnectionSettings()
    public var pace = PaceSettings()

    public init(url: URLTemplate) { self.url = url }

    init() { self.init(url: URLTemplate("")) }

    mutating func pass(_ texts: inout SettingTexts) throws(QueueError) {
        try texts.pass(
            "url", &url, .url,
            lacking: .missing(
                "url", of: "http", example: "https://captures.example.org; without a path, /api/v1/captures is used"))
        try texts.pass(
            "verify-url", &lookup,
            SettingForm(
                read: { $0 == "none" ? .never : .url(URLTemplate($0)) },
                write: { if case .url(let url) = $0 { url.text } else { "none" } }))
        try connection.pass(&texts)
        try passSigner(&texts)
        try TokenSettings.pass(&token, &texts)
        // Counters must arrive in the order in which they were reserved (Spec/upload.md section 6.4).
        if case .realityCam = signer, pace.concurrency != 1 {
            throw QueueError(
                .destinationSettings, "concurrency must be 1 for profile realitycam, which needs its requests in order")
        }
    }

    private enum Profile: String { case capture, realitycam }

    private mutating func passSigner(_ texts: inout SettingTexts) throws(QueueError) {
        var profile = if case .realityCam = signer { Profile.realitycam } else { Profile.capture }
        try texts.pass("profile", &profile, usual: .capture, .word("capture or realitycam"))
        switch profile {
        case .capture: try passDevice(&texts)
        case .realitycam: try passRealityCam(&texts)
        }
    }

    private mutating func passDevice(_ texts: inout SettingTexts) throws(QueueError) {
        texts.drop("assertion", "yes")
        if let name = ["realitycam-key", "rpid", "assertion"].first(where: { texts.texts[$0] != nil }) {
            throw .missing("profile realitycam", of: name)
        }
        var device: Device? = if case .device(let known) = signer { known } else { nil }
        try Device.pass(&device, key: "key", neededBy: "a key", &texts)
        signer = device.map(Signer.device)
    }

    private mutating func passRealityCam(_ texts: inout SettingTexts) throws(QueueError) {
        let known: RealityCam? = if case .realityCam(let known) = signer { known } else { nil }
        var device = known?.device
        try Device.pass(&device, key: "realitycam-key", neededBy: "profile realitycam", &texts)
        guard var new = known ?? device.map(RealityCam.init), let device else {
            throw Device.missingID(neededBy: "profile realitycam")
        }
        if texts.texts["key"] != nil {
            throw QueueError(
                .destinationSettings,
                "key is the key that signs bundles; profile realitycam signs with realitycam-key", cause: .otherKey)
        }
        new.device = device
        try texts.pass(
            "rpid", &new.rpID, usual: RealityCamRPID.usual,
            .text(" must be a team and a bundle id, such as \(RealityCamRPID.usual)", RealityCamRPID.isWellFormed))
        try texts.pass("assertion", &new.hasAssertion, usual: true, .flag)
        signer = .realityCam(new)
    }
}

extension HTTPSettings.Device {
    /// Reads or writes a device; one without an id is nil.
    ///
    /// - Parameters:
    ///   - key: The name of the setting for the key file.
    ///   - owner: What needs the id, for the error if it is missing.
    fileprivate static func pass(
        _ device: inout Self?, key: String, neededBy owner: String, _ texts: inout SettingTexts
    ) throws(QueueError) {
        var (id, keyFile, passphraseFile) = (device?.id, device?.keyFile, device?.passphraseFile)
        try texts.pass(
            "device-id", &id,
            .text(" is not a UUID; the server gave the device one", RequestSignature.isDeviceID))
        try texts.pass(key, &keyFile, .file)
        try texts.pass("passphrase-file", &passphraseFile, .file)
        device = id.map(Self.init)
        if device == nil, keyFile != nil || passphraseFile != nil { throw missingID(neededBy: owner) }
        device?.keyFile = keyFile
        device?.passphraseFile = passphraseFile
    }

    fileprivate static func missingID(neededBy owner: String) -> QueueError {
        QueueError(
            .destinationSettings, "device-id is missing, the UUID that the server gave the device",
            cause: .missingSetting, values: [owner, "", "device-id"])
    }
}
