/// One object of the manifest while it is checked: rules M3 (members) and M4 (values).
struct ManifestObject {
    let value: JSONValue
    /// The object's position in the manifest, for messages: `entries[2]`.
    let place: String

    init(_ value: JSONValue, at place: String) throws(BundleError) {
        guard value.members != nil else {
            throw BundleError(.manifestValue, "\(place) is \(value.kind), expected an object")
        }
        self.value = value
        self.place = place
    }

    func allow(_ names: [String]) throws(BundleError) {
        for member in value.members ?? [] where !names.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
            throw BundleError(.manifestKey, "\(place): unknown member \(member.name)")
        }
    }

    func missing(_ name: String) -> BundleError { BundleError(.manifestKey, "\(place): \(name) is missing") }

    func wrong(_ name: String, _ reason: String) -> BundleError {
        BundleError(.manifestValue, "\(place): \(name): \(reason)")
    }

    private func require(_ name: String) throws(BundleError) -> JSONValue {
        guard let member = value[name] else { throw missing(name) }
        return member
    }

    private func read<Value>(
        _ name: String, _ expected: String, _ value: (JSONValue) -> Value?
    ) throws(BundleError) -> Value {
        let member = try require(name)
        guard let value = value(member) else { throw wrong(name, "is \(member.kind), expected \(expected)") }
        return value
    }

    func text(_ name: String, where accepts: (String) -> Bool = { _ in true }) throws(BundleError) -> String {
        let text = try read(name, "a string", \.text)
        guard accepts(text) else { throw wrong(name, "\"\(text)\" is not an allowed value") }
        return text
    }

    func integer(_ name: String) throws(BundleError) -> Int { try read(name, "an integer", \.integer) }

    func digest(_ name: String) throws(BundleError) -> Digest {
        let text = try text(name)
        guard let digest = Digest(hex: text) else { throw wrong(name, "is not 64 lower-case hex digits") }
        return digest
    }

    /// Reads a member that is `true` or absent.
    func flag(_ name: String) throws(BundleError) -> Bool {
        guard let member = value[name] else { return false }
        guard case .bool(true) = member else {
            throw wrong(name, "is \(member.kind), expected true, or the member left out")
        }
        return true
    }

    func array(_ name: String) throws(BundleError) -> [JSONValue] { try read(name, "an array", \.elements) }

    func object(_ name: String) throws(BundleError) -> ManifestObject {
        try ManifestObject(require(name), at: "\(place): \(name)")
    }

    func optionalObject(_ name: String) throws(BundleError) -> ManifestObject? {
        value[name] == nil ? nil : try object(name)
    }
}

extension Manifest {
    static func isToken(_ text: String, limit: Int) -> Bool {
        guard let first = text.utf8.first, EntryPath.isAlphanumeric(first), text.utf8.count <= limit else {
            return false
        }
        return text.utf8.allSatisfy { EntryPath.isAlphanumeric($0) || ".+-".utf8.contains($0) }
    }

    static func isMediaType(_ text: String) -> Bool {
        let parts = text.pieces(by: "/", keepsEmpty: true)
        return parts.count == 2 && parts.allSatisfy { isToken($0, limit: 63) }
    }

    /// Checks the grammar `1*10DIGIT [ "." 1*20DIGIT ]`.
    package static func isDecimal(_ text: String) -> Bool {
        let parts = text.pieces(by: ".", keepsEmpty: true)
        let limits = [10, 20]
        return (1...2).contains(parts.count)
            && zip(parts, limits).allSatisfy { part, limit in
                (1...limit).contains(part.utf8.count) && part.utf8.allSatisfy { (48...57).contains($0) }
            }
    }
}
