/// The settings of a queue, stored in its database (Spec/capqueue.md, `config`).
public struct QueueSettings: Hashable, Sendable {
    /// How long bytes are kept after they were delivered.
    public var retention: Duration = .seconds(7 * 86_400)
    /// The size of the spool in bytes above which `push` warns.
    public var warnAt = 500_000_000
    /// The largest size of the spool in bytes; nil for no limit.
    public var limit: Int?
    /// What `push` leaves free on the disk.
    public var freeFloor = FreeFloor.standard
    /// Whether `push` deletes what was uploaded, whatever its age, when it needs room.
    public var evictsUploaded = false
    /// Whether `push` and `adopt` always act as with `--require-trusted`.
    public var requiresTrust = false
    /// Whether `push` refuses bundles unless the file system of the spool is known to be encrypted.
    public var requiresEncryption = false
    /// The absolute path of a folder from which runs take bundles; nil for none.
    public var inbox: String?

    public init() {}

    /// Whether no setting was changed.
    package var isDefault: Bool { self == QueueSettings() }

    /// The name of a setting, as users write it.
    public enum Name: String, Sendable, CaseIterable {
        case retention
        case warnAt = "warn-at"
        case limit
        case freeFloor = "free-floor"
        case evictUploaded = "evict-uploaded"
        case requireTrusted = "require-trusted"
        case requireEncrypted = "require-encrypted"
        case inbox
    }

    /// The value in the form in which users write it.
    public func text(_ name: Name) -> String {
        switch name {
        case .retention: retention.age
        case .warnAt: ByteSize.text(warnAt)
        case .limit: limit.map(ByteSize.text) ?? "none"
        case .freeFloor: freeFloor.text
        case .evictUploaded: evictsUploaded ? "on" : "off"
        case .requireTrusted: requiresTrust ? "yes" : "no"
        case .requireEncrypted: requiresEncryption ? "on" : "off"
        case .inbox: inbox ?? "none"
        }
    }

    /// - Throws: `value.invalid`.
    public mutating func set(_ name: Name, _ text: String) throws(QueueError) {
        func value<Value>(_ value: Value?, _ fault: String) throws(QueueError) -> Value {
            guard let value else { throw QueueError(.valueInvalid, fault, of: name.rawValue) }
            return value
        }
        func size(_ example: String = "500MB, 2GiB or none") throws(QueueError) -> Int {
            try value(ByteSize.bytes(text), "\(text) is not a size, expected for example \(example)")
        }
        func isOn(_ on: String = "on", _ off: String = "off") throws(QueueError) -> Bool {
            try value([on: true, off: false][text], "is \(text), expected \(on) or \(off)")
        }
        switch name {
        case .retention:
            let fault = "\(text) is not a time span, expected for example 7d, 12h or 90s"
            retention = try value(Duration(age: text), fault)
        case .warnAt: warnAt = try size("500MB or 2GiB")
        case .limit: limit = text == "none" ? nil : try size()
        case .freeFloor: freeFloor = text == "default" ? .standard : text == "none" ? .none : .bytes(try size())
        case .evictUploaded: evictsUploaded = try isOn()
        case .requireTrusted: requiresTrust = try isOn("yes", "no")
        case .requireEncrypted: requiresEncryption = try isOn()
        case .inbox:
            let path = text.utf8.first == UInt8(ascii: "/") ? text : nil
            let fault = "is \(text), expected the absolute path of a folder, or none"
            inbox = text == "none" ? nil : try value(path, fault)
        }
    }
}

/// What `push` leaves free on the disk of the queue (Spec/queue.md section 10).
public enum FreeFloor: Hashable, Sendable {
    /// 5 % of the file system, at most 1 GB.
    case standard
    case bytes(Int)
    case none

    /// The number of bytes on a file system of this size; nil for `none`.
    func bytes(ofDisk size: Int) -> Int? {
        switch self {
        case .standard: min(1_000_000_000, size / 20)
        case .bytes(let bytes): bytes
        case .none: nil
        }
    }

    var text: String {
        switch self {
        case .standard: "default"
        case .bytes(let bytes): ByteSize.text(bytes)
        case .none: "none"
        }
    }
}

/// The room on the disk of a queue.
public struct DiskRoom: Hashable, Sendable {
    public let free: Int
    /// What `push` leaves free, and refuses to break; nil for no floor.
    public let floor: Int?
    /// Whether a person should make room: another capture like the last one would break the floor or, without one, leave
    /// less than 10 MB (5 % of a small disk).
    public let isLow: Bool

    /// - Parameters:
    ///   - next: the bytes that the next push will probably need.
    ///   - evictable: the bytes that it can delete for that.
    package init(_ floor: FreeFloor, free: Int, size: Int, next: Int, evictable: Int = 0) {
        self.free = free
        self.floor = floor.bytes(ofDisk: size)
        // While a push runs, the database needs room for its log.
        let log = min(131_072, size / 100)
        isLow = free - max(next, 1) - log + evictable < self.floor ?? min(10_000_000, size / 20)
    }
}

/// Spans as users write them, such as `7d` or `90s`.
extension Duration {
    /// In seconds, a thousand years: more is a typing error, and nothing overflows below it.
    private static var longestAge: Int { 31_557_600_000 }

    private static var ageUnits: [(letter: String, seconds: Int)] {
        [("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]
    }

    public init?(age text: String) {
        guard let unit = Self.ageUnits.first(where: { text.hasSuffix($0.letter) }),
            let count = WholeNumber.parse(text.without(last: 1)), count <= Self.longestAge / unit.seconds
        else { return nil }
        self = .seconds(count * unit.seconds)
    }

    /// The text for the span, rounded up to whole seconds.
    public var age: String {
        let seconds = (milliseconds + 999) / 1000
        // Weeks are accepted but not printed, because 14d is more usual than 2w.
        let unit = Self.ageUnits.dropFirst().first { seconds % $0.seconds == 0 && seconds >= $0.seconds } ?? ("s", 1)
        return "\(seconds / unit.seconds)\(unit.letter)"
    }

    /// The span in whole milliseconds: at least 0, and at most a thousand years.
    package var milliseconds: Int {
        let (seconds, fraction) = components
        return Int(min(max(seconds, 0), Int64(Self.longestAge))) * 1000 + Int(max(fraction, 0) / 1_000_000_000_000_000)
    }

    /// The span rounded down to whole days, or else hours, or else minutes.
    package var rounded: Duration {
        let seconds = milliseconds / 1000
        let unit = [86_400, 3600].first { seconds >= $0 } ?? 60
        return .seconds(seconds / unit * unit)
    }
}

/// Parses and prints a number of bytes as users write it, such as `500MB`, `2GiB` or `1000`.
public enum ByteSize {
    private static let units: [(name: String, bytes: Int)] = [
        ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("TiB", 1 << 40),
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    public static func bytes(_ text: String) -> Int? {
        let unit = units.first { text.hasSuffix($0.name) } ?? ("", 1)
        guard let count = WholeNumber.parse(text.without(last: unit.name.utf8.count)) else { return nil }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: unit.bytes)
        return overflows || bytes > 1 << 53 ? nil : bytes
    }

    /// The shortest text that is still exact.
    public static func text(_ bytes: Int) -> String {
        let unit = units.first { bytes >= $0.bytes && bytes % $0.bytes == 0 } ?? ("B", 1)
        return "\(bytes / unit.bytes)\(unit.name)"
    }
}

package enum WholeNumber {
    /// Returns nil for anything but 1 to 18 digits.
    package static func parse(_ text: String) -> Int? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}
