/// One pass through a bundle: steps 1 to 5 of Spec/capture-bundle.md section 11.
struct VerificationPass {
    let reader: BundleReader
    private let observer: (any BundleObserver)?
    /// Whether the samples of the depth map are judged on the way.
    private let surveysDepth: Bool
    var report = VerificationReport()
    /// The index after the entry that was marked last.
    private var marked = 0
    private var outcomes: [String: VerificationReport.Check.Outcome] = [:]

    private static let checkNames = [
        "container", "manifest", "assertion", "signature", "entries", "depth", "metadata", "location",
    ]

    init(reader: BundleReader, observer: (any BundleObserver)?, surveysDepth: Bool) {
        self.reader = reader
        self.surveysDepth = surveysDepth
        self.observer = observer
    }

    mutating func run() throws(BundleError) {
        var early: [UInt8] = []
        let head: BundleReader.Head
        do {
            head = try reader.readHead { early = $0 }
        } catch {
            // The container is broken, but the contents of a valid manifest are still worth showing.
            if let manifest = try? Manifest.decode(early) { record(manifest, try Digest.of(early)) }
            throw error
        }
        let sha256 = try Digest.of(head.manifest)
        report.manifestSHA256 = sha256
        report.assertionSHA256 = try Digest.of(head.assertion)
        let manifest = try Manifest.decode(head.manifest)
        record(manifest, sha256)
        try checkAssertion(head, manifest)
        try observer?.read(head, manifest)
        while let entry = try reader.nextEntry(of: manifest) { try check(entry, manifest) }
        outcomes["container"] = .passed
        outcomes["entries"] = outcomes["entries"] ?? .passed
    }

    private mutating func record(_ manifest: Manifest, _ sha256: Digest) {
        report.manifest = manifest
        report.manifestSHA256 = sha256
        report.entries = manifest.entries.map { _ in .unread }
        outcomes["manifest"] = .passed
    }

    /// Records a fault that ended the pass.
    mutating func stop(at fault: BundleError) {
        let part = fault.code.part
        outcomes[part] = .failed
        if part == "manifest" { outcomes["container"] = .notReached }
    }

    mutating func finishChecks() {
        for entry in reader.withheld { mark(entry, .withheld) }
        report.checks = Self.checkNames.map { name in
            VerificationReport.Check(name: name, outcome: outcomes[name] ?? restingOutcome(of: name))
        }
    }

    /// The outcome, after the pass, of a check for which the pass recorded none.
    private func restingOutcome(of name: String) -> VerificationReport.Check.Outcome {
        guard let manifest = report.manifest else { return .notReached }
        let paths: [String: EntryPath] = ["depth": .depth, "location": .location]
        if let path = paths[name], manifest.entry(path) == nil || report.withheld.contains(path) {
            return .notApplicable
        }
        return .notReached
    }

    private mutating func checkAssertion(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) {
        let check = try AssertionCheck(head, manifest)
        report.authenticatorData = check.authenticatorData
        report.faults += check.faults
        outcomes["assertion"] = check.formFaults.isEmpty ? .passed : .failed
        if check.authenticatorData != nil { outcomes["signature"] = check.signatureFault == nil ? .passed : .failed }
    }

    private mutating func check(_ entry: ManifestEntry, _ manifest: Manifest) throws(BundleError) {
        try observer?.begin(entry)
        let hash = try DigestStream()
        let content = try EntryContentCheck(entry, manifest, surveysDepth: surveysDepth)
        try reader.readData { piece in
            try hash.update(piece)
            try content.consume(piece)
            try observer?.consume(piece)
        }
        let digest = try hash.finish()
        guard digest == entry.sha256 else {
            mark(entry, .altered)
            outcomes["entries"] = .failed
            report.faults.append(
                BundleError(
                    .entrySHA256, "SHA-256 is \(digest), the manifest says \(entry.sha256)",
                    entry: entry.path.description))
            return
        }
        mark(entry, .matched)
        let faults = try content.finish(&report)
        report.faults += faults
        if [.depth, .metadata, .location].contains(entry.path) {
            outcomes[entry.role.rawValue] = faults.isEmpty ? .passed : .failed
        }
    }

    private mutating func mark(_ entry: ManifestEntry, _ status: VerificationReport.EntryStatus) {
        // Entries are checked in the manifest's order, so this one is usually the next.
        guard let entries = report.manifest?.entries else { return }
        if marked >= entries.count || entries[marked].path != entry.path {
            guard let index = entries.firstIndex(where: { $0.path == entry.path }) else { return }
            marked = index
        }
        report.entries[marked] = status
        marked += 1
    }
}
