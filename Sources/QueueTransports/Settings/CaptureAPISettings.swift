import CaptureBundle
import CaptureNative
package import CurlClient
import QueueModel
package import SystemPackage

/// The settings for a server of the capture API.
package struct CaptureAPISettings: Hashable, Sendable {
    /// The device that signs requests.
    package struct Device: Hashable, Sendable {
        /// The UUID that the server gave the device.
        package let id: String
        /// The key file; nil for the default path.
        package let keyFile: FilePath?
        package let passphraseFile: FilePath?
    }

    /// The URL to which captures are posted.
    package let endpoint: URLTemplate
    /// The URL that says which captures have arrived; nil if the server is not asked.
    package let verify: WebAddress?
    /// The signing device for profile `capture`; nil if requests are not signed.
    package let device: Device?
    /// What profile `realitycam` needs; nil for profile `capture`.
    package let realityCam: RealityCamSettings?
    package let token: TokenSettings?
    package let connection: ConnectionSettings

    init(_ reader: inout SettingsReader) throws(SettingsFault) {
        guard let url = try reader.url("url") else {
            throw SettingsFault.missing(
                "url", of: "http", example: "https://captures.example.org; without a path, /api/v1/captures is used")
        }
        endpoint = Self.endpoint(url)
        verify = try Self.verify(&reader, WebAddress(endpoint.example))
        connection = try ConnectionSettings(&reader)
        realityCam = try RealityCamSettings.read(&reader)
        device = try Self.device(&reader)
        token = try TokenSettings.read(&reader)
    }

    static func missingID(of owner: String) -> SettingsFault {
        SettingsFault(
            "device-id is missing, the UUID that the server gave the device",
            hints: [.give(["device-id"], owner: owner, example: nil)])
    }

    static func deviceID(_ reader: inout SettingsReader) throws(SettingsFault) -> String? {
        try reader.value("device-id", "device-id is not a UUID; the server gave the device one") {
            RequestSignature.isDeviceID($0) ? $0 : nil
        }
    }

    private static func device(_ reader: inout SettingsReader) throws(SettingsFault) -> Device? {
        let id = try deviceID(&reader)
        let (key, passphrase) = (try reader.file("key"), try reader.file("passphrase-file"))
        if let id { return Device(id: id, keyFile: key, passphraseFile: passphrase) }
        guard key == nil, passphrase == nil else {
            throw missingID(of: "a key")
        }
        return nil
    }

    private static func endpoint(_ given: URLTemplate) -> URLTemplate {
        guard let example = WebAddress(given.example), example.path == "/" || example.path.isEmpty, example.query == nil
        else { return given }
        return URLTemplate(given.text + (given.text.hasSuffix("/") ? "" : "/") + "api/v1/captures")
    }

    /// The verify URL of the user, or else the endpoint with `verify-file` as its last part.
    private static func verify(
        _ reader: inout SettingsReader, _ endpoint: WebAddress?
    ) throws(SettingsFault) -> WebAddress? {
        if reader.isNone("verify-url") { return nil }
        if let given = try reader.url("verify-url") { return WebAddress(given.text) }
        guard let endpoint, endpoint.path.contains("/") else { return nil }
        let folder = endpoint.path.pieces(by: "/", keepsEmpty: true).dropLast().joined(separator: "/")
        return WebAddress(endpoint.origin.description + folder + "/verify-file")
    }
}
