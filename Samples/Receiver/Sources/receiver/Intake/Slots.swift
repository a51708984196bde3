import Synchronization

/// Limits how many bodies are received at the same time, in total and from one device.
final class Slots: Sendable {
    private struct Waiter {
        let number: Int
        let device: String
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var free: Int
        var taken: [String: Int] = [:]
        var waiting: [Waiter] = []
        var lastNumber = 0
    }

    private let state: Mutex<State>
    private let perDevice: Int

    /// - Parameter perDevice: The limit for one device, so that it cannot take all slots.
    init(_ count: Int, perDevice: Int) {
        state = Mutex(State(free: count))
        self.perDevice = perDevice
    }

    var takenCount: Int { state.withLock { $0.taken.values.reduce(0, +) } }

    /// Runs `body` with a slot.
    ///
    /// - Throws: 503 if no slot becomes free within `patience`.
    func run<Value>(
        device: String, waiting patience: Duration = .seconds(5), _ body: () async throws -> Value
    ) async throws -> Value {
        guard await take(device, patience) else { throw APIError.busy }
        defer { giveBack(device) }
        return try await body()
    }

    private func take(_ device: String, _ patience: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            let number: Int? = state.withLock { state in
                if isFree(device, state) {
                    grant(device, &state)
                    return nil
                }
                state.lastNumber += 1
                state.waiting.append(
                    Waiter(number: state.lastNumber, device: device, continuation: continuation))
                return state.lastNumber
            }
            guard let number else { return continuation.resume(returning: true) }
            Task {
                try? await Task.sleep(for: patience)
                let late = state.withLock { state in
                    state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
                }
                late?.continuation.resume(returning: false)
            }
        }
    }

    private func giveBack(_ device: String) {
        let next: Waiter? = state.withLock { state in
            state.free += 1
            let taken = (state.taken[device] ?? 1) - 1
            state.taken[device] = taken == 0 ? nil : taken
            guard let index = state.waiting.firstIndex(where: { isFree($0.device, state) }) else { return nil }
            let next = state.waiting.remove(at: index)
            grant(next.device, &state)
            return next
        }
        next?.continuation.resume(returning: true)
    }

    private func isFree(_ device: String, _ state: State) -> Bool {
        state.free > 0 && (state.taken[device] ?? 0) < perDevice
    }

    private func grant(_ device: String, _ state: inout State) {
        state.free -= 1
        state.taken[device, default: 0] += 1
    }
}
