import CaptureBundle
import GRDB
import QueueFiles
import QueueModel

/// Finds sessions and destinations by their names, and captures by their ids.
extension Database {
    /// Returns the session with that name, and opens it if there is none.
    func session(_ name: String, reopens: Bool, at now: Int) throws -> Int {
        try QueueName.require(name, "a session")
        if !reopens { try requireOpen(name) }
        if let id = try integer("SELECT id FROM sessions WHERE name = ?", [name]) {
            let reopening = "UPDATE sessions SET ended_at = NULL, incomplete = 0, marker = NULL"
            try run("\(reopening) WHERE id = ? AND ended_at IS NOT NULL", [id])
            return id
        }
        try run("INSERT INTO sessions (name, opened_at) VALUES (?, ?)", [name, now])
        return Int(lastInsertedRowID)
    }

    /// - Throws: `session.ended`.
    func requireOpen(_ session: String) throws {
        if try integer("SELECT 1 FROM sessions WHERE name = ? AND ended_at IS NOT NULL", [session]) != nil {
            throw QueueError(.sessionEnded, "the session has ended", of: session)
        }
    }

    func destination(_ name: String) throws -> Int {
        guard let id = try integer("SELECT id FROM destinations WHERE name = ?", [name]) else {
            throw try unknown(destination: name)
        }
        return id
    }

    /// The error for an unknown destination; for a former name, it gives the new one.
    func unknown(destination name: String) throws -> QueueError {
        let now = try destination(nowOrOnce: name).flatMap { number in
            try text("SELECT name FROM destinations WHERE id = ?", [number])
        }
        guard let now else { return QueueError(.destinationUnknown, "no such destination", of: name) }
        return QueueError(.destinationUnknown, "is now named \(now)", of: name, cause: .formerName, values: [now])
    }

    /// Returns the number of a destination that takes captures.
    func activeDestination(_ name: String) throws -> Int {
        let id = try destination(name)
        guard try integer("SELECT is_retired FROM destinations WHERE id = ?", [id]) == 0 else {
            throw QueueError(
                .destinationRetired, "the destination is retired and takes no further captures", of: name)
        }
        return id
    }

    /// The destination of captures that name none; nil only if no destination takes captures.
    func defaultDestination() throws -> Int? { try integer("SELECT id FROM destinations WHERE is_default = 1") }

    func setDefault(_ id: Int) throws {
        try run("UPDATE destinations SET is_default = 0 WHERE is_default = 1")
        try run("UPDATE destinations SET is_default = 1 WHERE id = ?", [id])
    }

    /// Makes the oldest destination that takes captures the default one if there is no default.
    func ensureDefault() throws {
        guard try defaultDestination() == nil,
            let oldest = try integer("SELECT min(id) FROM destinations WHERE is_retired = 0")
        else { return }
        try setDefault(oldest)
    }

    /// Gives a destination to deliveries that were pushed while there was none, except completed ones.
    func bindDeliveries(to id: Int) throws {
        try run("UPDATE deliveries SET destination = ? WHERE destination IS NULL AND state <> 'completed'", [id])
    }

    /// Refuses a name that another destination has or once had, because sidecars with that name mean the other one.
    ///
    /// - Parameter number: the destination that gets the name; nil for a new one.
    /// - Throws: `destination.exists`.
    func requireFree(destination name: String, for number: Int? = nil) throws {
        if let other = try row("SELECT kind FROM destinations WHERE name = ?", [name]) {
            let isFolder = try other.needText("kind") == Destination.Kind.folder.rawValue
            throw QueueError(
                .destinationExists, "a destination already has this name", of: name,
                cause: isFolder || number != nil ? .used : .changeable)
        }
        let owner = try row(
            """
            SELECT name FROM destinations WHERE id <> ? AND instr(' ' || former_names || ' ', ' ' || ? || ' ')
            """, [number ?? 0, name])
        guard let owner = try owner?.needText("name") else { return }
        throw QueueError(
            .destinationExists, "\(owner) had this name before", of: name, cause: .formerName, values: [owner])
    }

    /// Returns the destinations that a sidecar names, each once.
    func destinations(of sidecar: Sidecar?) throws -> [Int] {
        try (sidecar?.destinations ?? []).reduce(into: []) { numbers, name in
            guard let number = try destination(nowOrOnce: name), !numbers.contains(number) else { return }
            numbers.append(number)
        }
    }

    /// Returns the number of the destination that has this name now, or else had it before.
    func destination(nowOrOnce name: String) throws -> Int? {
        try integer("SELECT id FROM destinations WHERE name = ?", [name])
            ?? integer(
                "SELECT max(id) FROM destinations WHERE instr(' ' || former_names || ' ', ' ' || ? || ' ')", [name])
    }

    /// Returns the id for a new capture: the bundle id itself, or with `.2`, `.3` and so on if it is in use.
    ///
    /// - Parameters:
    ///   - wanted: the id that a sidecar has, which is preferred.
    ///   - taken: ids that are reserved but have no row yet.
    func freeID(_ bundleID: String, like wanted: String? = nil, besides taken: [String] = []) throws -> String {
        var candidate = wanted.flatMap { QueueName.isID($0, of: bundleID) ? $0 : nil } ?? bundleID
        var number = 1
        while try taken.contains(candidate) || integer("SELECT 1 FROM captures WHERE id = ?", [candidate]) != nil {
            number += 1
            candidate = "\(bundleID).\(number)"
        }
        return candidate
    }

    /// Finds the capture for a word: a whole id, the beginning of an id, or the beginning of a bundle's hash.
    ///
    /// - Throws: `id.malformed`, `id.unknown`, `id.ambiguous`.
    func capture(named word: String) throws -> CaptureRecord {
        if let exact = try CaptureRecord.all(self, "WHERE id = ?", [word]).first { return exact }
        guard (4...64).contains(word.utf8.count), word.utf8.allSatisfy("0123456789abcdef-.".utf8.contains) else {
            throw QueueError(
                .idMalformed, "is not an id; expected one that push printed, or at least its first 4 characters",
                of: word)
        }
        // Ids that begin with the word sort before the word with "~" added, because "~" sorts after every id character.
        var found = try CaptureRecord.all(self, "WHERE id >= ? AND id < ? ORDER BY id LIMIT 9", [word, word + "~"])
        if found.isEmpty, word.utf8.count >= 8, let range = QueueName.hashRange(word) {
            found = try CaptureRecord.all(
                self, "WHERE sha256 >= ? AND sha256 <= ? ORDER BY id LIMIT 9", [range.low.data, range.high.data])
        }
        guard let first = found.first else { throw QueueError(.idUnknown, "no such capture in this queue", of: word) }
        guard found.count == 1 else {
            let shown = found.prefix(8).map(\.id).joined(separator: ", ") + (found.count > 8 ? ", …" : "")
            throw QueueError(.idAmbiguous, "is the beginning of several ids: \(shown)", of: word)
        }
        return first
    }
}

/// Checks the form of names and ids.
enum QueueName {
    /// - Throws: `name.invalid`.
    static func require(_ name: String, _ what: String) throws(QueueError) {
        let plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_".utf8
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(plain.contains), !name.hasPrefix("."),
            !name.hasPrefix("-")
        else {
            throw QueueError(
                .nameInvalid,
                "cannot be the name of \(what); expected 1 to 64 characters from A-Z a-z 0-9 . _ -, not beginning with . or -",
                of: name)
        }
    }

    /// Whether a capture of the bundle can have this id: its own, or that with a number.
    static func isID(_ id: String, of bundleID: String) -> Bool {
        guard id != bundleID else { return true }
        let number = id.utf8.dropFirst(bundleID.utf8.count + 1)
        return id.utf8.starts(with: "\(bundleID).".utf8) && (1...9).contains(number.count)
            && number.allSatisfy("0123456789".utf8.contains)
    }

    /// Returns the smallest and the largest hash that begin with these hex digits.
    static func hashRange(_ digits: String) -> (low: Digest, high: Digest)? {
        let hash = { (end: String) in Digest(hex: digits + String(repeating: end, count: 64 - digits.utf8.count)) }
        guard let low = hash("0"), let high = hash("f") else { return nil }
        return (low, high)
    }
}
