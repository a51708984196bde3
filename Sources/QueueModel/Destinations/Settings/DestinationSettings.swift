public import SystemPackage

/// The settings of a destination, by its kind (Spec/queue.md section 12).
///
/// ```swift
/// var office = PutSettings(.url(URLTemplate("https://office.example/in/{sha256}.bundle")))
/// office.token = .file("/etc/capqueue/token")
/// try queue.destinations.add("office", .put(office))
/// ```
public enum DestinationSettings: Hashable, Sendable {
    case folder(FolderSettings)
    case http(HTTPSettings)
    case put(PutSettings)
    case s3(S3Settings)
    /// Settings that another version stored and that this one cannot read. The destination is blocked.
    case unusable(kind: String, texts: [String: String], QueueError)

    /// Reads settings from the texts in which they are stored, by name.
    ///
    /// - Parameter name: the destination, for errors.
    /// - Throws: `destination.settings`. URLs and files are checked when a destination gets the settings.
    public init(_ kind: Destination.Kind, _ texts: [String: String], of name: String? = nil) throws(QueueError) {
        var reader = SettingTexts(texts: texts, isReading: true)
        do throws(QueueError) {
            switch kind {
            case .folder: self = .folder(try FolderSettings(&reader))
            case .http: self = .http(try HTTPSettings(&reader))
            case .put: self = .put(try PutSettings(&reader))
            case .s3: self = .s3(try S3Settings(&reader))
            }
            if let unread = reader.texts.keys.min() {
                throw QueueError(.destinationSettings, "\(kind.rawValue) has no setting \(unread)")
            }
        } catch {
            throw error.about(name)
        }
    }

    /// Reads stored settings, which another version may have written.
    package init(stored kind: String, _ texts: [String: String]) {
        do throws(QueueError) {
            guard let known = Destination.Kind(rawValue: kind) else {
                let kinds = Destination.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw QueueError(.destinationSettings, "there is no kind \(kind), expected one of \(kinds)")
            }
            self = try DestinationSettings(known, texts)
        } catch {
            self = .unusable(kind: kind, texts: texts, error)
        }
    }

    /// The kind of the destination, as it is stored.
    public var kind: String {
        switch self {
        case .folder: Destination.Kind.folder.rawValue
        case .http: Destination.Kind.http.rawValue
        case .put: Destination.Kind.put.rawValue
        case .s3: Destination.Kind.s3.rawValue
        case .unusable(let kind, _, _): kind
        }
    }

    /// The settings as they are stored, by name. Defaults are left out.
    public var texts: [String: String] {
        if case .unusable(_, let texts, _) = self { return texts }
        var (writer, settings) = (SettingTexts(), stored)
        // Reading these texts finds the same faults, so they are not reported here.
        try? settings?.pace.pass(&writer)
        try? settings?.pass(&writer)
        return writer.texts
    }

    /// Changes settings by their names; nil removes a setting.
    ///
    /// - Throws: `destination.settings`.
    public mutating func set(_ changes: [String: String?]) throws(QueueError) {
        guard let kind = Destination.Kind(rawValue: kind) else {
            throw QueueError(.destinationSettings, "this version does not know the kind \(kind)")
        }
        var texts = texts
        for (name, text) in changes { texts[name] = text }
        self = try DestinationSettings(kind, texts)
    }

    /// The pace; the default one if it cannot be read.
    package var pace: PaceSettings {
        guard case .unusable(_, let texts, _) = self else { return stored?.pace ?? PaceSettings() }
        var (reader, pace) = (SettingTexts(texts: texts, isReading: true), PaceSettings())
        return (try? pace.pass(&reader)) == nil ? PaceSettings() : pace
    }

    private var stored: (any StoredSettings)? {
        switch self {
        case .folder(let settings): settings
        case .http(let settings): settings
        case .put(let settings): settings
        case .s3(let settings): settings
        case .unusable: nil
        }
    }
}

protocol StoredSettings {
    var pace: PaceSettings { get set }
    init()
    /// Reads or writes all settings but the pace.
    mutating func pass(_ texts: inout SettingTexts) throws(QueueError)
}

extension StoredSettings {
    init(_ texts: inout SettingTexts) throws(QueueError) {
        self.init()
        try pace.pass(&texts)
        try pass(&texts)
    }
}

/// The settings of a folder on a mounted disk.
public struct FolderSettings: StoredSettings, Hashable, Sendable {
    public var path: FilePath
    /// The contents of the marker file; nil before the destination is added.
    package var marker: String?
    public var pace = PaceSettings()

    public init(path: FilePath) { self.path = path }

    init() { self.init(path: "") }

    mutating func pass(_ texts: inout SettingTexts) throws(QueueError) {
        try texts.pass("path", &path, .file, lacking: .missing("path", of: "folder"))
        try texts.pass("marker", &marker, .text)
    }
}
