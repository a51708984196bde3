import CaptureBundle
import QueueModel
package import SystemPackage

/// The settings of an `http` destination with profile `realitycam` (Spec/upload.md section 6).
package struct RealityCamSettings: Hashable, Sendable {
    /// The UUID that the server gave the device.
    package let deviceID: String
    /// The key file; nil for the default path.
    package let keyFile: FilePath?
    package let passphraseFile: FilePath?
    package let rpID: String
    /// Whether the metadata has an assertion.
    package let hasAssertion: Bool

    /// Reads the settings; nil if the profile is `capture`.
    static func read(_ reader: inout SettingsReader) throws(SettingsFault) -> RealityCamSettings? {
        let isRealityCam = try reader.value("profile", "profile must be capture or realitycam") { text in
            ["capture": false, "realitycam": true][text]
        }
        let key = try reader.file("realitycam-key")
        let rpID = try reader.value(
            "rpid", "rpid must be a team and a bundle id, such as \(RealityCamRPID.usual)"
        ) { RealityCamRPID.isWellFormed($0) ? $0 : nil }
        let hasAssertion = try reader.isOn("assertion")
        guard isRealityCam == true else {
            let given = [("realitycam-key", key != nil), ("rpid", rpID != nil), ("assertion", hasAssertion == false)]
            if let (name, _) = given.first(where: \.1) { throw SettingsFault.missing("profile realitycam", of: name) }
            return nil
        }
        guard let id = try CaptureAPISettings.deviceID(&reader) else {
            throw CaptureAPISettings.missingID(of: "profile realitycam")
        }
        if try reader.file("key") != nil {
            throw SettingsFault(
                "key is the key that signs bundles; profile realitycam signs with realitycam-key",
                hints: [.makeKey])
        }
        return RealityCamSettings(
            deviceID: id, keyFile: key, passphraseFile: try reader.file("passphrase-file"),
            rpID: rpID ?? RealityCamRPID.usual, hasAssertion: hasAssertion ?? true)
    }
}
