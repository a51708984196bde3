import Foundation

/// The position of a capture: location.json (Spec/capture-bundle.md section 7).
public struct Location: Sendable {
    let numbers: JSONValue.Members

    /// The position of Core Location. Core Location gives a negative accuracy if it has no position.
    public init(latitude: Double, longitude: Double, altitude: Double? = nil, accuracy: Double? = nil) throws {
        try self.init(
            latitude: .real(latitude), longitude: .real(longitude), altitude: altitude.map { .real($0) },
            accuracy: accuracy.map { .real($0) })
    }

    /// A position whose numbers keep their characters.
    public init(latitude: JSONValue, longitude: JSONValue, altitude: JSONValue?, accuracy: JSONValue?) throws {
        let most = Double.greatestFiniteMagnitude
        let all = [
            ("latitude", latitude, -90...90), ("longitude", longitude, -180...180),
            ("altitude", altitude, -most...most),
            ("accuracy", accuracy, 0...most),
        ]
        numbers = try all.compactMap { name, value, range in
            guard let value else { return nil }
            guard case .number(let text) = value, let number = Double(text), range.contains(number) else {
                throw CaptureError("the \(name) of the position is not a number that is possible")
            }
            return (name, value)
        }
    }

    /// The 512 bytes of location.json. Their hash tells nothing to those who do not know the secret.
    func encoded(secret: Data, photo: Data, utc: String) throws -> Data {
        let own = try JSONValue.object(numbers).canonical()
        let lines = "capture-bundle location salt v1\n\(Hash.hex(photo))\n\(utc)\n\(own)\n"
        let salt = Hash.hex(Hash.hmac(Data(lines.utf8), secret: secret))
        func padded(_ count: Int) throws -> Data {
            let pad = String(repeating: "0", count: count)
            return try JSONValue.object(numbers + [("salt", .string(salt)), ("pad", .string(pad))]).encoded()
        }
        // Four numbers of at most 64 characters leave room.
        return try padded(512 - padded(0).count)
    }
}
