import CaptureBundle
import CaptureDevice
import SystemPackage

/// Chooses the time of a frame. Several frames never get one time unless the user says so (Spec/raw-captures.md section
/// 5.1).
extension FrameReader {
    /// - Parameters:
    ///   - own: The members of a metadata.json of our own form.
    ///   - exif: The facts in the photo.
    /// - Returns: nil if `CaptureMetadata` says what is wrong.
    mutating func capturedAt(_ own: JSONValue, _ exif: PhotoFacts?) throws(BundleError) -> String? {
        // One that is not a text is refused by `CaptureMetadata`.
        if let value = own["captured_at"], value.text == nil { return nil }
        var fromLayout: String?
        if case .time(let text) = layoutFacts.clock { fromLayout = text }
        let sources: [(text: String?, words: String)] = [
            (mayShareTime ? own["captured_at"]?.text : nil, "metadata.json"),
            (try nameTime(), "its name"), (fromLayout, "the export"),
            (exif?.time.flatMap { known($0) }, "the photo's EXIF"),
        ]
        let given = try givenTime(isOnlyCompared: sources.contains { $0.text != nil })
        if let text = choose("captured_at", sources + [(given, "--captured-at")], agree: Self.areSameTimes) {
            return text
        }
        if hasOwnMetadata, exif?.time == nil { return nil }
        throw missingTime(own, exif)
    }

    /// Whether two times are at most 2 seconds apart. A time that cannot be parsed is refused later.
    private static func areSameTimes(_ one: String, _ other: String) -> Bool {
        guard let one = CaptureTime(one), let other = CaptureTime(other) else { return true }
        return abs(one.milliseconds - other.milliseconds) <= 2000
    }

    /// A time of EXIF with its zone; nil if its zone is unknown.
    private func known(_ time: ExifTime) -> String? {
        time.capturedAt ?? options.timeZone.flatMap { time.capturedAt(offset: $0.description) }
    }

    private var mayShareTime: Bool { source.frames.count == 1 || options.sharesTime }

    /// What the layout calls the frame; the name of RAW for a single capture.
    private var name: String? { frame.name ?? (try? source.name())?.string }

    /// The time in the name, if the user wants it to be read.
    private func nameTime() throws(BundleError) -> String? {
        guard let form = options.timeFromName else { return nil }
        if let time = name.flatMap({ form.read($0, zone: options.timeZone) }) { return time.text }
        throw BundleError(
            .rawTime, "its name is not \(form.words) in the years 2000 to 2099", file: photoFile,
            cause: .nameIsNoTime, values: Self.values(name.flatMap { NameTimeForm.fitting([$0]) }))
    }

    /// The last values of errors about a missing time: the form in which the name is a time, and "local" if it has no zone.
    private static func values(_ fitting: (form: NameTimeForm, needsZone: Bool)?) -> [String] {
        fitting.map { [$0.form.rawValue] + ($0.needsZone ? ["local"] : []) } ?? []
    }

    /// The time from `--captured-at`: plus the seconds of the app's own clock since the first frame, or as it is.
    ///
    /// - Parameter isOnlyCompared: Whether it is only compared with the time that the frame has.
    private func givenTime(isOnlyCompared: Bool) throws(BundleError) -> String? {
        guard let given = options.capturedAt else { return nil }
        guard case .elapsed(let seconds) = layoutFacts.clock else {
            return mayShareTime || isOnlyCompared ? given.description : nil
        }
        // A hundred years are enough for any clock.
        guard seconds.isFinite, abs(seconds) < 3.2e9,
            let time = CaptureTime(milliseconds: given.milliseconds + Int((seconds * 1000).rounded()))
        else {
            throw BundleError(
                .rawTime, "its frame is \(seconds) s after the first one, which is not a possible time",
                file: metadataFile)
        }
        return time.description
    }

    private func missingTime(_ own: JSONValue, _ exif: PhotoFacts?) -> BundleError {
        if let local = exif?.time?.local {
            return BundleError(
                .rawTime, "its EXIF has the local time \(local), but not the time zone", file: photoFile,
                cause: .noZone)
        }
        if case .elapsed = layoutFacts.clock {
            return BundleError(
                .rawTime, "the export has only the app's own clock, which has no date", file: tree.root,
                cause: .noDate)
        }
        let count = source.frames.count
        let named = Self.values(count == 1 ? name.flatMap { NameTimeForm.fitting([$0]) } : source.nameTimes)
        guard count > 1 else {
            return BundleError(
                .rawTime, "the time of the capture is unknown", file: metadataFile, cause: .noTime,
                values: [layout] + named)
        }
        let shared = options.capturedAt != nil ? "--captured-at" : own["captured_at"].map { _ in "metadata.json" }
        let found = shared.map { ", and \($0) gives one time for \(count) frames" } ?? ""
        return BundleError(
            .rawTime, "has no time of its own\(found)", file: photoFile, cause: .noOwnTime,
            values: [shared ?? ""] + named)
    }
}
