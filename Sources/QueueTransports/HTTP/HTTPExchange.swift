import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Makes requests to one destination over kept connections, and follows redirects itself.
final class HTTPExchange {
    private let kind: AnswerFacts.Kind
    private let options: ConnectionOptions
    private let hidesPaths: Bool
    /// One session for each origin. Otherwise unsolicited bytes on an unused connection would go unnoticed.
    private var sessions: [WebAddress.Origin: CurlSession] = [:]
    /// The clock of an S3 store minus ours in milliseconds, learnt when the store refuses the time of a signature.
    var clockOffset = 0
    /// The number of network changes when the sessions were made.
    private var network = 0

    init(_ settings: ConnectionSettings, _ kind: AnswerFacts.Kind) {
        self.kind = kind
        options = settings.options
        hidesPaths = settings.hidesPaths
    }

    /// The most kept sessions. The limit exists because fetched URLs may name another host each time.
    private static let mostSessions = 8

    private func opened(_ origin: WebAddress.Origin, _ control: SendControl) throws(TransferFailure) -> CurlSession {
        // After a change of the network, a kept connection may be dead, which would only show after minutes.
        if network != control.network || sessions.count > Self.mostSessions { sessions = [:] }
        network = control.network
        if let session = sessions[origin], !session.isStale { return session }
        let opened = try CurlSession(options)
        sessions[origin] = opened
        return opened
    }

    /// - Parameters:
    ///   - carriesCredentials: whether the request has a token, a signature or device headers. Then it must stay at its
    ///     origin.
    ///   - isFetched: whether the URL came from a command or an endpoint, or has expired.
    func perform(
        _ request: HTTPRequest, carriesCredentials: Bool, sentToken: Bool = false, isFetched: Bool = false,
        _ control: SendControl
    ) -> HTTPEnd {
        var request = request
        var redirects = 0
        var isElsewhere = false
        while true {
            let end = once(
                request, redirects: redirects, carriesCredentials: carriesCredentials, sentToken: sentToken,
                isFetched: isFetched,
                control)
            // A kept connection proves nothing: the request is repeated on a fresh one.
            if end.isClosed || end.isNoHTTP, !end.isOfKeptConnection {
                // A request without a body shows whether anybody is behind the port.
                let isAsked = request.body == nil || end.isNoHTTP
                let asked = isAsked ? end : once(HTTPRequest(.head, request.address), control)
                if asked.kind == .tls { return asked }
                if asked.isClosed || asked.isNoHTTP, speaksTLS(request.address, control) {
                    let words = "\(request.address.origin)\(Self.onlyTLS)"
                    return HTTPEnd(kind: .endpoint, code: end.code, words: words, cause: .onlyTLS)
                }
                return end.explained(by: asked, isTLS: request.address.origin.scheme == "https")
            }
            // RFC 9110 section 15.5.20: another connection may lead to the right server.
            if end.answer?.status == 421, !isElsewhere, request.body?.rewind() ?? true {
                isElsewhere = true
                sessions[request.address.origin] = nil
                continue
            }
            guard end.kind == .followed, let target = end.answer?.redirect.flatMap(WebAddress.init),
                request.body?.rewind() ?? true
            else { return end }
            request.address = target
            redirects += 1
        }
    }

    /// Makes a request with a bearer token. Repeats the request once if the server asks for a fresh token or fresh
    /// headers.
    ///
    /// - Parameters:
    ///   - isFetched: as above.
    ///   - prepare: adds what is made for each try, and returns whether these are credentials.
    ///   - onAgain: called with an answer that asks for another try.
    func perform(
        _ request: HTTPRequest, token tokens: TokenSource?, isFetched: Bool = false, _ control: SendControl,
        prepare: (inout HTTPRequest) throws -> Bool, onAgain: (HTTPEnd) -> Void = { _ in }
    ) throws -> HTTPEnd {
        var bearer = try tokens?.current(control)
        var round = 0
        while true {
            var attempt = request
            let isSecret = try prepare(&attempt)
            if let bearer { attempt.headers.append(("Authorization", "Bearer \(bearer)")) }
            let end = perform(
                attempt, carriesCredentials: isSecret || bearer != nil, sentToken: bearer != nil && round == 0,
                isFetched: isFetched, control)
            if end.isOfKeptConnection, request.body?.rewind() ?? true, control.mayRepeat() { continue }
            // For a fetched URL, the caller handles the refusal.
            guard end.kind == .again, round == 0, kind == .s3 || end.answer?.status == 401,
                request.body?.rewind() ?? true
            else { return end }
            round += 1
            onAgain(end)
            guard let tokens, !end.asksForFreshHeaders else { continue }
            bearer = try tokens.after(bearer, control)
        }
    }

    /// Whether the port of a URL with http:// speaks TLS. Such a server closes the connection, or answers with an alert.
    private func speaksTLS(_ address: WebAddress, _ control: SendControl) -> Bool {
        let origin = address.origin
        guard origin.scheme == "http", options.proxy == nil,
            let secure = WebAddress("https://\(origin.zonedHost):\(origin.port)/")
        else { return false }
        var options = options
        options.times.connect = 5
        let end = connected(to: secure, options, control)
        return end.map { $0.kind == .tls && $0.cause != .noTLS } ?? true
    }

    /// Connects without a request. Returns nil if that works.
    private func connected(to address: WebAddress, _ options: ConnectionOptions, _ control: SendControl) -> HTTPEnd? {
        do throws(TransferFailure) {
            try CurlSession(options).connect(address) { control.stopped != nil }
            return nil
        } catch {
            return end(error, address, control)
        }
    }

    private func once(
        _ request: HTTPRequest, redirects: Int = 0, carriesCredentials: Bool = false, sentToken: Bool = false,
        isFetched: Bool = false, _ control: SendControl
    ) -> HTTPEnd {
        let answer: HTTPAnswer
        do throws(TransferFailure) {
            answer = try opened(request.address.origin, control).perform(request) { control.stopped != nil }
        } catch {
            return end(error, request.address, control)
        }
        let secrets = request.secrets(hidesPath: hidesPaths)
        let words = AnswerWords(answer, hiding: secrets, isOfHead: request.method == .head)
        let now = WallClock.milliseconds
        let retryAfter = answer["retry-after"].flatMap {
            RetryAfter.milliseconds($0, answeredAt: answer["date"], now: now)
        }
        let target = answer.redirect.flatMap(WebAddress.init)
        let redirect = target.map { target in
            RedirectFacts(
                isPreserving: [307, 308].contains(answer.status), isSameOrigin: target.origin == request.address.origin,
                isDowngrade: request.address.origin.scheme == "https" && target.origin.scheme == "http",
                // A client certificate counts as credentials, because each server that asks for it would see it.
                carriesCredentials: carriesCredentials || options.certificate != nil, count: redirects + 1)
        }
        let facts = AnswerFacts(
            status: answer.status, code: words.code, isPage: words.isPage,
            hasReason: !words.isPage && !answer.isUnreadable && answer.body.contains { $0 > 0x20 },
            isOfCertificate: options.certificate != nil || words.isPage && answer.names("certificate"),
            hasRetryAfter: retryAfter != nil, wasSentWhole: answer.wasSentWhole, sentToken: sentToken,
            isFetchedOrExpired: isFetched,
            isDateOff: abs((answer.clockOffset(now: now) ?? clockOffset) - clockOffset) > 300_000, redirect: redirect)
        var message = " answered \(answer.status)\(words.detail.isEmpty ? Self.meaning(answer.status) : words.detail)"
        let isOfTLS =
            answer.status == 400 && request.address.origin.scheme == "http"
            && (HTTPAnswer.wordsAboutTLS.contains(where: answer.names)
                || request.method == .head && speaksTLS(request.address, control))
        let kind = isOfTLS ? .endpoint : AnswerClass.of(facts, kind: self.kind)
        // A server's own code says which credentials it refuses.
        let isOfLogin = [.credentials, .again].contains(kind)
        var cause = isOfLogin ? words.code.map(Block.Cause.refusal) : nil
        if self.kind == .s3, [301, 307, 308, 400].contains(answer.status), let place = answer.bucketPlace {
            message += ": \(place.words)"
            cause = place.cause
        } else if (300...399).contains(answer.status) {
            message +=
                target.map { ", a redirect to \($0.shown(hidesPath: hidesPaths))" }
                ?? ", a redirect without a usable Location"
        }
        if isOfTLS {
            message += Self.onlyTLS
            cause = .onlyTLS
        }
        if kind == .outage, words.isPage, words.detail.isEmpty { message += " with a page of HTML" }
        if answer.status == 400, kind == .credentials, words.isPage {
            message += ": it does not accept the client certificate"
            cause = .ofClient
        } else if isOfLogin, words.isOfCertificate {
            cause = .ofClient
        }
        if answer.status == 511 { message += ": this network wants a login" }
        return HTTPEnd(
            kind: kind, answer: answer, code: "\(kind == .outage ? SendOutcome.edge : "http").\(answer.status)",
            place: request.address.origin.description, words: message,
            retryAfter: kind == .wait ? retryAfter : nil, wasSentWhole: answer.wasSentWhole, word: words.code,
            secrets: secrets, isPage: words.isPage, cause: cause)
    }

    /// Words for a status, for an answer that contains none.
    private static func meaning(_ status: Int) -> String {
        let words = [
            400: "bad request", 401: "not authorized", 403: "forbidden", 404: "not found", 405: "method not allowed",
            410: "gone", 413: "too large", 501: "not implemented", 507: "no room",
        ]
        return words[status].map { " (\($0))" } ?? ""
    }

    private func end(_ failure: TransferFailure, _ address: WebAddress, _ control: SendControl) -> HTTPEnd {
        // A connection that broke is not used again.
        sessions[address.origin] = nil
        var kind = AnswerClass.ofCurl(
            failure.code, wasConnected: failure.wasConnected, wasSentWhole: failure.wasSentWhole,
            wasSilent: failure.wasSilent && address.origin.scheme == "https" && options.proxy == nil)
        // With TLS 1.3, the server refuses a client certificate only after the handshake.
        if Self.refusesCertificate(failure.message), [.retry, .unclear].contains(kind) { kind = .tls }
        let stopped = control.stopped
        if let status = failure.proxyStatus {
            // Nothing was sent beyond the proxy.
            kind = status == 407 ? .credentials : .offline
            return HTTPEnd(
                kind: stopped == nil ? kind : .stopped, code: "proxy.\(status)",
                words: stopped ?? "\(address.origin): the proxy answered \(status) to CONNECT",
                cause: status == 407 ? .refusedByProxy : nil)
        }
        let (words, cause) = Self.words(failure, kind, at: address)
        return HTTPEnd(
            kind: stopped == nil ? kind : .stopped, code: "curl.\(failure.code)",
            words: stopped ?? "\(address.origin)\(proxyWords): \(words)",
            wasSentWhole: failure.wasSentWhole, isOfKeptConnection: stopped == nil && failure.isOfKeptConnection,
            isClosed: stopped == nil && kind != .tls && [52, 55, 56].contains(failure.code), cause: cause)
    }

    /// Names the proxy, because it may be the proxy that cannot be reached.
    private var proxyWords: String {
        options.proxy.flatMap(WebAddress.init).map { " by the proxy \($0.origin)" } ?? ""
    }

    /// Connects to the server of a URL, without a request.
    func reach(_ address: WebAddress?, _ control: SendControl) -> Block? {
        guard let address, let end = connected(to: address, options, control) else { return nil }
        return end.block(end.kind.reason ?? .offline)
    }
}

extension HTTPRequest {
    /// Adds headers of the user. A Content-Type of the user replaces ours.
    mutating func add(_ own: HTTPHeaders) {
        if own.contains(where: { $0.name.lowercased() == "content-type" }) {
            headers.removeAll { $0.name.lowercased() == "content-type" }
        }
        headers += own
    }
}
