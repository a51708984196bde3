import CaptureNative

extension BundleError.Code {
    static let locationCanonical = Self("location.canonical")
    package static let locationValue = Self("location.value")
}

/// The precision with which a position goes into a bundle.
public enum LocationPolicy: String, Sendable, CaseIterable {
    /// The position as the device recorded it.
    case exact
    /// Latitude and longitude with two decimals (about a kilometre), rounded half away from zero, and nothing else.
    case coarse
    case omit
}

/// A position: `location.json` without its salt and padding (Spec/capture-bundle.md section 7).
public struct GeoPosition: Sendable {
    /// A flat object whose numbers are kept as they were written.
    package let root: JSONValue

    private static let saltName = "salt"
    private static let padName = "pad"

    /// Checks a flat object with latitude and longitude: rule L2 without salt and padding.
    package init(_ root: JSONValue) throws(BundleError) {
        guard let members = root.members else { throw Self.wrong("is \(root.kind), expected an object") }
        for member in members where member.value.isContainer {
            throw Self.wrong("\(member.name) is \(member.value.kind), expected a string, a number, true, false or null")
        }
        self.root = root
        try Self.check("latitude", in: root, within: -90...90, isRequired: true)
        try Self.check("longitude", in: root, within: -180...180, isRequired: true)
        let finite = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
        try Self.check("altitude", in: root, within: finite, isRequired: false)
        try Self.check("accuracy", in: root, within: 0...Double.greatestFiniteMagnitude, isRequired: false)
    }

    public var latitude: String { root["latitude"]?.numberText ?? "" }
    public var longitude: String { root["longitude"]?.numberText ?? "" }

    private static func wrong(_ message: String) -> BundleError { BundleError(.locationValue, message) }

    private static func check(
        _ name: String, in root: JSONValue, within range: ClosedRange<Double>, isRequired: Bool
    ) throws(BundleError) {
        guard let member = root[name] else {
            if isRequired { throw wrong("\(name) is missing") }
            return
        }
        if !isRequired, case .null = member { return }
        guard let text = member.numberText else { throw wrong("\(name) is \(member.kind), expected a number") }
        guard let value = Double(text), range.contains(value) else {
            let limits =
                range.upperBound > 180 ? "a finite number" : "\(Int(range.lowerBound)) to \(Int(range.upperBound))"
            throw wrong("\(name) is \(text), expected \(name == "accuracy" ? "0 or more" : limits)")
        }
    }

    /// The position with the precision of the policy; nil for `omit`.
    package func applying(_ policy: LocationPolicy) throws(BundleError) -> GeoPosition? {
        switch policy {
        case .exact: return self
        case .omit: return nil
        case .coarse:
            return try GeoPosition(
                .members([
                    "latitude": .number(DecimalRounding.toHundredths(latitude)),
                    "longitude": .number(DecimalRounding.toHundredths(longitude)),
                ]))
        }
    }

    /// Encodes the 512 bytes of `location.json`.
    ///
    /// - Parameter secret: The 32 secret bytes that stay with the device key.
    /// - Throws: `location.value` if the members do not fit 512 bytes or use the names `salt` or `pad`.
    package func encode(secret: [UInt8], photo: Digest, capturedAt: CaptureTime) throws(BundleError) -> [UInt8] {
        for name in [Self.saltName, Self.padName] where root[name] != nil {
            throw Self.wrong("the member \(name) has a name that the format reserves")
        }
        let own = String(decoding: CanonicalJSON.encode(root), as: UTF8.self)
        let lines = ["capture-bundle location salt v1", photo.description, capturedAt.description, own]
        let message = Array(lines.map { $0 + "\n" }.joined().utf8)
        let salt = try native { try HMACSHA256.code(of: message, key: secret) }
        let length = CanonicalJSON.encode(padded(salt: salt, padding: 0)).count
        guard length <= BundleLimits.locationBytes else {
            throw Self.wrong("its members need \(length) bytes, at most \(BundleLimits.locationBytes) fit")
        }
        return CanonicalJSON.encode(padded(salt: salt, padding: BundleLimits.locationBytes - length))
    }

    private func padded(salt: [UInt8], padding: Int) -> JSONValue {
        .object(
            (root.members ?? []) + [
                JSONValue.Member(Self.saltName, .string(Hex.encode(salt))),
                JSONValue.Member(Self.padName, .string(String(repeating: "0", count: padding))),
            ])
    }

    /// Parses `location.json` and checks it: rules L1 and L2.
    package static func decode(_ bytes: [UInt8]) throws(BundleError) -> GeoPosition {
        let root = try CanonicalJSON.decode(bytes, or: .locationCanonical)
        let position: GeoPosition
        do {
            position = try GeoPosition(root)
        } catch {
            // The original message may contain the position, which no report shows.
            throw wrong("latitude, longitude, altitude, accuracy or another member is missing or malformed")
        }
        guard let salt = root[saltName]?.text, Digest(hex: salt) != nil else {
            throw wrong("salt is not a string of 64 lower-case hex digits")
        }
        guard let pad = root[padName]?.text, pad.utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) else {
            throw wrong("pad is not a string of zeros")
        }
        return position
    }
}
