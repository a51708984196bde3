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
