import CaptureNative
import CaptureTestSupport
import Glibc
import SystemPackage
import Testing

/// A thread writes bytes in the background; and a search finds bytes in a buffer.
struct WriteBehindTests {
    @Test func writesEveryByteInOrder() throws {
        let folder = try TemporaryFolder()
        let handle = try FileHandle.open(folder.path("a"), O_CREAT | O_RDWR, mode: 0o600)
        let writer = try #require(WriteBehind(handle, from: 0))
        var generator = SeededGenerator(seed: 5)
        let noise = (0..<80_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var expected: [UInt8] = []
        for _ in 0..<(isLongRun ? 400 : 60) {
            let count = Int.random(in: 0..<40_000, using: &generator)
            let piece = Array(noise[Int.random(in: 0..<40_000, using: &generator)...].prefix(count))
            try writer.write(piece.span)
            expected += piece
        }
        try writer.finish()
        #expect(try folder.bytes("a") == expected)
    }

    @Test func tellsThatTheDiskIsFull() throws {
        let handle = try FileHandle.open("/dev/full", O_WRONLY)
        let writer = try #require(WriteBehind(handle, from: 0))
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        let error = #expect(throws: NativeError.self) {
            for _ in 0..<100 { try writer.write(piece.span) }
            try writer.finish()
        }
        #expect(error?.code == ENOSPC)
    }

    @Test func findsWhatALoopFinds() {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in
                UInt8.random(in: 0...2, using: &generator)
            }
            let needle = (0..<Int.random(in: 1..<5, using: &generator)).map { _ in
                UInt8.random(in: 0...2, using: &generator)
            }
            let start = Int.random(in: 0...bytes.count, using: &generator)
            let expected = (start..<max(start, bytes.count)).first { bytes[$0...].starts(with: needle) }
            #expect(ByteSearch.first(needle, in: bytes.span, from: start) == expected)
        }
    }
}
