import CaptureNative
import Glibc
import Synchronization
import Testing

/// Bytes go from a task to a thread in bounded memory, and neither waits for the other for ever.
@Suite(.timeLimit(.minutes(1)))
struct ByteHandoverTests {
    /// Pieces of the same size, and how many of them were asked for.
    private struct Pieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let asked: @Sendable (Int) -> Void
        var left: Int
        var size = 16_384

        func makeAsyncIterator() -> Pieces { self }

        mutating func next() async throws -> [UInt8]? {
            guard left > 0 else { return nil }
            left -= 1
            asked(size)
            return [UInt8](repeating: UInt8(left % 251), count: size)
        }
    }

    @Test func aThreadThatReadsSlowlyBoundsWhatIsAskedFor() async throws {
        let asked = Mutex(0)
        let most = Mutex(0)
        let pieces = Pieces(asked: { size in asked.withLock { $0 += size } }, left: 200)
        let sum = try await ByteHandover.run(pieces) { bytes in
            var (read, buffer) = (0, [UInt8](repeating: 0, count: 10_000))
            while case let count = try bytes.read(into: &buffer), count > 0 {
                if read < 500_000 { usleep(2000) }
                let ahead = asked.withLock(\.self) - read
                most.withLock { $0 = max($0, ahead) }
                read += count
            }
            return read
        }
        #expect(sum == 200 * 16_384)
        // `arrived` and `taken` hold less than `room` and one piece each.
        #expect(most.withLock(\.self) <= 2 * (ByteHandover.room + 16_384))
    }

    @Test func givesTheBytesInTheirOrder() async throws {
        for (count, size) in [(0, 1), (1, 1), (3000, 1), (5, 300_000)] {
            let all = try await ByteHandover.run(Pieces(asked: { _ in }, left: count, size: size)) { bytes in
                var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 7777))
                while case let count = try bytes.read(into: &buffer), count > 0 { all += buffer.prefix(count) }
                #expect(try bytes.read(into: &buffer) == 0)
                return all
            }
            #expect(all == (0..<count).reversed().flatMap { [UInt8](repeating: UInt8($0 % 251), count: size) })
        }
    }

    @Test func aThreadThatEndsEarlyHoldsUpNobody() async throws {
        struct Refused: Error {}
        let asked = Mutex(0)
        let pieces = Pieces(asked: { size in asked.withLock { $0 += size } }, left: 1000)
        #expect(try await ByteHandover.run(pieces) { _ in 7 } == 7)
        await #expect(throws: Refused.self) { try await ByteHandover.run(pieces) { _ in throw Refused() } }
        // What comes after the end of the thread is not asked for.
        #expect(asked.withLock(\.self) <= 2 * (ByteHandover.room + 16_384))
    }
}
