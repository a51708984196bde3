import CaptureTestSupport

@testable import CaptureBundle

/// The depth map of a bundle: two bytes with its width and height, then the gzip member.
enum DepthTarget: FuzzTarget {
    static let name = "depth"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        samples.entries("depth.f32.gz").map { [4, 3] + $0 }
    }

    static func judge(_ bytes: [UInt8]) {
        guard bytes.count > 2, let size = DepthSize(width: Int(bytes[0]), height: Int(bytes[1])) else { return }
        let member = Array(bytes.dropFirst(2))
        let whole = Cost.bounded(bytes.count, inflated: { _ in size.byteCount }) {
            read(member, size, pieces: member.count)
        }
        for pieces in [1, 7] {
            let found = read(member, size, pieces: pieces)
            expect(found == whole, "in pieces of \(pieces) the depth map gives \(found), expected \(whole)")
        }
    }

    private static func read(_ member: [UInt8], _ size: DepthSize, pieces: Int) -> [String] {
        var found: [String] = []
        var sum = 0
        do {
            let reader = try DepthMapReader(size: size)
            for start in stride(from: 0, to: member.count, by: pieces) {
                let piece = Array(member[start..<min(start + pieces, member.count)])
                try reader.consume(piece.span) { floats in
                    for index in floats.indices { sum = sum &* 31 &+ Int(floats[index]) }
                }
            }
            let fault = try reader.finish(expected: Digest.of([]))
            found.append(fault.map { "\($0.code.rawValue) \($0)" } ?? "sound")
            // After another fault, the floats that were read before it are not used.
            if fault?.code == .depthSHA256 { found.append("\(sum)") }
        } catch {
            found.append("error \(error)")
        }
        return found
    }
}
