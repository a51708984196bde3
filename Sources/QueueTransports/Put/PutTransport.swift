import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// What of a capture is put.
enum PutPart: String {
    case bundle, photo, body
}

/// PUT to a plain or presigned URL (Spec/queue.md section 12).
final class PutTransport: UploadTransport {
    let destination: Destination
    let exchange: HTTPExchange
    let tokens: TokenSource?
    let addresses: PutAddresses
    let part: PutPart

    init(_ destination: Destination, _ tokens: TokenSource?, _ warn: @escaping (String) -> Void) {
        self.destination = destination
        self.tokens = tokens
        exchange = HTTPExchange(destination, .put)
        addresses = PutAddresses(destination, exchange, tokens, warn)
        part = destination.settings["part"].flatMap(PutPart.init(rawValue:)) ?? .bundle
    }

    func reach(_ control: SendControl) -> DestinationHold? {
        exchange.reach(addresses.last ?? addresses.known, control)
    }

    /// What goes over the wire.
    struct Content {
        let handle: FileHandle
        let byteCount: Int
        let sha256: Digest
        /// What the bytes have to be that are sent.
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
            if job.delivery.isInDoubt && !renewed, let receipt = found(job, content, place, control) { return receipt }
            let body = FileBody(content.handle, byteCount: content.byteCount, content.expected, control)
            var request = HTTPRequest(.put, place.address)
            let hasType = place.headers.contains { $0.name.lowercased() == "content-type" }
            request.headers =
                (hasType || place.isSigned ? [] : [HTTPRequest.Header("Content-Type", content.contentType)])
                + place.headers
            request.body = body
            let end: HTTPEnd
            switch authorized(request, place, control) {
            case .success(let ended): end = ended
            case .failure(let refusal): return refusal.outcome
            }
            if let fault = body.fault { return fault }
            if end.kind == .again, place.isFetched, !renewed, end.answer?.status == 403 {
                renewed = true
                continue
            }
            return judge(end, job, content, place, control)
        }
    }

    private func judge(
        _ end: HTTPEnd, _ job: SendJob, _ content: Content, _ place: PutAddresses.Place, _ control: SendControl
    ) -> SendOutcome {
        switch end.kind {
        case .landed:
            guard let answer = end.answer else { return end.outcome }
            switch RemoteDigest.compare(answer, content.handle, sha256: content.sha256, isOfPut: true) {
            case .agrees: return completed(job, place, answer.status, "digest", answer["etag"])
            case .differs(let name):
                return .unclear(
                    code: "put.digest", message: "\(end.message), and its \(name) is that of other bytes than were sent"
                )
            case .untold: return confirmed(job, content, place, end, answer, control)
            }
        case .present:
            return present(job, content, place, end, control)
        default: return end.outcome
        }
    }

    /// A 2xx without a digest: the server is asked what it has, where it can say so.
    private func confirmed(
        _ job: SendJob, _ content: Content, _ place: PutAddresses.Place, _ end: HTTPEnd, _ answer: HTTPAnswer,
        _ control: SendControl
    ) -> SendOutcome {
        let head = head(place, control)
        guard let told = head.answer else { return .unclear(code: head.code, message: head.message) }
        switch told.status {
        case 200, 204:
            // Whoever answers anything with a page (a portal, a catch-all) has no length of ours to tell.
            guard let length = told["content-length"].flatMap({ Int($0) }) else {
                return .unclear(code: "put.length", message: "\(end.message), and HEAD tells no length")
            }
            guard length == content.byteCount else {
                return .unclear(
                    code: "put.length",
                    message: "\(end.message), and holds \(length) bytes of \(content.byteCount)")
            }
            switch RemoteDigest.compare(told, content.handle, sha256: content.sha256) {
            case .agrees: return completed(job, place, answer.status, "digest", told["etag"])
            case .untold: return completed(job, place, answer.status, "head", told["etag"])
            case .differs(let name):
                return .unclear(code: "put.digest", message: "\(end.message), and its \(name) is that of other bytes")
            }
        case 401, 403, 404, 405, 501:
            // Nothing can be asked there; a 404 is also what a store says that is not consistent yet.
            return completed(job, place, answer.status, "status", answer["etag"])
        default: return .unclear(code: head.code, message: "\(head.message) to HEAD")
        }
    }

    /// The server says that something is there.
    private func present(
        _ job: SendJob, _ content: Content, _ place: PutAddresses.Place, _ end: HTTPEnd, _ control: SendControl
    ) -> SendOutcome {
        guard let told = head(place, control).answer, told.status == 200 else {
            return .failed(code: end.code, message: end.message)
        }
        if let length = told["content-length"].flatMap({ Int($0) }), length != content.byteCount {
            return .conflict(message: "\(end.message), and holds \(length) bytes of other than ours")
        }
        switch RemoteDigest.compare(told, content.handle, sha256: content.sha256) {
        case .agrees: return completed(job, place, told.status, "digest", told["etag"])
        case .differs(let name): return .conflict(message: "\(end.message), and holds other bytes, by its \(name)")
        case .untold: return .failed(code: end.code, message: "\(end.message), and does not tell what is there")
        }
    }

    /// What is there already, if its digest agrees.
    private func found(
        _ job: SendJob, _ content: Content, _ place: PutAddresses.Place, _ control: SendControl
    ) -> SendOutcome? {
        let end = head(place, control)
        guard let answer = end.answer, answer.status == 200,
            answer["content-length"].flatMap({ Int($0) }) == content.byteCount,
            RemoteDigest.compare(answer, content.handle, sha256: content.sha256) == .agrees
        else { return nil }
        return completed(job, place, answer.status, "digest", answer["etag"])
    }

    func head(_ place: PutAddresses.Place, _ control: SendControl) -> HTTPEnd {
        var request = HTTPRequest(.head, place.address)
        request.headers = [HTTPRequest.Header("x-amz-checksum-mode", "ENABLED")].filter { _ in !place.isSigned }
        switch authorized(request, place, control) {
        case .success(let end): return end
        case .failure(let refusal):
            return HTTPEnd(
                kind: .local, answer: nil, code: "local", message: refusal.outcome.trouble ?? "", retryAfter: nil,
                wasSentWhole: false, word: nil)
        }
    }

    private func completed(
        _ job: SendJob, _ place: PutAddresses.Place, _ status: Int, _ proof: String, _ etag: String?
    ) -> SendOutcome {
        let receipt = job.receipt(
            .put,
            [
                "url": .string(place.address.shown), "part": .string(part.rawValue), "status": .integer(status),
                "confirmed_by": .string(proof), "etag": etag.map { .string($0.cut(to: 200)) },
            ])
        return .completed(receipt: receipt, remoteID: nil, remoteURL: place.isSigned ? nil : place.address.withoutQuery)
    }

    func open(_ job: SendJob) -> Result<Content, RefusedSend> {
        switch job.open() {
        case .failure(let trouble): return .failure(RefusedSend(outcome: trouble.outcome))
        case .success(let source):
            do throws(BundleError) {
                let made: SpooledPart
                switch part {
                case .bundle:
                    return .success(
                        Content(
                            handle: source.handle, byteCount: job.capture.byteCount, sha256: job.capture.sha256,
                            expected: job.capture.expectedBytes, contentType: "application/vnd.capture-bundle"))
                case .photo:
                    made = try SpooledPart.photo(of: source.handle, sha256: job.capture.sha256, name: source.name)
                case .body:
                    made = try SpooledPart.body(of: source.handle, sha256: job.capture.sha256, name: source.name)
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
        // What is meant for the user's own server is not for whoever a fetched URL leads to.
        let isOurs = addresses.isOurs(place)
        let own = isOurs ? destination.ownHeaders : []
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
