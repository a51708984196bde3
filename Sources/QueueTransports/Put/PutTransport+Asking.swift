import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// The requests to a `put` destination besides uploads.
extension PutTransport {
    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState {
        guard let place = try? place(of: job, control) else {
            return .unknown("no URL is available to look it up")
        }
        let end = head(place, control)
        guard let answer = end.answer else { return .unknown(end.message) }
        if end.isOfAbsence { return absent(job, at: place, status: answer.status) }
        guard [200, 401, 403, 405, 501].contains(answer.status) else { return .unknown(end.message) }
        guard let sent = sent(job) else { return .unknown("the sent bytes are no longer here to compare with") }
        if answer.status == 200 {
            if let length = answer.length, let byteCount = sent.byteCount, length != byteCount {
                return .lost("\(place.address.origin) holds \(length) bytes of \(byteCount)")
            }
            switch RemoteDigest.compare(answer, sent.handle, sha256: sent.sha256) {
            case .agrees: return .there
            case .differs(let name): return .lost("\(place.address.origin) holds other bytes: its \(name) differs")
            case .untold, .doubted: break
            }
        }
        // The right length does not show that the bytes are right.
        let (verdict, read) = readBack(sent.byteCount, sent.sha256, from: place, control)
        switch verdict {
        case .same: return .there
        case .different: return .lost("\(place.address.origin) holds other bytes")
        case .page(let title): return .unknown("\(place.address.origin) answers with a page\(title)")
        case .unread where read?.isOfAbsence ?? false:
            return absent(job, at: place, status: read?.answer?.status ?? 404)
        case .unread(let text): return .unknown(text)
        }
    }

    private func absent(_ job: SendJob, at place: PutPlace, status: Int) -> RemoteState {
        // A server that did not show the object after the upload does not show it now, so this proves nothing.
        let receipt = job.delivery.receipt.flatMap { try? JSONParser.parse(Array($0.utf8), nesting: 8) }
        if receipt?["confirmed_by"]?.text == "status" {
            return .unknown("\(place.address.origin) answers \(status), as it did right after the upload")
        }
        return .lost("\(place.address.origin) answers \(status)")
    }

    /// The bytes that were delivered, if they are still known. Copies of a capture share the photo, but not the body.
    private func sent(_ job: SendJob) -> (handle: FileHandle?, byteCount: Int?, sha256: Digest)? {
        if settings.part == .bundle { return (job.openSent(), job.sentByteCount, job.capture.sha256) }
        guard job.holdsWhatWasSent || settings.part == .photo, let content = try? content(of: job) else { return nil }
        return (content.handle, content.byteCount, content.sha256)
    }

    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? {
        guard settings.part == .bundle else { return "only the \(settings.part.rawValue) was sent there" }
        guard let place = try? place(of: job, control) else {
            return "no URL is available to look it up"
        }
        do {
            let bytes = try ReturnedBytes(job.capture.byteCount, job.capture.sha256, into: target)
            return bytes.trouble(try authorized(HTTPRequest(.get, place.address, sink: bytes.take), place, control))
        } catch {
            return SendOutcome.of(error, control).trouble ?? "no answer"
        }
    }

    func notify(_ session: String, key: String, body: [UInt8], _ control: SendControl) throws -> String {
        let url = settings.sessionEnd?.filled { $0 == "session" ? URLTemplate.escaped(session) : "{\($0)}" }
        guard let address = url.flatMap(WebAddress.init) else {
            throw SendOutcome.ours("the session-end-url cannot be used")
        }
        let request = HTTPRequest(
            .post, address, [("Content-Type", "application/json"), ("Idempotency-Key", key)], body: MemoryBody(body))
        let end = try authorized(request, PutPlace(address: address), control)
        guard (200...299).contains(end.answer?.status ?? 0) else {
            throw SendOutcome.blocked(
                Block(.local, end.message, pause: end.retryAfter.map { .milliseconds($0) }))
        }
        // A login page of a network has the status of a success, and nothing could prove the report afterwards.
        if end.isPage { throw SendOutcome.ours("\(end.message) with a page of HTML, such as a login page") }
        return end.message
    }

    func test(_ control: SendControl) -> DestinationTest {
        var found = DestinationTest(block: absence)
        if found.block != nil { return found }
        guard let address = knownAddress else {
            found.findings.append("the URL comes from a command, which runs only when a capture is sent")
            return found
        }
        found = exchange.test(address, control)
        if found.block != nil { return found }
        found.check(shared.tokens, control)
        guard case .url = settings.source, found.block == nil else { return found }
        let end = named(head(PutPlace(address: address), control))
        found.evaluate(end, allowing: [403, 404, 405, 410, 501])
        if found.block == nil, end.isOfAbsence { testFolder(of: address, into: &found, control) }
        if found.block == nil {
            found.findings.append(
                "a test sends nothing, so only the first upload shows whether uploads are accepted there")
        }
        return found
    }
}
