/// The parts of an answer that decide its class (Spec/upload.md section 4.1).
package struct AnswerFacts: Hashable, Sendable {
    /// The kinds of destination that speak HTTP.
    package enum Kind: String, Sendable, CaseIterable {
        case http, put, s3
    }

    package var status: Int
    /// The `error.code` of a JSON body, or the `<Code>` of an S3 error.
    package var code: String?
    /// Whether the answer is a page for people: a proxy, a gateway or a login page sent it, and not the server itself.
    package var isPage: Bool
    /// Whether the answer has a body that is not a page.
    package var hasReason: Bool
    /// Whether a client certificate was sent, or the page names one.
    package var isOfCertificate: Bool
    /// Whether the answer has a Retry-After that counts (`RetryAfter.milliseconds`).
    package var hasRetryAfter: Bool
    /// Whether the last byte of the body was handed to the connection.
    package var wasSentWhole: Bool
    /// Whether the request had a bearer token.
    package var sentToken: Bool
    /// Whether the URL came from a command or an endpoint, or says itself that it has expired.
    package var isFetchedOrExpired: Bool
    /// Whether the `Date` of the answer and the time of the signature differ by more than 5 minutes.
    package var isDateOff: Bool
    /// The redirect; nil if the answer has no readable `Location`.
    package var redirect: RedirectFacts?

    package init(
        status: Int, code: String? = nil, isPage: Bool = false, hasReason: Bool = false, isOfCertificate: Bool = false,
        hasRetryAfter: Bool = false, wasSentWhole: Bool = false, sentToken: Bool = false,
        isFetchedOrExpired: Bool = false, isDateOff: Bool = false, redirect: RedirectFacts? = nil
    ) {
        self.status = status
        self.code = code
        self.isPage = isPage
        self.hasReason = hasReason
        self.isOfCertificate = isOfCertificate
        self.hasRetryAfter = hasRetryAfter
        self.wasSentWhole = wasSentWhole
        self.sentToken = sentToken
        self.isFetchedOrExpired = isFetchedOrExpired
        self.isDateOff = isDateOff
        self.redirect = redirect
    }
}

/// The facts that decide whether a redirect is followed.
package struct RedirectFacts: Hashable, Sendable {
    /// Whether method and body stay as they are (307 or 308).
    package var isPreserving: Bool
    /// Whether scheme, host and port are the same as in the request.
    package var isSameOrigin: Bool
    /// Whether the redirect goes from https to http.
    package var isDowngrade: Bool
    /// Whether the request carries a token, a signature, or headers of the device.
    package var carriesCredentials: Bool
    /// The number of redirects in a row, including this one.
    package var count: Int

    package init(isPreserving: Bool, isSameOrigin: Bool, isDowngrade: Bool, carriesCredentials: Bool, count: Int) {
        self.isPreserving = isPreserving
        self.isSameOrigin = isSameOrigin
        self.isDowngrade = isDowngrade
        self.carriesCredentials = carriesCredentials
        self.count = count
    }
}
