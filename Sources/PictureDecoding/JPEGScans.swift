import Glibc
import PictureMessages

/// What a JPEG's markers say about the work and the memory that decoding needs.
///
/// A file of some hundred bytes can make libjpeg pass over a huge picture hundreds of times, so this is known before it
/// is decoded.
struct JPEGScans {
    private(set) var count = 0
    /// Whether libjpeg keeps the coefficients of the whole picture: for a progressive picture or several scans.
    var keepsCoefficients: Bool { isProgressive || count > 1 }
    private var isProgressive = false

    /// The maximum number of pixels times scans, for pictures with several scans: two or three seconds of work.
    static let workLimit = 1 << 30

    /// Walks over the markers up to the end of the picture.
    init(_ file: [UInt8]) {
        var position = 2
        while let place = Self.marker(in: file, from: position) {
            let kind = file[place]
            position = place + 1
            // These stand alone: restarts, TEM, the start of a picture.
            if (0xd0...0xd8).contains(kind) || kind == 1 { continue }
            guard kind != 0xd9, position + 2 <= file.count else { return }
            // SOF2, SOF6, SOF10 and SOF14.
            if [0xc2, 0xc6, 0xca, 0xce].contains(kind) { isProgressive = true }
            if kind == 0xda { count += 1 }
            position += max(2, Int(file[position]) << 8 | Int(file[position + 1]))
        }
    }

    /// The position of the next byte after 0xff that is a marker: not 0, which stands for 0xff in a scan, and not
    /// another 0xff, which is a fill byte.
    private static func marker(in file: [UInt8], from start: Int) -> Int? {
        unsafe file.withUnsafeBytes { bytes in
            var position = start
            while position < bytes.count, let base = bytes.baseAddress,
                let found = unsafe memchr(base + position, 0xff, bytes.count - position)
            {
                position = unsafe base.distance(to: UnsafeRawPointer(found)) + 1
                guard position < bytes.count else { return nil }
                if unsafe bytes[position] != 0 && bytes[position] != 0xff { return position }
            }
            return nil
        }
    }
}
