import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// One request and what its end means (Spec/upload.md section 4), redirects followed by hand.
struct HTTPEnd {
    let kind: AnswerClass
    /// nil when none came.
    let answer: HTTPAnswer?
    /// `http.413`, `curl.56`.
    let code: String
    /// For people; never with a query or a header in it.
    let message: String
    let retryAfter: Int?
    let wasSentWhole: Bool
    /// `error.code` of a JSON body, or S3's.
    let word: String?
    /// Of the request; not for messages.
    var secrets: [String] = []

    /// The timestamp is the trouble, or the signature over it, and not the token.
    var asksForFreshHeaders: Bool {
        ["TIMESTAMP_EXPIRED", "TIMESTAMP_INVALID", "REPLAY_DETECTED"].contains(word ?? "")
    }

    /// The server answered that nothing is stored under the URL.
    var isOfAbsence: Bool { answer?.status == 404 || answer?.status == 410 }

    /// Whether the server does not know a header of the request: 501, or a 400 that names it.
    func isOfUnknownHeader(_ name: String) -> Bool {
        answer.map { $0.status == 501 || $0.status == 400 && $0.names(name) } ?? false
    }

    /// What becomes of the delivery, where the answer itself says it all.
    var outcome: SendOutcome {
        switch kind {
        case .landed, .present, .unclear: .unclear(code: code, message: message)
        case .final: .rejected(code: code, message: message)
        case .retry, .followed: .failed(code: code, message: message)
        case .stopped: .parked(cause: message, isInDoubt: wasSentWhole)
        // Asked for again after all that could be done anew.
        case .again: .blocked(Block(.credentials, message))
        case .wait, .full, .credentials, .endpoint, .tls, .offline, .local:
            .blocked(Block(kind.reason ?? .offline, message, milliseconds: retryAfter))
        }
    }
}

/// Makes requests to one destination, over connections that are kept.
final class HTTPExchange {
    private let kind: AnswerFacts.Kind
    private let options: ConnectionOptions
    private let hidesPaths: Bool
    /// One for each origin: of a connection that is kept beside another one nobody would notice what comes unasked.
    private var sessions: [WebAddress.Origin: CurlSession] = [:]
    /// How often the network had changed when the session was made.
    private var network = 0

    init(_ settings: ConnectionSettings, _ kind: AnswerFacts.Kind) {
        self.kind = kind
        options = settings.options
        hidesPaths = settings.hidesPaths
    }

    /// Fetched URLs may lead to another host each time.
    private static let mostSessions = 8

    private func opened(_ origin: WebAddress.Origin, _ control: SendControl) throws(TransferFailure) -> CurlSession {
        // After a change of the network a kept connection may lead nowhere, and nobody would say so for minutes.
        if network != control.network || sessions.count > Self.mostSessions { sessions = [:] }
        network = control.network
        if let session = sessions[origin], !session.isStale { return session }
        let opened = try CurlSession(options)
        sessions[origin] = opened
        return opened
    }

    /// - Parameters:
    ///   - carriesCredentials: a token, a signature or device headers are in it: it goes to its own origin alone.
    ///   - isFetched: the URL came from a command or an endpoint, or its time is over.
    func perform(
        _ request: HTTPRequest, carriesCredentials: Bool, sentToken: Bool = false, isFetched: Bool = false,
        _ control: SendControl
    ) -> HTTPEnd {
        var request = request
        var redirects = 0
        while true {
            let end = once(request, redirects, carriesCredentials, sentToken, isFetched, control)
            guard end.kind == .followed, let target = end.answer?.redirect.flatMap(WebAddress.init),
                request.body?.rewind() ?? true
            else { return end }
            request.address = target
            redirects += 1
        }
    }

    /// The same with a bearer token, and once more where the server asks for a fresh one, or for fresh headers.
    ///
    /// - Parameters:
    ///   - isFetched: as above; a 403 for its sake is the caller's.
    ///   - prepare: adds what is made for each try; says whether these are credentials.
    ///   - onAgain: told of an answer that asks for another try.
    func perform(
        _ request: HTTPRequest, token tokens: TokenSource?, isFetched: Bool = false, _ control: SendControl,
        prepare: (inout HTTPRequest) throws(SendTrouble) -> Bool, onAgain: (HTTPEnd) -> Void = { _ in }
    ) throws(SendTrouble) -> HTTPEnd {
        var bearer = try tokens?.current(control)
        var round = 0
        while true {
            var attempt = request
            let isSecret = try prepare(&attempt)
            if let bearer { attempt.headers.append(HTTPRequest.Header("Authorization", "Bearer \(bearer)")) }
            let end = perform(
                attempt, carriesCredentials: isSecret || bearer != nil, sentToken: bearer != nil && round == 0,
                isFetched: isFetched, control)
            guard end.kind == .again, round == 0, end.answer?.status == 401, request.body?.rewind() ?? true else {
                return end
            }
            round += 1
            onAgain(end)
            guard let tokens, !end.asksForFreshHeaders else { continue }
            bearer = try tokens.after(bearer, control)
        }
    }

    private func once(
        _ request: HTTPRequest, _ redirects: Int, _ carriesCredentials: Bool, _ sentToken: Bool, _ isFetched: Bool,
        _ control: SendControl
    ) -> HTTPEnd {
        let answer: HTTPAnswer
        do throws(TransferFailure) {
            answer = try opened(request.address.origin, control).perform(request) { control.stopped != nil }
        } catch {
            return end(error, request.address, control)
        }
        let secrets = request.secrets(hidesPath: hidesPaths)
        let words = AnswerWords(answer, hiding: secrets)
        let now = WallClock.milliseconds
        let retryAfter = answer["retry-after"].flatMap {
            RetryAfter.milliseconds($0, answeredAt: answer["date"], now: now)
        }
        let target = answer.redirect.flatMap(WebAddress.init)
        let redirect = target.map { target in
            RedirectFacts(
                isPreserving: [307, 308].contains(answer.status), isSameOrigin: target.origin == request.address.origin,
                isDowngrade: request.address.origin.scheme == "https" && target.origin.scheme == "http",
                // A certificate of ours is shown to whoever is connected to.
                carriesCredentials: carriesCredentials || options.certificate != nil, count: redirects + 1)
        }
        let facts = AnswerFacts(
            status: answer.status, code: words.code, isEdge: words.isEdge, hasRetryAfter: retryAfter != nil,
            wasSentWhole: answer.wasSentWhole, sentToken: sentToken, isFetchedOrExpired: isFetched, redirect: redirect)
        var message = "\(request.address.origin) answered \(answer.status)\(words.detail)"
        if (300...399).contains(answer.status) {
            message +=
                target.map { ", a redirect to \($0.shown(hidesPath: hidesPaths))" }
                ?? ", a redirect without a usable Location"
        }
        let kind = AnswerClass.of(facts, kind: self.kind)
        // A page for people, or a gateway that has no server to ask.
        let isOutage =
            (kind == .retry || kind == .unclear)
            && (words.isEdge || (502...504).contains(answer.status) && words.code == nil)
        return HTTPEnd(
            kind: kind, answer: answer, code: "\(isOutage ? SendOutcome.edge : "http").\(answer.status)",
            message: message,
            retryAfter: kind == .wait ? retryAfter : nil, wasSentWhole: answer.wasSentWhole, word: words.code,
            secrets: secrets)
    }

    private func end(_ failure: TransferFailure, _ address: WebAddress, _ control: SendControl) -> HTTPEnd {
        // A connection that broke is not used again.
        sessions[address.origin] = nil
        var kind = AnswerClass.ofCurl(
            failure.code, wasConnected: failure.wasConnected, wasSentWhole: failure.wasSentWhole)
        let stopped = control.stopped
        if let status = failure.proxyStatus {
            // Nothing went beyond the proxy.
            kind = status == 407 ? .credentials : .offline
            return HTTPEnd(
                kind: stopped == nil ? kind : .stopped, answer: nil, code: "proxy.\(status)",
                message: stopped ?? "\(address.origin): the proxy answered \(status) to CONNECT", retryAfter: nil,
                wasSentWhole: false, word: nil)
        }
        let isWord = failure.message.utf8.dropFirst().first.map { (97...122).contains($0) } ?? false
        let words =
            isWord ? failure.message.cut(to: 1).lowercased() + failure.message.without(first: 1) : failure.message
        return HTTPEnd(
            kind: stopped == nil ? kind : .stopped, answer: nil, code: "curl.\(failure.code)",
            message: stopped ?? "\(address.origin)\(proxyWords): \(words)", retryAfter: nil,
            wasSentWhole: failure.wasSentWhole,
            word: nil)
    }

    /// Who is not there may be the proxy.
    private var proxyWords: String {
        options.proxy.flatMap(WebAddress.init).map { " by the proxy \($0.origin)" } ?? ""
    }

    /// Connects to where a request would go.
    func reach(_ address: WebAddress?, _ control: SendControl) -> Block? {
        guard let address else { return nil }
        do throws(TransferFailure) {
            let session = try CurlSession(options)
            try session.connect(address) { control.stopped != nil }
            return nil
        } catch {
            let end = end(error, address, control)
            return Block(end.kind.reason ?? .offline, end.message)
        }
    }
}
