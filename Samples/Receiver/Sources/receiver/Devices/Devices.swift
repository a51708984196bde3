import CaptureBundle
import Foundation
import Hummingbird
import QueueTransports

struct RegisteredDevice: Sendable {
    /// The UUID that the receiver gave the device.
    let id: String
    /// The line of a trust file for the device: its name and its key.
    let line: TrustedDeviceLine
    let isRevoked: Bool

    /// The line as it is now: marked as revoked if the device was revoked.
    var currentLine: TrustedDeviceLine {
        var line = line
        line.revocation = isRevoked ? .always : nil
        return line
    }

    func trust() throws -> TrustFile {
        var trust = TrustFile()
        try trust.add(currentLine)
        return trust
    }
}

/// The devices, invitations and revocations in an object store. Nothing is cached, so a change counts at once, also for
/// other receivers with the same store. All calls block. They throw `Unavailable` if an object is damaged or missing, and
/// the errors of the store.
struct Devices: Sendable {
    private let store: any ObjectStore

    init(store: any ObjectStore) { self.store = store }

    /// Whether other receivers use the store too.
    var isShared: Bool { store is S3Objects }

    /// Finds a device. - Parameter id: A UUID in lower case.
    func device(_ id: String, claim number: Int = 1) throws -> RegisteredDevice? {
        guard let bytes = try get(Self.claim(id, number)) else { return nil }
        let line = try Self.line(bytes, of: id)
        guard let owner = try owner(of: Self.key(line)) else {
            throw Unavailable("\(Self.key(line)) is missing: \(id) did not register to the end, or the file was lost")
        }
        guard owner == id else { return try device(id, claim: number + 1) }
        return RegisteredDevice(id: id, line: line, isRevoked: try get("revoked/\(id)") != nil)
    }

    func device(key: Digest) throws -> RegisteredDevice? { try owner(of: "keys/\(key)").flatMap { try device($0) } }

    /// The id of the device that has a key; nil if no device has it.
    private func owner(of key: String) throws -> String? {
        guard let bytes = try get(key) else { return nil }
        let id = String(decoding: bytes, as: UTF8.self)
        guard RequestSignature.isDeviceID(id) else { throw Unavailable("\(key) is not the id of a device") }
        return id
    }

    /// Finds all devices, by their ids.
    ///
    /// - Parameter damage: Gets what is wrong with a device that cannot be read, which is left out.
    func all(_ damage: (String) -> Void) throws -> [RegisteredDevice] {
        try ids("devices/").sorted().compactMap { id in
            do { return try device(id) } catch {
                damage("\(error)")
                return nil
            }
        }
    }

    func revoked() throws -> Set<String> { try ids("revoked/") }

    private func ids(_ prefix: String) throws -> Set<String> {
        Set(
            try store.names(prefix).map {
                String(decoding: $0.utf8.dropFirst(prefix.utf8.count).prefix(36), as: UTF8.self)
            })
    }

    /// Revokes a device, or an invitation that was not used yet.
    ///
    /// - Returns: false if neither exists.
    func revoke(_ id: String, at now: Int) throws -> Bool {
        guard try get("devices/\(id)") != nil || get("invitations/\(id)") != nil else { return false }
        _ = try create("revoked/\(id)", Array(String(now).utf8))
        return true
    }

    /// Makes an invitation: the id of the future device, and the secret.
    func invite(_ name: String, until expires: Int) throws -> (id: String, secret: String) {
        let id = UUID().uuidString.lowercased()
        let secret = Secret.make(bytes: 20)
        let invitation = Invitation(name: name, secretSHA256: try Secret.hash(secret), expires: expires)
        _ = try create("invitations/\(id)", Array(JSONEncoder().encode(invitation)))
        return (id, secret)
    }

    /// The invitation of a device; nil if it does not exist or was revoked.
    func invitation(_ id: String) throws -> Invitation? {
        guard let bytes = try get("invitations/\(id)"), try get("revoked/\(id)") == nil else { return nil }
        guard let invitation = try? JSONDecoder().decode(Invitation.self, from: Data(bytes)) else {
            throw Unavailable("invitations/\(id) is not an invitation")
        }
        return invitation
    }

    private static let keyUsed = APIError(
        .conflict, "DEVICE_ALREADY_REGISTERED", "the key belongs to another device")

    /// Registers a device. The same registration again changes nothing and succeeds.
    ///
    /// The first key that creates `devices/ID` takes the invitation. The first device that creates `keys/KEYID` takes the
    /// key. Only a device that has both is registered. If its key became another device at the same moment, the
    /// invitation goes to the first other key that creates `devices/ID.2`, and so on.
    func register(_ id: String, _ line: TrustedDeviceLine, claim number: Int = 1) throws {
        let (key, claim) = (Self.key(line), Self.claim(id, number))
        let text = Array("\(line.text)\n".utf8)
        if let other = try owner(of: key), other != id { throw Self.keyUsed }
        if try !create(claim, text), let first = try get(claim), first != text {
            guard let other = try owner(of: Self.key(Self.line(first, of: id))), other != id else {
                throw APIError(.conflict, "INVITATION_USED", "the invitation was used for another key")
            }
            return try register(id, line, claim: number + 1)
        }
        if try !create(key, Array(id.utf8)), try owner(of: key) != id { throw Self.keyUsed }
    }

    /// The object with the line of the key that took an invitation.
    private static func claim(_ id: String, _ number: Int) -> String {
        "devices/\(id)" + (number == 1 ? "" : ".\(number)")
    }

    private static func line(_ bytes: [UInt8], of id: String) throws -> TrustedDeviceLine {
        guard let line = try? TrustFile(bytes: bytes, name: id).devices.first else {
            throw Unavailable("devices/\(id) is \(bytes.isEmpty ? "empty" : "not a line of a trust file")")
        }
        return line
    }

    private static func key(_ line: TrustedDeviceLine) -> String { "keys/\(line.point.keyID)" }

    func get(_ name: String) throws -> [UInt8]? { try store.get(name) }

    func create(_ name: String, _ bytes: [UInt8]) throws -> Bool { try store.create(name, bytes) }
}
