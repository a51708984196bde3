import CaptureBundle
import Foundation

extension Digest {
    /// The 32 bytes that the database stores.
    var data: Data { Data(bytes) }
}
