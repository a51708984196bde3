import CaptureBundle
import Glibc

/// Measures the share of samples at edges, as a RealityCam server does (Spec/command-line.md, "The RealityCam
/// analysis").
enum EdgeCoherence {
    /// The slope above which a sample is at an edge, in metres for each sample.
    private static let slope = 0.1
    /// The depth in metres above which a neighbour is used. The server rounds it to 32 bits.
    private static let nearest = Double(Float(0.1))

    /// Computes the edge coherence.
    ///
    /// - Parameter floats: The samples, `width * height` of them.
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

    /// The slope between two neighbours of a sample; 0 if one of them is not used.
    private static func difference(_ before: Float, _ after: Float) -> Double {
        let (before, after) = (Double(before), Double(after))
        guard before.isFinite, after.isFinite, before > nearest, after > nearest else { return 0 }
        return (after - before) / 2
    }
}
