import CaptureNative

extension BundleError.Code {
    static let metadataCanonical = Self("metadata.canonical")
    static let metadataValue = Self("metadata.value")
    static let metadataLocation = Self("metadata.location")
    static let metadataCapturedAt = Self("metadata.captured_at")
    static let metadataDimensions = Self("metadata.dimensions")
    /// A warning about a member that looks like a position.
    public static let metadataPosition = Self("metadata.position")
}

/// The facts about a capture: `metadata.json` (Spec/capture-bundle.md section 6).
public struct CaptureMetadata: Sendable {
    /// All members, both known and unknown.
    package let root: JSONValue
    /// The time as the device wrote it.
    public let capturedAtText: String
    public let capturedAt: CaptureTime
    public let deviceModel: String
    public let depthSize: Dimensions?

    /// The value of `depth_map_dimensions` as written, which may be an impossible size.
    public struct Dimensions: Hashable, Sendable, CustomStringConvertible {
        public let width: Int
        public let height: Int

        public var description: String { "\(width)x\(height)" }

        /// Whether one is in portrait format and the other in landscape format.
        package func isAcross(_ other: Dimensions) -> Bool {
            width < height && other.width > other.height || width > height && other.width < other.height
        }
    }

    /// Checks the values of a JSON object: rule E2.
    ///
    /// - Throws: the first fault, with the others in `further`.
    package init(_ root: JSONValue) throws(BundleError) {
        guard root.members != nil else { throw Self.wrong("is \(root.kind), expected an object") }
        self.root = root
        var faults: [BundleError] = []
        let time = faults.attempt { try Self.time(root) }
        let model = faults.attempt { try Self.model(root) }
        let size = faults.attempt { try Self.dimensions(root) }
        guard let time, let model, let size else { throw faults.joined }
        (capturedAtText, capturedAt) = time
        deviceModel = model
        depthSize = size
    }

    /// Parses a bundle's `metadata.json`: rule E1.
    package static func root(_ bytes: [UInt8]) throws(BundleError) -> JSONValue {
        try CanonicalJSON.decode(bytes, or: .metadataCanonical)
    }

    private static func wrong(_ message: String) -> BundleError { BundleError(.metadataValue, message) }

    /// A member such as `capturedAt` was probably meant.
    private static func missing(
        _ name: String, _ root: JSONValue, expected: String, cause: BundleError.Cause
    ) -> BundleError {
        func letters(_ text: String) -> [UInt8] { text.lowercased().utf8.filter { $0 != 0x5f && $0 != 0x2d } }
        let short = (root.members ?? []).map(\.name).filter { $0.utf8.count <= 32 }
        let other = short.first { letters($0) == letters(name) }
        var fault = wrong("\(name) is missing" + (other.map { "; rename \($0) to \(name)" } ?? ", \(expected)"))
        fault.cause = other == nil ? cause : nil
        return fault
    }

    private static func time(_ root: JSONValue) throws(BundleError) -> (String, CaptureTime) {
        let expected = "expected a time with its zone like 2026-03-14T15:09:26.535+01:00"
        guard let member = root["captured_at"] else {
            throw missing("captured_at", root, expected: expected, cause: .noTime)
        }
        guard let text = member.text else { throw wrong("captured_at is \(member.kind), \(expected)") }
        guard let time = CaptureTime(text) else {
            let zone = CaptureTime(text + "Z") == nil ? "" : "which has no zone; "
            throw wrong("captured_at is \"\(text)\", \(zone)\(expected)")
        }
        return (text, time)
    }

    private static func model(_ root: JSONValue) throws(BundleError) -> String {
        let expected = "expected a string of 1 to 256 bytes that is not blank"
        guard let member = root["device_model"] else {
            throw missing("device_model", root, expected: expected, cause: .noModel)
        }
        guard let text = member.text else { throw wrong("device_model is \(member.kind), \(expected)") }
        let isBlank = text.utf8.allSatisfy { $0 == 0x20 || (0x09...0x0d).contains($0) }
        guard !isBlank, text.utf8.count <= 256 else {
            throw wrong("device_model has \(text.utf8.count) bytes\(isBlank ? " and is blank" : ""), \(expected)")
        }
        return text
    }

    private static func dimensions(_ root: JSONValue) throws(BundleError) -> Dimensions? {
        guard let member = root["depth_map_dimensions"] else { return nil }
        guard let width = side(member["width"]), let height = side(member["height"]) else {
            throw wrong("depth_map_dimensions is not an object with the integers width and height")
        }
        return Dimensions(width: width, height: height)
    }

    /// Reads a number that consists of digits. A number too large for Int becomes `Int.max`, which no depth map has.
    static func side(_ value: JSONValue?) -> Int? {
        guard let text = value?.numberText, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text) ?? Int.max
    }

    /// The names of members, at any depth, that look like a position (section 6). A top-level `location` does not
    /// count. The result has at most 16 names of at most 100 bytes each, so that a hostile bundle cannot produce long
    /// messages.
    package static func namesThatLookLikeAPosition(in root: JSONValue) -> [String] {
        var found: [String] = []
        collect(root, path: nil, into: &found)
        return found
    }

    private static let namesToReport = 16
    private static let bytesToReport = 100

    private static let positionNames = Set(
        [
            "lat", "lon", "lng", "latlng", "latlon", "geo", "geolocation", "location", "coordinate", "coordinates",
            "coords", "position", "place",
        ].map { Array($0.utf8) })
    private static let positionWords = ["latitude", "longitude"].map { Array($0.utf8) }

    /// - Parameter path: The names that lead to the value; nil for the whole.
    private static func collect(_ value: JSONValue, path: String?, into found: inout [String]) {
        switch value {
        case .object(let members):
            for member in members where found.count < namesToReport {
                let isPosition = looksLikeAPosition(member.name) && !(path == nil && member.name == "location")
                guard isPosition || member.value.isContainer else { continue }
                let name = member.name.cut(to: bytesToReport)
                let place = path.map { "\($0).\(name)".cut(to: bytesToReport) } ?? name
                if isPosition { found.append(place) }
                collect(member.value, path: place, into: &found)
            }
        case .array(let elements):
            for element in elements where element.isContainer && found.count < namesToReport {
                collect(element, path: path, into: &found)
            }
        case .string, .number, .bool, .null: return
        }
    }

    private static func looksLikeAPosition(_ name: String) -> Bool {
        let letters = name.utf8.filter { !"_- ".utf8.contains($0) }.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        return letters.starts(with: "gps".utf8) || positionNames.contains(letters)
            || positionWords.contains { ByteSearch.first($0, in: letters.span, from: 0) != nil }
    }
}

/// A width and a height as a file gives them.
package typealias PixelSize = CaptureMetadata.Dimensions
