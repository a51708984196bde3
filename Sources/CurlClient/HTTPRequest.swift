/// Headers in the order in which they are sent, or in which they arrived.
package typealias HTTPHeaders = [(name: String, value: String)]

/// One HTTP request. Everything that it sends is prepared before, and it is never retried or redirected automatically.
package struct HTTPRequest {
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case put = "PUT"
        case post = "POST"
        case delete = "DELETE"
        case options = "OPTIONS"
        case propfind = "PROPFIND"
    }

    package let method: Method
    package var address: WebAddress
    package var headers: HTTPHeaders
    package var body: (any RequestBody)?
    /// Receives the body of an answer with status 200 instead of `HTTPAnswer.body`; false ends the transfer.
    package let sink: ((Span<UInt8>) -> Bool)?

    package init(
        _ method: Method, _ address: WebAddress, _ headers: HTTPHeaders = [],
        body: (any RequestBody)? = nil, sink: ((Span<UInt8>) -> Bool)? = nil
    ) {
        (self.method, self.address, self.headers) = (method, address, headers)
        (self.body, self.sink) = (body, sink)
    }
}

/// A request body that is sent in pieces.
package protocol RequestBody: AnyObject {
    var byteCount: Int { get }
    /// Whether the last byte has been passed on.
    var isSent: Bool { get }
    /// Returns to the first byte, because a reused connection can turn out to be closed; false if that is not possible.
    func rewind() -> Bool
    /// Passes the next bytes to `taker`, in one call or several: together at most `limit`, and none at the end.
    ///
    /// - Returns: False to end the transfer.
    func read(_ limit: Int, to taker: (Span<UInt8>) -> Void) -> Bool
}

package final class MemoryBody: RequestBody {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var byteCount: Int { bytes.count }
    package var isSent: Bool { position == bytes.count }

    package func rewind() -> Bool {
        position = 0
        return true
    }

    package func read(_ limit: Int, to taker: (Span<UInt8>) -> Void) -> Bool {
        let count = min(limit, bytes.count - position)
        let piece = Array(bytes[position..<position + count])
        taker(piece.span)
        position += count
        return true
    }
}

/// An answer of a server, either complete or as far as it was read.
package struct HTTPAnswer: Sendable {
    package let status: Int
    /// The headers, with lower-case names.
    package let headers: HTTPHeaders
    package let body: [UInt8]
    /// Whether the body is incomplete: the connection ended, or our limit was reached.
    package let isCut: Bool
    /// Whether the whole body of the request was passed to libcurl.
    package let wasSentWhole: Bool
    /// The target of a redirect, as an absolute URL.
    package let redirect: String?

    package subscript(_ name: String) -> String? { headers.last { $0.name == name }?.value }

    /// The coding in which the body was sent; nil if it was sent as it is. Only one that is not read is left in `body`.
    package var coding: ContentCoding? { ContentCoding.of(self["content-encoding"]) }

    /// Whether the body cannot be read: it has another coding, or is damaged in its coding.
    package var isUnreadable: Bool {
        if case .other? = coding { true } else { coding != nil && isCut }
    }

    /// The length of what the server has; nil if it does not say, or says the length of a coded form.
    package var length: Int? { coding == nil ? self["content-length"].flatMap { Int($0) } : nil }
}

/// A transfer that ended without an answer.
package struct TransferFailure: Error, Hashable, Sendable {
    /// The code of libcurl.
    package let code: Int
    package let message: String
    /// Whether the server was reached. It is false if a TLS handshake timed out.
    package let wasConnected: Bool
    package let wasSentWhole: Bool
    /// Whether a kept connection ended as the request began: nothing of an answer came, and little of the body was
    /// handed over. So the request may be repeated on a fresh connection.
    package var isOfKeptConnection = false
    /// Whether the other side ended the connection before it said anything.
    package var wasSilent = false
    /// The status with which a proxy refused the connection; nil if it did not refuse.
    package var proxyStatus: Int?
}

/// The settings for making connections.
package struct ConnectionOptions: Hashable, Sendable {
    /// A PEM file of certificate authorities that replaces the system's.
    package var authorities: String?
    package var certificate: String?
    package var certificateKey: String?
    /// A proxy that replaces the one of the environment.
    package var proxy: String?
    package var times = TransferTimes()

    package init() {}
}

/// The time limits of a transfer (Spec/upload.md section 4.6), in seconds.
package struct TransferTimes: Hashable, Sendable {
    package var connect = 15.0
    /// The period in which a request that is being sent, or a download, must move at least 1 kB for each minute.
    package var stall = 60.0
    /// The limit from the moment at which the other side has received the request to the end of the answer.
    package var answer = 120.0

    package init() {}
}
