package import CaptureBundle
import CaptureNative
import CurlClient
package import QueueModel
import Synchronization

/// Uploads with a multipart POST to a server of the capture API (Spec/upload.md).
struct CaptureAPITransport: UploadTransport {
    let settings: HTTPSettings
    let shared: DestinationShare
    let exchange: HTTPExchange
    let warn: (String) -> Void

    var template: URLTemplate { settings.endpoint }

    func reach(_ control: SendControl) -> Block? { exchange.reach(WebAddress(template.example), control) }

    // MARK: - Sending

    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        SendOutcome.of(control) {
            guard let endpoint = template.address(of: job.capture) else {
                throw SendOutcome.ours("the URL cannot be used")
            }
            if let outage = job.outage,
                let outcome = try asked(.head, endpoint, job.token, control).named(template, settings.connection)
                    .remains(of: outage)
            {
                return outcome
            }
            if job.delivery.isInDoubt, let outcome = found(job, control) { return outcome }
            if let profile = settings.realityCam {
                return try sendToRealityCam(job, to: endpoint, with: profile, control)
            }
            return try send(job, to: endpoint, control)
        }
    }

    /// Asks the server about a capture in doubt. Returns nil if it has to be sent again.
    private func found(_ job: SendJob, _ control: SendControl) -> SendOutcome? {
        if job.delivery.remoteID != nil {
            // The server gave an id and may not have decided yet. Any other answer can be about an earlier upload.
            let outcome = poll(job, control)
            switch outcome {
            case .completed, .accepted: return outcome
            default: break
            }
        }
        switch landed(job, control) {
        case .outcome(let outcome): return outcome
        case .absent, .anothers: break
        case .unknown(let reason):
            // RealityCam has no such keys.
            let key = settings.realityCam == nil ? " with the same Idempotency-Key" : ""
            warn("\(job.capture.id) may be stored twice: it is sent again\(key), because \(reason)")
        }
        return nil
    }

    private func send(
        _ job: SendJob, to endpoint: WebAddress, _ control: SendControl
    ) throws -> SendOutcome {
        let source = try job.open()
        var candidate = job.firstCandidate
        while true {
            let known = candidate == job.firstCandidate ? job.layout : nil
            let layout: BodyLayout
            do {
                layout = try known ?? BodyLayout.of(source.handle, name: source.name, from: candidate)
            } catch let error as BundleError {
                throw SendOutcome(error)
            }
            let file = FileBody(
                source.handle, layout, of: (job.capture.byteCount, job.capture.expectedBytes),
                isSearched: job.capture.body?.candidate == layout.candidate, control)
            let outcome = try post(file, layout, to: endpoint, job, control)
            guard file.isSpoilt else { return file.fault ?? outcome }
            // The boundary occurs in the body, which did not arrive whole. Try the next boundary of the manifest.
            candidate = layout.candidate + 1
        }
    }

    private func post(
        _ file: FileBody, _ layout: BodyLayout, to endpoint: WebAddress, _ job: SendJob, _ control: SendControl
    ) throws -> SendOutcome {
        // Only a signed request needs the hash of the body before the body is sent.
        var digest: Digest?
        if settings.device != nil {
            digest = bodyHash(file, layout, job)
            guard digest != nil else { return file.fault ?? .parked(cause: control.stopped ?? "", isInDoubt: false) }
        }
        var request = HTTPRequest(
            .post, endpoint, [("Content-Type", layout.body.contentType), ("Accept", "application/json")], body: file)
        if let key = job.delivery.idempotencyKey { request.headers.append(("Idempotency-Key", key)) }
        let end = try authorized(request, job.token, control) { try sign(&$0, digest) }
        return evaluate(end.named(template, settings.connection), of: job, body: digest, control)
    }

    /// Returns the hash of the body. The first signed try computes and stores it, so that later ones read no bytes.
    private func bodyHash(_ file: FileBody, _ layout: BodyLayout, _ job: SendJob) -> Digest? {
        if let known = job.capture.body, known.candidate == layout.candidate { return known.sha256 }
        guard let made = file.digest() else { return nil }
        job.records.keep(.body(BodyHash(sha256: made, candidate: layout.candidate)))
        return made
    }

    func evaluate(_ end: HTTPEnd, of job: SendJob, body: Digest?, _ control: SendControl) -> SendOutcome {
        switch end.kind {
        case .landed:
            guard let answer = end.answer, !answer.isCut, let value = try? JSONParser.parse(answer.body, nesting: 32),
                let data = value["data"], let id = data["capture_id"]?.text, (1...256).contains(id.utf8.count)
            else {
                return .unclear(code: end.code, message: "\(end.message), but \(end.withoutID)")
            }
            let url = shown(data["verification_url"]?.text)
            if let refusal = Self.refusal(data, value, hiding: end.secrets) { return refusal }
            if Self.isUndecided(data["status"]?.text) { return .accepted(remoteID: id, remoteURL: url) }
            return completed(job, id, url, by: "answer", data, body)
        case .unclear where end.answer.map({ $0.status >= 500 }) ?? false, .present,
            .outage where end.wasSentWhole && job.outage == nil && 502...504 ~= end.answer?.status ?? 0:
            // The connection works, so the server can be asked at once. In a trial of an outage, that sends too much.
            if case .outcome(let outcome) = landed(job, control), case .completed = outcome { return outcome }
            return end.kind == .present ? .failed(code: end.code, message: end.message) : end.outcome
        case .unclear where end.answer.map({ 200...299 ~= $0.status }) ?? false:
            return .unclear(code: end.code, message: "\(end.message); expected 202 with a capture_id")
        default: return end.outcome
        }
    }

    static func isUndecided(_ status: String?) -> Bool {
        ["processing", "pending", "queued"].contains(status?.lowercased() ?? "")
    }

    /// The outcome if the server has examined the capture and rejects it; nil otherwise.
    static func refusal(_ data: JSONValue, _ answer: JSONValue?, hiding secrets: [String]) -> SendOutcome? {
        guard let status = data["status"]?.text?.lowercased(), ["failed", "rejected", "error"].contains(status) else {
            return nil
        }
        let reason =
            data["reason"]?.text ?? data["error"]?["message"]?.text ?? answer?["error"]?["message"]?.text
            ?? "without a reason"
        return .rejected(
            code: "server.\(status)",
            message: "the server rejected it: \(AnswerWords.shown(reason, hiding: secrets, limit: 300))")
    }

    func completed(
        _ job: SendJob, _ id: String, _ url: String?, by proof: String, _ answer: JSONValue, _ body: Digest? = nil
    ) -> SendOutcome {
        // The answer may repeat the secret path.
        let isKept = !settings.connection.hidesPaths && CanonicalJSON.encode(answer).count <= Self.answerLimit
        let receipt = job.receipt(
            .http,
            [
                "capture_id": .string(id), "confirmed_by": .string(proof),
                // RealityCam does not get the whole bundle (Spec/upload.md section 6.6).
                "part": settings.realityCam.map { _ in .string(Self.realityCamPart) },
                "body_sha256": body.map { .string($0.description) },
                "url": template.address(of: job.capture).map { .string(settings.connection.shown($0)) },
                "answer": isKept ? answer : nil,
            ])
        return .completed(receipt: receipt, remoteID: id, remoteURL: url)
    }

    /// Returns a URL from the server for storage; nil if paths are secret, because it may contain such a path.
    func shown(_ url: String?) -> String? { settings.connection.hidesPaths ? nil : url }

    /// The largest answer of a server, in bytes, that is stored in a receipt.
    private static let answerLimit = 4096

    // MARK: - Credentials

    /// Sends with a token and device headers made for this try. It repeats once if the server asks for fresh ones.
    ///
    /// - Parameter sign: Signs a request, and returns whether it did.
    func authorized(
        _ request: HTTPRequest, _ token: [UInt8], _ control: SendControl,
        sign: (inout HTTPRequest) throws -> Bool
    ) throws -> HTTPEnd {
        let own = settings.connection.own
        let turn = try takeTurn(control)
        defer { turn?.unlock() }
        return try exchange.perform(
            request, token: shared.tokens, control,
            prepare: { attempt in
                attempt.add(own)
                attempt.headers.append(("X-Request-Id", UUIDText.of(token, version: 4)))
                return try sign(&attempt) || !own.isEmpty
            },
            onAgain: { end in if end.asksForFreshHeaders { correctClock(end.answer) } })
    }

    /// - Returns: whether the request was signed.
    func sign(_ request: inout HTTPRequest, _ body: Digest?) throws -> Bool {
        guard let body, let known = settings.signer else { return false }
        switch known {
        case .device(let device):
            let signer = try shared.signer(device)
            request.headers += try signer.signature(of: body, deviceID: device.id, timestamp: serverTime).headers
        case .realityCam(let profile):
            let (signer, id) = (try shared.signer(profile), profile.device.id)
            // A request without a body uses a counter, too.
            let counter = try reserve(signer, withAssertion: false).header
            request.headers += try signer.sign(body, counter: counter, deviceID: id, timestamp: serverTime).headers
        }
        return true
    }

    /// The current time in milliseconds, corrected to the server's clock if a server has sent its time.
    var serverTime: Int { WallClock.milliseconds + shared.offset.withLock(\.self) }

    /// The plausible times of a server, 2020 to 2200. Our own clock may be wrong by decades if it was never set.
    static let possibleTimes = 1_577_836_800_000...7_258_118_400_000

    private func correctClock(_ answer: HTTPAnswer?) {
        guard let answer else { return }
        let now = WallClock.milliseconds
        let told = AnswerWords(answer).json?["meta"]?["timestamp"]?.text.flatMap { CaptureTime($0)?.milliseconds }
        guard let server = told ?? answer["date"].flatMap({ HTTPDate.milliseconds($0, now: now) }),
            Self.possibleTimes.contains(server)
        else { return }
        shared.offset.withLock { $0 = server - now }
    }
}

extension SendJob {
    /// The first boundary to try. If the hash of the body is known, so is one that does not occur in it.
    fileprivate var firstCandidate: Int { capture.body?.candidate ?? 0 }

    /// Computes the layout of the upload body before the job is sent; nil if the destination is sent no such body, or if it
    /// cannot be made. While it is sent, the bytes are compared with those from which the layout was computed.
    package func layoutAhead(for destination: Destination) -> BodyLayout? {
        guard case .http(let settings) = destination.settings, settings.realityCam == nil, let source = try? open()
        else { return nil }
        return try? BodyLayout.of(source.handle, name: source.name, from: firstCandidate)
    }
}
