import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Checks whether a `put` server has the bytes (Spec/upload.md sections 4.3 and 4.4).
extension PutTransport {
    /// The pauses in seconds before HEAD is repeated, if the server accepted a body but does not show it.
    private static let pauses = [1.0, 2, 4]

    /// An answer with which the server accepted the bytes, but did not prove that it has them.
    struct Acceptance {
        let status: Int
        let etag: String?
        /// What the server answered, for messages.
        let message: String
        /// Whether only the bytes themselves, or a digest, are a proof.
        var needsBytes: Bool
        /// Whether an ETag looks like the MD5 of other bytes.
        var isDoubted: Bool
        /// Whether an earlier try got the answer.
        let isEarlier: Bool
        /// Whether the answer was a page.
        var isPage = false
    }

    /// Whether an ETag counts as the MD5 of other bytes.
    func isDoubted(_ verdict: RemoteDigest.Verdict) -> Bool {
        verdict == .doubted && shared.digests.traits.hasMD5ETags && !settings.trustsStatus
    }

    /// Whether the server does not let anybody look at what it has.
    private static func isRefusal(_ status: Int) -> Bool {
        (300...499).contains(status) && ![404, 408, 410, 423, 425, 429].contains(status) || status == 501
    }

    /// Handles a 2xx without a digest: asks the server with HEAD, and with GET if needed, what it has.
    func confirmed(_ upload: Upload, _ taken: Acceptance) -> SendOutcome {
        let (content, place, control) = (upload.content, upload.place, upload.control)
        if settings.trustsStatus { return completed(upload, taken.status, by: "status", etag: taken.etag) }
        var taken = taken
        var head = head(place, control)
        for pause in taken.isEarlier ? [] : Self.pauses where head.isOfAbsence {
            guard control.wait(seconds: pause) else { break }
            head = self.head(place, control)
        }
        if let cause = control.stopped { return .parked(cause: cause, isInDoubt: true) }
        guard let told = head.answer else { return head.unproven(head.message) }
        switch told.status {
        case 200, 204:
            // A portal or a catch-all page answers every request, but without the Content-Length of our object.
            let length = told.length ?? (told.coding == nil ? nil : content.byteCount)
            guard length == content.byteCount else {
                if head.isPage || taken.isPage, let outcome = page(upload, taken) { return outcome }
                let found =
                    length.map { "HEAD says that it stores \($0) bytes; expected \(content.byteCount)" }
                    ?? "its answer to HEAD has no Content-Length"
                return .unclear(code: "put.length", message: "\(taken.message), and \(found)")
            }
            let verdict = RemoteDigest.compare(told, content.handle, sha256: content.sha256)
            switch verdict {
            case .agrees: return completed(upload, taken.status, by: "digest", etag: told["etag"])
            case .untold, .doubted:
                if isDoubted(verdict) {
                    (taken.needsBytes, taken.isDoubted) = (true, true)
                } else if !taken.needsBytes, told.coding != nil {
                    taken.needsBytes = true
                    shared.digests.readsBack(because: told, warn)
                }
                if taken.needsBytes { return proven(upload, taken) }
                return completed(upload, taken.status, by: "head", etag: told["etag"])
            case .differs(let name):
                return .unclear(
                    code: "put.digest",
                    message: "\(taken.message), and the \(name) in its answer to HEAD does not match what was sent")
            }
        case 404, 410: return notShown(taken, "\(told.status) to HEAD")
        case let status where taken.needsBytes && Self.isRefusal(status):
            return proven(upload, taken)
        // The server does not allow HEAD.
        case 401, 403, 405, 501: return completed(upload, taken.status, by: "status", etag: taken.etag)
        case 201...299 where head.isPage || taken.isPage:
            return page(upload, taken) ?? head.unproven("\(head.message) to HEAD")
        default: return head.unproven("\(head.message) to HEAD")
        }
    }

    /// Asks with GET whether a page answers in place of the server, as that of a network that wants a login.
    private func page(_ upload: Upload, _ taken: Acceptance) -> SendOutcome? {
        guard case .page(let title) = readBack(upload).verdict else { return nil }
        return Self.page(title, taken)
    }

    private static func page(_ title: String, _ taken: Acceptance) -> SendOutcome {
        HTTPEnd.page("\(taken.message) to PUT, and GET returns a page\(title) and not the upload")
    }

    private func notShown(_ taken: Acceptance, _ answer: String) -> SendOutcome {
        .unclear(
            code: SendOutcome.unproven,
            message: "\(taken.message) to PUT and \(answer), as if it had not kept the bytes")
    }

    /// Looks at the bytes themselves. If that is refused, the destination is blocked, and the bytes are not sent again.
    private func proven(_ upload: Upload, _ taken: Acceptance) -> SendOutcome {
        let (verdict, end) = readBack(upload)
        if let cause = upload.control.stopped { return .parked(cause: cause, isInDoubt: true) }
        switch (verdict, end?.answer?.status) {
        case (.same, _):
            if taken.isDoubted { shared.digests.hasOtherETags { upload.job.records.keep(.digests($0)) } }
            return completed(upload, taken.status, by: "bytes", etag: end?.answer?["etag"])
        case (.page(let title), _): return Self.page(title, taken)
        case (.different, _):
            if upload.isNamed, settings.pace.retry.isLast(upload.job.delivery.attempts) {
                return .conflict(message: "\(taken.message) to PUT, and holds other bytes: delete what is there")
            }
            return .unclear(code: "put.digest", message: "\(taken.message) to PUT, and GET returns other bytes")
        case (.unread, let status?) where status == 404 || status == 410:
            return notShown(taken, "\(status) to GET")
        case (.unread, let status?) where Self.isRefusal(status) && taken.isDoubted:
            upload.job.records.keep(.accepted(status: PlaceTurn.doubted))
            return .unclear(
                code: SendOutcome.unproven,
                message:
                    "\(taken.message) to PUT with an ETag that is not the MD5 of what was sent, and \(status) to GET")
        case (.unread, let status?) where Self.isRefusal(status):
            upload.job.records.keep(.accepted(status: taken.status))
            return .blocked(
                Block(
                    .unproven,
                    "\(taken.message) to PUT and \(status) to GET, so nothing proves that it has the bytes; allow GET"))
        case (.unread(let text), _):
            let words = "\(taken.message) to PUT, and the object there cannot be read back: \(text)"
            if let outcome = end?.unproven(words), case .blocked = outcome { return outcome }
            return .unclear(code: taken.isDoubted ? "put.digest" : end?.code ?? "put.digest", message: words)
        }
    }

    /// Reads the object and compares its bytes.
    func readBack(
        _ byteCount: Int?, _ sha256: Digest, from place: PutPlace, _ control: SendControl
    ) -> (verdict: ReturnedBytes.Verdict, end: HTTPEnd?) {
        do {
            let bytes = try ReturnedBytes(byteCount, sha256)
            let end = try authorized(HTTPRequest(.get, place.address, sink: bytes.take), place, control)
            return (bytes.verdict(end), end)
        } catch {
            return (.unread(SendOutcome.of(error, control).trouble ?? "no answer"), nil)
        }
    }

    private func readBack(_ upload: Upload) -> (verdict: ReturnedBytes.Verdict, end: HTTPEnd?) {
        readBack(upload.content.byteCount, upload.content.sha256, from: upload.place, upload.control)
    }

    /// Handles an answer that an object is already there: the same bytes complete the delivery, others are a conflict.
    func present(_ upload: Upload, _ end: HTTPEnd) throws -> SendOutcome {
        var words = ""
        if let told = head(upload.place, upload.control).answer, told.status == 200 {
            switch RemoteDigest.compare(told, upload.content.handle, sha256: upload.content.sha256) {
            case .agrees: return completed(upload, told.status, by: "digest", etag: told["etag"])
            case .differs(let name):
                words = ": its \(name) differs"
                // Fewer bytes can be a torn upload, which only reading them shows.
                guard told.length ?? 0 < upload.content.byteCount else {
                    return .conflict(message: "\(end.message), and holds other bytes\(words)")
                }
            case .untold, .doubted: break
            }
        }
        let (verdict, read) = readBack(upload)
        if let cause = upload.control.stopped { return .parked(cause: cause, isInDoubt: true) }
        switch verdict {
        case .same: return completed(upload, end.answer?.status ?? 0, by: "bytes", etag: read?.answer?["etag"])
        case .different(let start?) where isBeginning(start, of: upload):
            return try replaced(upload, byteCount: start.byteCount, etag: read?.answer?["etag"], end)
        case .different: return .conflict(message: "\(end.message), and holds other bytes\(words)")
        case .page(let title): return HTTPEnd.page("\(end.message), and GET returns a page\(title)")
        case .unread where read?.isOfAbsence ?? false:
            return nowhere(upload, end)
        case .unread(let text):
            let words = "\(end.message), and the object there cannot be read back: \(text)"
            if let outcome = read?.unproven(words), case .blocked = outcome { return outcome }
            return .unclear(code: end.code, message: words)
        }
    }

    /// Completes the delivery if the server already has the object with the right digest.
    func found(
        _ job: SendJob, _ sent: (byteCount: Int, sha256: Digest, handle: FileHandle?), at place: PutPlace,
        _ control: SendControl
    ) -> SendOutcome? {
        guard let answer = head(place, control).answer, answer.status == 200,
            answer.length == sent.byteCount || answer.coding != nil,
            RemoteDigest.compare(answer, sent.handle, sha256: sent.sha256) == .agrees
        else { return nil }
        return completed(job, at: place, answer.status, by: "digest", etag: answer["etag"])
    }

    func head(_ place: PutPlace, ifMatch etag: String? = nil, _ control: SendControl) -> HTTPEnd {
        var request = HTTPRequest(.head, place.address)
        if !place.isSigned { request.headers.append(("x-amz-checksum-mode", "ENABLED")) }
        if let etag { request.headers.append(("If-Match", etag)) }
        do {
            return try authorized(request, place, control)
        } catch {
            return HTTPEnd(kind: .local, code: "local", words: SendOutcome.of(error, control).trouble ?? "")
        }
    }

    func completed(_ upload: Upload, _ status: Int, by proof: String, etag: String?) -> SendOutcome {
        completed(upload.job, at: upload.place, status, by: proof, etag: etag)
    }

    private func completed(
        _ job: SendJob, at place: PutPlace, _ status: Int, by proof: String, etag: String?
    ) -> SendOutcome {
        let receipt = job.receipt(
            .put,
            [
                "url": .string(settings.connection.shown(place.address)), "part": .string(settings.part.rawValue),
                "status": .integer(status), "confirmed_by": .string(proof),
                "etag": etag.map { .string($0.cut(to: 200)) },
            ])
        let isSecret = place.isSigned || settings.connection.hidesPaths
        return .completed(receipt: receipt, remoteID: nil, remoteURL: isSecret ? nil : place.address.withoutQuery)
    }
}
