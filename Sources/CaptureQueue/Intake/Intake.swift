import CaptureBundle
import CaptureNative
import QueueFiles
import QueueModel
import QueueTransports
import SystemPackage

/// Receives bundles on several threads: verifies and hashes them, and writes them to files without a name in the spool.
struct Intake: Sendable {
    let push: Push
    private let verifier: Verifier
    private var queue: UploadQueue { push.queue }
    private var options: PushOptions { push.options }

    init(_ push: Push) {
        self.push = push
        verifier = Verifier(trust: push.options.trust, policy: VerificationPolicy())
    }

    /// Reads a bundle once, so that the verified bytes are the stored bytes.
    ///
    /// - Parameter order: nil for the next place in the order of all pushes.
    /// - Throws: the verdict on a bad bundle; `input.unreadable`, `limit.quota`, `limit.disk`, `io.failed`.
    func take(_ place: BundleSource.Place, order: PushOrder? = nil) throws -> Arrival {
        let (handle, name) = try open(place)
        let status = try onFile(named: name) { try handle.status() }
        let size = status.kind == .file ? status.size : 0
        let reserved = try push.limits.reserve(options.isByReference ? 0 : size, of: name) { try need(place) }
        do {
            var arrival = try take(handle, name, status, size, place, order)
            push.limits.written(reserved)
            let isLate = reserved == 0 && !options.isByReference
            let late = try push.limits.reserve(isLate ? arrival.facts.byteCount : 0, of: name, isWritten: true) {
                try need(arrival.facts.identity)
            }
            arrival.isReserved = reserved + late > 0
            arrival.notes += [push.limits.takeNote()].compactMap(\.self)
            return arrival
        } catch {
            push.limits.giveBack(reserved)
            throw QueueError.push(of: name, error, in: queue.folder)
        }
    }

    private func take(
        _ handle: FileHandle, _ name: String, _ status: FileStatus, _ size: Int, _ place: BundleSource.Place,
        _ order: PushOrder?
    ) throws -> Arrival {
        let file = options.isByReference ? nil : try queue.spool.openIncoming()
        let (report, sha256, tag, body) = try read(handle, name, size: size, into: file)
        var arrival = try arrival(name, report, sha256, tag, file)
        if let file, let tag, push.signs {
            arrival.body = body ?? .of(file.handle, name: name, byteCount: arrival.facts.byteCount, .tag(tag))
        }
        arrival.notes = push.remarks(report)
        // A user without a trust file knows that all devices are unknown.
        if report.verdict == .unknownDevice && options.trust.devices.isEmpty { arrival.trustFault = nil }
        if case .file(let path) = place {
            arrival.source = .init(path: path, status: status)
            if options.adopts != nil { arrival.known = StoredBundle.sidecar(arrival.facts, beside: path) }
            if options.isByReference {
                guard let whole = String(validating: path.resolved.absolute) else {
                    throw BundleError(.inputUnreadable, "the name of its folder is not UTF-8", file: path)
                }
                arrival.reference = whole
            }
        }
        arrival.order = order
        try settle(&arrival)
        return arrival
    }

    func arrival(
        _ name: String, _ report: VerificationReport, _ sha256: Digest, _ tag: BytesTag?, _ file: AtomicFile?
    ) throws -> Arrival {
        let facts = try CaptureFacts(report, sha256: sha256, name: name)
        var arrival = Arrival(name: name, facts: facts, file: file)
        arrival.trustFault = report.faults.first
        arrival.tag = tag
        arrival.hashed = hashHeld(facts)
        return arrival
    }

    /// Syncs the copy of a bundle, and writes its sidecar.
    func settle(_ arrival: inout Arrival) throws {
        if let file = arrival.file { try push.synchronize(file) }
        let (bundleID, wanted) = (arrival.facts.bundleID, arrival.known?.id)
        let (id, last) = try queue.store.read { (try $0.freeID(bundleID, like: wanted), try $0.lastRow()) }
        if arrival.order == nil { arrival.order = PushOrder(after: last, position: 0) }
        try push.writeSidecar(&arrival, id: id)
    }

    private func open(_ place: BundleSource.Place) throws -> (FileHandle, String) {
        guard case .file(let path) = place else {
            if options.isByReference {
                throw BundleError(.inputUnreadable, "is a pipe; a reference needs a file", file: "-")
            }
            return (.standardInput, "-")
        }
        do {
            guard let handle = try FileHandle.readingPlainFile(path, followsLinks: !options.isFromInbox) else {
                throw Self.notAFile(path)
            }
            // A name in the inbox may be a second one for a file that its sender may not read.
            if options.isFromInbox, case let links = try handle.status().links, links != 1 {
                throw BundleError(.inputUnreadable, "has \(links) names (hard links), expected one", file: path)
            }
            return (handle, path.string)
        } catch let error as NativeError {
            throw BundleError.reading(path, error)
        }
    }

    /// The error for a path that is not a regular file.
    private static func notAFile(_ path: FilePath) -> any Error {
        guard (try? FileStatus.of(path))?.kind == .folder else {
            return BundleError(.inputUnreadable, "is not a regular file, expected a bundle", file: path)
        }
        if ["photo.jpg", "metadata.json"].allSatisfy({ FileStatus.exists(path.appending($0)) }) {
            return QueueError(.inputUnreadable, "is a raw capture, expected a bundle", of: path, cause: .rawCapture)
        }
        return QueueError(.inputUnreadable, "is a folder, expected a bundle", of: path, cause: .folder)
    }

    /// Hashes the copy that the queue already has, or that a killed push left, before the turn to write is taken. A
    /// file that cannot be read now is checked again then.
    private func hashHeld(_ facts: CaptureFacts) -> [Spool.Hashed] {
        let record = try? queue.store.read { try CaptureRecord.one($0, identity: facts.identity) }
        let held = record.flatMap { $0.holding == .spool ? $0.sha256 : nil }
        return Set([held, facts.sha256].compactMap(\.self)).compactMap { sha256 in
            (try? queue.spool.hashed(sha256)) ?? nil
        }
    }

    private func need(_ place: BundleSource.Place) throws -> PushLimits.Need {
        guard case .file(let path) = place, let identity = BundlePeek.identity(of: path) else { return .room }
        return try need(identity)
    }

    private func need(_ identity: Digest) throws -> PushLimits.Need {
        guard let record = try queue.store.read({ try CaptureRecord.one($0, identity: identity) }) else { return .room }
        if record.holding.hasBytes || push.skips(record) { return .nothing }
        return record.holding == .quarantined ? .replacement(record) : .room
    }

    private func read(
        _ handle: FileHandle, _ name: String, size: Int, into file: AtomicFile?
    ) throws -> (VerificationReport, Digest, BytesTag?, BodyHash?) {
        // A clone shares its blocks with the source and copies nothing. The clone is verified, not the source.
        let isCloned = size > 0 && (file?.handle.clone(handle) ?? false)
        if isCloned, let file {
            try onFile(queue.folder.incoming) { try file.handle.seekToStart() }
        }
        let from = isCloned ? file?.handle ?? handle : handle
        from.expectReading()
        let hash = try DigestStream()
        let tagger = try file.map { _ in try onFile(named: name) { try BytesTagger() } }
        let source = BundleSource(handle: from, name: name) { piece in
            try hash.update(piece)
            try tagger?.update(piece)
            if let file, !isCloned { try push.write(piece, to: file) }
        }
        // The body begins with the metadata, so a pipe would have to be read twice.
        let body = push.signs && size > 0 && name != "-" ? try? BodyHashing(from, name: name) : nil
        let report = try verifier.verify(BundleReader(source), observer: body?.observer)
        try report.requireSound(name)
        if options.requiresTrust, let fault = report.faults.first {
            throw BundleError(fault.code, fault.message, file: name, entry: fault.entry)
        }
        if let file { file.handle.startWriting(from: 0, count: 0) }
        let tag = try onFile(named: name) { try tagger?.finish() }
        return (report, try hash.finish(), tag, try? body?.finish())
    }
}

/// A bundle that is verified and synced but has no name in the spool yet.
struct Arrival: Sendable {
    /// The user's own file.
    struct Source: Sendable {
        let path: FilePath
        /// The status of the file when it was opened.
        let status: FileStatus
    }

    let name: String
    let facts: CaptureFacts
    /// The copy of the bundle; nil for a reference.
    let file: AtomicFile?
    var trustFault: BundleError?
    var sidecar: (content: Sidecar, file: AtomicFile)?
    var order: PushOrder?
    /// What the queue knew that had the bundle before; nil if it is not adopted from a queue.
    var known: Sidecar?
    var source: Source?
    /// The tag of the file in the spool. `body` is the hash of the upload body, if a destination signs.
    var tag: BytesTag?
    var body: BodyHash?
    /// Hashed files of the spool with which the bundle is compared.
    var hashed: [Spool.Hashed] = []
    var reference: String?
    /// Whether the spool has its sidecar and no row names it. It may have been sent.
    var isFound = false
    /// Whether there was room for the file before it was copied, so that it need not be checked again.
    var isReserved = false
    /// Remarks for the user about the intake.
    var notes: [String] = []
}
