import SystemPackage

/// The texts in which the settings of a destination are stored, each under its name.
///
/// Each kind has one list of `pass` calls for both directions: `pass` sets a value from its text, or writes its text.
/// Reading removes the text, so the texts that are left have unknown names.
struct SettingTexts {
    private(set) var texts: [String: String] = [:]
    var isReading = false

    /// Reads or writes a value. If it has no text, it stays as it is.
    ///
    /// - Throws: `destination.settings`.
    mutating func pass<Value>(
        _ name: String, _ value: inout Value?, _ form: SettingForm<Value>
    ) throws(QueueError) {
        guard isReading else {
            if let value { texts[name] = form.write(value) }
            return
        }
        guard let text = texts.removeValue(forKey: name) else { return }
        if text.isEmpty { throw QueueError(.destinationSettings, "\(name) is empty") }
        value = form.read(text)
        if value == nil { throw QueueError(.destinationSettings, "\(name)\(form.expected)") }
    }

    /// Reads or writes a value with a default, for which no text is stored.
    mutating func pass<Value: Equatable>(
        _ name: String, _ value: inout Value, usual: Value, _ form: SettingForm<Value>
    ) throws(QueueError) {
        var given = value == usual ? nil : value
        try pass(name, &given, form)
        value = given ?? usual
    }

    /// Reads or writes a value that must be given.
    mutating func pass<Value>(
        _ name: String, _ value: inout Value, _ form: SettingForm<Value>, lacking fault: @autoclosure () -> QueueError
    ) throws(QueueError) {
        var given = isReading ? nil : value
        try pass(name, &given, form)
        guard let given else { throw fault() }
        value = given
    }

    /// Removes a text that stands for no value.
    mutating func drop(_ name: String, _ text: String) { if texts[name] == text { texts[name] = nil } }
}

extension QueueError {
    /// The fault of a setting that another setting, or the kind of the destination, needs.
    static func missing(_ setting: String, of owner: String, example: String? = nil) -> QueueError {
        QueueError(
            .destinationSettings, "\(setting) is missing",
            cause: .missingSetting, values: [owner, example ?? "", setting])
    }
}

/// How a value is written as a text and read again.
struct SettingForm<Value> {
    /// What the text must be, for messages, to be put after the name of the setting.
    var expected = ""
    let read: (String) -> Value?
    let write: (Value) -> String
}

extension SettingForm where Value == String {
    static var text: Self { text("") { _ in true } }

    static func text(_ expected: String, _ isValid: @escaping (String) -> Bool) -> Self {
        Self(expected: expected, read: { isValid($0) ? $0 : nil }, write: { $0 })
    }
}

extension SettingForm where Value == FilePath {
    static var file: Self { Self(read: { FilePath($0) }, write: \.string) }
}

extension SettingForm where Value == URLTemplate {
    static var url: Self { Self(read: { URLTemplate($0) }, write: \.text) }
}

extension SettingForm where Value == Bool {
    static var flag: Self {
        Self(expected: " must be yes or no", read: { ["yes": true, "no": false][$0] }, write: { $0 ? "yes" : "no" })
    }

    /// Whether the status alone is a proof.
    static var proof: Self {
        Self(expected: " must be status or not set", read: { $0 == "status" ? true : nil }, write: { _ in "status" })
    }
}

extension SettingForm where Value == Duration {
    static var time: Self {
        Self(
            expected: " must be an age of 1s or more",
            read: { text in Duration(age: text).flatMap { $0 < .seconds(1) ? nil : $0 } },
            write: \.age)
    }
}

extension SettingForm where Value: RawRepresentable, Value.RawValue == String {
    static func word(_ expected: String) -> Self {
        Self(expected: " must be \(expected)", read: Value.init(rawValue:), write: \.rawValue)
    }
}
