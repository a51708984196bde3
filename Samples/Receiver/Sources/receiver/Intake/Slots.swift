import Hummingbird
import Synchronization

/// Limits how many bodies are received at the same time. A new request takes a slot from an address or device that has at
/// least two more, or from a body that takes longer than a minute.
actor Slots {
    /// The place of a request whose body is being received, or waits for that.
    final class Slot: Sendable {
        let address: String
        /// The id of the device; empty for a request that names none.
        let device: String
        fileprivate let giveWay: @Sendable () -> Void
        private let progress = Mutex((start: ContinuousClock.now, bytes: 0, isWhole: false))

        fileprivate init(_ address: String, _ device: String, _ giveWay: @escaping @Sendable () -> Void) {
            self.address = address
            self.device = device
            self.giveWay = giveWay
        }

        func received(_ bytes: Int) { progress.withLock { $0.bytes += bytes } }

        /// Says that the whole body arrived. From then on, no other request takes the slot.
        func isWhole() { progress.withLock { $0.isWhole = true } }

        fileprivate func begin() { progress.withLock { $0.start = .now } }

        /// How long the body has taken in seconds, and its bytes per second; nil if it arrived.
        fileprivate var pace: (seconds: Double, rate: Double)? {
            progress.withLock { progress in
                let seconds = (ContinuousClock.now - progress.start) / .seconds(1)
                return progress.isWhole ? nil : (seconds, Double(progress.bytes) / seconds)
            }
        }
    }

    private let count: Int
    private var taken: [Slot] = []
    private var waiting: [(slot: Slot, continuation: CheckedContinuation<Bool, Never>)] = []
    /// A body that takes longer, in seconds, may have to give way. The largest one has to be faster than 350 kB/s.
    private static let long = 60.0

    init(_ count: Int) { self.count = count }

    var takenCount: Int { taken.count }

    /// Runs `body` with a slot. If none becomes free within 5 s, it throws 503.
    func run<Value: Sendable>(
        _ request: Request, _ context: ReceiverContext, device: String = "",
        _ body: @Sendable (Slot) async throws -> Value
    ) async throws -> Value {
        let slot = Slot(context.address(of: request), device) { context.giveUpBody() }
        guard await take(slot) else { throw APIError.busy }
        defer { giveBack(slot) }
        return try await body(slot)
    }

    private func take(_ slot: Slot) async -> Bool {
        if taken.count >= count, let loser = loser(to: slot) {
            taken.removeAll { $0 === loser }
            loser.giveWay()
        }
        guard taken.count < count else { return await withCheckedContinuation { wait(slot, $0) } }
        begin(slot)
        return true
    }

    private func wait(_ slot: Slot, _ continuation: CheckedContinuation<Bool, Never>) {
        waiting.append((slot, continuation))
        Task {
            try? await Task.sleep(for: .seconds(5))
            guard let place = waiting.firstIndex(where: { $0.slot === slot }) else { return }
            waiting.remove(at: place).continuation.resume(returning: false)
        }
    }

    private func begin(_ slot: Slot) {
        slot.begin()
        taken.append(slot)
    }

    /// Gives a slot to the waiting request whose address and device have the fewest. It may have another owner already.
    private func giveBack(_ slot: Slot) {
        guard let place = taken.firstIndex(where: { $0 === slot }) else { return }
        taken.remove(at: place)
        let share = shares()
        guard let first = waiting.indices.min(by: { share(waiting[$0].slot) < share(waiting[$1].slot) }) else { return }
        let next = waiting.remove(at: first)
        begin(next.slot)
        next.continuation.resume(returning: true)
    }

    /// The numbers of slots that each address and each device has.
    private func shares() -> (Slot) -> (address: Int, device: Int) {
        let addresses = taken.reduce(into: [String: Int]()) { $0[$1.address, default: 0] += 1 }
        let devices = taken.reduce(into: [String: Int]()) { $0[$1.device, default: 0] += 1 }
        return { (addresses[$0.address] ?? 0, devices[$0.device] ?? 0) }
    }

    /// The slot that a new request takes over: the slowest one of an address or a device that has at least two more, or
    /// one that takes long. nil if there is none.
    private func loser(to new: Slot) -> Slot? {
        let share = shares()
        let own = share(new)
        let candidates = taken.compactMap { slot -> (slot: Slot, order: (Int, Int, Double))? in
            let (address, device) = share(slot)
            guard let pace = slot.pace, address >= own.address,
                address > own.address + 1 || device > own.device + 1 || pace.seconds > Self.long
            else { return nil }
            return (slot, (address, device, -pace.rate))
        }
        return candidates.max { $0.order < $1.order }?.slot
    }
}
