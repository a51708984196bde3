public import CaptureBundle
import CaptureNative
import GRDB
public import QueueModel
import QueueTransports
import Synchronization
public import SystemPackage

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
            let files = waiting.map(\.file)
            waiting = []
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
