import CaptureBundle
import GRDB
import QueueFiles
public import QueueModel
public import QueueTransports

extension UploadQueue.Destinations {
    public func list() throws -> [Destination] { try queue.store.read { try Destination.all($0) } }

    /// - Throws: `destination.unknown`.
    public func find(_ name: String) throws -> Destination {
        try queue.store.read { db in
            guard let found = try Destination.all(db, "WHERE name = ?", [name]).first else {
                throw try db.unknown(destination: name)
            }
            return found
        }
    }

    /// Adds a destination. If the queue has no default, this one becomes the default and gets the captures that wait.
    ///
    /// A folder is marked, so that an empty mount point is not mistaken for it. Paths of files are made absolute.
    ///
    /// - Throws: `name.invalid`, `destination.exists`, `destination.settings`, `output.unusable`.
    public func add(_ name: String, _ settings: DestinationSettings) throws {
        try QueueName.require(name, "a destination")
        try queue.store.read { try $0.requireFree(destination: name) }
        var settings = try settings.examined(of: name)
        if case .folder(let folder) = settings {
            settings = .folder(try FolderTransport.marked(folder, queue: queue.folder.path))
        }
        let text = Destination.settingsText(settings)
        try SettingsCopy(queue: queue).changing { db in
            let isFirst = try db.defaultDestination() == nil
            try db.requireFree(destination: name)
            try db.run(
                "INSERT INTO destinations (name, kind, settings, is_default, added_at) VALUES (?, ?, ?, ?, ?)",
                [name, settings.kind, text, isFirst ? 1 : 0, try queue.clock.recordTime(db)])
            if isFirst { try db.bindDeliveries(to: Int(db.lastInsertedRowID)) }
        }
    }

    /// Changes settings of a destination, and lifts its block. The new path of a folder must have the marker that `add`
    /// has written.
    ///
    /// ```swift
    /// try queue.destinations.change("nas") { try $0.set(["jitter": "20%", "lifetime": nil]) }
    /// ```
    ///
    /// - Throws: `destination.unknown`, `destination.settings`, and what `edit` throws.
    public func change(_ name: String, _ edit: (inout DestinationSettings) throws -> Void) throws {
        let known = try find(name)
        guard Destination.Kind(rawValue: known.kind) != nil else {
            throw QueueError(
                .destinationSettings, "the settings of a destination of kind \(known.kind) cannot be changed", of: name)
        }
        var settings = known.settings
        do { try edit(&settings) } catch let error as QueueError { throw error.about(name) }
        guard settings.kind == known.kind else {
            throw QueueError(.destinationSettings, "the kind of a destination cannot be changed", of: name)
        }
        settings = try settings.examined(of: name)
        if case .folder(let folder) = settings, folder.path != known.folder {
            do throws(QueueError) { settings = .folder(try FolderTransport.moved(folder)) } catch {
                throw error.about(name)
            }
        }
        let text = Destination.settingsText(settings)
        try SettingsCopy(queue: queue).changing { db in
            try db.run("UPDATE destinations SET settings = ? WHERE id = ?", [text, known.number])
            try db.keep(DigestTraits(), where: "id = ?", known.number)
            try db.unblock("id = ?", [known.number])
        }
    }

    /// Makes a destination the default for captures that name none. Captures pushed before keep their destination.
    ///
    /// - Throws: `destination.unknown`, `destination.retired`.
    public func makeDefault(_ name: String) throws {
        try SettingsCopy(queue: queue).changing { db in
            try db.setDefault(db.activeDestination(name))
        }
    }

    /// Removes a destination without deliveries. A destination with deliveries stays, because their receipts name it.
    /// If the default is removed, the oldest one that is not retired becomes the default.
    ///
    /// - Throws: `destination.unknown`, `destination.used`.
    public func remove(_ name: String) throws {
        try SettingsCopy(queue: queue).changing { db in
            let number = try db.destination(name)
            if let used = try db.integer("SELECT count(*) FROM deliveries WHERE destination = ?", [number]),
                used > 0
            {
                throw QueueError(
                    .destinationUsed, used == 1 ? "1 delivery refers to it" : "\(used) deliveries refer to it",
                    of: name)
            }
            try db.run("DELETE FROM destinations WHERE id = ?", [number])
            try db.ensureDefault()
        }
    }

    /// Gives a destination another name. Sidecars with the old name still mean this destination.
    ///
    /// - Throws: `destination.unknown`, `destination.exists`, `name.invalid`.
    public func rename(_ name: String, to newName: String) throws {
        try QueueName.require(newName, "a destination")
        try SettingsCopy(queue: queue).changing { db in
            let number = try db.destination(name)
            try db.requireFree(destination: newName, for: number)
            let former = try db.text("SELECT former_names FROM destinations WHERE id = ?", [number]) ?? ""
            let names = former.pieces(by: " ").filter { $0 != newName && $0 != name } + [name]
            try db.run(
                "UPDATE destinations SET name = ?, former_names = ? WHERE id = ?",
                [newName, names.joined(separator: " "), number])
        }
    }

    /// Tests a destination, without changing anything there.
    ///
    /// - Throws: `destination.unknown`.
    public func test(_ name: String) throws -> DestinationTest {
        let destination = try find(name)
        let transport = TransportShares(queue.signers).make(destination) { _ in }
        return transport.test(SendControl())
    }
}

/// The messages of users to a run, which go through the database.
extension UploadQueue.Destinations {
    /// Stops sending until `resume`, in the current run and in later ones.
    ///
    /// - Parameters:
    ///   - name: the only destination to pause; nil for all.
    ///   - isAtOnce: whether to stop transfers under way, too.
    /// - Throws: `destination.unknown`.
    public func pause(_ name: String? = nil, isAtOnce: Bool = false) throws {
        try queue.store.write { db in
            if let name {
                try db.run("UPDATE destinations SET paused = ? WHERE id = ?", [isAtOnce ? 2 : 1, db.destination(name)])
            } else {
                try db.run("UPDATE control SET paused = ?", [isAtOnce ? "now" : "after-current"])
            }
        }
    }

    /// Continues sending, and lifts the block of the destination, or of all destinations. They are tried at once.
    ///
    /// - Throws: `destination.unknown`.
    public func resume(_ name: String? = nil) throws {
        try queue.store.write { db in
            if let name {
                let number = try db.destination(name)
                try db.run("UPDATE destinations SET paused = 0 WHERE id = ?", [number])
                try db.unblock("id = ?", [number])
            } else {
                try db.run("UPDATE control SET paused = NULL")
                try db.unblock("blocked_reason IS NOT NULL")
            }
        }
    }

    /// Returns nil if the whole queue is not paused; else `now` or `after-current`.
    func pausedWord() throws -> String? { try queue.store.read { try $0.text("SELECT paused FROM control") } }

    /// Whether sending was stopped for all destinations.
    public func arePaused() throws -> Bool { try pausedWord() != nil }

    /// Stores the state of a destination, for `status` and for the next run.
    ///
    /// - Parameter saved: nil if nothing has changed.
    func save(_ saved: CircuitBreaker.Saved?, of destination: Destination) throws {
        guard let saved else { return }
        try queue.store.write { try $0.save(saved, ofDestination: destination.number) }
    }
}
