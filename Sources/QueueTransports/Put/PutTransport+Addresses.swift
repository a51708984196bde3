package import CaptureBundle
import CaptureNative
package import CurlClient
package import QueueModel

/// Finds the URL for a capture: from a template, or fetched just before the upload (Spec/queue.md section 12).
final class PutAddresses {
    struct Place {
        let address: WebAddress
        let headers: [HTTPRequest.Header]
        /// Whether the URL came from a command or an endpoint, so that it can be fetched again.
        let isFetched: Bool

        /// Whether the URL itself gives access. Such a URL is neither shown nor stored.
        var isSigned: Bool {
            isFetched || Self.lifeEnd(address) != nil || address.query?.contains("ignature=") ?? false
        }

        func isOver(at now: Int) -> Bool { Self.lifeEnd(address).map { $0 <= now } ?? false }

        /// When the URL expires, in Unix milliseconds; nil if the URL does not say so.
        static func lifeEnd(_ address: WebAddress) -> Int? {
            var values: [String: String] = [:]
            for pair in (address.query ?? "").pieces(by: "&") {
                let parts = pair.pieces(by: "=", limit: 2)
                if parts.count == 2 { values[parts[0].lowercased()] = parts[1] }
            }
            if let date = values["x-amz-date"], let life = values["x-amz-expires"].flatMap({ WholeNumber.parse($0) }),
                life <= 1 << 30, let start = basic(date)
            {
                return start + life * 1000
            }
            return values["expires"].flatMap { WholeNumber.parse($0) }.flatMap { $0 < 1 << 40 ? $0 * 1000 : nil }
        }

        /// Parses a time such as `20260314T150000Z`.
        private static func basic(_ text: String) -> Int? {
            let digits = Array(text.utf8)
            guard digits.count == 16 else { return nil }
            let part = { (range: Range<Int>) in String(decoding: digits[range], as: UTF8.self) }
            let date = "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))"
            return CaptureTime("\(date)T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z")?.milliseconds
        }
    }

    private let settings: PutSettings
    private let exchange: HTTPExchange
    private let tokens: TokenSource?
    private let warn: (String) -> Void
    private var hasWarned = false
    /// The URL of the last capture, which serves for connecting.
    private(set) var last: WebAddress?

    init(
        _ settings: PutSettings, _ exchange: HTTPExchange, _ tokens: TokenSource?, _ warn: @escaping (String) -> Void
    ) {
        self.settings = settings
        self.exchange = exchange
        self.tokens = tokens
        self.warn = warn
    }

    /// Whether the user's token and headers may be sent there: always to a URL that the user named. A fetched URL gets
    /// them if it has the endpoint's own origin, or if a command printed it without a signature.
    func isOurs(_ place: Place) -> Bool {
        guard place.isFetched else { return true }
        if case .endpoint(let endpoint) = settings.source {
            return WebAddress(endpoint.example)?.origin == place.address.origin
        }
        return Place.lifeEnd(place.address) == nil && !(place.address.query?.lowercased().contains("sig") ?? false)
    }

    /// The block for a URL that already leads to other bytes. It does not show the URL, which may be a secret.
    func shared(with id: String, _ job: SendJob) -> Block {
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
    var known: WebAddress? {
        switch settings.source {
        case .url(let template), .endpoint(let template): WebAddress(template.example)
        case .command: nil
        }
    }

    func place(of job: SendJob, _ control: SendControl) throws -> Place {
        let place: Place
        switch settings.source {
        case .url(let template):
            guard let address = template.address(of: job.capture) else {
                throw SendOutcome.ours("the URL of the capture cannot be used", perhapsOfCapture: true)
            }
            place = Place(address: address, headers: [], isFetched: false)
        case .command(let command): place = try fetch(job.capture, command: command, control)
        case .endpoint(let endpoint): place = try fetch(job.capture, endpoint: endpoint, control)
        }
        warnOfShortLife(place)
        last = place.address
        return place
    }

    private func warnOfShortLife(_ place: Place) {
        guard !hasWarned, let end = Place.lifeEnd(place.address) else { return }
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
    ) throws -> Place {
        let environment = [
            "CAPQUEUE_ID": capture.id, "CAPQUEUE_SHA256": capture.sha256.description,
            "CAPQUEUE_BYTES": "\(capture.byteCount)", "CAPQUEUE_SESSION": capture.session ?? "",
        ]
        do {
            return try place(SecretFile.firstLine(of: command, environment, control), [])
        } catch {
            throw SendOutcome.ours("url-command: \(SendOutcome.words(error))", perhapsOfCapture: true)
        }
    }

    private func fetch(
        _ capture: CaptureRecord, endpoint: URLTemplate, _ control: SendControl
    ) throws -> Place {
        guard let address = endpoint.address(of: capture) else {
            throw SendOutcome.ours("the url-endpoint cannot be used")
        }
        var request = HTTPRequest(.post, address)
        request.headers = [HTTPRequest.Header("Content-Type", "application/json")]
        request.body = MemoryBody(
            CanonicalJSON.encode(
                .members([
                    "id": .string(capture.id), "sha256": .string(capture.sha256.description),
                    "bytes": .integer(capture.byteCount), "session": capture.session.map { .string($0) },
                ])))
        let own = settings.connection.own
        let end = try exchange.perform(request, token: tokens, control) { attempt in
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
        do {
            return try place(text, ConnectionSettings.requests(headers.compactMap(\.self).filter { !$0.isOurs }))
        } catch {
            throw SendOutcome.ours("url-endpoint: \(SendOutcome.words(error))", perhapsOfCapture: true)
        }
    }

    /// What is wrong with a successful answer that has no URL.
    private static func withoutURL(_ end: HTTPEnd) -> String {
        end.isPage
            ? " with a page of HTML, such as a login page; expected JSON with a url"
            : ", and its answer has no url; expected JSON such as {\"url\": \"https://...\"}"
    }

    private func place(_ text: String, _ headers: [HTTPRequest.Header]) throws -> Place {
        guard let address = WebAddress(text), !address.hasUser else {
            throw SendOutcome.ours("expected one absolute URL of http or https")
        }
        return Place(address: address, headers: headers, isFetched: true)
    }
}

extension Destination {
    /// The place to which the bundle of a capture goes; nil if that is known only when it is sent, as for a fetched URL.
    package func knownPlace(of capture: CaptureRecord) -> Digest? {
        guard case .put(let put) = settings, put.part == .bundle, case .url(let template) = put.source else {
            return nil
        }
        return template.address(of: capture)?.place
    }
}

extension WebAddress {
    /// The place to which the URL leads: a hash of its origin and path. A server may ignore the query, and it differs
    /// when the URL is signed again (Spec/upload.md section 4.3).
    package var place: Digest? { try? Digest.of(URLTemplate.unescapedBytes(origin.description + path)) }

    /// Whether the path contains one of the names.
    func names(_ names: [String]) -> Bool {
        let path = URLTemplate.unescaped(path).lowercased()
        return names.contains { path.contains($0.lowercased()) }
    }
}
