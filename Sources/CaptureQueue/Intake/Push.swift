public import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
public import QueueModel
import QueueTransports
import Synchronization
public import SystemPackage

/// A push: what the user asked for, and what the queue allows. The intake reads bundles for it, `PushGroup` gives them their
/// names, and `PushWriter` their rows.
struct Push: Sendable {
    let queue: UploadQueue
    let options: PushOptions
    let limits: PushLimits
    /// Whether a destination of this push signs its requests, so that the hash of the body will be needed.
    let signs: Bool
    /// Whether a destination of this push gets a form with a part for each entry.
    private let postsEntries: Bool
    /// The default destination, used if none is named.
    let fallback: String?
    private let memory: QueueClock.Memory

    /// - Throws: `value.invalid`, `name.invalid`, `spool.missing`, `limit.encryption`, `destination.unknown`, `destination.retired`,
    ///   `session.ended`.
    init(_ queue: UploadQueue, _ asked: PushOptions) throws {
        guard Priority.range.contains(asked.priority) else {
            throw QueueError(.valueInvalid, "is \(asked.priority), expected -10 to 10", of: "priority")
        }
        if let session = asked.session { try QueueName.require(session, "a session") }
        try queue.store.requireSpool()
        var options = asked
        self.queue = queue
        let settings: QueueSettings
        (settings, memory, limits, signs, postsEntries, fallback) = try queue.store.read { db in
            for name in asked.destinations { _ = try db.activeDestination(name) }
            if let session = asked.session, !asked.reopensSession { try db.requireOpen(session) }
            let settings = try QueueSettings(db)
            let destinations = try Destination.all(db)
            return (
                settings, try queue.clock.read(db).memory,
                PushLimits(queue, settings, used: try db.usedBytes(queue.spool)),
                destinations.contains { $0.signs && asked.names($0) },
                destinations.contains { $0.postsEntries && asked.names($0) },
                destinations.first(where: \.isDefault)?.name
            )
        }
        if settings.requiresEncryption, StorageEncryption(of: queue.folder.spool) == .unknown {
            throw QueueError(
                .encryption, "the disk of the spool is not known to be encrypted, which require-encrypted asks for",
                of: queue.folder.spool)
        }
        if settings.requiresTrust { options.requiresTrust = true }
        self.options = options
    }

    /// Whether the bytes of a known capture are not stored again.
    func skips(_ record: CaptureRecord) -> Bool {
        limits.settings.evictsUploaded && !options.isFromInbox && record.isUploaded(for: options)
    }

    /// Warnings about the upload body of a bundle. In the inbox, a note means that the file was left there.
    func remarks(_ report: VerificationReport) -> [String] {
        guard postsEntries, !options.isFromInbox, let manifest = report.manifest else { return [] }
        let present = zip(manifest.entries, report.entries).filter { $0.1 == .matched }.map(\.0)
        return BodyLayout.remarks(on: present).map { "its upload body \($0)" }
    }

    /// Writes the sidecar of a bundle.
    ///
    /// - Parameter record: the capture if it was pushed before; the sidecar then keeps the values of that push.
    func writeSidecar(_ arrival: inout Arrival, id: String, after record: CaptureRecord? = nil) throws {
        let now = queue.clock.read(memory)
        let notBefore = DeliveryStart(now, notBefore: options.notBefore, delay: options.delay).notBefore
        var sidecar = Sidecar(
            id: id, facts: arrival.facts,
            pushedAt: record?.pushedAt ?? CaptureTime(clamping: now.recordTime),
            priority: options.priority, notBefore: notBefore.map { CaptureTime(clamping: $0) },
            session: options.session,
            destinations: options.destinations.isEmpty ? [fallback].compactMap(\.self) : options.destinations,
            reference: arrival.reference, order: arrival.order)
        if let known = arrival.known {
            (sidecar.pushedAt, sidecar.order) = (known.pushedAt, known.order ?? arrival.order)
            (sidecar.priority, sidecar.notBefore, sidecar.session) = (known.priority, known.notBefore, known.session)
            if !known.destinations.isEmpty { sidecar.destinations = known.destinations }
        }
        if let record {
            sidecar.order = record.order
            sidecar.priority = record.priority
            sidecar.notBefore = record.notBefore
            sidecar.session = record.session
            let known = record.deliveries.compactMap(\.destination)
            sidecar.destinations = known + options.destinations.filter { !known.contains($0) }
        }
        let file = try queue.spool.openIncoming()
        try onFile(queue.folder.spool) { try file.handle.write(sidecar.encoded) }
        try synchronize(file)
        arrival.sidecar = (sidecar, file)
    }

    func synchronize(_ file: AtomicFile) throws(QueueError) {
        try onFile(queue.folder.spool) { try file.handle.synchronize() }
    }

    /// Writes bytes of a bundle to its copy.
    func write(_ piece: Span<UInt8>, to file: AtomicFile) throws(BundleError) {
        try native({
            BundleError(
                .inputOutput, "\($0)", file: queue.folder.spool, cause: $0.isDiskFull ? .diskFull : nil)
        }) { try file.handle.write(piece) }
    }
}

extension PushOptions {
    fileprivate func names(_ destination: Destination) -> Bool {
        destinations.isEmpty ? destination.isDefault : destinations.contains(destination.name)
    }
}

extension UploadQueue {
    /// Pushes one bundle.
    ///
    /// - Parameter path: a file; `-` is the standard input.
    /// - Returns: the result, once bytes, folders and row are on the disk.
    /// - Throws: the verdict on a bad bundle, and the errors of `push(threads:next:options:deliver:)`.
    @discardableResult
    public func push(_ path: FilePath, _ options: PushOptions = PushOptions()) throws -> Pushed {
        let place: BundleSource.Place = path == "-" ? .standardInput : .file(path)
        let push = try Push(self, options)
        let arrival = try Intake(push).take(place)
        return try PushGroup(push: push).commit([.success(arrival)])[0].get()
    }

    /// Pushes many bundles on several threads. Up to 500 share a transaction, and are reported once it is on the disk.
    ///
    /// - Parameters:
    ///   - threads: the number of reading threads; nil for two for each processor, because they wait for the disk.
    ///   - next: returns the next bundle, nil after the last one; called by one thread at a time.
    ///   - deliver: gets the result for each bundle, in order, on this thread.
    /// - Throws: `destination.unknown`, `session.ended`, `name.invalid`, before anything is read; any error of
    ///   `deliver`. An error of a single bundle is its result.
    public func push(
        threads: Int? = nil, next: @escaping @Sendable () -> Result<BundleSource.Place, BundleError>?,
        options: PushOptions = PushOptions(),
        deliver: (_ file: String, Result<Pushed, any Error>) throws -> Void
    ) throws {
        let push = try Push(self, options)
        let intake = Intake(push)
        let group = PushGroup(push: push)
        // Bundle and sidecar are open files until they get their names.
        let openFiles = ProcessLimits.raiseOpenFiles()
        let threads = max(1, min(threads ?? max(4, Thread.processors * 2), openFiles / 16))
        let window = threads + min(8, openFiles / 16)
        let size = max(1, min(500, (openFiles - 24) / 2 - 2 * window))
        var waiting: [(file: String, result: Result<Arrival, any Error>)] = []
        let count = Mutex(0)
        // The bundles get their places in the order in which they are given, behind all that was pushed until then.
        let store = store
        @Sendable func nextInOrder() -> (Result<BundleSource.Place, BundleError>, PushOrder?)? {
            guard let place = next() else { return nil }
            let position = count.withLock { number -> Int in
                defer { number += 1 }
                return number
            }
            let last = try? store.read { try $0.lastRow() }
            return (place, last.flatMap { PushOrder(after: $0, position: position) })
        }
        func deliverAll() throws {
            let results = group.commit(waiting.map(\.result))
            let files = exchange(&waiting, with: []).map(\.file)
            for (file, result) in zip(files, results) { try deliver(file, result) }
        }
        try OrderedWork.run(
            threads: threads, window: window, next: nextInOrder,
            work: { (place, order) -> (String, Result<Arrival, any Error>) in
                switch place {
                case .success(let place): return (place.name, Result { try intake.take(place, order: order) })
                case .failure(let error): return (error.file ?? "", .failure(error))
                }
            },
            deliver: { (arrival: (String, Result<Arrival, any Error>)) throws(any Error) -> Bool in
                waiting.append((arrival.0, arrival.1))
                if waiting.count >= size { try deliverAll() }
                return true
            })
        try deliverAll()
    }
}
