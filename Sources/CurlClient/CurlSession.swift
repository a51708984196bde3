import CCurl
import CaptureNative

/// A session that reuses its connections and performs one request at a time. Redirects, cookies and `.netrc` are off;
/// only http and https are allowed.
///
/// ```swift
/// let session = try CurlSession(ConnectionOptions())
/// let answer = try session.perform(HTTPRequest(.get, address), isStopped: { false })
/// ```
@safe
package final class CurlSession {
    private let curl: CurlLibrary
    private let handle: OpaquePointer
    private let options: ConnectionOptions
    private var isSecure = false
    private let sockets = SessionSockets()
    /// The socket of the connection that is kept; -1 if there is none.
    private var socket: Int32 = -1
    /// Whether the server answered 417 to `Expect`.
    private var refusesExpect = false
    /// libcurl's text about the last failure.
    private let detail: UnsafeMutablePointer<CChar>

    /// Whether libcurl could be loaded.
    package static var isAvailable: Bool { CurlLibrary.shared != nil }

    /// - Throws: A failure with code 2 if libcurl cannot be loaded.
    package init(_ options: ConnectionOptions) throws(TransferFailure) {
        guard let curl = CurlLibrary.shared, let raw = unsafe curl.calls.pointee.easy_init() else {
            throw TransferFailure(
                code: 2, message: "libcurl.so.4 is missing or lacks a function that is needed", wasConnected: false,
                wasSentWhole: false)
        }
        self.curl = curl
        unsafe handle = OpaquePointer(raw)
        unsafe detail = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe detail.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        self.options = options
    }

    deinit {
        unsafe curl.calls.pointee.easy_cleanup(raw)
        // Cleaning up closes the last connections, and that calls `sockets`.
        withExtendedLifetime(sockets) {}
        unsafe detail.deallocate()
    }

    /// Whether unrequested input arrived on the kept connection: its end, or bytes that libcurl 7.88 would take for the
    /// answer to the next request.
    package var isStale: Bool { socket >= 0 && SessionSockets.hasInput(socket) }

    private var raw: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(handle) }

    /// Sends a request and reads the answer.
    ///
    /// - Parameter isStopped: Called at least once a second; true ends the transfer with code 42.
    package func perform(
        _ request: HTTPRequest, isStopped: @escaping () -> Bool
    ) throws(TransferFailure) -> HTTPAnswer {
        let asks = (request.body?.byteCount ?? 0) > Self.expectFrom && !refusesExpect
        let answer = try perform(request, asks: asks, isStopped)
        // RFC 9110 section 10.1.1. libcurl repeats it only if the server keeps the connection.
        guard asks, answer.status == 417, request.body?.rewind() ?? false else { return answer }
        refusesExpect = true
        return try perform(request, asks: false, isStopped)
    }

    private func perform(
        _ request: HTTPRequest, asks: Bool, _ isStopped: @escaping () -> Bool
    ) throws(TransferFailure) -> HTTPAnswer {
        let transfer = Transfer(request, times: options.times, sockets: sockets, isStopped: isStopped)
        prepare(request.address)
        set(request)
        var list: UnsafeMutablePointer<curl_slist>?
        defer { unsafe curl.calls.pointee.slist_free_all(list) }
        // Without this header, libcurl waits a second for an interim answer that many servers never send.
        let expect = asks ? [] : ["Expect:"]
        // Without this header, any coding is acceptable (RFC 9110 section 12.5.3). It is not part of what is signed,
        // because some stores and proxies change it.
        let isAsked = request.headers.contains { $0.name.lowercased() == "accept-encoding" }
        let coding = isAsked ? [] : ["Accept-Encoding: identity"]
        for line in request.headers.map({ "\($0.name): \($0.value)" }) + coding + expect {
            unsafe list = curl.calls.pointee.slist_append(list, line)
        }
        unsafe _ = capture_curl_set_list(curl.calls, raw, CURLOPT_HTTPHEADER, list)
        sockets.begin()
        let code = run(transfer)
        socket = unsafe capture_curl_socket(curl.calls, raw)
        if let words = sockets.end(), !isSecure, transfer.givenUp == nil, !transfer.isRefusedByBody,
            !transfer.isAnswered, [CURLE_SEND_ERROR, CURLE_RECV_ERROR].contains(code),
            let answer = EarlyAnswer.parse(words, wasSentWhole: transfer.isSent)
        {
            return answer
        }
        let status = unsafe capture_curl_get_long(curl.calls, raw, CURLINFO_RESPONSE_CODE)
        if code == CURLE_OK || Self.isAnswered(code, status: status, transfer: transfer) {
            let target = unsafe capture_curl_get_text(curl.calls, raw, CURLINFO_REDIRECT_URL)
            return HTTPAnswer(
                status: status, headers: transfer.headers, body: transfer.answer,
                isCut: code != CURLE_OK || !transfer.isDecoded,
                wasSentWhole: transfer.isSent, redirect: unsafe target.map { unsafe String(cString: $0) })
        }
        throw failure(code, transfer)
    }

    /// A request of which as much was handed over is not repeated: the server may have it.
    private static let repeatBelow = 1 << 16

    /// Requests with a larger body first ask the server whether it accepts the body (`Expect: 100-continue`).
    private static let expectFrom = 16 << 20

    /// Whether an answer counts although the transfer failed: its status is 300 or more, or its body was given up.
    private static func isAnswered(_ code: CURLcode, status: Int, transfer: Transfer) -> Bool {
        guard status >= 200, transfer.givenUp == nil, !transfer.isRefusedByBody else { return false }
        if code == CURLE_WRITE_ERROR { return transfer.isBodyGivenUp }
        return status >= 300 && [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE].contains(code)
    }

    /// Opens a connection, including TLS, and closes it again without a request.
    package func connect(_ address: WebAddress, isStopped: @escaping () -> Bool) throws(TransferFailure) {
        let transfer = Transfer(
            HTTPRequest(.get, address), times: options.times, sockets: sockets, isStopped: isStopped)
        prepare(address)
        set(CURLOPT_CONNECT_ONLY, 1)
        set(CURLOPT_FRESH_CONNECT, 1)
        set(CURLOPT_FORBID_REUSE, 1)
        sockets.begin()
        let code = run(transfer)
        guard code == CURLE_OK else { throw failure(code, transfer) }
    }

    private func failure(_ code: CURLcode, _ transfer: Transfer) -> TransferFailure {
        let connected = isConnected(code)
        let told =
            transfer.givenUp != nil ? CURLE_OPERATION_TIMEDOUT : transfer.wasRewindRefused ? CURLE_GOT_NOTHING : code
        var failure = TransferFailure(
            code: Int(told.rawValue), message: transfer.givenUp ?? text(of: told), wasConnected: connected,
            wasSentWhole: transfer.isSent)
        // libcurl wants to rewind only on a kept connection.
        let opened = unsafe capture_curl_get_long(curl.calls, raw, CURLINFO_NUM_CONNECTS)
        failure.isOfKeptConnection =
            (transfer.wasRewindRefused || opened == 0 && connected) && transfer.isUnanswered
            && transfer.handedOver < Self.repeatBelow
            && [CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR].contains(told)
        failure.wasSilent = sockets.wasSilent
        let proxy = unsafe capture_curl_get_long(curl.calls, raw, CURLINFO_HTTP_CONNECTCODE)
        if proxy >= 300, !transfer.isAnswered { failure.proxyStatus = proxy }
        return failure
    }

    /// The text of a failure. For certificate problems, libcurl's detail text says more than its code.
    private func text(of code: CURLcode) -> String {
        let isTLS = [CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM].contains(code)
        let told = unsafe String(cString: detail)
        // With TLS 1.3, an alert about the client certificate comes after the handshake.
        let detail = isTLS || told.contains(" alert ") ? told : ""
        return detail.isEmpty ? curl.text(of: code) : detail
    }

    /// Whether the server was reached. A TLS handshake that times out does not count; one that fails does, because the
    /// server answered.
    private func isConnected(_ code: CURLcode) -> Bool {
        // libcurl 7.88 reports no CONNECT_TIME if the handshake fails, but it reports our local port.
        let hasPort = unsafe capture_curl_get_long(curl.calls, raw, CURLINFO_LOCAL_PORT) > 0
        guard isSecure, code == CURLE_OPERATION_TIMEDOUT else { return hasPort }
        let isKept = unsafe capture_curl_get_long(curl.calls, raw, CURLINFO_NUM_CONNECTS) == 0
        let handshake = unsafe capture_curl_get_double(curl.calls, raw, CURLINFO_APPCONNECT_TIME)
        return hasPort && (isKept || handshake > 0)
    }

    private func run(_ transfer: Transfer) -> CURLcode {
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        unsafe capture_curl_set_callbacks(
            curl.calls, raw, context,
            { buffer, size, count, context in
                guard let buffer = unsafe buffer, let transfer = unsafe Transfer.of(context) else {
                    return capture_read_abort()
                }
                return unsafe transfer.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
            },
            { context, offset, _ in
                guard offset == 0, let transfer = unsafe Transfer.of(context) else { return 1 }
                return transfer.rewind() ? 0 : 1
            },
            { bytes, size, count, context in
                guard let transfer = unsafe Transfer.of(context) else { return 0 }
                let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                return unsafe transfer.receive(piece.bindMemory(to: UInt8.self).span) ? size * count : 0
            },
            { bytes, size, count, context in
                guard let transfer = unsafe Transfer.of(context) else { return 0 }
                let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                unsafe transfer.receiveHeader(String(decoding: piece, as: UTF8.self))
                return size * count
            },
            { context, _, received, _, sent in
                guard let transfer = unsafe Transfer.of(context) else { return 1 }
                return transfer.mustEnd(sent: sent, received: received) ? 1 : 0
            })
        unsafe capture_curl_set_sockets(
            curl.calls, raw, Unmanaged.passUnretained(sockets).toOpaque(),
            { context, socket, _ in
                if let context = unsafe context {
                    unsafe Unmanaged<SessionSockets>.fromOpaque(context).takeUnretainedValue().opened(socket)
                }
                return 0
            },
            { context, socket in
                if let context = unsafe context {
                    unsafe Unmanaged<SessionSockets>.fromOpaque(context).takeUnretainedValue().close(socket)
                }
                return 0
            })
        return withExtendedLifetime(transfer) { unsafe curl.calls.pointee.easy_perform(raw) }
    }

    // MARK: - Options

    private func prepare(_ address: WebAddress) {
        isSecure = address.origin.scheme == "https"
        unsafe curl.calls.pointee.easy_reset(raw)
        unsafe detail[0] = 0
        unsafe capture_curl_set_detail(curl.calls, raw, detail)
        set(CURLOPT_URL, address.text)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(options.times.connect * 1000))
        set(CURLOPT_UPLOAD_BUFFERSIZE, 1 << 19)
        set(CURLOPT_BUFFERSIZE, 1 << 17)
        // Connections that were idle for longer than this many seconds are not reused, because they may be broken.
        set(CURLOPT_MAXAGE_CONN, 60)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_USERAGENT, "capqueue")
        if let file = options.authorities {
            set(CURLOPT_CAINFO, file)
            unsafe _ = capture_curl_set_text(curl.calls, raw, CURLOPT_CAPATH, nil)
        }
        if let file = options.certificate { set(CURLOPT_SSLCERT, file) }
        if let file = options.certificateKey { set(CURLOPT_SSLKEY, file) }
        if let proxy = options.proxy { set(CURLOPT_PROXY, proxy) }
        // The answer of a proxy to CONNECT is not an answer of the server.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    private func set(_ request: HTTPRequest) {
        switch request.method {
        case .get: set(CURLOPT_HTTPGET, 1)
        case .head: set(CURLOPT_NOBODY, 1)
        case .delete, .options, .propfind: set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        case .put, .post:
            set(CURLOPT_UPLOAD, 1)
            set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
            unsafe _ = capture_curl_set_size(
                curl.calls, raw, CURLOPT_INFILESIZE_LARGE, Int64(request.body?.byteCount ?? 0))
        }
    }

    private func set(_ option: CURLoption, _ value: Int) {
        unsafe _ = capture_curl_set_long(curl.calls, raw, option, value)
    }

    private func set(_ option: CURLoption, _ value: String) {
        unsafe _ = capture_curl_set_text(curl.calls, raw, option, value)
    }
}
