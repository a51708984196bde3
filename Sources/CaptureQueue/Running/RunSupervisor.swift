import CaptureNative
import QueueFiles
import QueueModel
import QueueTransports

/// Supervises a run: the bell, the network, requests to stop, and the end of the work.
final class RunSupervisor {
    private let run: QueueRun
    private var queue: UploadQueue { run.queue }
    private var options: RunOptions { run.options }
    private var owner: RunOwner { run.owner }
    private let bell: Doorbell
    private let inbox: Inbox
    private let network = NetworkChanges()
    private let shares: TransportShares
    private let writer: ResultWriter
    private var byDestination: [Int: SendingThreads] = [:]
    /// Threads with old settings whose transfers are still under way.
    private var leaving: [SendingThreads] = []
    private var progress: TransfersFile
    /// When the network last changed, in seconds of the monotonic clock; nil once that was handled.
    private var networkAt: Double?
    private var quotaAt: Double?
    /// The data version of the database, which changes when another process writes.
    private var version = -1
    /// How far the wall clock is from that of the run, in milliseconds.
    private var clockOffset = 0

    /// How long the network must be quiet, in seconds (Spec/queue.md section 13).
    private static let quiet = 0.3

    init(_ run: QueueRun, bell: Doorbell, inbox: Inbox, writer: ResultWriter) {
        self.run = run
        self.bell = bell
        self.inbox = inbox
        self.writer = writer
        progress = TransfersFile(run.queue.folder)
        shares = TransportShares(run.queue.signers)
    }

    func supervise() throws {
        defer { end() }
        if !bell.hearsOthers {
            owner.report(.warning, nil, "inotify cannot be used (fs.inotify.max_user_instances): looking each second")
        }
        try refresh()
        while !run.isEnding, try !isDone() {
            try reportQuota()
            checkInbox()
            progress.write(owner.transfers)
            let rang = wait()
            try queue.store.requireSameFile()
            checkNetwork()
            try checkClock()
            if rang { try refresh() }
        }
    }

    /// Waits until the bell rings, the network changes or the next check is due.
    ///
    /// - Returns: whether the bell rang.
    private func wait() -> Bool {
        let now = MonotonicClock.seconds
        // While a transfer is under way, the progress is written each second. A deaf bell rings each second.
        let isWorking = byDestination.values.contains(where: \.isWorking)
        var seconds = isWorking || !bell.hearsOthers ? 1.0 : inbox.isWatched && options.mode != .once ? 2 : 60
        if let networkAt { seconds = min(seconds, max(0, networkAt + Self.quiet - now)) }
        if let left = run.secondsLeft { seconds = min(seconds, max(0, left)) }
        let handles = (network.map { [$0.handle] } ?? []) + bell.handles
        let ready = FileHandle.wait(for: handles, milliseconds: Int(seconds * 1000) + 1)
        if let network, ready[0] {
            network.drain()
            networkAt = MonotonicClock.seconds
        }
        let rang = ready.suffix(bell.handles.count).contains(true)
        if rang { bell.drain() }
        return rang || !bell.hearsOthers
    }

    /// Connects to offline destinations after the network was quiet.
    private func checkNetwork() {
        guard let since = networkAt, MonotonicClock.seconds - since >= Self.quiet else { return }
        networkAt = nil
        for number in owner.withTime({ $0.networkChanged(at: $1) }) { byDestination[number]?.wake() }
    }

    /// Shortens stored times after the wall clock jumped. The run itself goes on by the boot clock.
    private func checkClock() throws {
        let offset = queue.clock.wall() - owner.now
        let jump = abs(offset - clockOffset)
        guard jump > 1000 else { return }
        if jump > 60_000 { owner.withTime { $0.clockWasSet(at: $1) } }
        clockOffset = offset
        try limitWaits()
        for threads in byDestination.values { threads.wake() }
    }

    private func limitWaits() throws {
        try queue.store.write { try $0.limitWaits(queue.clock.observe($0), from: owner.now) }
    }

    // MARK: - What users changed

    private func refresh() throws {
        try inbox.refresh()
        let paused = try queue.destinations.pausedWord()
        if owner.with({ $0.pauseIs(paused != nil) }) {
            owner.report(paused == nil ? .resumed : .paused)
            for threads in byDestination.values { threads.wake() }
            writer.wake()
        }
        if paused == "now" { owner.stopTransfers("paused by the user") }
        let destinations = try queue.destinations.list().filter {
            // Keep a destination that was renamed during the run.
            options.destination == nil || $0.name == options.destination || byDestination[$0.number] != nil
        }
        for (number, threads) in byDestination where !destinations.contains(where: threads.isStill) {
            // The destination was removed or changed. Transfers under way end with the old settings.
            threads.end()
            writer.wake()
            leaving.append(threads)
            byDestination[number] = nil
        }
        leaving.removeAll { $0.isOver }
        for destination in destinations {
            if let threads = byDestination[destination.number] { try adopt(destination, threads) }
        }
        start(destinations.filter { byDestination[$0.number] == nil })
        try stopLost()
        // New captures may be due, or a delivery may no longer have to wait for another thread.
        let isChanged = try queue.store.hasChanged(since: &version)
        // What another process has just stored may be far ahead of this run's clock.
        if isChanged, abs(clockOffset) > 1000 { try limitWaits() }
        // What this process pushes from the inbox is not a change of another one.
        let hasNews = inbox.takeNews() || isChanged
        if hasNews { owner.with { $0.newsCame() } }
        if owner.with({ $0.takeMoved() }) || hasNews {
            for threads in byDestination.values { threads.wake() }
        }
    }

    private func stopLost() throws {
        let claims = owner.sent
        guard !claims.isEmpty else { return }
        let lost = try Set(Claims(queue).lost(claims).map(\.delivery.number))
        guard !lost.isEmpty else { return }
        owner.stopTransfers("the user changed the delivery") { transfer in
            transfer.claim.map { lost.contains($0.delivery.number) } ?? false
        }
    }

    private func adopt(_ destination: Destination, _ threads: SendingThreads) throws {
        let wasPaused = owner.breaker(of: destination).isPaused
        let change = owner.withTime { $0.adopted(destination, at: $1) }
        if change == .ready { owner.report(.ready, destination) }
        try queue.destinations.save(owner.change(destination) { $0.takeUnsaved() }, of: destination)
        if change != nil || wasPaused != destination.isPaused { threads.wake() }
        guard wasPaused != destination.isPaused else { return }
        writer.wake()
        owner.report(destination.isPaused ? .paused : .resumed, destination)
        if destination.isPausedAtOnce {
            owner.stopTransfers("paused by the user") { $0.destination == destination.number }
        }
    }

    /// Starts the threads of these destinations, in turn.
    private func start(_ destinations: [Destination]) {
        let (queue, owner, shares, writer) = (queue, owner, shares, writer)
        for destination in destinations {
            if owner.withTime({ $0.adopted(destination, at: $1) }) == .ready { owner.report(.ready, destination) }
            byDestination[destination.number] = SendingThreads(destination, owner)
        }
        let fresh = destinations.compactMap { byDestination[$0.number] }
        for number in 0..<(destinations.map(\.pace.concurrency).max() ?? 0) {
            for threads in fresh where number < threads.destination.pace.concurrency {
                let destination = threads.destination
                let isStarted = threads.start(number) { lane in
                    let transport = shares.make(destination) { owner.report(.warning, destination, $0) }
                    return DestinationWorker(
                        queue, destination, by: transport, writer: writer, lane: lane, owner: owner)
                }
                if !isStarted { return useFewerThreads() }
            }
        }
    }

    /// Goes on with half of the threads: commands and look-ups of names need some too.
    private func useFewerThreads() {
        let most = (byDestination.values.map(\.steps.count).max() ?? 0) / 2
        for (number, threads) in byDestination {
            // The end of another's threads rings the bell, and then this one starts.
            if threads.isOver { byDestination[number] = nil }
            guard most > 0, threads.steps.count > most else { continue }
            threads.limit(to: most)
            let few = "only \(most) of \(threads.destination.pace.concurrency) transfers at a time"
            owner.report(.warning, threads.destination, "\(few), because \(RunOptions.noThread)")
        }
        if most == 0 { owner.fail(QueueError(.inputOutput, RunOptions.noThread, of: queue.folder.path)) }
    }

    /// Reports a spool above its mark, at the start and then once an hour.
    private func reportQuota() throws {
        if let quotaAt, MonotonicClock.seconds - quotaAt < 3600 { return }
        quotaAt = MonotonicClock.seconds
        let status = try queue.status()
        guard status.isOverMark else { return }
        let mark = ByteSize.text(status.settings.warnAt)
        owner.report(.quota, nil, "the spool holds \(status.usedBytes) bytes, more than warn-at (\(mark))") { event in
            event.bytes = status.usedBytes
        }
    }

    /// Takes what came into the inbox since the start, unless the run only sends what is due at its start.
    private func checkInbox() {
        reportInbox()
        guard options.mode != .once else { return }
        let bell = bell
        inbox.scan { bell.ring() }
    }

    private func reportInbox() {
        for text in inbox.takeTexts() { owner.report(.warning, nil, text) }
    }

    // MARK: - The end

    private func isDone() throws -> Bool {
        if options.mode == .watch { return false }
        guard !byDestination.values.contains(where: \.isWorking), leaving.allSatisfy(\.isOver) else { return false }
        if owner.with(\.isPaused) { return true }
        var isToldAll = true
        for threads in byDestination.values where !threads.isOver {
            let standing = owner.breaker(of: threads.destination)
            guard !standing.isPaused, standing.block == nil else { continue }
            // All destinations must be notified of a session that has just become due, whichever thread finished it.
            if try SessionOutbox(queue: queue).isDue(for: threads.destination, at: owner.dueUntil) {
                isToldAll = false
                threads.wake()
            }
        }
        guard isToldAll else { return false }
        if options.mode == .once { return true }
        if inbox.isBusy { return false }
        return try byDestination.values.allSatisfy(hasNothingToWaitFor)
    }

    private func hasNothingToWaitFor(_ threads: SendingThreads) throws -> Bool {
        let standing = owner.breaker(of: threads.destination)
        if threads.isOver || standing.isPaused || standing.block?.needsUser ?? false { return true }
        // Those that ended because the system has too few threads wait for nothing.
        let isWaiting = threads.steps.allSatisfy { if case .waiting = $0 { true } else { false } }
        guard isWaiting, try !Claims(queue).hasWork(for: threads.destination) else { return false }
        return try !SessionOutbox(queue: queue).isWorthWaiting(for: threads.destination)
    }

    /// Begins nothing new, and gives transfers under way their grace period.
    private func end() {
        owner.with { $0.ends() }
        let (cause, code) =
            owner.with(\.stop) == .none && run.isStopped ? options.cutShort : ("the run was stopped", nil)
        let all = Array(byDestination.values) + leaving
        for threads in all { threads.end() }
        writer.wake()
        let deadline = MonotonicClock.seconds + (owner.with(\.isFailed) ? 0 : options.grace / .seconds(1))
        var isStopped = false
        while inbox.isTaking || all.contains(where: { !$0.isOver }) {
            owner.stopWaiting("the run was stopped")
            if !isStopped, owner.with(\.stop) == .atOnce || MonotonicClock.seconds >= deadline {
                owner.stopTransfers(cause, code: code)
                isStopped = true
            }
            progress.write(owner.transfers)
            _ = FileHandle.wait(for: bell.handles, milliseconds: 100)
            bell.drain()
        }
        reportInbox()
    }
}
