import CSanitizers

@testable import CaptureBundle

/// The processor time and the memory that some work takes.
struct Cost {
    var seconds: Double
    var bytes: Int

    /// More than this many times the cost of a plain bundle of the same size is a finding.
    private static let times = 50.0
    /// Work that takes less than this is never a finding.
    private static let least = Cost(seconds: 0.020, bytes: 16 << 20)

    /// The cost of verifying plain bundles, by their size.
    private static let plain: [(size: Int, cost: Cost)] = [0, 16 << 10, 64 << 10, 256 << 10, 1 << 20].map {
        size in
        guard let bundle = try? Samples.plainBundle(size) else { fatalError("cannot make a plain bundle") }
        let trials = (0..<5).map { _ in
            measure { _ = try? Verifier(trust: TrustFile()).verify(BundleSource(bytes: bundle)) }.cost
        }
        return (
            bundle.count,
            Cost(seconds: trials.map(\.seconds).min() ?? 0, bytes: trials.map(\.bytes).max() ?? 0)
        )
    }

    /// Makes the plain bundles and measures them.
    static func prepare() {
        guard capture_count_allocations() != 0 else { fatalError("AddressSanitizer takes no more hooks") }
        _ = plain
    }

    /// Does the work and ends the run if that costs too much for an input of this size.
    ///
    /// - Parameter inflated: The bytes that the input stands for, if it is compressed.
    static func bounded<Value>(_ size: Int, inflated: (Value) -> Int = { _ in 0 }, _ work: () -> Value) -> Value {
        var (value, cost) = measure(work)
        let usual = usual(size + inflated(value))
        func isTooMuch(_ cost: Cost) -> Bool {
            (cost.seconds > least.seconds && cost.seconds > times * usual.seconds)
                || (cost.bytes > least.bytes && Double(cost.bytes) > times * Double(usual.bytes))
        }
        // The first trial may be slow by chance.
        for _ in 0..<3 where isTooMuch(cost) { (value, cost) = measure(work) }
        expect(
            !isTooMuch(cost),
            "\(size) bytes take \(cost.seconds) s and \(cost.bytes) bytes of memory; a plain bundle takes "
                + "\(usual.seconds) s and \(usual.bytes) bytes")
        return value
    }

    /// The cost of a plain bundle of this size.
    private static func usual(_ size: Int) -> Cost {
        let next = plain.firstIndex { $0.size >= size } ?? plain.count - 1
        guard next > 0 else { return plain[0].cost }
        let (low, high) = (plain[next - 1], plain[next])
        let part = Double(size - low.size) / Double(high.size - low.size)
        return Cost(
            seconds: low.cost.seconds + part * (high.cost.seconds - low.cost.seconds),
            bytes: low.cost.bytes + Int(part * Double(high.cost.bytes - low.cost.bytes)))
    }

    private static func measure<Value>(_ work: () -> Value) -> (value: Value, cost: Cost) {
        let (start, before) = (capture_processor_seconds(), capture_begin_measurement())
        let value = work()
        let seconds = capture_processor_seconds() - start
        return (value, Cost(seconds: seconds, bytes: Int(capture_most_bytes() - before)))
    }
}
