/// What decides the class of an answer (Spec/upload.md section 4.1).
package struct AnswerFacts: Hashable, Sendable {
    /// The kinds of destination that speak HTTP.
    package enum Kind: String, Sendable, CaseIterable {
        case http, put, s3
    }

    package var status: Int
    /// `error.code` of a JSON body, or the `<Code>` of an S3 error.
    package var code: String?
    /// The answer is `text/html`: of something before the server, not of the server.
    package var isEdge: Bool
    /// There is a Retry-After that counts (`RetryAfter.milliseconds`).
    package var hasRetryAfter: Bool
    /// The last byte of the body was handed to the connection.
    package var wasSentWhole: Bool
    /// The request had a bearer token.
    package var sentToken: Bool
    /// The URL came from a command or an endpoint, or says itself that its time is over.
    package var isFetchedOrExpired: Bool
    /// Where the answer points to; nil without a `Location` that can be read.
    package var redirect: RedirectFacts?

    package init(
        status: Int, code: String? = nil, isEdge: Bool = false, hasRetryAfter: Bool = false, wasSentWhole: Bool = false,
        sentToken: Bool = false, isFetchedOrExpired: Bool = false, redirect: RedirectFacts? = nil
    ) {
        self.status = status
        self.code = code
        self.isEdge = isEdge
        self.hasRetryAfter = hasRetryAfter
        self.wasSentWhole = wasSentWhole
        self.sentToken = sentToken
        self.isFetchedOrExpired = isFetchedOrExpired
        self.redirect = redirect
    }
}

/// What decides whether a redirect is followed.
package struct RedirectFacts: Hashable, Sendable {
    /// 307 or 308: method and body stay as they are.
    package var isPreserving: Bool
    /// Scheme, host and port are those of the request.
    package var isSameOrigin: Bool
    /// From https to http.
    package var isDowngrade: Bool
    /// The request has a token, a signature, or headers of the device.
    package var carriesCredentials: Bool
    /// Redirects in a row, this one included.
    package var count: Int

    package init(isPreserving: Bool, isSameOrigin: Bool, isDowngrade: Bool, carriesCredentials: Bool, count: Int) {
        self.isPreserving = isPreserving
        self.isSameOrigin = isSameOrigin
        self.isDowngrade = isDowngrade
        self.carriesCredentials = carriesCredentials
        self.count = count
    }
}
