import Foundation

/// A small raw capture, which a test writes into its own folder.
public struct RawFolder: Sendable {
    /// A grey JPEG of 8 by 8 samples, which every decoder reads.
    public static let photo: [UInt8] =
        [
            0xff, 0xd8, 0xff, 0xdb, 0x00, 0x43, 0x00,
        ] + [UInt8](repeating: 1, count: 64) + [
            0xff, 0xc0, 0x00, 0x0b, 0x08, 0x00, 0x08, 0x00, 0x08, 0x01, 0x01, 0x11, 0x00,
            0xff, 0xc4, 0x00, 0x14, 0x00, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00,
            0xff, 0xc4, 0x00, 0x14, 0x10, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00,
            0xff, 0xda, 0x00, 0x08, 0x01, 0x01, 0x00, 0x00, 0x3f, 0x00, 0x3f, 0xff, 0xd9,
        ]

    public static let metadata = """
        {
          "captured_at": "2026-03-14T15:09:26.535+01:00",
          "device_model": "Test rig",
          "depth_map_dimensions": {"width": 4, "height": 3},
          "location": {"latitude": 12.345678, "longitude": -45.678901, "altitude": 3.5},
          "unknown": {"kept": [1, 2.50, "ü"]}
        }
        """

    /// Depth of 4 by 3 samples: 0.5, 1.0 … 5.0 metres, then NaN and 0.
    public static let depth: [UInt8] = floats((1...10).map { Float($0) / 2 } + [.nan, 0])

    public static func floats(_ values: [Float]) -> [UInt8] {
        values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt32($0))) } }
    }

    public static func write(
        to folder: TemporaryFolder, name: String = "raw", photo: [UInt8]? = photo, depth: [UInt8]? = depth,
        metadata: String? = metadata
    ) throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: name), withIntermediateDirectories: true)
        if let photo { try folder.write(photo, to: "\(name)/photo.jpg") }
        if let depth { try folder.write(depth, to: "\(name)/depth.f32") }
        if let metadata { try folder.write(metadata, to: "\(name)/metadata.json") }
    }
}
