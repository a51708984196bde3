import Hummingbird
import Synchronization

/// Limits how many bodies are received at the same time. A new request takes a slot from an address or device that has at
/// least two more, or from a body that takes longer than a minute.
final class Slots: Sendable {
    /// The place of a request whose body is being received, or waits for that.
    final class Slot: Sendable {
        let address: String
        /// The id of the device; empty for a request that names none.
        let device: String
        private let disconnect: @Sendable () -> Void
        private let progress = Mutex((start: ContinuousClock.now, bytes: 0, isWhole: false))

        fileprivate init(_ address: String, _ device: String, _ disconnect: @escaping @Sendable () -> Void) {
            self.address = address
            self.device = device
            self.disconnect = disconnect
        }

        func received(_ bytes: Int) { progress.withLock { $0.bytes += bytes } }

        /// Says that the whole body arrived. From then on, no other request takes the slot.
        func isWhole() { progress.withLock { $0.isWhole = true } }

        fileprivate func begin() { progress.withLock { $0.start = .now } }

        fileprivate func giveWay() { disconnect() }

        /// How long the body has taken in seconds, and its bytes per second; nil if it arrived.
        fileprivate var pace: (seconds: Double, rate: Double)? {
            progress.withLock { progress in
                let seconds = (ContinuousClock.now - progress.start) / .seconds(1)
                return progress.isWhole ? nil : (seconds, Double(progress.bytes) / seconds)
            }
        }
    }

    private typealias Waiter = (slot: Slot, continuation: CheckedContinuation<Bool, Never>)

    private struct State {
        var taken: [Slot] = []
        var waiting: [Waiter] = []

        /// The numbers of slots that each address and each device has.
        func shares() -> (Slot) -> (address: Int, device: Int) {
            let addresses = taken.reduce(into: [String: Int]()) { $0[$1.address, default: 0] += 1 }
            let devices = taken.reduce(into: [String: Int]()) { $0[$1.device, default: 0] += 1 }
            return { (addresses[$0.address] ?? 0, devices[$0.device] ?? 0) }
        }

        /// The slot that a new request takes over: the slowest one of an address or a device that has at least two more,
        /// or one that takes long. nil if there is none.
        func loser(to new: Slot) -> Slot? {
            let share = shares()
            let own = share(new)
            let candidates = taken.compactMap { slot -> (slot: Slot, order: (Int, Int, Double))? in
                let (address, device) = share(slot)
                guard let pace = slot.pace, address >= own.address,
                    address > own.address + 1 || device > own.device + 1 || pace.seconds > Slots.long
                else { return nil }
                return (slot, (address, device, -pace.rate))
            }
            return candidates.max { $0.order < $1.order }?.slot
        }
    }

    private let count: Int
    private let state = Mutex(State())
    /// A body that takes longer, in seconds, may have to give way. The largest one has to be faster than 350 kB/s.
    private static let long = 60.0

    init(_ count: Int) { self.count = count }

    var takenCount: Int { state.withLock(\.taken.count) }

    /// Runs `body` with a slot.
    ///
    /// - Parameter device: The id of the device; empty for a request that names none.
    /// - Throws: 503 if no slot becomes free within 5 s.
    func run<Value>(
        _ request: Request, _ context: ReceiverContext, device: String = "",
        _ body: (Slot) async throws -> Value
    ) async throws -> Value {
        let slot = Slot(context.address(of: request), device) { context.giveUpBody() }
        guard await take(slot) else { throw APIError.busy }
        defer { giveBack(slot) }
        return try await body(slot)
    }

    private func take(_ slot: Slot) async -> Bool {
        await withCheckedContinuation { continuation in
            let (isTaken, loser) = state.withLock { state -> (Bool, Slot?) in
                let loser = state.taken.count < count ? nil : state.loser(to: slot)
                state.taken.removeAll { $0 === loser }
                guard state.taken.count < count else {
                    state.waiting.append((slot, continuation))
                    return (false, nil)
                }
                slot.begin()
                state.taken.append(slot)
                return (true, loser)
            }
            loser?.giveWay()
            if isTaken { return continuation.resume(returning: true) }
            Task {
                try? await Task.sleep(for: .seconds(5))
                let late = state.withLock { state in
                    state.waiting.firstIndex { $0.slot === slot }.map { state.waiting.remove(at: $0) }
                }
                late?.continuation.resume(returning: false)
            }
        }
    }

    /// Gives a slot to the waiting request whose address and device have the fewest. It may have another owner already.
    private func giveBack(_ slot: Slot) {
        let next = state.withLock { state -> Waiter? in
            guard let place = state.taken.firstIndex(where: { $0 === slot }) else { return nil }
            state.taken.remove(at: place)
            let (share, waiting) = (state.shares(), state.waiting)
            guard let first = waiting.indices.min(by: { share(waiting[$0].slot) < share(waiting[$1].slot) }) else {
                return nil
            }
            let next = state.waiting.remove(at: first)
            next.slot.begin()
            state.taken.append(next.slot)
            return next
        }
        next?.continuation.resume(returning: true)
    }
}
