import Glibc

/// Measures how much of a depth map lies at edges, as a RealityCam server does (Spec/command-line.md, "The RealityCam
/// analysis").
enum EdgeCoherence {
    /// A steeper slope, in metres for each sample, is an edge.
    private static let slope = 0.1
    /// The limit above which a neighbour counts, which the server rounds to 32 bits.
    private static let nearest = Double(Float(0.1))

    /// - Parameter floats: As many samples as the size has.
    static func of(_ floats: [Float], _ size: DepthSize) -> Double {
        let width = size.width
        guard width >= 3, size.height >= 3 else { return 0 }
        var centres = 0
        var edges = 0
        for row in 1..<(size.height - 1) {
            for place in (row * width + 1)..<(row * width + width - 1) where DepthAnalysis.isUsed(floats[place]) {
                centres += 1
                let across = difference(floats[place - 1], floats[place + 1])
                let down = difference(floats[place - width], floats[place + width])
                if (across * across + down * down).squareRoot() > slope { edges += 1 }
            }
        }
        guard centres > 0 else { return 0 }
        return min(max(1 - exp(-30 * Double(edges) / Double(centres)), 0), 1)
    }

    /// The slope between two neighbours of a sample; 0 if one of them does not count.
    private static func difference(_ before: Float, _ after: Float) -> Double {
        let (before, after) = (Double(before), Double(after))
        guard before.isFinite, after.isFinite, before > nearest, after > nearest else { return 0 }
        return (after - before) / 2
    }
}
