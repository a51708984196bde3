import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// The end of one request and its meaning (Spec/upload.md section 4).
struct HTTPEnd {
    let kind: AnswerClass
    /// The answer; nil if there was none.
    var answer: HTTPAnswer?
    /// The code, such as `http.413` or `curl.56`.
    let code: String
    /// What the message begins with: the origin of the server, or the URL that the user gave (`named`).
    var place = ""
    /// The rest of the message.
    let words: String
    var retryAfter: Int?
    var wasSentWhole = false
    /// Whether a kept connection ended as the request began.
    var isOfKeptConnection = false
    /// The `error.code` of a JSON body, or the code of an S3 error.
    var word: String?
    /// The secrets of the request, which must not appear in messages.
    var secrets: [String] = []
    /// Whether the answer is a page for people.
    var isPage = false
    /// Whether the other side closed the connection.
    var isClosed = false
    /// The cause of a block.
    var cause: Block.Cause?

    /// Whether the answer was not HTTP (libcurl: "Received HTTP/0.9 when not allowed").
    var isNoHTTP: Bool { code == "curl.1" && kind == .outage }

    /// The message for people. It never contains a query or a header.
    var message: String { place + words }

    /// The same end with the user's URL in its message. An answer from another origin is not changed.
    func named(_ template: URLTemplate, _ settings: ConnectionSettings) -> HTTPEnd {
        guard answer != nil, WebAddress(template.example)?.origin.description == place else { return self }
        var end = self
        end.place = settings.shown(template)
        return end
    }

    /// Whether the server refuses the timestamp or the signature over it, and not the token.
    var asksForFreshHeaders: Bool {
        ["TIMESTAMP_EXPIRED", "TIMESTAMP_INVALID", "REPLAY_DETECTED"].contains(word ?? "")
    }

    /// Whether the server answered that nothing is stored under the URL.
    var isOfAbsence: Bool { answer?.status == 404 || answer?.status == 410 }

    /// Whether the server does not know a header of the request: it answered 501, or 400 with the name of the header.
    func isOfUnknownHeader(_ name: String) -> Bool {
        answer.map { $0.status == 501 || $0.status == 400 && $0.names(name) } ?? false
    }

    /// The outcome for the delivery if it depends on the answer alone.
    var outcome: SendOutcome {
        switch kind {
        case .landed, .present, .unclear: .unclear(code: code, message: message)
        case .final: .rejected(code: code, message: message)
        case .retry, .followed: .failed(code: code, message: message)
        case .stopped: .parked(cause: message, isInDoubt: wasSentWhole)
        // The server asks for another try although token, signature and URL are fresh.
        case .again: .blocked(refusal(.credentials))
        case .credentials, .endpoint: .blocked(refusal(kind.reason ?? .endpoint))
        case .wait, .full, .tls, .offline, .local: .blocked(pausing)
        case .outage: .blocked(outage(message, isInDoubt: wasSentWhole))
        }
    }

    /// The block of an outage.
    func outage(_ message: String, isInDoubt: Bool) -> Block {
        var block = Block(.failing, message)
        block.code = answer.map { "\(SendOutcome.edge).\($0.status)" } ?? code
        block.isInDoubt = isInDoubt
        return block
    }

    /// The block for a page that answers a question about an upload, with the status of a success.
    static func page(_ words: String) -> SendOutcome {
        var block = Block(.failing, words)
        block.code = "\(SendOutcome.edge).200"
        block.isInDoubt = true
        return .blocked(block)
    }

    /// The outcome for which a trial of an outage ends without a body; nil if the body may follow.
    ///
    /// - Parameter code: what the outage answered before.
    func remains(of code: String) -> SendOutcome? {
        // A portal answers every request with a page and status 200. Only the code of the outage shows that it is still there.
        let isSamePage = isPage && code.hasPrefix("\(SendOutcome.edge).2") && 200...299 ~= answer?.status ?? 0
        if kind == .outage || isSamePage { return .blocked(outage(message, isInDoubt: false)) }
        return [.offline, .tls, .wait, .full, .local, .stopped].contains(kind) ? outcome : nil
    }

    private var mayOnlyHide: Bool { answer?.status == 403 && !AnswerClass.loginCodes.contains(word ?? "") }

    /// The outcome after a question about bytes that were sent. What blocks the destination does so here, too: it is about
    /// the login, the load or the room, and not about the bytes.
    ///
    /// - Parameter words: what the message says in place of its own.
    func unproven(_ words: String) -> SendOutcome {
        switch kind {
        case .outage: return .blocked(outage(words, isInDoubt: true))
        // A plain 403 may only mean that nobody may look.
        case .credentials where mayOnlyHide, .again where mayOnlyHide: return .unclear(code: code, message: words)
        // What redirects a question is not the store, or not the whole of it.
        case .endpoint where 300...399 ~= answer?.status ?? 0, .wait, .full, .again, .credentials:
            guard case .blocked(var block) = outcome else { return outcome }
            block.isInDoubt = true
            return .blocked(block)
        default: return .unclear(code: code, message: words)
        }
    }

    private var pausing: Block {
        var block = Block(
            kind.reason ?? .offline, message, cause: cause, pause: retryAfter.map { .milliseconds($0) })
        block.isOfRate = kind == .wait && AnswerClass.slowDown.contains(word ?? "")
        return block
    }

    /// A block for a reason, with the message and the cause.
    func block(_ reason: Block.Reason) -> Block { Block(reason, message, cause: cause) }

    private func refusal(_ reason: Block.Reason) -> Block {
        var block = block(reason)
        // 401, 407 and the codes of a store with 400 are about us, and not about what is sent.
        block.isPerhapsOfCapture =
            answer.map { ![400, 401, 407].contains($0.status) || kind == .again && word == nil } ?? false
        return block
    }
}

extension HTTPEnd {
    /// The end of an upload whose connection was closed: an outage if a request without a body ends so, too.
    func explained(by asked: HTTPEnd, isTLS: Bool) -> HTTPEnd {
        guard asked.isClosed else { return self }
        // A reset can take the alert away with which a server refuses a client certificate.
        return HTTPEnd(
            kind: .outage, code: code,
            words: "\(words); a request without a body ends so, too: nobody is behind the port"
                + (isTLS ? ", or the server wants another client certificate" : ""),
            wasSentWhole: wasSentWhole)
    }
}

extension HTTPExchange {
    /// Makes the first check of each destination test: whether the server can be reached.
    func test(_ address: WebAddress?, _ control: SendControl) -> DestinationTest {
        guard let address else {
            return DestinationTest(block: Block(.endpoint, "the URL cannot be used"))
        }
        var found = DestinationTest(block: reach(address, control))
        if found.block == nil { found.findings.append("\(address.origin) can be reached") }
        return found
    }
}

extension DestinationTest {
    /// Reads the token, if the settings name one.
    mutating func check(_ tokens: TokenSource?, _ control: SendControl) {
        guard let tokens else { return }
        do {
            _ = try tokens.current(control)
            findings.append("a token is set")
        } catch {
            block = Block(.local, SendOutcome.words(error))
        }
    }

    /// - Parameter fine: statuses that only say that nothing is stored under the URL yet, such as 404.
    mutating func evaluate(_ end: HTTPEnd, allowing fine: Set<Int>) {
        let status = end.answer?.status ?? 0
        let isFine = (200...299).contains(status) || fine.contains(status) && end.kind != .credentials
        switch end.kind {
        case _ where isFine: findings.append(end.message)
        case .again: block = end.block(.credentials)
        case .final, .present, .followed: block = end.block(.endpoint)
        // Nobody answered.
        case .outage where end.answer == nil: block = end.block(.offline)
        default: block = end.block(end.kind.reason ?? .offline)
        }
    }
}

extension HTTPAnswer {
    /// Where the store says that the bucket is; nil if it does not say.
    var bucketPlace: (words: String, cause: Block.Cause)? {
        let text = String(decoding: body.prefix(4096), as: UTF8.self)
        let region = (self["x-amz-bucket-region"] ?? AnswerWords.element("Region", text)).flatMap(Self.word)
        let host = AnswerWords.element("Endpoint", text).flatMap(Self.word)
        let words = [
            region.map { "the bucket is in the region \($0)" }, host.map { "the bucket is at the host \($0)" },
        ].compactMap(\.self)
        return words.isEmpty ? nil : (words.joined(separator: ", and "), .bucket(region: region, host: host))
    }

    /// A name of a host or a region, which becomes part of a command in a hint.
    private static func word(_ text: String) -> String? {
        let isName = text.hasOnlyLettersDigits(or: "-.:") && !text.hasPrefix("-")
        return isName && (1...255).contains(text.utf8.count) ? text : nil
    }
}
