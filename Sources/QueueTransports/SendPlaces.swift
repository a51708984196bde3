package import CaptureBundle

/// Remembers which bytes were sent to which place (Spec/upload.md section 4.3).
package protocol SendPlaces: Sendable {
    /// Records the place of a delivery before its bytes are sent there.
    ///
    /// - Parameter sha256: the hash of the bytes.
    func take(_ place: Digest, _ sha256: Digest) -> PlaceTurn

    /// Records that the server accepted the bytes at the place, but did not prove that it has them, or that the folder of
    /// the place seems to be missing.
    ///
    /// - Parameter status: the status, or a constant of `PlaceTurn`.
    func accepted(with status: Int)
}

/// Whether a delivery may send its bytes to a place.
package enum PlaceTurn: Hashable, Sendable {
    /// In place of a status: the answer had the digest of other bytes.
    static let doubted = 0
    /// The server refused the bytes and has nothing there, as if the folder were missing. No server accepts with 409.
    static let nowhere = 409

    /// - Parameters:
    ///   - acceptedWith: the status of an earlier try in which the server accepted these bytes without a proof.
    ///   - wasTried: whether an earlier try of the delivery may have sent bytes there.
    case ours(acceptedWith: Int?, wasTried: Bool)
    /// The place belongs to other bytes: those of the capture with this id. It can be the same capture, if another
    /// destination has another part of it.
    case taken(by: String)
    /// The place cannot be recorded, for this reason.
    case unknown(String)
}
