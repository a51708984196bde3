/// What a depth map's samples say: for people, and never part of a verdict.
public struct DepthStatistics: Hashable, Sendable {
    public let samples: Int
    /// NaN or 0: not measured.
    public let missing: Int
    /// Below 0, or infinite: they mean nothing and are not counted in the rest.
    public let meaningless: Int
    /// Metres; nil when no sample is measured.
    public let minimum: Float?
    public let maximum: Float?
    /// The middle one, or the mean of the two in the middle; nil above `medianLimit` samples too, which would have to be
    /// held in memory.
    public let median: Float?

    public static let medianLimit = 1 << 22

    public var missingShare: Double { samples == 0 ? 0 : Double(missing) / Double(samples) }

    /// Gathers samples from bytes that come in pieces; memory is bounded by `medianLimit`.
    package struct Collector {
        private var pieces = SamplePieces()
        private var measured: [Float] = []
        private var minimum: Float?
        private var maximum: Float?
        private var samples = 0
        private var missing = 0
        private var meaningless = 0

        package init() {}

        package mutating func add(_ bytes: Span<UInt8>) {
            // Lent to a local, since the closure changes the rest.
            var pieces = self.pieces
            pieces.read(bytes) { add(Float(bitPattern: $0)) }
            self.pieces = pieces
        }

        private mutating func add(_ sample: Float) {
            samples += 1
            if sample.isNaN || sample == 0 {
                missing += 1
            } else if sample < 0 || sample.isInfinite {
                meaningless += 1
            } else {
                minimum = Swift.min(minimum ?? sample, sample)
                maximum = Swift.max(maximum ?? sample, sample)
                if samples <= DepthStatistics.medianLimit { measured.append(sample) }
            }
        }

        package func finish() -> DepthStatistics {
            DepthStatistics(
                samples: samples, missing: missing, meaningless: meaningless, minimum: minimum, maximum: maximum,
                median: samples <= DepthStatistics.medianLimit ? median : nil)
        }

        private var median: Float? {
            let sorted = measured.sorted()
            guard let middle = sorted.dropFirst(sorted.count / 2).first else { return nil }
            guard sorted.count % 2 == 0 else { return middle }
            // In Double, since the sum of two floats may be too much for a float; the mean of them never is.
            return Float((Double(sorted[sorted.count / 2 - 1]) + Double(middle)) / 2)
        }
    }
}

/// Samples that are below 0 or infinite, counted in bytes that come in pieces.
struct MeaninglessSamples {
    private var pieces = SamplePieces()
    private(set) var count = 0

    mutating func add(_ bytes: Span<UInt8>) {
        var found = 0
        pieces.read(bytes) { bits in
            if bits == 0x7f80_0000 || (0x8000_0001...0xff80_0000).contains(bits) { found += 1 }
        }
        count += found
    }
}

/// Puts together the bits of little-endian floats whose bytes come in pieces of any size.
private struct SamplePieces {
    private var pending: UInt32 = 0
    private var pendingBytes = 0

    mutating func read(_ bytes: Span<UInt8>, _ body: (UInt32) -> Void) {
        var index = 0
        while index < bytes.count {
            if pendingBytes == 0 && bytes.count - index >= 4 {
                body(
                    UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
                        | UInt32(bytes[index + 3]) << 24)
                index += 4
                continue
            }
            pending |= UInt32(bytes[index]) << (8 * UInt32(pendingBytes))
            pendingBytes += 1
            index += 1
            if pendingBytes == 4 {
                body(pending)
                (pending, pendingBytes) = (0, 0)
            }
        }
    }
}
