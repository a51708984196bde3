import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// The requests to a `put` destination besides uploads.
extension PutTransport {
    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState {
        guard case .success(let place) = addresses.place(of: job, control) else {
            return .unknown("no URL is available to look it up")
        }
        let end = head(place, control)
        guard let answer = end.answer else { return .unknown(end.message) }
        if end.isOfAbsence { return absent(job, place, answer.status) }
        guard [200, 401, 403, 405, 501].contains(answer.status) else { return .unknown(end.message) }
        guard let sent = sent(job) else { return .unknown("the sent bytes are no longer here to compare with") }
        if answer.status == 200 {
            if let length = answer["content-length"].flatMap({ Int($0) }), let byteCount = sent.byteCount,
                length != byteCount
            {
                return .lost("\(place.address.origin) holds \(length) bytes of \(byteCount)")
            }
            switch RemoteDigest.compare(answer, sent.handle, sha256: sent.sha256) {
            case .agrees: return .there
            case .differs(let name): return .lost("\(place.address.origin) holds other bytes: its \(name) differs")
            case .untold: break
            }
        }
        // The right length does not show that the bytes are right.
        let (verdict, read) = readBack(sent.byteCount, sent.sha256, place, control)
        switch verdict {
        case .same: return .there
        case .different: return .lost("\(place.address.origin) holds other bytes")
        case .unread where read?.isOfAbsence ?? false: return absent(job, place, read?.answer?.status ?? 404)
        case .unread(let text): return .unknown(text)
        }
    }

    private func absent(_ job: SendJob, _ place: PutAddresses.Place, _ status: Int) -> RemoteState {
        // A server that did not show the object after the upload does not show it now, so this proves nothing.
        if job.delivery.receipt?.contains(#""confirmed_by":"status""#) ?? false {
            return .unknown("\(place.address.origin) answers \(status), as it did right after the upload")
        }
        return .lost("\(place.address.origin) answers \(status)")
    }

    /// The bytes that were delivered, if they are still known. Copies of a capture share the photo, but not the body.
    private func sent(_ job: SendJob) -> (handle: FileHandle?, byteCount: Int?, sha256: Digest)? {
        if settings.part == .bundle { return (job.openSent(), job.sentByteCount, job.capture.sha256) }
        guard job.holdsWhatWasSent || settings.part == .photo, case .success(let content) = open(job) else {
            return nil
        }
        return (content.handle, content.byteCount, content.sha256)
    }

    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? {
        guard settings.part == .bundle else { return "only the \(settings.part.rawValue) was sent there" }
        guard case .success(let place) = addresses.place(of: job, control) else {
            return "no URL is available to look it up"
        }
        let download = Download(target, limit: job.capture.byteCount)
        var request = HTTPRequest(.get, place.address)
        request.sink = download.take
        guard case .success(let end) = authorized(request, place, control) else { return "no token" }
        return download.trouble(end)
    }

    func tell(_ marker: SessionMarker, _ control: SendControl) -> Result<String, SendTrouble> {
        guard let address = settings.sessionEnd.flatMap(marker.address) else {
            return .failure(SendTrouble(message: "the session-end-url cannot be used"))
        }
        var request = HTTPRequest(.post, address)
        request.headers = [
            HTTPRequest.Header("Content-Type", "application/json"), HTTPRequest.Header("Idempotency-Key", marker.key),
        ]
        request.body = MemoryBody(marker.body)
        let place = PutAddresses.Place(address: address, headers: [], isFetched: false)
        switch authorized(request, place, control) {
        case .failure(let refusal): return .failure(SendTrouble(message: refusal.outcome.trouble ?? ""))
        case .success(let end):
            guard let status = end.answer?.status, (200...299).contains(status) else {
                return .failure(SendTrouble(message: end.message))
            }
            return .success(end.message)
        }
    }

    func test(_ control: SendControl) -> DestinationTest {
        var found = DestinationTest(block: absence)
        if found.block != nil { return found }
        guard let address = addresses.known else {
            found.findings.append("the URL comes from a command, which runs only when a capture is sent")
            return found
        }
        found = exchange.test(address, control)
        if found.block != nil { return found }
        if let tokens {
            do throws(SendTrouble) {
                _ = try tokens.current(control)
                found.findings.append("a token is set")
            } catch {
                found.block = Block(.local, error.message)
                return found
            }
        }
        guard case .url = settings.source else { return found }
        let end = named(head(PutAddresses.Place(address: address, headers: [], isFetched: false), control))
        found.judge(end, allowing: [403, 404, 405, 410, 501])
        if found.block == nil {
            found.findings.append(
                "a test sends nothing, so only the first upload shows whether uploads are accepted there")
        }
        return found
    }
}
