package import CaptureBundle
package import PictureMessages

/// The samples of a picture or an array with one channel, as its file has them: row-major, top row first.
package struct SampleGrid: Sendable {
    /// One value for each sample: `size.width * size.height` of them.
    package enum Values: Sendable {
        case uint8([UInt8])
        case uint16([UInt16])
        case uint32([UInt32])
        case float32([Float])
    }

    package let size: DepthSize
    package let values: Values
    /// The type of the samples in the file.
    package let type: SampleType
    /// The highest number that an integer of the file can be; 0 for floats.
    package var highest: UInt32
    /// What a user must know about how the samples were read. Each continues a sentence that begins with the file's name.
    package var notes: [String] = []

    /// Creates a grid of `size.width * size.height` values.
    package init(size: DepthSize, values: Values, type: SampleType) {
        (self.size, self.values, self.type, highest) = (size, values, type, type.highest)
    }

    /// How many samples are above a number.
    package func count(above limit: Double) -> Int {
        switch values {
        case .uint8(let values): values.count { Double($0) > limit }
        case .uint16(let values): values.count { Double($0) > limit }
        case .uint32(let values): values.count { Double($0) > limit }
        case .float32(let values): values.count { Double($0) > limit }
        }
    }
}
