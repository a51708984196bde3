/// Says what the end of a try means for the delivery and its destination (Spec/upload.md section 4).
package enum AnswerClass: String, Sendable, CaseIterable {
    /// The server accepted the upload. The sender now looks for the proof of section 4.3.
    case landed
    /// The server refuses the capture for good.
    case final
    /// The try failed. The delivery is tried again after the delay of the retry table.
    case retry
    /// Like `retry`, but the bytes may have arrived, so the server is asked before the next try.
    case unclear
    /// The server says that it already has something under this name.
    case present
    /// The request is signed again, or its URL is fetched again, and it is sent again at once.
    case again
    /// The destination is blocked for as long as the server asks.
    case wait
    /// The server has no room.
    case full
    /// Something on the way to the server answers, or ends the connection, in its place.
    case outage
    /// The server refuses the token, the key, the signature or the access rights.
    case credentials
    /// The URL does not belong to a server of this kind.
    case endpoint
    /// No trustworthy connection could be made.
    case tls
    /// There is no network, or the server cannot be reached.
    case offline
    /// Something on our side failed, such as memory or a file.
    case local
    /// The user or the run stopped the transfer.
    case stopped
    /// The request is not over: it continues at the URL that the redirect names.
    case followed

    /// The reason for which the destination is blocked; nil if this class does not block it.
    package var reason: Block.Reason? { self == .outage ? .failing : Block.Reason(rawValue: rawValue) }
}

extension AnswerClass {
    /// Classifies an answer by the tables of section 4.1; the first line that matches decides.
    package static func of(_ answer: AnswerFacts, kind: AnswerFacts.Kind) -> AnswerClass {
        if let known = ofStore(answer, kind) { return known }
        return switch answer.status {
        case 200...299: ofSuccess(answer, kind)
        case 300...399: ofRedirect(answer.redirect, kind)
        case 400: ofBadRequest(answer, kind)
        case 401, 403, 407: ofRefusal(answer, kind)
        case 402, 440, 495, 496, 498: .credentials
        case 404 where kind == .http && answer.code == "DEVICE_NOT_FOUND": .credentials
        case 404, 405, 406, 410, 411, 414, 421, 426, 428, 431, 494, 497, 501, 505: .endpoint
        case 409, 412: .present
        case _ where answer.hasRetryAfter && [413, 420, 429, 503].contains(answer.status): .wait
        case 413, 415, 422: .final
        case 423: .retry
        case 500 where !answer.isPage: answer.wasSentWhole ? .unclear : .retry
        case 507, 509: .full
        // Nobody listed it, so nothing says that it is about the capture.
        default: .outage
        }
    }

    private static func ofSuccess(_ answer: AnswerFacts, _ kind: AnswerFacts.Kind) -> AnswerClass {
        guard answer.wasSentWhole else { return answer.isPage ? .outage : .retry }
        // What an object store says may be a page, so its proof decides.
        if kind != .http, [200, 201, 204].contains(answer.status) { return .landed }
        if answer.isPage { return .outage }
        return kind == .http && answer.status == 202 ? .landed : .unclear
    }

    private static func ofRedirect(_ redirect: RedirectFacts?, _ kind: AnswerFacts.Kind) -> AnswerClass {
        guard let redirect, redirect.isPreserving else { return .endpoint }
        if redirect.count > 5 { return .endpoint }
        if redirect.isSameOrigin { return .followed }
        let isHarmless = kind == .put && !redirect.carriesCredentials && !redirect.isDowngrade
        return isHarmless ? .followed : .endpoint
    }

    private static func ofBadRequest(_ answer: AnswerFacts, _ kind: AnswerFacts.Kind) -> AnswerClass {
        if answer.isPage { return answer.isOfCertificate ? .credentials : .outage }
        return switch kind {
        case .http: answer.hasReason ? .final : .unclear
        case .put where answer.code == nil && answer.hasReason && answer.isFetchedOrExpired: .again
        case .put, .s3: answer.code == nil ? .unclear : .final
        }
    }

    /// Classifies 401, 403 and 407.
    private static func ofRefusal(_ answer: AnswerFacts, _ kind: AnswerFacts.Kind) -> AnswerClass {
        switch (answer.status, kind, answer.code) {
        case (401, .http, "TIMESTAMP_EXPIRED"), (401, .http, "TIMESTAMP_INVALID"), (401, .http, "REPLAY_DETECTED"):
            .again
        case (401, _, _) where answer.sentToken: .again
        case (403, .put, _) where answer.isFetchedOrExpired: .again
        case (401, _, _), (407, _, _): .credentials
        case _ where answer.isPage: .outage
        case (_, .put, _), (_, .s3, _): .credentials
        case (_, .http, "DEVICE_UNVERIFIED"), (_, .http, "FORBIDDEN"), (_, .http, nil): .credentials
        default: .final
        }
    }
}

extension AnswerClass {
    /// The codes with which a store asks for fewer requests.
    package static let slowDown: Set<String> = ["SlowDown", "SlowDownRead", "SlowDownWrite"]

    /// The codes about keys, tokens and signatures, and not about what they allow.
    package static let loginCodes: Set<String> = [
        "ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "RequestTimeTooSkewed", "SignatureDoesNotMatch",
    ]

    /// The codes for bytes or a digest that are not those that were sent.
    package static let wrongBytes: Set<String> = [
        "BadDigest", "InvalidDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch",
    ]

    /// Classifies an answer by the code of an S3 store, by the first table of section 4.1; nil if the status decides.
    static func ofStore(_ answer: AnswerFacts, _ kind: AnswerFacts.Kind) -> AnswerClass? {
        switch (answer.status, kind, answer.code) {
        case (_, .http, _): nil
        case (403, .s3, "RequestTimeTooSkewed"): .again
        case (400, .s3, nil) where answer.isDateOff, (403, .s3, nil) where answer.isDateOff: .again
        case (400, .s3, "AccessDenied"): answer.isDateOff ? .again : .credentials
        case (403, .s3, "AccessDenied"): answer.isDateOff ? .again : nil
        case (400, _, "ExpiredToken"), (400, _, "InvalidToken"):
            kind == .put && answer.isFetchedOrExpired ? .again : .credentials
        case (400, .s3, "AuthorizationHeaderMalformed"): .endpoint
        case (400, _, let code?) where wrongBytes.contains(code): .retry
        // The line broke.
        case (400, _, "IncompleteBody"), (400, _, "RequestTimeout"), (499, _, "ClientDisconnected"): .retry
        case (400, .s3, nil) where !answer.isPage: .retry
        case (400, _, "XMinioAdminBucketQuotaExceeded"), (403, _, "QuotaExceeded"): .full
        case (429, _, let code?), (503, _, let code?): slowDown.contains(code) ? .wait : nil
        default: nil
        }
    }
}

extension AnswerClass {
    /// Returns the class of a transfer that ended without an answer (Spec/upload.md section 4.5).
    ///
    /// - Parameter code: libcurl's code (`CURLE_…`).
    /// - Parameter wasConnected: whether there was a connection before the failure.
    /// - Parameter wasSentWhole: whether the last byte of the body was handed to the connection.
    /// - Parameter wasSilent: whether the other side closed the connection before it said anything.
    package static func ofCurl(
        _ code: Int, wasConnected: Bool, wasSentWhole: Bool, wasSilent: Bool = false
    ) -> AnswerClass {
        switch code {
        // The name does not resolve, there is no route, or QUIC fails: the server cannot be reached.
        case 5, 6, 7, 45, 89, 96, 97: .offline
        // The time ran out, or the handshake broke off, before there was a connection.
        case 28 where !wasConnected, 35 where !wasConnected: .offline
        // Nobody is behind the port.
        case 35 where wasSilent: .outage
        // The TLS handshake failed, or a certificate or key of either side was refused.
        case 35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98: .tls
        // The URL cannot be used, or the redirects do not end.
        case 1 where !wasConnected, 3, 4, 9, 47: .endpoint
        // Memory, a file, an option or a callback failed.
        case 2, 26, 37, 41, 43, 48, 65, 81, 93: .local
        // One of our callbacks stopped the transfer.
        case 42: .stopped
        // The answer is not HTTP, so somebody else than the server gave it.
        case 1, 8: .outage
        // The connection broke, or the answer was invalid (27: it is too large).
        case 16, 18, 23, 27, 28, 52, 55, 56, 61, 63, 92, 95, 99: wasSentWhole ? .unclear : .retry
        default: .retry
        }
    }
}
