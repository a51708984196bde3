/// The samples of a picture or an array with one channel, as its file has them: row-major, top row first.
package struct SampleGrid: Sendable {
    /// One value for each sample: `size.width * size.height` of them.
    package enum Values: Sendable {
        case uint8([UInt8])
        case uint16([UInt16])
        case float32([Float])

        var count: Int {
            switch self {
            case .uint8(let values): values.count
            case .uint16(let values): values.count
            case .float32(let values): values.count
            }
        }

        /// How many samples are the highest number that an integer of their size can be.
        package var maxCount: Int {
            switch self {
            case .uint8(let values): values.count { $0 == .max }
            case .uint16(let values): values.count { $0 == .max }
            case .float32: 0
            }
        }
    }

    package let size: DepthSize
    package let values: Values

    /// Creates a grid; nil if the number of values is not the number of samples.
    package init?(size: DepthSize, values: Values) {
        guard values.count == size.width * size.height else { return nil }
        self.size = size
        self.values = values
    }
}
