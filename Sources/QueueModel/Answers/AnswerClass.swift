/// What the end of a try means for the delivery and its destination (Spec/upload.md section 4). Pure.
package enum AnswerClass: String, Sendable, CaseIterable {
    /// The server says yes; the proof of section 4.3 is looked for.
    case landed
    /// The server does not want it, now or later.
    case final
    /// Tried again after the delay of the table.
    case retry
    /// As `retry`, but it may have landed: the server is asked first.
    case unclear
    /// The server says that it has something there.
    case present
    /// Signed or fetched anew and sent at once.
    case again
    /// The destination waits as long as the server says.
    case wait
    /// The server has no room.
    case full
    /// Token, key, signature or rights are refused.
    case credentials
    /// The URL is not that of such a server.
    case endpoint
    /// No trustworthy connection.
    case tls
    /// No network, or nobody there.
    case offline
    /// Something on our side.
    case local
    /// The user or the run ended the transfer.
    case stopped
    /// Not an end: the request goes on to where the answer points.
    case followed

    /// Why the destination is blocked for it; nil where it is not.
    package var reason: Block.Reason? {
        switch self {
        case .wait: .wait
        case .full: .full
        case .credentials: .credentials
        case .endpoint: .endpoint
        case .tls: .tls
        case .offline: .offline
        case .local: .local
        case .landed, .final, .retry, .unclear, .present, .again, .stopped, .followed: nil
        }
    }
}

extension AnswerClass {
    /// The table of section 4.1, in its order: the first line that matches decides.
    package static func of(_ answer: AnswerFacts, kind: AnswerFacts.Kind) -> AnswerClass {
        switch answer.status {
        case 200...299: answer.wasSentWhole ? ofSuccess(answer.status, kind) : .retry
        case 300...399: ofRedirect(answer.redirect, kind)
        case 401, 403, 407: ofRefusal(answer, kind)
        case 400...499: ofOurFault(answer, kind)
        case 500...599: ofTheirFault(answer)
        default: .retry
        }
    }

    private static func ofSuccess(_ status: Int, _ kind: AnswerFacts.Kind) -> AnswerClass {
        switch kind {
        case .http: status == 202 ? .landed : .unclear
        case .put, .s3: [200, 201, 204].contains(status) ? .landed : .unclear
        }
    }

    private static func ofRedirect(_ redirect: RedirectFacts?, _ kind: AnswerFacts.Kind) -> AnswerClass {
        guard let redirect, redirect.isPreserving else { return .endpoint }
        if redirect.count > 5 { return .endpoint }
        if redirect.isSameOrigin { return .followed }
        let isHarmless = kind == .put && !redirect.carriesCredentials && !redirect.isDowngrade
        return isHarmless ? .followed : .endpoint
    }

    /// 401, 403 and 407.
    private static func ofRefusal(_ answer: AnswerFacts, _ kind: AnswerFacts.Kind) -> AnswerClass {
        switch (answer.status, kind, answer.code) {
        case (401, .http, "TIMESTAMP_EXPIRED"), (401, .http, "TIMESTAMP_INVALID"), (401, .http, "REPLAY_DETECTED"):
            .again
        case (401, _, _) where answer.sentToken: .again
        case (403, .s3, "RequestTimeTooSkewed"): .again
        case (403, .put, _) where answer.isFetchedOrExpired: .again
        case (401, _, _), (407, _, _): .credentials
        case _ where answer.isEdge: .retry
        case (_, .put, _), (_, .s3, _): .credentials
        case (_, .http, "DEVICE_UNVERIFIED"), (_, .http, "FORBIDDEN"), (_, .http, nil): .credentials
        default: .final
        }
    }

    private static func ofOurFault(_ answer: AnswerFacts, _ kind: AnswerFacts.Kind) -> AnswerClass {
        switch answer.status {
        case 404 where kind == .http && answer.code == "DEVICE_NOT_FOUND": .credentials
        case 404, 405, 410: .endpoint
        case 408, 423, 425: .retry
        case 409, 412: .present
        case 429: answer.hasRetryAfter ? .wait : .retry
        default: .final
        }
    }

    private static func ofTheirFault(_ answer: AnswerFacts) -> AnswerClass {
        switch answer.status {
        case 501, 505: .final
        case 503 where answer.hasRetryAfter: .wait
        case 507, 509: .full
        default: answer.wasSentWhole ? .unclear : .retry
        }
    }
}
