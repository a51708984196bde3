import CaptureNative

extension BundleError.Code {
    /// An entry that is not in the manifest, or not withholdable, cannot be withheld.
    public static let redactEntry = Self("redact.entry")
    /// The position cannot be withheld, because an entry that stays may tell it.
    public static let redactPosition = Self("redact.position")
}

/// A copy of a bundle with fewer or more of its entries (Spec/capture-bundle.md section 8).
public struct PartialCopy: Sendable {
    public let manifest: Manifest
    public let manifestSHA256: Digest
    /// The length of the copy in bytes.
    public let byteCount: Int
    /// The entries that were cut out or put back.
    public let moved: [ManifestEntry]
    /// The other entries that the copy lacks. The bundle lacked them too.
    public let lacking: [ManifestEntry]
}

/// Makes copies of bundles that lack withholdable entries (Spec/capture-bundle.md section 8).
///
/// ```swift
/// var selection = EntrySelection()
/// _ = selection.add("location.json")
/// let redacted = try Redactor(withholding: selection)
///     .redact(BundleSource(path: "cap.bundle"), to: .file("public.bundle"))
/// ```
public struct Redactor: Sendable {
    private let selection: EntrySelection
    /// Whether a copy is refused that contains more than a bundle without a position may contain.
    private let hidesPosition: Bool
    /// Whether `location.json` is withheld only from a bundle that has it.
    private let isPositionOptional: Bool

    /// - Parameters:
    ///   - selection: The entries to withhold. Those that a bundle lacks already are accepted.
    ///   - keepsPhotoLocation: Whether `location.json` may be withheld although another entry may tell a position.
    public init(withholding selection: EntrySelection, keepsPhotoLocation: Bool = false) {
        self.selection = selection
        hidesPosition = selection.contains(.location) && !keepsPhotoLocation
        isPositionOptional = false
    }

    /// Makes copies without a position: `location.json` is withheld from a bundle that has it, and every entry that stays
    /// has only what Spec/raw-captures.md section 7 lists, also if the bundle has no `location.json`.
    ///
    /// Another copy is refused with `redact.position`. The error and those in `further` name the entries, and the caller
    /// can add them to `others`.
    ///
    /// - Parameter others: Entries to withhold too. Those that a bundle lacks already are accepted.
    public init(hidingPositionAnd others: EntrySelection = EntrySelection()) {
        var selection = others
        selection.add(.location)
        self.selection = selection
        hidesPosition = true
        isPositionOptional = true
    }

    /// Reads the bundle once. The copy gets its name only if the bundle is sound; trust is not checked.
    ///
    /// - Throws: The worst fault of a damaged bundle; `redact.entry`, `redact.position`, `output.exists`,
    ///   `output.unusable`, `input.unreadable`, `io.failed`. Nothing is left behind then.
    public func redact(_ source: BundleSource, to place: OutputPlace) throws(BundleError) -> PartialCopy {
        try OutputPlace.examine([place], reading: source.status)
        let target = try OutputTarget(place, holdsBack: true)
        let writer = BundleWriter(name: target.name) { try target.write($0) }
        let observer = RedactionObserver(selection, writer, hidesPosition: hidesPosition)
        let report = try Verifier.soundness.verify(BundleReader(source), observer: observer)
        try report.requireSound(source.name)
        guard let manifest = report.manifest, let manifestSHA256 = report.manifestSHA256 else {
            throw BundleError(.internalFailure, "a sound bundle without a manifest", file: source.name)
        }
        try check(manifest, source.name)
        try observer.finish()
        try refuse(observer.unlisted, source.name)
        try target.commit()
        let absent = report.withheld
        return PartialCopy(
            manifest: manifest, manifestSHA256: manifestSHA256, byteCount: observer.writer.byteCount,
            moved: observer.withheld, lacking: manifest.entries.filter { absent.contains($0.path) })
    }

    /// Refuses entries that a bundle without a position must not contain. The last fault has a value: all entries to
    /// withhold, or nothing if one of them is not withholdable.
    private func refuse(_ unlisted: [(entry: ManifestEntry, words: String)], _ file: String) throws(BundleError) {
        let all = (selection.items.map(\.description) + unlisted.map(\.entry.path.description)).joined(separator: ",")
        try unlisted.map { entry, words in
            let isLast = entry.path == unlisted.last?.entry.path
            return BundleError(
                .redactPosition, "\(words), which a bundle without a position must not have", file: file,
                entry: entry.path.description, cause: entry.isWithholdable ? nil : .notWithholdable,
                values: isLast ? [unlisted.allSatisfy(\.entry.isWithholdable) ? all : ""] : [])
        }.throwAny()
    }

    /// Refuses names of entries that this bundle cannot withhold.
    private func check(_ manifest: Manifest, _ file: String) throws(BundleError) {
        var faults: [BundleError] = []
        let withholdable = manifest.entries.filter(\.isWithholdable).map(\.path.description)
        for item in selection.items {
            let named = manifest.entries.filter { item.contains($0.path) }
            if named.isEmpty, isPositionOptional, item.entry == .location { continue }
            if named.isEmpty {
                let all = manifest.entries.map(\.path.description).joined(separator: ", ")
                faults.append(
                    BundleError(
                        .redactEntry, "is not an entry of this capture", file: file, entry: item.description,
                        values: [all]))
            }
            guard let fixed = named.first(where: { !$0.isWithholdable })?.path else { continue }
            faults.append(
                BundleError(
                    .redactEntry, "the signed manifest does not mark it as withholdable", file: file,
                    entry: fixed.description, cause: .notWithholdable, values: withholdable))
        }
        try faults.throwAny()
    }
}

/// Copies the entries that stay while their bundle is verified. It has at most one entry in memory.
private final class RedactionObserver: BundleObserver {
    let writer: BundleWriter
    /// The entries that stay and have more than a bundle without a position may have.
    private(set) var unlisted: [(entry: ManifestEntry, words: String)] = []
    private(set) var withheld: [ManifestEntry] = []
    private let selection: EntrySelection
    private let hidesPosition: Bool
    private var current: ManifestEntry?
    /// The bytes of the current entry, if they are judged.
    private var bytes: [UInt8] = []

    init(_ selection: EntrySelection, _ writer: BundleWriter, hidesPosition: Bool) {
        self.selection = selection
        self.writer = writer
        self.hidesPosition = hidesPosition
    }

    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) {
        try writer.write(manifest: head.manifest, assertion: head.assertion)
    }

    func begin(_ entry: ManifestEntry) throws(BundleError) {
        try endEntry()
        if entry.isWithholdable && selection.contains(entry.path) {
            withheld.append(entry)
        } else {
            current = entry
            try writer.begin(entry.path.description, size: entry.size)
        }
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        guard let entry = current else { return }
        try writer.write(piece)
        // One byte more than the limit is enough to see that an entry is too large.
        guard hidesPosition, Unlisted.needsBytes(entry.path), bytes.count <= Unlisted.sizeLimit else { return }
        bytes.append(copying: piece)
    }

    /// Ends the copy. Call it when the whole bundle was read.
    func finish() throws(BundleError) {
        try endEntry()
        try writer.finish()
    }

    private func endEntry() throws(BundleError) {
        guard let entry = current.take() else { return }
        try writer.end(entry.size)
        if hidesPosition, let words = Unlisted.words(entry.path, bytes) { unlisted.append((entry, words)) }
        bytes = []
    }
}
