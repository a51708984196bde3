package import CaptureBundle
package import CaptureNative
package import QueueModel
package import SystemPackage

/// Delivers to a folder on a mounted disk: it makes a durable copy and reads it back (Spec/queue.md section 12).
package final class FolderTransport: UploadTransport {
    static let markerName: FilePath.Component = ".capqueue-destination"
    let path: FilePath
    let marker: String

    init(_ settings: FolderSettings) throws(QueueError) {
        guard let marker = settings.marker else { throw QueueError(.destinationSettings, "marker is missing") }
        path = settings.path
        self.marker = marker
    }

    /// Writes a marker into a folder, unless it has one, and syncs it.
    ///
    /// - Returns: the settings with the marker, and the path without links.
    /// - Throws: `output.unusable`.
    package static func marked(_ settings: FolderSettings, queue: FilePath) throws(BundleError) -> FolderSettings {
        let path = settings.path
        let resolved = path.resolved
        var marked = settings
        marked.path = resolved
        guard String(validating: resolved) != nil else {
            throw BundleError(.outputUnusable, "the name of its folder is not UTF-8", file: path)
        }
        guard !resolved.starts(with: queue.resolved) else {
            throw BundleError(
                .outputUnusable, "is inside the queue, so a file in it would not be a second copy", file: path)
        }
        guard (try? FileStatus.of(resolved))?.kind == .folder else {
            throw BundleError(
                .outputUnusable, "is not a folder; mount its disk and create the folder there first", file: path)
        }
        marked.marker = try? readMarker(resolved)
        if marked.marker != nil { return marked }
        return try native({ .writing(path.appending(markerName), $0) }) {
            let marker = Digest(bytes: try RandomBytes.make(32)).description
            marked.marker = marker
            try AtomicFile.write(
                Array((marker + "\n").utf8), to: resolved.appending(markerName), mode: 0o644, existing: .refuse)
            return marked
        }
    }

    /// Copies the bundle. A file that already exists is compared, never replaced.
    package func send(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        if let block = reach(control) { return .blocked(block) }
        do {
            return send(job, from: try job.open().handle, control)
        } catch {
            if job.delivery.isInDoubt, let folder = try? FolderHandle(path),
                let found = try? compare(job, with: path.appending(Self.name(of: job)), in: folder, nil).outcome,
                case .completed = found
            {
                return found
            }
            return SendOutcome.of(error, control)
        }
    }

    private func send(_ job: SendJob, from source: FileHandle, _ control: SendControl) -> SendOutcome {
        let name = Self.name(of: job)
        let target = path.appending(name)
        do throws(NativeError) {
            let folder = try FolderHandle(path)
            if try folder.status(of: name) != nil {
                let (outcome, other) = try compare(job, with: target, in: folder, source)
                guard let copy = other else { return outcome }
                if let refusal = try refusal(of: copy, job, target) { return refusal }
                try setAside(name, folder)
            }
            let isWritten = isWritten(name, folder, now: job.now)
            let file = try AtomicFile(
                name, in: folder, mode: 0o644, temporaryName: isWritten ? .random : .fixed)
            // The lock shows another queue that the file is being written, also while it is read back.
            _ = file.handle.lockIfFree()
            control.began(bytes: job.capture.byteCount)
            guard let agrees = try copy(source, to: file.handle, expecting: job.capture.expectedBytes, control) else {
                return .parked(cause: control.stopped ?? "stopped", isInDoubt: false)
            }
            guard agrees else {
                return .damaged(message: "the bytes changed since they were pushed")
            }
            try file.handle.synchronize()
            // Without the cache, the bytes are read back from the disk and not from memory.
            file.handle.dropCache()
            try file.handle.seekToStart()
            guard let isKept = try copy(file.handle, to: nil, expecting: .sha256(job.capture.sha256), control) else {
                return .parked(cause: control.stopped ?? "stopped", isInDoubt: false)
            }
            guard isKept else {
                return .failed(code: "folder.readback", message: "\(target) differs from what was written to it")
            }
            if isWritten { removeAbandoned(name, folder) }
            for case .some(let error) in AtomicFile.commit([file.naming(.refuse)], areSynced: true) {
                guard error.isExisting else { throw error }
                return try compare(job, with: target, in: folder, source).outcome
            }
            return try inspect(job, at: target, in: folder, source, written: file.handle.status())
        } catch  where error.isDiskFull {
            return .blocked(Block(.full, "\(path): \(error.text)"))
        } catch  where error.isReadOnlyDisk {
            return .blocked(unwritable(error))
        } catch {
            return .failed(code: "folder.io", message: "\(path): \(error.call): \(error.text)")
        }
    }

    /// Opens the name once more after the last sync, because some mounts say that a file was written and have another.
    private func inspect(
        _ job: SendJob, at target: FilePath, in folder: FolderHandle, _ source: FileHandle, written: FileStatus
    ) throws(NativeError) -> SendOutcome {
        do throws(NativeError) {
            let there = try folder.open(Self.name(of: job), FileHandle.existingFile).status()
            if there.isSameFile(as: written), there.size == written.size { return completed(job) }
            // CIFS and some FUSE mounts give a file another number when it is opened again.
            return try compare(job, with: target, in: folder, source).outcome
        } catch  where error.isMissing {
            return completed(job, note: "the file was gone when its name was opened again")
        }
    }

    /// Compares the file that has the name of the capture. If it is a file of its own with other content, returns it, too.
    private func compare(
        _ job: SendJob, with target: FilePath, in folder: FolderHandle, _ source: FileHandle?
    ) throws(NativeError) -> (outcome: SendOutcome, other: FileHandle?) {
        let name = Self.name(of: job)
        // A link to another place is not a copy.
        guard try folder.status(of: name)?.kind == .file else {
            return (.conflict(message: "\(target) exists and is not a regular file"), nil)
        }
        let there = try folder.open(name, FileHandle.existingFile)
        if let source, try there.status().isSameFile(as: source.status()) {
            return (.conflict(message: "\(target) is the same file as the bundle to copy"), nil)
        }
        guard try copy(there, to: nil, expecting: .sha256(job.capture.sha256)) == true else {
            return (.conflict(message: "\(target) exists and has other content"), there)
        }
        // A run may have been killed before it synced the file and the folder.
        try there.synchronize()
        try folder.synchronize()
        return (completed(job), nil)
    }

    /// Why a file with other bytes is not set aside; nil if it is what a power cut can leave of a copy: it has not changed for
    /// a while, and is neither a sound bundle nor one of a later version.
    private func refusal(
        of copy: FileHandle, _ job: SendJob, _ target: FilePath
    ) throws(NativeError) -> SendOutcome? {
        if job.records.hadLanded() { return nil }
        let report: VerificationReport
        do {
            try copy.seekToStart()
            report = try Verifier(trust: TrustFile()).verify(BundleSource(handle: copy, name: target.string))
        } catch let error as NativeError {
            throw error
        } catch {
            return .failed(code: "folder.io", message: "\(error)")
        }
        let isLater = report.faults.contains { [.containerVersion, .manifestVersion].contains($0.code) }
        guard !isLater, [.altered, .malformed].contains(report.verdict) else {
            return .conflict(message: "\(target) exists and has other content")
        }
        guard try Self.isSettled(copy.status(), now: job.now) else {
            return .failed(
                code: "folder.unsettled", message: "\(target) is not a whole bundle, and was changed a moment ago")
        }
        return nil
    }

    /// Whether another queue may be writing a copy under the hidden name that ours would have.
    private func isWritten(_ name: FilePath.Component, _ folder: FolderHandle, now: Int) -> Bool {
        let hidden = AtomicFile.hiddenName(for: name, .fixed)
        guard let status = try? folder.status(of: hidden) else { return false }
        // Locks of network mounts do not exclude everybody.
        guard Self.isSettled(status, now: now) else { return true }
        return (try? folder.open(hidden, FileHandle.existingFile).lockIfFree()) != true
    }

    /// Removes the hidden file of a killed run, which nobody has locked. On a network mount without locks it may be that of
    /// another queue: that queue then fails once, tries again, and finds our copy.
    private func removeAbandoned(_ name: FilePath.Component, _ folder: FolderHandle) {
        let hidden = AtomicFile.hiddenName(for: name, .fixed)
        guard (try? folder.open(hidden, FileHandle.existingFile).lockIfFree()) == true else { return }
        _ = folder.removeLeftover(hidden, of: name)
    }

    /// Whether a file has not changed for a minute.
    private static func isSettled(_ status: FileStatus, now: Int) -> Bool {
        now - max(status.modified, status.changed) / 1_000_000 >= 60_000
    }

    /// Renames a damaged copy. It is never deleted, since others may have written it.
    private func setAside(_ name: FilePath.Component, _ folder: FolderHandle) throws(NativeError) {
        for number in 1... {
            let other = name.adding(number == 1 ? ".damaged" : ".damaged.\(number)")
            do throws(NativeError) {
                try folder.move(name, to: folder, as: other)
                return try folder.synchronize(renamed: other)
            } catch  where error.isExisting {
                continue
            }
        }
    }

    private func completed(_ job: SendJob, note: String? = nil) -> SendOutcome {
        .completed(receipt: receipt(job, note: note), remoteID: nil, remoteURL: nil)
    }

    private func receipt(_ job: SendJob, note: String? = nil) -> String {
        job.receipt(
            .folder,
            [
                "path": .string(path.appending(Self.name(of: job)).string), "name_synced": .bool(true),
                "note": note.map { .string($0) },
            ])
    }

    private static func name(of job: SendJob) -> FilePath.Component {
        FilePath(job.capture.id).lastComponent?.adding(".bundle") ?? "_.bundle"
    }

    package func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState {
        guard isThere else { return .unknown("\(path) is missing, or its disk is not mounted") }
        let target = path.appending(Self.name(of: job))
        do throws(NativeError) {
            guard let file = try FileHandle.readingPlainFile(target) else {
                return .lost("\(target) is not a regular file")
            }
            let isOurs = try copy(file, to: nil, expecting: .sha256(job.capture.sha256)) == true
            return isOurs ? .there : .lost("\(target) has other content")
        } catch  where error.isMissing {
            return .lost("\(target) is missing")
        } catch {
            return .unknown("\(target): \(error.text)")
        }
    }

    package func inspect(_ job: SendJob, _ control: SendControl) -> CopyFinding {
        let name = Self.name(of: job)
        guard isThere else { return .unknown }
        guard job.delivery.receipt.flatMap(Receipt.path) == path.appending(name).string else { return .beyondDoubt }
        do throws(NativeError) {
            let folder = try FolderHandle(path)
            guard try folder.status(of: name) != nil else {
                let isKept = folder.fileSystem.keptNamesOfVersion1 && DiskKind.of(path) != .withoutJournal
                return isKept ? .beyondDoubt : .doubtful(.absent)
            }
            guard let file = try FileHandle.readingPlainFile(path.appending(name), followsLinks: false) else {
                return .doubtful(.wrong)
            }
            guard let agrees = try copy(file, to: nil, expecting: .sha256(job.capture.sha256), control) else {
                return .unknown
            }
            guard agrees else { return .doubtful(.wrong) }
            try file.synchronize()
            try folder.synchronize()
            return .sound(receipt: receipt(job))
        } catch {
            return .unknown
        }
    }

    package func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? {
        let source = path.appending(Self.name(of: job))
        guard isThere else { return "\(path) is missing, or its disk is not mounted" }
        do throws(NativeError) {
            guard let file = try FileHandle.readingPlainFile(source) else { return "\(source) is not a regular file" }
            let isSame = try copy(file, to: target, expecting: .sha256(job.capture.sha256)) == true
            return isSame ? nil : "the bytes that it returned differ from those that were sent"
        } catch {
            return "\(source): \(error.text)"
        }
    }

    package func test(_ control: SendControl) -> DestinationTest {
        var found = DestinationTest(block: reach(control))
        if found.block == nil {
            found.findings.append("\(path) exists and has the marker of this destination")
            found.findings += [DiskKind.note(of: path)].compactMap(\.self)
        }
        return found
    }

    /// - Parameter control: gets the progress, limits the rate, and can stop the copy.
    /// - Returns: whether all bytes are the expected ones; nil if the copy was stopped.
    private func copy(
        _ source: FileHandle, to target: FileHandle?, expecting expected: ExpectedBytes, _ control: SendControl? = nil
    ) throws(NativeError) -> Bool? {
        let comparison = try ExpectedBytesCheck(expected)
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var sum = 0
        while case let count = try source.readSome(into: &buffer), count > 0 {
            // Only what is copied counts for the rate.
            if let control, target == nil ? control.stopped != nil : !control.waitForTurn(count) { return nil }
            try comparison.update(buffer.span.extracting(first: count))
            if let target { try target.write(buffer.span.extracting(first: count)) }
            sum += count
            // Reading back is not sending.
            if target != nil { control?.sent(sum) }
        }
        return try comparison.agrees()
    }
}
