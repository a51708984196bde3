import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Finds out what a store has under a key (Spec/upload.md section 4.3).
extension S3Transport {
    /// What the store has under the key.
    enum Stored {
        case absent
        /// The bytes that were sent, with the receipt.
        case ours(SendOutcome)
        /// Other bytes, which were read back whole.
        case damaged(etag: String?)
        /// The store allows neither HEAD nor GET.
        case hidden(HTTPEnd)
        case unknown(SendOutcome)
    }

    /// The name of the proof that an answer gives.
    private enum Proof {
        case given(String)
        /// Only the bytes can tell; the ETag looks like another MD5.
        case doubted
        case none
    }

    /// Whether the store shows nothing. Codes such as `ExpiredToken` are about the login, and not about what it allows.
    private static func isHidden(_ end: HTTPEnd) -> Bool {
        [403, 405, 501].contains(end.answer?.status) && !AnswerClass.loginCodes.contains(end.word ?? "")
    }

    /// Asks what the store has under the key.
    func stored(_ upload: Upload) throws -> Stored {
        let asking: HTTPHeaders = settings.checksum == .sha256 ? [("x-amz-checksum-mode", "ENABLED")] : []
        let end = try exchange.perform(HTTPRequest(.head, upload.address, asking), upload.control)
        guard let answer = end.answer else { return .unknown(Self.unanswered(end)) }
        if answer.status == 404 { return .absent }
        // The answer to HEAD has no body, which would say why: an expired key, or too many requests.
        if Self.isHidden(end) || [400, 429, 503].contains(answer.status) && end.retryAfter == nil {
            return try readBack(upload, isDoubted: false)
        }
        guard answer.status == 200 || (201...299).contains(answer.status) && end.isPage else {
            return .unknown(end.unproven("\(end.message) to HEAD"))
        }
        if answer.coding != nil { known.readsBack(because: answer, warn) }
        var isDoubted = false
        if let length = answer.length, length == upload.job.sentByteCount ?? length {
            switch proof(answer, upload) {
            case .given(let name): return .ours(completed(upload, by: name, etag: answer["etag"]))
            case .doubted: isDoubted = true
            case .none: break
            }
        }
        return try readBack(upload, isDoubted: isDoubted)
    }

    private static func unanswered(_ end: HTTPEnd) -> SendOutcome {
        guard case .failed(let code, let message) = end.outcome else { return end.outcome }
        return .unclear(code: code, message: message)
    }

    /// Judges the digests of an answer. One that we sent with the bytes counts only if the store refuses wrong ones.
    private func proof(_ answer: HTTPAnswer, _ upload: Upload) -> Proof {
        let etag = RemoteDigest.ofETag(answer, upload.handle)
        if etag == .agrees, settings.checksum != .md5 { return .given("etag") }
        if etag == .doubted, known.traits.hasMD5ETags { return .doubted }
        let isChecksum =
            settings.checksum == .sha256
            && answer["x-amz-checksum-sha256"] == Base64.encode(upload.job.capture.sha256.bytes)
        guard etag == .agrees || isChecksum else { return .none }
        let trial = { tryWrong(upload.control) }
        let isRefused = known.refusesWrong(upload.mayTry ? trial : nil) { upload.job.records.keep(.digests($0)) }
        return isRefused ? .given(etag == .agrees ? "etag" : "checksum") : .none
    }

    private func readBack(_ upload: Upload, isDoubted: Bool) throws -> Stored {
        let (job, address) = (upload.job, upload.address)
        let bytes = try ReturnedBytes(job.sentByteCount, job.capture.sha256)
        let end = try exchange.perform(HTTPRequest(.get, address, sink: bytes.take), upload.control)
        let etag = end.answer?["etag"]
        switch bytes.verdict(end) {
        case .same:
            if isDoubted { known.hasOtherETags { if upload.mayTry { job.records.keep(.digests($0)) } } }
            return .ours(completed(upload, by: "bytes", etag: etag))
        case .different: return .damaged(etag: etag)
        case .page(let title):
            return .unknown(HTTPEnd.page("\(address.origin) answers GET with a page\(title) and not the object"))
        case .unread where Self.isHidden(end): return .hidden(end)
        case .unread where end.answer?.status == 404: return .absent
        case .unread(let text):
            return .unknown(end.unproven("the upload cannot be read back: \(text)"))
        }
    }

    /// Decides about an upload that the store took and does not show.
    ///
    /// - Parameters:
    ///   - put: the answer to the PUT; nil if an earlier try got it.
    ///   - status: the status of that answer.
    func hidden(
        _ upload: Upload, _ put: HTTPAnswer?, status: Int, _ end: HTTPEnd
    ) throws -> SendOutcome {
        let job = upload.job
        let turn = upload.address.place.map { job.records.take($0, job.capture.sha256) }
        let isOurs = if case .ours = turn { true } else { false }
        let seen = "\(end.message) to GET, after \(status) to PUT"
        if let put, (200...299).contains(status) {
            switch proof(put, upload) {
            case .given(let name): return completed(upload, by: name, etag: put["etag"])
            case .doubted where !settings.trustsStatus:
                if isOurs { job.records.keep(.accepted(status: PlaceTurn.doubted)) }
                return .unclear(
                    code: SendOutcome.unproven, message: "\(seen), and its ETag is not the MD5 of what was sent")
            case .doubted, .none: break
            }
        }
        if settings.trustsStatus {
            return completed(upload, by: "status", etag: put?["etag"], status: status)
        }
        if isOurs { job.records.keep(.accepted(status: status)) }
        return .blocked(
            Block(
                .unproven,
                "\(seen), so nothing proves that it has the bytes; \(S3Settings.mayNotRead)", cause: .mayNotRead))
    }

    /// How an earlier try ended after which the store did not show the object; nil if it was not sent, or if the queue
    /// does not know.
    func accepted(_ upload: Upload) -> Int? {
        guard let place = upload.address.place,
            case .ours(let status, _) = upload.job.records.take(place, upload.job.capture.sha256)
        else { return nil }
        return status
    }

    // MARK: - The trial

    private static let trial = Array("a trial: does this store refuse a wrong checksum?\n".utf8)

    /// Sends a small object with a wrong checksum, and deletes it again if the store took it.
    ///
    /// - Returns: whether the store refused it because of its checksum; nil if that is not known.
    private func tryWrong(_ control: SendControl) -> Bool? {
        guard let random = try? RandomBytes.make(8),
            let address = WebAddress("\(folder).capqueue-probe-\(Hex.encode(random))"),
            let hash = try? SHA256Hasher.hash(Self.trial), let wrong = try? SHA256Hasher.hash(hash)
        else { return nil }
        let checksum =
            settings.checksum == .md5
            ? ("Content-MD5", Base64.encode(Array(wrong.prefix(16)))) : ("x-amz-checksum-sha256", Base64.encode(wrong))
        let request = HTTPRequest(.put, address, [checksum], body: MemoryBody(Self.trial))
        guard let end = try? exchange.perform(request, contentHash: Hex.encode(hash), control) else { return nil }
        if AnswerClass.wrongBytes.contains(end.word ?? "") { return true }
        let isTaken = (200...299).contains(end.answer?.status ?? 0)
        guard isTaken || end.answer == nil else { return nil }
        let deleted = try? exchange.perform(HTTPRequest(.delete, address), control)
        if let deleted, ![200, 202, 204, 404].contains(deleted.answer?.status) {
            warn(
                "\(shown(address)) was written to try whether the store checks what it gets; delete it: \(deleted.message)"
            )
        }
        return isTaken ? false : nil
    }

    /// What the URL of each object begins with.
    private var folder: String {
        template.text.pieces(by: "{", keepsEmpty: true)[0].folder
    }
}
