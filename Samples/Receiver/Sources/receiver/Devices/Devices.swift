import CaptureBundle
import Foundation

/// A device that registered.
struct RegisteredDevice: Sendable {
    /// The UUID that the receiver gave the device.
    let id: String
    /// The line of a trust file for the device: its name and its key.
    let line: TrustedDeviceLine
    let isRevoked: Bool

    /// The line as it is now: marked as revoked if the device was revoked.
    var currentLine: TrustedDeviceLine {
        var line = line
        line.isRevoked = isRevoked
        return line
    }

    /// A trust file with this device only.
    func trust() throws -> TrustFile {
        var trust = TrustFile()
        try trust.add(currentLine)
        return trust
    }
}

/// The devices, invitations and revocations in an object store. Nothing is cached, so a change counts at once, also for
/// other receivers with the same store. All calls block.
///
/// All calls throw `StoreUnavailable` if the store cannot be reached or holds something else.
struct Devices: Sendable {
    private let store: any ObjectStore

    init(store: any ObjectStore) { self.store = store }

    /// Finds a device. - Parameter id: A UUID in lower case.
    func device(_ id: String) throws -> RegisteredDevice? {
        guard let bytes = try get("devices/\(id)") else { return nil }
        guard let line = try? TrustFile(bytes: bytes, name: id).devices.first else {
            throw StoreUnavailable("devices/\(id) is not a line of a trust file")
        }
        guard try get(Self.key(line)) == Array(id.utf8) else { return nil }
        return RegisteredDevice(id: id, line: line, isRevoked: try get("revoked/\(id)") != nil)
    }

    func all() throws -> [RegisteredDevice] {
        try reach { try store.names("devices/") }.compactMap { name in
            try device(String(decoding: name.utf8.dropFirst("devices/".utf8.count), as: UTF8.self))
        }
    }

    /// The ids of all devices that were revoked.
    func revoked() throws -> Set<String> {
        let prefix = "revoked/"
        let names = try reach { try store.names(prefix) }
        return Set(names.map { String(decoding: $0.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) })
    }

    /// Revokes a device, or an invitation that was not used yet.
    ///
    /// - Returns: false if neither exists.
    func revoke(_ id: String, at now: Int) throws -> Bool {
        let isDevice = try get("devices/\(id)") != nil
        guard try isDevice || get("invitations/\(id)") != nil else { return false }
        _ = try create("revoked/\(id)", Array(String(now).utf8))
        return true
    }

    /// Makes an invitation.
    ///
    /// - Parameter expires: The time in milliseconds from which it is invalid.
    /// - Returns: The id of the future device, and the secret.
    func invite(_ name: String, until expires: Int) throws -> (id: String, secret: String) {
        let id = UUID().uuidString.lowercased()
        let secret = Invitation.newSecret()
        let invitation = Invitation(name: name, secretSHA256: try Invitation.hash(secret), expires: expires)
        _ = try create("invitations/\(id)", Array(JSONEncoder().encode(invitation)))
        return (id, secret)
    }

    /// The invitation of a device; nil if it does not exist or was revoked.
    func invitation(_ id: String) throws -> Invitation? {
        guard let bytes = try get("invitations/\(id)"), try get("revoked/\(id)") == nil else { return nil }
        guard let invitation = try? JSONDecoder().decode(Invitation.self, from: Data(bytes)) else {
            throw StoreUnavailable("invitations/\(id) is not an invitation")
        }
        return invitation
    }

    enum Registration { case registered, invitationUsed, keyUsed }

    /// Registers a device. The same registration again changes nothing and succeeds.
    ///
    /// The first key that creates `devices/ID` takes the invitation. The first device that creates `keys/KEYID` takes the
    /// key. Only a device that has both is registered.
    func register(_ id: String, _ line: TrustedDeviceLine) throws -> Registration {
        let key = Self.key(line)
        let text = Array("\(line.text)\n".utf8)
        if let owner = try get(key), owner != Array(id.utf8) { return .keyUsed }
        if try !create("devices/\(id)", text), try get("devices/\(id)") != text { return .invitationUsed }
        if try !create(key, Array(id.utf8)), try get(key) != Array(id.utf8) { return .keyUsed }
        return .registered
    }

    /// The object that names the device of a key.
    private static func key(_ line: TrustedDeviceLine) -> String { "keys/\(line.point.keyID)" }

    private func get(_ name: String) throws -> [UInt8]? { try reach { try store.get(name) } }

    private func create(_ name: String, _ bytes: [UInt8]) throws -> Bool {
        try reach { try store.create(name, bytes) }
    }

    private func reach<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw StoreUnavailable("\(error)") }
    }
}

/// The object store cannot be used now.
struct StoreUnavailable: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
