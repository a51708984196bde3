import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports

/// Supervises a run: the bell, the network, requests to stop, and the end of the work.
final class RunWatch {
    private let queue: UploadQueue
    private let options: RunOptions
    private let sharedRun: SharedRun
    private let bell: Doorbell
    private let inbox: Inbox
    private let runner: QueueRunner
    private let network = NetworkChanges()
    private let shares = TransportShares()
    private var groups: [Int: Lanes] = [:]
    /// Lanes with old settings whose transfers are still under way.
    private var leaving: [Lanes] = []
    private var progress: RunProgressFile
    private let started = MonotonicClock.seconds
    /// When the network last changed, in seconds of the monotonic clock; nil once that was handled.
    private var networkAt: Double?
    private var renewedAt = MonotonicClock.seconds
    private var quotaAt: Double?
    /// The data version of the database, which changes when another process writes.
    private var version = -1
    /// How far the wall clock is from that of the run, in milliseconds.
    private var clockOffset = 0

    /// How long the network must be quiet, in seconds (Spec/queue.md section 13).
    private static let quiet = 0.3

    init(
        _ queue: UploadQueue, _ options: RunOptions, _ sharedRun: SharedRun, _ bell: Doorbell, _ inbox: Inbox,
        _ runner: QueueRunner
    ) {
        self.queue = queue
        self.options = options
        self.sharedRun = sharedRun
        self.bell = bell
        self.inbox = inbox
        self.runner = runner
        progress = RunProgressFile(queue.folder)
    }

    func run() throws {
        defer { end() }
        try refresh()
        while runner.stopRequest == .none, !runner.isFailed, !isOver, try !isDone() {
            try tellQuota()
            seeToInbox()
            progress.write(sharedRun)
            let rang = wait()
            try queue.store.requireSameFile()
            seeToNetwork()
            try seeToClock()
            if rang { try refresh() }
            if MonotonicClock.seconds - renewedAt > 120 {
                renewedAt = MonotonicClock.seconds
                try queue.renewLeases(sharedRun.claims)
            }
        }
    }

    private var isOver: Bool {
        options.longest.map { MonotonicClock.seconds - started >= Double($0) / 1000 } ?? false
    }

    /// Waits until the bell rings, the network changes or the next check is due.
    ///
    /// - Returns: whether the bell rang.
    private func wait() -> Bool {
        let now = MonotonicClock.seconds
        // While a transfer is under way, the progress is written each second.
        let isWorking = groups.values.contains { $0.states.contains(.working) }
        var seconds = isWorking ? 1.0 : inbox.isWatched && options.mode != .once ? 2 : 60
        if let networkAt { seconds = min(seconds, max(0, networkAt + Self.quiet - now)) }
        if let longest = options.longest { seconds = min(seconds, max(0, started + Double(longest) / 1000 - now)) }
        let handles = [bell.handle] + (network.map { [$0.handle] } ?? [])
        let ready = FileHandle.wait(for: handles, milliseconds: Int(seconds * 1000) + 1)
        if ready[0] { bell.drain() }
        if ready.count > 1, ready[1] {
            network?.drain()
            networkAt = MonotonicClock.seconds
        }
        return ready[0]
    }

    /// Connects to offline destinations after the network was quiet.
    private func seeToNetwork() {
        guard let since = networkAt, MonotonicClock.seconds - since >= Self.quiet else { return }
        networkAt = nil
        for number in sharedRun.networkChanged() { groups[number]?.wake() }
    }

    /// Shortens stored times after the wall clock jumped. The run itself goes on by the boot clock.
    private func seeToClock() throws {
        let offset = queue.clock.wall() - sharedRun.now
        guard abs(offset - clockOffset) > 1000 else { return }
        clockOffset = offset
        try limitWaits()
        for group in groups.values { group.wake() }
    }

    private func limitWaits() throws {
        try queue.store.write { try $0.limitWaits(queue.clock.look($0), from: sharedRun.now) }
    }

    // MARK: - What users changed

    private func refresh() throws {
        try inbox.refresh()
        let paused = try queue.pausedWord()
        if sharedRun.isPaused != (paused != nil) {
            sharedRun.isPaused = paused != nil
            sharedRun.tell(QueueEvent(paused == nil ? .resumed : .paused, at: sharedRun.now))
            for group in groups.values { group.wake() }
        }
        if paused == "now" { sharedRun.stopTransfers("paused by the user") }
        let destinations = try queue.destinations().filter {
            // Keep a destination that was renamed during the run.
            options.destination == nil || $0.name == options.destination || groups[$0.number] != nil
        }
        for (number, group) in groups where !destinations.contains(where: group.isStill) {
            // The destination was removed or changed. Transfers under way end with the old settings.
            group.end()
            leaving.append(group)
            groups[number] = nil
        }
        leaving.removeAll { $0.isOver }
        for destination in destinations {
            if let group = groups[destination.number] {
                try adopt(destination, group)
            } else {
                groups[destination.number] = start(destination)
            }
        }
        try stopLost()
        // New captures may be due, or a delivery may no longer have to wait for another thread.
        let isChanged = try queue.hasChangedSince(&version)
        // What another process has just stored may be far ahead of this run's clock.
        if isChanged, abs(clockOffset) > 1000 { try limitWaits() }
        // What this process pushes from the inbox is not a change of another one.
        if inbox.takeNews() || sharedRun.takeMoved() || isChanged {
            for group in groups.values { group.wake() }
        }
    }

    private func stopLost() throws {
        let claims = sharedRun.claims
        guard !claims.isEmpty else { return }
        let lost = try Set(queue.lost(claims).map(\.delivery.number))
        guard !lost.isEmpty else { return }
        sharedRun.stopTransfers("the user changed the delivery") { claim, _ in
            claim.map { lost.contains($0.delivery.number) } ?? false
        }
    }

    private func adopt(_ destination: Destination, _ group: Lanes) throws {
        let wasPaused = sharedRun.standing(destination).isPaused
        let change = sharedRun.adopt(destination)
        if change == .ready { sharedRun.tell(QueueEvent(.ready, at: sharedRun.now, destination: destination.name)) }
        try queue.save(sharedRun.change(destination) { $0.takeUnsaved() }, of: destination)
        if change != nil || wasPaused != destination.isPaused { group.wake() }
        guard wasPaused != destination.isPaused else { return }
        sharedRun.tell(
            QueueEvent(destination.isPaused ? .paused : .resumed, at: sharedRun.now, destination: destination.name))
        if destination.isPausedAtOnce {
            sharedRun.stopTransfers("paused by the user") { _, number in number == destination.number }
        }
    }

    private func start(_ destination: Destination) -> Lanes? {
        let (queue, sharedRun, shares, bell, runner) = (queue, sharedRun, shares, bell, runner)
        if sharedRun.adopt(destination) == .ready {
            sharedRun.tell(QueueEvent(.ready, at: sharedRun.now, destination: destination.name))
        }
        let group = Lanes(destination, sharedRun) { bell.ring() }
        let isStarted = group.start(
            makeWorker: {
                let transport = shares.make(destination) { text in
                    sharedRun.tell(
                        QueueEvent(.warning, at: sharedRun.now, destination: destination.name, message: text))
                }
                return DestinationWorker(queue, destination, transport, sharedRun)
            }, fail: { error in runner.fail(error) })
        if isStarted { return group }
        runner.fail(
            QueueError(.inputOutput, "cannot start a thread: the system's limit may be reached", of: destination.name))
        return nil
    }

    /// Reports a spool above its mark, at the start and then once an hour.
    private func tellQuota() throws {
        if let quotaAt, MonotonicClock.seconds - quotaAt < 3600 { return }
        quotaAt = MonotonicClock.seconds
        let status = try queue.status()
        guard status.isOverMark else { return }
        var event = QueueEvent(.quota, at: sharedRun.now)
        event.bytes = status.usedBytes
        event.message =
            "the spool holds \(status.usedBytes) bytes, more than warn-at (\(ByteSize.text(status.settings.warnAt)))"
        sharedRun.tell(event)
    }

    /// Takes what came into the inbox since the start, unless the run only sends what is due at its start.
    private func seeToInbox() {
        tellInbox()
        guard options.mode != .once else { return }
        let bell = bell
        inbox.look { bell.ring() }
    }

    private func tellInbox() {
        for text in inbox.takeTexts() { sharedRun.tell(QueueEvent(.warning, at: sharedRun.now, message: text)) }
    }

    // MARK: - The end

    private func isDone() throws -> Bool {
        if options.mode == .watch { return false }
        let isIdle = groups.values.allSatisfy { group in group.states.allSatisfy { $0 != .working } }
        guard isIdle, leaving.allSatisfy(\.isOver) else { return false }
        if sharedRun.isPaused { return true }
        var isToldAll = true
        for group in groups.values where !group.isOver {
            let standing = sharedRun.standing(group.destination)
            guard !standing.isPaused, standing.block == nil else { continue }
            // All destinations must be notified of a session that has just become due, whichever thread finished it.
            if try queue.isMarkerDue(for: group.destination, at: sharedRun.now) {
                isToldAll = false
                group.wake()
            }
        }
        guard isToldAll else { return false }
        if options.mode == .once { return true }
        if inbox.isBusy { return false }
        return try groups.values.allSatisfy(hasNothingToWaitFor)
    }

    private func hasNothingToWaitFor(_ group: Lanes) throws -> Bool {
        let standing = sharedRun.standing(group.destination)
        if group.isOver || standing.isPaused || standing.block?.needsUser ?? false { return true }
        let isWaiting = group.states.allSatisfy { state in if case .waiting = state { true } else { false } }
        guard isWaiting, try !queue.hasWork(for: group.destination) else { return false }
        return try !queue.isMarkerWorthWaiting(for: group.destination)
    }

    /// Begins nothing new, and gives transfers under way their grace period.
    private func end() {
        sharedRun.isStopping = true
        inbox.stop()
        let cause = runner.stopRequest == .none && isOver ? options.cutShort : "the run was stopped"
        let all = Array(groups.values) + leaving
        for group in all { group.end() }
        let deadline = MonotonicClock.seconds + (runner.isFailed ? 0 : Double(options.grace) / 1000)
        var isStopped = false
        while inbox.isTaking || all.contains(where: { !$0.isOver }) {
            sharedRun.stopWaiting("the run was stopped")
            if !isStopped, runner.stopRequest == .atOnce || MonotonicClock.seconds >= deadline {
                sharedRun.stopTransfers(cause)
                isStopped = true
            }
            progress.write(sharedRun)
            _ = FileHandle.wait(for: [bell.handle], milliseconds: 100)
            bell.drain()
        }
        tellInbox()
    }
}
