/// What was found out about the digests that a store shows (Spec/upload.md section 4.3). `dest set` forgets it.
package struct DigestTraits: Hashable, Sendable {
    /// Whether the store refused an upload with a wrong checksum; nil if that was not tried.
    package var refusesWrong: Bool?
    /// Whether an ETag that looks like an MD5 counts. It does not once the right bytes had another one.
    package var hasMD5ETags = true

    package init(refusesWrong: Bool? = nil, hasMD5ETags: Bool = true) {
        self.refusesWrong = refusesWrong
        self.hasMD5ETags = hasMD5ETags
    }
}
