/// One request. What it sends is made ready before; it is never retried and never redirected by itself.
package struct HTTPRequest {
    package enum Method: String, Sendable { case get = "GET", head = "HEAD", put = "PUT", post = "POST" }

    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var method: Method
    package var address: WebAddress
    package var headers: [Header] = []
    package var body: (any RequestBody)?
    /// Bytes of the answer's body that are kept; what is beyond ends the transfer.
    package var answerLimit = 1 << 20
    /// Gets the answer's body instead, of a status 200; false ends the transfer.
    package var sink: ((Span<UInt8>) -> Bool)?

    package init(_ method: Method, _ address: WebAddress) {
        self.method = method
        self.address = address
    }
}

/// Bytes that are sent in pieces.
package protocol RequestBody: AnyObject {
    var byteCount: Int { get }
    /// Whether the last byte was lent.
    var isSent: Bool { get }
    /// Goes back to the first byte: a connection that was kept can turn out to be closed.
    func rewind() -> Bool
    /// Lends the next bytes, at most so many, once; none at the end.
    ///
    /// - Returns: false to give up the transfer.
    func lend(_ limit: Int, to taker: (Span<UInt8>) -> Void) -> Bool
}

/// A body in memory.
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

    package func lend(_ limit: Int, to taker: (Span<UInt8>) -> Void) -> Bool {
        let count = min(limit, bytes.count - position)
        let piece = Array(bytes[position..<position + count])
        taker(piece.span)
        position += count
        return true
    }
}

/// What came back, to the last byte or as far as it was read.
package struct HTTPAnswer: Sendable {
    package let status: Int
    /// Names in lower case, in their order.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// Whether it ended before its end: cut by the connection, or by our limit.
    package let isCut: Bool
    /// Whether the whole body of the request was handed over.
    package let wasSentWhole: Bool
    /// Where a redirect points, made absolute.
    package let redirect: String?

    package subscript(_ name: String) -> String? { headers.last { $0.name == name }?.value }
}

/// A transfer without an answer.
package struct TransferFailure: Error, Hashable, Sendable {
    /// libcurl's code.
    package let code: Int
    package let message: String
    /// Whether there was a connection to the server, TLS not counted.
    package let wasConnected: Bool
    package let wasSentWhole: Bool
    /// What the proxy answered when it was asked for a connection, if it refused; nil otherwise.
    package var proxyStatus: Int?

    package init(code: Int, message: String, wasConnected: Bool, wasSentWhole: Bool) {
        self.code = code
        self.message = message
        self.wasConnected = wasConnected
        self.wasSentWhole = wasSentWhole
    }
}

/// How connections are made.
package struct ConnectionOptions: Hashable, Sendable {
    /// A PEM file in place of the system's.
    package var authorities: String?
    package var certificate: String?
    package var certificateKey: String?
    /// In place of the environment's.
    package var proxy: String?
    package var userAgent = "capqueue"
    package var times = TransferTimes()

    package init() {}
}

/// When a transfer is given up (Spec/upload.md section 4.6), in seconds.
package struct TransferTimes: Hashable, Sendable {
    package var connect = 15.0
    /// In which a request that is being sent, or a download, has to move by 1 kB for each minute.
    package var stall = 60.0
    /// From when the other side has taken the request to the end of the answer.
    package var answer = 120.0

    package init() {}
}
