import CaptureNative
public import SystemPackage

extension BundleError.Code {
    /// A file that somebody kept fits no entry of the bundle.
    public static let restoreUnknown = Self("restore.unknown")
}

/// Puts withheld entries back into a bundle (Spec/capture-bundle.md section 8).
///
/// ```swift
/// let restored = try Restorer(kept: ["location.json"])
///     .restore(BundleSource(path: "public.bundle"), to: .file("cap.bundle"))
/// ```
public struct Restorer: Sendable {
    private let kept: [FilePath]

    /// - Parameter kept: Files with the bytes of withheld entries, and bundles with the same manifest. An entry that
    ///   the bundle has already is not replaced.
    public init(kept: [FilePath]) { self.kept = kept }

    /// Reads the bundle once. The result gets its name only if it is sound; trust is not checked.
    ///
    /// - Throws: The worst fault of a damaged bundle; `restore.unknown`, `output.exists`, `output.unusable`,
    ///   `input.unreadable`, `io.failed`. Nothing is left behind then.
    public func restore(_ source: BundleSource, to place: OutputPlace) throws(BundleError) -> PartialCopy {
        try OutputPlace.examine([place], reading: source.status)
        try place.refuse(inputs: kept)
        let target = try OutputTarget(place, holdsBack: true)
        let reader = BundleReader(source)
        var merge: Merge
        do {
            let writer = BundleWriter(name: target.name) { try target.write($0) }
            merge = try Merge(from: reader, to: writer, kept: kept)
            try merge.run()
        } catch {
            guard error.verdict != nil, error.file == nil else { throw error }
            var report = VerificationReport()
            report.faults = [error]
            report.bytes = reader.position
            try report.requireSound(source.name)
            throw error
        }
        let result = BundleSource(handle: try target.held(), name: source.name)
        let report = try Verifier.soundness.verify(result)
        try report.requireSound(source.name)
        try merge.refuseUnknown()
        try target.commit()
        return PartialCopy(
            manifest: merge.manifest, manifestSHA256: try Digest.of(merge.head.manifest), byteCount: report.bytes,
            moved: merge.restored, lacking: merge.withheld)
    }
}

/// Copies a bundle and inserts the entries that were kept.
private struct Merge {
    let head: BundleReader.Head
    let manifest: Manifest
    private(set) var restored: [ManifestEntry] = []
    /// The entries that are in neither the bundle nor the kept files.
    private(set) var withheld: [ManifestEntry] = []
    private let reader: BundleReader
    private let writer: BundleWriter
    private let files: KeptFiles

    init(from reader: BundleReader, to writer: BundleWriter, kept: [FilePath]) throws(BundleError) {
        self.reader = reader
        self.writer = writer
        head = try reader.readHead()
        manifest = try Manifest.decode(head.manifest)
        files = try KeptFiles(kept, head: head, manifest)
    }

    mutating func run() throws(BundleError) {
        try writer.write(manifest: head.manifest, assertion: head.assertion)
        var known = 0
        while true {
            let entry = try reader.nextEntry(of: manifest)
            // The reader has passed over the withheld entries before this one.
            for absent in reader.withheld[known...] { try insert(absent) }
            known = reader.withheld.count
            guard let entry else { break }
            try writer.begin(entry.path.description, size: entry.size)
            try reader.readData { try writer.write($0) }
            try writer.end(entry.size)
        }
        try writer.finish()
    }

    private mutating func insert(_ entry: ManifestEntry) throws(BundleError) {
        guard let content = files.supplies[entry.path] else {
            withheld.append(entry)
            return
        }
        try writer.write(entry, content)
        restored.append(entry)
    }

    /// Refuses files that fit no entry, and names the entries that are withheld.
    func refuseUnknown() throws(BundleError) {
        let absent = reader.withheld.map {
            "\($0.path) is withheld; it has \($0.size) bytes and the SHA-256 \($0.sha256)"
        }
        let last = files.unknown.last?.file
        try files.unknown.map { file, reason in
            BundleError(.restoreUnknown, reason, file: file, cause: file == last ? .withheld : nil, values: absent)
        }.throwAny()
    }
}
