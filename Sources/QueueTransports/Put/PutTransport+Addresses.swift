import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Finds the URL for a capture: from a template, or fetched just before the upload (Spec/queue.md section 12).
extension PutTransport {
    /// Whether the user's token and headers may be sent there: always to a URL that the user named. A fetched URL gets
    /// them if it has the endpoint's own origin, or if a command printed it without a signature.
    func isOurs(_ place: PutPlace) -> Bool {
        guard place.isFetched else { return true }
        if case .endpoint(let endpoint) = settings.source {
            return WebAddress(endpoint.example)?.origin == place.address.origin
        }
        return PutPlace.lifeEnd(place.address) == nil && !(place.address.query?.lowercased().contains("sig") ?? false)
    }

    /// The block for a URL that already leads to other bytes. It does not show the URL, which may be a secret.
    func placeTaken(by id: String, _ job: SendJob) -> Block {
        if id == job.capture.id {
            return Block(
                .address,
                "another destination of \(id) has sent other bytes to the same URL, such as another part: this one "
                    + "would replace them; each destination needs a URL of its own")
        }
        let source =
            switch settings.source {
            case .url: "the URL"
            case .command: "url-command"
            case .endpoint: "url-endpoint"
            }
        return Block(
            .address,
            "\(source) gives several captures the same place: this one would replace \(id); "
                + "each needs a URL of its own, for example with its SHA-256 in the path")
    }

    /// A URL that can be connected to before there is a capture.
    var knownAddress: WebAddress? {
        switch settings.source {
        case .url(let template), .endpoint(let template): WebAddress(template.example)
        case .command: nil
        }
    }

    func place(of job: SendJob, _ control: SendControl) throws -> PutPlace {
        let place: PutPlace
        switch settings.source {
        case .url(let template):
            guard let address = template.address(of: job.capture) else {
                throw SendOutcome.ours("the URL of the capture cannot be used", perhapsOfCapture: true)
            }
            place = PutPlace(address: address)
        case .command(let command): place = try fetch(job.capture, command: command, control)
        case .endpoint(let endpoint): place = try fetch(job.capture, endpoint: endpoint, control)
        }
        warnOfShortLife(place)
        lastAddress = place.address
        return place
    }

    private func warnOfShortLife(_ place: PutPlace) {
        guard !hasWarned, let end = PutPlace.lifeEnd(place.address) else { return }
        let left = end - WallClock.milliseconds
        guard left < 86_400_000 else { return }
        hasWarned = true
        warn(
            left <= 0
                ? "the URL for \(place.address.origin) has expired"
                : "the URL for \(place.address.origin) expires in \(left / 1000) s; a queue needs URLs that are valid for 24 h or more"
        )
    }

    private func fetch(
        _ capture: CaptureRecord, command: String, _ control: SendControl
    ) throws -> PutPlace {
        let environment = [
            "CAPQUEUE_ID": capture.id, "CAPQUEUE_SHA256": capture.sha256.description,
            "CAPQUEUE_BYTES": "\(capture.byteCount)", "CAPQUEUE_SESSION": capture.session ?? "",
        ]
        return try SendOutcome.ours(of: "url-command", perhapsOfCapture: true) {
            try place(SecretFile.firstLine(of: command, environment, control), [])
        }
    }

    private func fetch(
        _ capture: CaptureRecord, endpoint: URLTemplate, _ control: SendControl
    ) throws -> PutPlace {
        guard let address = endpoint.address(of: capture) else {
            throw SendOutcome.ours("the url-endpoint cannot be used")
        }
        let asking = CanonicalJSON.encode(
            .members([
                "id": .string(capture.id), "sha256": .string(capture.sha256.description),
                "bytes": .integer(capture.byteCount), "session": capture.session.map { .string($0) },
            ]))
        let request = HTTPRequest(
            .post, address, [("Content-Type", "application/json")], body: MemoryBody(asking))
        let own = settings.connection.own
        let end = try exchange.perform(request, token: shared.tokens, control) { attempt in
            attempt.add(own)
            return !own.isEmpty
        }.named(endpoint, settings.connection)
        guard let answer = end.answer, answer.status == 200 || answer.status == 201,
            let json = AnswerWords(answer).json,
            let text = json["url"]?.text
        else {
            let isAnswer = (200...299).contains(end.answer?.status ?? 0) && end.kind != .outage
            let message = "url-endpoint: \(end.message)\(isAnswer ? Self.withoutURL(end) : "")"
            // The bundle was not sent yet, so the delivery is not in doubt.
            if end.kind == .outage || isAnswer && end.isPage {
                throw SendOutcome.blocked(end.outage(message, isInDoubt: false))
            }
            if case .unclear(let code, _) = end.outcome { throw SendOutcome.failed(code: code, message: message) }
            throw end.outcome
        }
        let headers = (json["headers"]?.members ?? []).compactMap { member in
            member.value.text.map { ConnectionSettings.Header("\(member.name): \($0)") }
        }
        guard !headers.contains(nil) else {
            throw SendOutcome.ours("url-endpoint: the answer has headers that cannot be sent", perhapsOfCapture: true)
        }
        return try SendOutcome.ours(of: "url-endpoint", perhapsOfCapture: true) {
            try place(text, headers.compactMap(\.self).filter { !$0.isOurs }.map { ($0.name, $0.value) })
        }
    }

    /// What is wrong with a successful answer that has no URL.
    private static func withoutURL(_ end: HTTPEnd) -> String {
        end.isPage
            ? " with a page of HTML, such as a login page; expected JSON with a url"
            : ", and its answer has no url; expected JSON such as {\"url\": \"https://...\"}"
    }

    private func place(_ text: String, _ headers: HTTPHeaders) throws -> PutPlace {
        guard let address = WebAddress(text), !address.hasUser else {
            throw SendOutcome.ours("expected one absolute URL of http or https")
        }
        return PutPlace(address: address, headers: headers, isFetched: true)
    }
}
