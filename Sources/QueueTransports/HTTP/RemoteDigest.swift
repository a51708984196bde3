import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel
import Synchronization

/// Compares the digests in an answer with the bytes that were sent (Spec/upload.md section 4.3).
enum RemoteDigest {
    enum Verdict: Hashable {
        case agrees
        /// The named header disagrees.
        case differs(String)
        /// The ETag looks like an MD5, and is not that of the bytes.
        case doubted
        case untold
    }

    /// - Parameters:
    ///   - handle: the file that was sent, which is only read if the answer has just an MD5. If it is nil, an MD5
    ///     proves nothing.
    ///   - isOfPut: whether this is the answer to the PUT itself, whose content is not the object.
    static func compare(
        _ answer: HTTPAnswer, _ handle: FileHandle?, sha256: Digest, isOfPut: Bool = false
    ) -> Verdict {
        let expected = Base64.encode(sha256.bytes)
        for name in ["Repr-Digest", "Content-Digest"] {
            // RFC 9530: `sha-256=:…:`, one of several members.
            if let told = member("sha-256", of: answer[name.lowercased()]) {
                if told == ":\(expected):" { return .agrees }
                if !isOfPut || name == "Repr-Digest" { return .differs(name) }
            }
        }
        // RFC 3230.
        if let told = member("sha-256", of: answer["digest"]) { return told == expected ? .agrees : .differs("Digest") }
        if let told = answer["x-amz-checksum-sha256"], !told.contains("-") {
            return told == expected ? .agrees : .differs("x-amz-checksum-sha256")
        }
        return ofETag(answer, handle)
    }

    /// Compares the ETag, if it looks like an MD5.
    static func ofETag(_ answer: HTTPAnswer, _ handle: FileHandle?) -> Verdict {
        guard let told = answer["etag"].flatMap(md5), let handle, let ours = try? MD5.hash(handle) else {
            return .untold
        }
        if told == Hex.encode(ours) { return .agrees }
        // The ETag of an object that the store encrypts with a key is not an MD5.
        let isEncrypted =
            answer["x-amz-server-side-encryption"]?.hasPrefix("aws:kms") ?? false
            || answer["x-amz-server-side-encryption-customer-algorithm"] != nil
        return isEncrypted ? .untold : .doubted
    }

    private static func member(_ name: String, of header: String?) -> String? {
        (header ?? "").pieces(by: ",").map { $0.pieces(by: "=", limit: 2) }
            .first { $0.count == 2 && $0[0].trimmed.lowercased() == name }?[1]
    }

    /// The hex digits of an ETag that may be an MD5, in lower case; nil otherwise, and for a weak one.
    private static func md5(_ etag: String) -> String? {
        let isQuoted = etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.utf8.count == 34
        let digits = (isQuoted ? etag.without(first: 1, last: 1) : etag).lowercased()
        return digits.utf8.count == 32 && Hex.decode(digits) != nil ? digits : nil
    }
}

/// What all transfers to one destination know about the digests that it shows.
final class KnownDigests: Sendable {
    private let state: Mutex<DigestTraits>
    /// How many captures this run read back because of a coding.
    private let coded = Atomic(0)
    private let missesFolder = Atomic(false)
    /// Whether this run has tried to send a wrong checksum.
    private let hasTried = Atomic(false)

    init(_ traits: DigestTraits) { state = Mutex(traits) }

    var traits: DigestTraits { state.withLock(\.self) }

    /// Remembers that ETags of the destination are not MD5s although they look like them.
    func hasOtherETags(_ keep: (DigestTraits) -> Void) {
        state.withLock { traits in
            guard traits.hasMD5ETags else { return }
            traits.hasMD5ETags = false
            keep(traits)
        }
    }

    /// Remembers that a folder seems to be missing.
    ///
    /// - Parameter again: whether an earlier try of the delivery has seen that.
    /// - Returns: whether it was seen before.
    func isMissingFolder(again: Bool) -> Bool {
        missesFolder.exchange(true, ordering: .relaxed) || again
    }

    /// Counts a capture whose bytes are read back because the server codes what it has, and names the price once.
    func readsBack(because answer: HTTPAnswer, _ warn: (String) -> Void) {
        guard coded.add(1, ordering: .relaxed).newValue == 3 else { return }
        warn(
            "the server returns what it has as \(answer["content-encoding"] ?? "") and tells no length, so each capture "
                + "is read back to prove it, which costs as many bytes as sending it; let it return captures uncoded")
    }

    /// Whether the store refuses an upload with a wrong checksum.
    ///
    /// The lock is held during the trial, so that concurrent transfers try it once.
    ///
    /// - Parameter trial: tries it; its result is nil if the answer does not tell, and then a later run tries again. nil
    ///   if nothing may be tried.
    func refusesWrong(_ trial: (() -> Bool?)?, _ keep: (DigestTraits) -> Void) -> Bool {
        state.withLock { traits in
            if let known = traits.refusesWrong { return known }
            guard let trial, !hasTried.exchange(true, ordering: .relaxed) else { return false }
            guard let found = trial() else { return false }
            traits.refusesWrong = found
            keep(traits)
            return found
        }
    }
}
