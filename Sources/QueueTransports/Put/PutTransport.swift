import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Uploads with PUT to a plain or presigned URL (Spec/queue.md section 12).
final class PutTransport: UploadTransport {
    let name: String
    let settings: PutSettings
    let exchange: HTTPExchange
    let tokens: TokenSource?
    let addresses: PutAddresses
    /// Whether to send `If-None-Match`. It is left out for the rest of the run if the server does not know it.
    private var isConditionKnown = true

    init(_ name: String, _ settings: PutSettings, _ tokens: TokenSource?, _ warn: @escaping (String) -> Void) {
        self.name = name
        self.settings = settings
        self.tokens = tokens
        exchange = HTTPExchange(settings.connection, .put)
        addresses = PutAddresses(settings, exchange, tokens, warn)
    }

    /// Blocks a URL from an older version in which two captures can share a place.
    var absence: Block? {
        guard settings.sharesPlaces else { return nil }
        let change = "change it with: capqueue dest set \(name) --url URL"
        return Block(.address, "\(PutSettings.urlWithoutHash); \(change)")
    }

    func reach(_ control: SendControl) -> Block? {
        exchange.reach(addresses.last ?? addresses.known, control)
    }

    /// The bytes to upload.
    struct Content {
        let handle: FileHandle
        let byteCount: Int
        let sha256: Digest
        /// How to check the bytes while they are sent.
        let expected: ExpectedBytes
        let contentType: String
    }

    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        let content: Content
        switch open(job) {
        case .success(let found): content = found
        case .failure(let refusal): return refusal.outcome
        }
        var renewed = false
        while true {
            let place: PutAddresses.Place
            switch addresses.place(of: job, control) {
            case .success(let found): place = found
            case .failure(let refusal): return refusal.outcome
            }
            if place.isFetched, !renewed, place.isOver(at: WallClock.milliseconds) {
                renewed = true
                continue
            }
            if let outcome = decided(job, content, place, control) { return outcome }
            if job.delivery.isInDoubt && !renewed, let receipt = found(job, content, place, control) { return receipt }
            let (end, isConditional): (HTTPEnd, Bool)
            switch put(content, to: place, control) {
            case .success(let ended): (end, isConditional) = (named(ended.end), ended.isConditional)
            case .failure(let refusal): return refusal.outcome
            }
            if end.kind == .again, place.isFetched, !renewed, end.answer?.status == 403 {
                renewed = true
                continue
            }
            return judge(end, isConditional, job, content, place, control)
        }
    }

    /// Takes the place for this capture, so that no other one is sent there.
    ///
    /// - Returns: the outcome if the bytes must not be sent, or not again; nil if they must be sent.
    private func decided(
        _ job: SendJob, _ content: Content, _ place: PutAddresses.Place, _ control: SendControl
    ) -> SendOutcome? {
        guard let places = job.places else { return nil }
        guard let address = place.address.place else { return .parked(cause: "SHA-256 failed", isInDoubt: false) }
        switch places.take(address, content.sha256) {
        case .taken(let id): return .blocked(addresses.shared(with: id, job))
        case .unknown(let cause): return .parked(cause: cause, isInDoubt: false)
        case .ours(nil): return nil
        case .ours(let status?):
            let earlier = Acceptance(
                status: status, etag: nil, message: "\(place.address.origin) answered \(status)", needsBytes: true,
                isEarlier: true)
            let outcome = confirmed(job, content, place, earlier, control)
            // If nothing is there any more, the bytes are sent again.
            return outcome.isUnproven ? nil : outcome
        }
    }

    /// Puts the user's URL into the message. A fetched URL is never shown.
    func named(_ end: HTTPEnd) -> HTTPEnd {
        if case .url(let template) = settings.source { end.named(template, settings.connection) } else { end }
    }

    /// Sends one PUT. A fetched URL may lack the hash, so an object there may be another capture's and is not replaced.
    ///
    /// - Returns: the end of the request, and whether the request had a condition.
    private func put(
        _ content: Content, to place: PutAddresses.Place, _ control: SendControl
    ) -> Result<(end: HTTPEnd, isConditional: Bool), RefusedSend> {
        let body = FileBody(content.handle, byteCount: content.byteCount, content.expected, control)
        var request = HTTPRequest(.put, place.address)
        let hasType = place.headers.contains { $0.name.lowercased() == "content-type" }
        request.headers =
            (hasType || place.isSigned ? [] : [HTTPRequest.Header("Content-Type", content.contentType)])
            + place.headers
        let own = addresses.isOurs(place) ? settings.connection.own : []
        let isGiven = (place.headers + own).contains { $0.name.lowercased() == "if-none-match" }
        let isConditional = place.isFetched && isConditionKnown && !isGiven
        if isConditional { request.headers.append(HTTPRequest.Header("If-None-Match", "*")) }
        request.body = body
        let result = authorized(request, place, control)
        if let fault = body.fault { return .failure(RefusedSend(outcome: fault)) }
        guard isConditional, case .success(let end) = result, end.isOfUnknownHeader("If-None-Match") else {
            return result.map { ($0, isConditional || isGiven) }
        }
        isConditionKnown = false
        return put(content, to: place, control)
    }

    private func judge(
        _ end: HTTPEnd, _ isConditional: Bool, _ job: SendJob, _ content: Content, _ place: PutAddresses.Place,
        _ control: SendControl
    ) -> SendOutcome {
        switch end.kind {
        case .landed:
            guard let answer = end.answer else { return end.outcome }
            switch RemoteDigest.compare(answer, content.handle, sha256: content.sha256, isOfPut: true) {
            case .agrees: return completed(job, place, answer.status, "digest", answer["etag"])
            case .differs(let name):
                return .unclear(
                    code: "put.digest",
                    message: "\(end.message), and its \(name) does not match the bytes that were sent")
            case .untold:
                let names = [content.sha256.description, job.capture.sha256.description, job.capture.id]
                let isReplaced = isConditional && answer.status == 204
                let taken = Acceptance(
                    status: answer.status, etag: answer["etag"], message: end.message,
                    needsBytes: isReplaced || place.isFetched && !place.address.names(names), isEarlier: false)
                return confirmed(job, content, place, taken, control)
            }
        case .present:
            return present(job, content, place, end, control)
        default: return end.outcome
        }
    }

    func open(_ job: SendJob) -> Result<Content, RefusedSend> {
        switch job.open() {
        case .failure(let trouble): return .failure(RefusedSend(outcome: trouble.outcome))
        case .success(let source):
            do throws(BundleError) {
                let made: UploadFile
                switch settings.part {
                case .bundle:
                    return .success(
                        Content(
                            handle: source.handle, byteCount: job.capture.byteCount, sha256: job.capture.sha256,
                            expected: job.capture.expectedBytes, contentType: "application/vnd.capture-bundle"))
                case .photo:
                    made = try UploadFile.photo(of: source.handle, sha256: job.held, name: source.name)
                case .body:
                    made = try UploadFile.body(of: source.handle, sha256: job.capture.sha256, name: source.name)
                }
                return .success(
                    Content(
                        handle: made.handle, byteCount: made.byteCount, sha256: made.sha256,
                        expected: .sha256(made.sha256), contentType: made.contentType))
            } catch  where error.code == .entryAbsent {
                return .failure(
                    RefusedSend(outcome: .rejected(code: error.code.rawValue, message: "the bundle has no photo")))
            } catch {
                return .failure(RefusedSend(outcome: CaptureAPITransport.outcome(of: error)))
            }
        }
    }

    func authorized(
        _ request: HTTPRequest, _ place: PutAddresses.Place, _ control: SendControl
    ) -> Result<HTTPEnd, RefusedSend> {
        // Headers and tokens for the user's own server must not go to the host of a fetched URL.
        let isOurs = addresses.isOurs(place)
        let own = isOurs ? settings.connection.own : []
        do throws(SendTrouble) {
            return .success(
                try exchange.perform(
                    request, token: isOurs ? tokens : nil,
                    isFetched: place.isFetched || place.isOver(at: WallClock.milliseconds), control
                ) { attempt throws(SendTrouble) in
                    attempt.add(own)
                    return !own.isEmpty || !place.headers.isEmpty
                })
        } catch {
            return .failure(RefusedSend(local: error.message, control))
        }
    }
}
