import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Uploads with PUT to a plain or presigned URL (Spec/queue.md section 12).
final class PutTransport: UploadTransport {
    let settings: PutSettings
    let exchange: HTTPExchange
    let shared: DestinationShare
    let warn: (String) -> Void
    /// The URL of the last capture, which serves for connecting.
    var lastAddress: WebAddress?
    /// Whether the user was warned that a URL expires soon.
    var hasWarned = false
    /// Whether to send `If-None-Match`. It is left out for the rest of the run if the server does not know it.
    private var isConditionKnown = true

    init(_ settings: PutSettings, _ shared: DestinationShare, _ warn: @escaping (String) -> Void) {
        self.settings = settings
        self.shared = shared
        self.warn = warn
        exchange = HTTPExchange(settings.connection, .put)
    }

    /// Blocks a URL from an older version in which two captures can share a place.
    var absence: Block? {
        guard settings.sharesPlaces else { return nil }
        return Block(.address, PutSettings.urlWithoutHash, cause: .sharedPlaces)
    }

    func reach(_ control: SendControl) -> Block? { exchange.reach(lastAddress ?? knownAddress, control) }

    /// One try: what is sent, and where to.
    struct Upload {
        let job: SendJob
        let content: UploadFile
        let place: PutPlace
        let control: SendControl
        /// Whether an earlier try of the delivery may have sent bytes there.
        var wasTried = false
        /// Whether an earlier try found nothing there although the server refused the bytes.
        var wasNowhere = false
        /// Whether to send the bytes also if something is there, because an earlier answer had the digest of other bytes.
        var replaces = false

        /// Whether the path names the bytes, so that other bytes there are damaged and may be replaced.
        var isNamed: Bool { place.address.names([content.sha256.description]) }
    }

    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        do {
            return try send(job, content(of: job), control)
        } catch {
            let outcome = SendOutcome.of(error, control)
            guard case .damaged = outcome, job.delivery.isInDoubt, settings.part == .bundle,
                let place = try? place(of: job, control)
            else { return outcome }
            return found(job, (job.capture.byteCount, job.capture.sha256, nil), at: place, control) ?? outcome
        }
    }

    private func send(
        _ job: SendJob, _ content: UploadFile, _ control: SendControl
    ) throws -> SendOutcome {
        var renewed = false
        while true {
            let place = try place(of: job, control)
            if place.isFetched, !renewed, place.isOver(at: WallClock.milliseconds) {
                renewed = true
                continue
            }
            var upload = Upload(job: job, content: content, place: place, control: control)
            if let outcome = taken(&upload) { return outcome }
            if let outage = job.outage, let outcome = named(head(place, control)).remains(of: outage) { return outcome }
            let sent = (content.byteCount, content.sha256, Optional(content.handle))
            if job.delivery.isInDoubt && !renewed, let receipt = found(job, sent, at: place, control) { return receipt }
            let (end, isConditional) = try put(upload, replaces: upload.replaces)
            if end.kind == .again, place.isFetched, !renewed, end.answer?.status != 401 {
                renewed = true
                continue
            }
            return try evaluate(named(end), isConditional: isConditional, upload)
        }
    }

    /// Takes the place for this capture, so that no other one is sent there.
    ///
    /// - Returns: the outcome if the bytes must not be sent, or not again.
    private func taken(_ upload: inout Upload) -> SendOutcome? {
        let (job, place) = (upload.job, upload.place)
        guard let address = place.address.place else { return .parked(cause: "SHA-256 failed", isInDoubt: false) }
        switch job.records.take(address, upload.content.sha256) {
        case .taken(let id): return .blocked(placeTaken(by: id, job))
        case .unknown(let cause): return .parked(cause: cause, isInDoubt: false)
        case .ours(nil, let wasTried): upload.wasTried = wasTried
        case .ours(PlaceTurn.nowhere?, _): (upload.wasTried, upload.wasNowhere) = (true, true)
        case .ours(PlaceTurn.doubted?, _): upload.replaces = upload.isNamed
        case .ours(let status?, _):
            let earlier = Acceptance(
                status: status, etag: nil, message: "\(place.address.origin) answered \(status)", needsBytes: true,
                isDoubted: false, isEarlier: true)
            let outcome = confirmed(upload, earlier)
            // If nothing is there any more, the bytes are sent again.
            if !outcome.isUnproven { return outcome }
        }
        return nil
    }

    /// Whether the user or the endpoint gave a condition for the PUT.
    func givesCondition(_ place: PutPlace) -> Bool {
        (place.headers + (isOurs(place) ? settings.connection.own : []))
            .contains { $0.name.lowercased() == "if-none-match" }
    }

    /// Puts the user's URL into the message. A fetched URL is never shown.
    func named(_ end: HTTPEnd) -> HTTPEnd {
        if case .url(let template) = settings.source { end.named(template, settings.connection) } else { end }
    }

    /// Sends one PUT. A fetched URL may lack the hash, so an object there may be another capture's and is not replaced.
    ///
    /// - Parameters:
    ///   - replaces: whether what is there is damaged.
    ///   - torn: the ETag of what is there, if only that may be replaced.
    /// - Returns: the end of the request, and whether the request had a condition.
    func put(
        _ upload: Upload, replaces: Bool, torn: String? = nil
    ) throws -> (end: HTTPEnd, isConditional: Bool) {
        let (content, place) = (upload.content, upload.place)
        let body = FileBody(content.handle, of: (content.byteCount, content.expected), upload.control)
        let hasType = place.isSigned || place.headers.contains { $0.name.lowercased() == "content-type" }
        var request = HTTPRequest(
            .put, place.address, (hasType ? [] : [("Content-Type", content.contentType)]) + place.headers, body: body)
        let isGiven = givesCondition(place)
        let isConditional = place.isFetched && isConditionKnown && !isGiven && !replaces
        if isConditional { request.headers.append(("If-None-Match", "*")) }
        if let torn { request.headers.append(("If-Match", torn)) }
        let end: HTTPEnd
        do {
            end = try authorized(request, place, upload.control)
        } catch {
            throw body.fault ?? error
        }
        if let fault = body.fault { throw fault }
        guard isConditional, end.isOfUnknownHeader("If-None-Match") else { return (end, isConditional || isGiven) }
        isConditionKnown = false
        return try put(upload, replaces: replaces)
    }

    func evaluate(
        _ end: HTTPEnd, isConditional: Bool, _ upload: Upload
    ) throws -> SendOutcome {
        if end.kind == .present {
            let outcome = try present(upload, end)
            guard case .conflict = outcome, isConditional, upload.isNamed else { return outcome }
            let (end, isConditional) = try put(upload, replaces: true)
            return end.kind == .present ? outcome : try evaluate(named(end), isConditional: isConditional, upload)
        }
        guard end.kind == .landed, let answer = end.answer else { return end.outcome }
        let (job, content, place) = (upload.job, upload.content, upload.place)
        switch RemoteDigest.compare(answer, content.handle, sha256: content.sha256, isOfPut: true) {
        case .agrees: return completed(upload, answer.status, by: "digest", etag: answer["etag"])
        case .differs(let name):
            return .unclear(
                code: "put.digest",
                message: "\(end.message), and its \(name) does not match the bytes that were sent")
        case .untold, .doubted:
            let names = [content.sha256.description, job.capture.sha256.description, job.capture.id]
            let isReplaced = isConditional && answer.status == 204
            let isOther = isDoubted(RemoteDigest.ofETag(answer, content.handle))
            // A portal that does not know HEAD must not pass for a server that does not allow it.
            let isPerhapsPortal = answer.status == 200 && end.isPage
            let taken = Acceptance(
                status: answer.status, etag: answer["etag"], message: end.message,
                needsBytes: isOther || isReplaced || isPerhapsPortal || place.isFetched && !place.address.names(names),
                isDoubted: isOther, isEarlier: false, isPage: end.isPage)
            return confirmed(upload, taken)
        }
    }

    func content(of job: SendJob) throws -> UploadFile {
        let source = try job.open()
        do throws(BundleError) {
            switch settings.part {
            case .bundle:
                return UploadFile(
                    handle: source.handle, byteCount: job.capture.byteCount, sha256: job.capture.sha256,
                    expected: job.capture.expectedBytes, contentType: "application/vnd.capture-bundle")
            case .photo: return try .photo(of: source.handle, sha256: job.held, name: source.name)
            case .body: return try .body(of: source.handle, sha256: job.capture.sha256, name: source.name)
            }
        } catch  where error.code == .entryAbsent {
            throw SendOutcome.rejected(code: error.code.rawValue, message: "the bundle has no photo")
        } catch {
            throw SendOutcome(error)
        }
    }

    func authorized(
        _ request: HTTPRequest, _ place: PutPlace, _ control: SendControl
    ) throws -> HTTPEnd {
        // Headers and tokens for the user's own server must not go to the host of a fetched URL.
        let isOurs = isOurs(place)
        let own = isOurs ? settings.connection.own : []
        return try exchange.perform(
            request, token: isOurs ? shared.tokens : nil,
            isFetched: place.isFetched || place.isOver(at: WallClock.milliseconds), control
        ) { attempt in
            attempt.add(own)
            return !own.isEmpty || !place.headers.isEmpty
        }
    }
}
