import CaptureBundle

/// The samples of a depth map, row-major, top row first. If a side of the map is above `sideLimit`, the grid has only
/// every n-th sample of every n-th row, so its memory is bounded.
package struct DepthGrid: Sendable {
    package static let sideLimit = 2048

    package let width: Int
    package let height: Int
    package private(set) var floats: [Float] = []
    /// The number of columns and rows of the depth map for each column and row of the grid.
    package let step: Int
    private let size: DepthSize
    private var column = 0
    private var row = 0

    init(of size: DepthSize) {
        let longer = max(size.width, size.height)
        step = (longer + Self.sideLimit - 1) / Self.sideLimit
        width = (size.width + step - 1) / step
        height = (size.height + step - 1) / step
        self.size = size
    }

    mutating func add(_ sample: Float) {
        if column % step == 0 && row % step == 0 { floats.append(sample) }
        column += 1
        if column == size.width { (column, row) = (0, row + 1) }
    }

    var isComplete: Bool { column == 0 && row == size.height }

    /// Whether a sample is a distance: above 0 and finite.
    package static func isMeasured(_ sample: Float) -> Bool { sample > 0 && sample.isFinite }

    /// The percentile of measured samples by nearest rank: the smallest sample of which `percent` % of all samples are
    /// not larger.
    ///
    /// - Parameters:
    ///   - percent: 1 to 100.
    ///   - sorted: The measured samples in ascending order.
    /// - Returns: nil if `sorted` is empty.
    package static func percentile(_ percent: Int, of sorted: [Float]) -> Float? {
        // The rank is rounded up, and ranks begin with 1.
        sorted.isEmpty ? nil : sorted[(percent * sorted.count + 99) / 100 - 1]
    }
}
