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
        /// Whether the metadata has an assertion.
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

    private static func missingID(of owner: String) -> QueueError {
        QueueError(
            .destinationSettings, "device-id is missing, the UUID that the server gave the device",
            hints: [.give(["device-id"], owner: owner, example: nil)])
    }

    private enum Profile: String { case capture, realitycam }

    private mutating func passSigner(_ texts: inout SettingTexts) throws(QueueError) {
        var profile = Profile.capture
        var (device, other): (Device?, RealityCam?) = (nil, nil)
        switch signer {
        case .device(let signer): device = signer
        case .realityCam(let signer): (profile, device, other) = (.realitycam, signer.device, signer)
        case nil: break
        }
        var (id, passphraseFile) = (device?.id, device?.passphraseFile)
        var (key, otherKey) = other == nil ? (device?.keyFile, nil) : (nil, device?.keyFile)
        var rpID = other?.rpID == RealityCamRPID.usual ? nil : other?.rpID
        var assertion = other?.hasAssertion == false ? false : nil
        try texts.pass("profile", &profile, usual: .capture, .word("capture or realitycam"))
        try texts.pass(
            "device-id", &id,
            .text(" is not a UUID; the server gave the device one", RequestSignature.isDeviceID))
        try texts.pass("key", &key, .file)
        try texts.pass("realitycam-key", &otherKey, .file)
        try texts.pass("passphrase-file", &passphraseFile, .file)
        try texts.pass(
            "rpid", &rpID,
            .text(" must be a team and a bundle id, such as \(RealityCamRPID.usual)", RealityCamRPID.isWellFormed))
        try texts.pass("assertion", &assertion, .flag)
        device = id.map { Device(id: $0) }
        device?.keyFile = profile == .capture ? key : otherKey
        device?.passphraseFile = passphraseFile
        switch profile {
        case .capture:
            let given = [("realitycam-key", otherKey != nil), ("rpid", rpID != nil), ("assertion", assertion == false)]
            if let name = given.first(where: \.1)?.0 { throw .missing("profile realitycam", of: name) }
            if device == nil, key != nil || passphraseFile != nil {
                throw Self.missingID(of: "a key")
            }
            signer = device.map(Signer.device)
        case .realitycam:
            guard let device else {
                throw Self.missingID(of: "profile realitycam")
            }
            if key != nil {
                throw QueueError(
                    .destinationSettings,
                    "key is the key that signs bundles; profile realitycam signs with realitycam-key",
                    hints: [.makeKey])
            }
            var new = RealityCam(device: device)
            (new.rpID, new.hasAssertion) = (rpID ?? new.rpID, assertion ?? true)
            signer = .realityCam(new)
        }
    }
}
