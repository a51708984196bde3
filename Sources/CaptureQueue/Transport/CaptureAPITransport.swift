import CaptureBundle
import CaptureNative
import CurlTransport
import Synchronization

/// What transfers to one server of the capture API share.
final class CaptureAPIShared: Sendable {
    let tokens: TokenSource?
    /// Server's clock minus ours, in milliseconds: learnt when it refuses a timestamp.
    let offset = Mutex(0)
    private let device = Mutex<DeviceKey?>(nil)

    init(_ destination: Destination) { tokens = TokenSource(destination) }

    /// nil where the destination has no device; read once.
    func device(_ destination: Destination) throws(SendTrouble) -> (key: DeviceKey, id: String)? {
        guard let id = destination.settings["device-id"] else { return nil }
        if let known = device.withLock(\.self) { return (known, id) }
        let path = destination.settings["key"] ?? DeviceKeyFile.usualPath
        let passphrase = try destination.settings["passphrase-file"].map { file throws(SendTrouble) in
            try SecretFile.firstLine(file)
        }
        do throws(BundleError) {
            let key = try DeviceKeyFile(path: path).load(passphrase: passphrase)
            device.withLock { $0 = key }
            return (key, id)
        } catch {
            throw SendTrouble(message: "the device key \(path): \(error.message)")
        }
    }
}

/// Multipart POST to a server of the capture API (Spec/upload.md).
final class CaptureAPITransport: UploadTransport {
    private let destination: Destination
    private let shared: CaptureAPIShared
    private let exchange: HTTPExchange
    private let template: URLTemplate
    private let verifyAddress: WebAddress?

    init(_ destination: Destination, _ shared: CaptureAPIShared) {
        self.destination = destination
        self.shared = shared
        exchange = HTTPExchange(destination, .http)
        template = Self.template(destination)
        verifyAddress = Self.verifyAddress(destination, WebAddress(template.example))
    }

    private static func template(_ destination: Destination) -> URLTemplate {
        let given = URLTemplate(destination.settings["url"] ?? "")
        guard let example = WebAddress(given.example), example.path == "/" || example.path.isEmpty, example.query == nil
        else { return given }
        return URLTemplate(given.text + (given.text.hasSuffix("/") ? "" : "/") + "api/v1/captures")
    }

    private static func verifyAddress(_ destination: Destination, _ endpoint: WebAddress?) -> WebAddress? {
        if let text = destination.settings["verify-url"] { return text == "none" ? nil : WebAddress(text) }
        guard let endpoint, let slash = endpoint.path.lastIndex(of: "/") else { return nil }
        return WebAddress(endpoint.origin.description + endpoint.path[..<slash] + "/verify-file")
    }

    func reach(_ control: SendControl) -> DestinationHold? { exchange.reach(WebAddress(template.example), control) }

    // MARK: - Sending

    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        guard let endpoint = template.address(of: job.capture) else { return local("the URL cannot be used") }
        if job.delivery.isInDoubt {
            switch landed(job, control) {
            case .outcome(let outcome): return outcome
            case .absent, .unknown: break
            }
        }
        var candidate = 0
        while true {
            let source: Source
            switch open(job, from: candidate) {
            case .success(let found): source = found
            case .failure(let end): return end.outcome
            }
            let file = FileBody(
                source.handle, source.layout, of: (job.capture.byteCount, job.capture.sha256), control)
            let outcome = post(file, source.layout.contentType, to: endpoint, job, control)
            guard file.isSpoilt else { return file.fault ?? outcome }
            // Nothing of it arrived whole; the next boundary that the manifest gives is tried.
            candidate = source.layout.candidate + 1
        }
    }

    private func post(
        _ file: FileBody, _ contentType: String, to endpoint: WebAddress, _ job: SendJob, _ control: SendControl
    ) -> SendOutcome {
        // Only a signature needs the hash of the body before it is sent.
        var digest: Digest?
        if destination.settings["device-id"] != nil {
            digest = file.digest()
            guard digest != nil else { return file.fault ?? .parked(cause: control.stopped ?? "", isInDoubt: false) }
        }
        var request = HTTPRequest(.post, endpoint)
        request.headers = [
            HTTPRequest.Header("Content-Type", contentType), HTTPRequest.Header("Accept", "application/json"),
        ]
        if let key = job.delivery.idempotencyKey { request.headers.append(HTTPRequest.Header("Idempotency-Key", key)) }
        request.body = file
        switch authorized(request, digest, job.token, control) {
        case .failure(let outcome): return outcome.outcome
        case .success(let end): return judge(end, job, digest, control)
        }
    }

    private func judge(_ end: HTTPEnd, _ job: SendJob, _ body: Digest?, _ control: SendControl) -> SendOutcome {
        switch end.kind {
        case .landed:
            guard let answer = end.answer, !answer.isCut, let value = try? JSONParser.parse(answer.body, nesting: 32),
                let data = value["data"], let id = data["capture_id"]?.text, (1...256).contains(id.utf8.count)
            else {
                return .unclear(code: end.code, message: "\(end.message) without a capture_id")
            }
            let url = data["verification_url"]?.text
            if let refusal = Self.refusal(data, value) { return refusal }
            if Self.isUndecided(data["status"]?.text) { return .accepted(remoteID: id, remoteURL: url) }
            return completed(job, id, url, by: "answer", data, body)
        case .unclear where end.answer.map({ $0.status >= 500 }) ?? false, .present:
            // The connection is fine, so it can be asked at once.
            if case .outcome(let outcome) = landed(job, control), case .completed = outcome { return outcome }
            return end.kind == .present ? .failed(code: end.code, message: end.message) : end.outcome
        default: return end.outcome
        }
    }

    private static func isUndecided(_ status: String?) -> Bool {
        ["processing", "pending", "queued"].contains(status?.lowercased() ?? "")
    }

    /// What a server says that has looked at a capture and does not want it; nil for anything else.
    private static func refusal(_ data: JSONValue, _ answer: JSONValue?) -> SendOutcome? {
        guard let status = data["status"]?.text?.lowercased(), ["failed", "rejected", "error"].contains(status) else {
            return nil
        }
        let reason =
            data["reason"]?.text ?? data["error"]?["message"]?.text ?? answer?["error"]?["message"]?.text
            ?? "without a reason"
        return .rejected(code: "server.\(status)", message: "the server rejected it: \(reason.prefix(300))")
    }

    private func completed(
        _ job: SendJob, _ id: String, _ url: String?, by proof: String, _ answer: JSONValue, _ body: Digest? = nil
    ) -> SendOutcome {
        let receipt = job.receipt(
            .http,
            [
                "capture_id": .string(id), "confirmed_by": .string(proof),
                "body_sha256": body.map { .string($0.description) },
                "url": template.address(of: job.capture).map { .string($0.shown) },
                "answer": CanonicalJSON.encode(answer).count <= Self.answerLimit ? answer : nil,
            ])
        return .completed(receipt: receipt, remoteID: id, remoteURL: url)
    }

    /// Bytes of what the server said that go into a receipt.
    private static let answerLimit = 4096

    private func local(_ message: String) -> SendOutcome {
        .held(DestinationHold(code: AnswerClass.local.rawValue, message: message))
    }

    /// A bundle, and how a body is made of it.
    private typealias Source = (handle: FileHandle, layout: BodyLayout)

    private func open(_ job: SendJob, from candidate: Int) -> Result<Source, RefusedSend> {
        switch job.open() {
        case .failure(let trouble): return .failure(RefusedSend(outcome: trouble.outcome))
        case .success(let source):
            do throws(BundleError) {
                let layout = try BodyLayout.of(source.handle, name: source.name, from: candidate)
                return .success((source.handle, layout))
            } catch {
                return .failure(RefusedSend(outcome: Self.outcome(of: error)))
            }
        }
    }

    static func outcome(of error: BundleError) -> SendOutcome {
        if error.code == .outputUnusable || error.code == .inputOutput {
            return .failed(code: error.code.rawValue, message: error.message)
        }
        // A bundle that was sound when it was pushed has other bytes now; it is looked at before it is set aside.
        return error.verdict == nil && error.code != .entrySHA256
            ? .failed(code: error.code.rawValue, message: error.message) : .damaged(message: error.message)
    }

    // MARK: - Asking

    private enum Landing {
        case outcome(SendOutcome)
        /// The server says that it has no such photo, or has it of another capture.
        case absent
        /// It does not say.
        case unknown(String)
    }

    /// Asks the server whether it has the photo (Spec/upload.md section 4.4).
    private func landed(_ job: SendJob, _ control: SendControl) -> Landing {
        guard let verifyAddress else { return .unknown("the destination has no verify URL") }
        // Without a photo there is nothing to ask for.
        guard case .success(let source) = job.open(),
            let photo = try? SpooledPart.photo(of: source.handle, sha256: job.capture.sha256, name: source.name),
            let form = try? FormFile(photo, control)
        else { return .unknown("there is no photo to ask for") }
        var request = HTTPRequest(.post, verifyAddress)
        request.headers = [
            HTTPRequest.Header("Content-Type", form.contentType), HTTPRequest.Header("Accept", "application/json"),
        ]
        request.body = form
        let end = exchange.perform(request, carriesCredentials: false, control)
        if let answer = end.answer {
            let value = answer.status == 200 ? try? JSONParser.parse(answer.body, nesting: 32) : nil
            let data = value?["data"] ?? value
            let status = data?["status"]?.text
            if status == "verified", let id = data?["capture_id"]?.text, !id.isEmpty {
                // Photos can be shared; ids are not.
                if id != job.delivery.remoteID && job.mayBeTwin(id, photo: photo.sha256) { return .absent }
                return .outcome(completed(job, id, data?["verification_url"]?.text, by: "verify-file", data ?? .null))
            }
            if status == "no_record" { return .absent }
            // A server that has trouble is asked later; one that does not know the service, never.
            return answer.status >= 500 || answer.status == 429
                ? .outcome(Self.stillUnclear(end)) : .unknown(end.message)
        }
        switch end.kind {
        case .offline, .tls, .stopped: return .outcome(end.outcome)
        default: return .outcome(Self.stillUnclear(end))
        }
    }

    private static func stillUnclear(_ end: HTTPEnd) -> SendOutcome {
        if case .wait = end.kind { return end.outcome }
        return .unclear(code: end.code, message: end.message)
    }

    func poll(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        guard let endpoint = template.address(of: job.capture), let id = job.delivery.remoteID,
            let address = WebAddress(endpoint.origin.description + endpoint.path + "/" + URLTemplate.escaped(id))
        else { return .unclear(code: "poll", message: "no id of the server's to ask for") }
        guard let empty = try? Digest.of([]) else { return local("no hash") }
        switch authorized(HTTPRequest(.get, address), empty, job.token, control) {
        case .failure(let refusal): return refusal.outcome
        case .success(let end):
            guard let answer = end.answer else {
                if case .held = end.outcome { return end.outcome }
                // Nobody said anything, so nothing is decided.
                return .parked(cause: end.message, isInDoubt: false)
            }
            if answer.status == 404 {
                return .unclear(code: "http.404", message: "the server does not know \(id) any more")
            }
            let json = AnswerWords(answer).json
            guard answer.status == 200, let data = json?["data"], data.members != nil else {
                if case .held = end.outcome { return end.outcome }
                return .parked(cause: end.message, isInDoubt: false)
            }
            let status = data["status"]?.text
            if Self.isUndecided(status) { return .accepted(remoteID: nil, remoteURL: nil) }
            if let refusal = Self.refusal(data, json) { return refusal }
            return completed(
                job, id, data["verification_url"]?.text ?? job.delivery.remoteURL, by: "poll", data)
        }
    }

    // MARK: - Credentials

    /// Sends with token and device headers, made for this try; once more where the server asks for fresh ones.
    private func authorized(
        _ request: HTTPRequest, _ body: Digest?, _ token: [UInt8], _ control: SendControl
    ) -> Result<HTTPEnd, RefusedSend> {
        let own = destination.ownHeaders
        do throws(SendTrouble) {
            return .success(
                try exchange.perform(
                    request, token: shared.tokens, control,
                    prepare: { attempt throws(SendTrouble) in
                        attempt.add(own)
                        attempt.headers += [HTTPRequest.Header("X-Request-Id", RandomUUID.text(of: token))]
                        return try sign(&attempt, body) || !own.isEmpty
                    },
                    onAgain: { end in if end.asksForFreshHeaders { correctClock(end.answer) } }))
        } catch {
            return .failure(RefusedSend(local: error.message, control))
        }
    }

    /// - Returns: whether there is a device to sign with.
    private func sign(_ request: inout HTTPRequest, _ body: Digest?) throws(SendTrouble) -> Bool {
        guard let body, let device = try shared.device(destination) else { return false }
        let now = WallClock.milliseconds + shared.offset.withLock(\.self)
        do throws(BundleError) {
            let signature = try RequestSignature(body: body, deviceID: device.id, timestamp: now, device: device.key)
            request.headers += signature.headers.map { HTTPRequest.Header($0.name, $0.value) }
            return true
        } catch {
            throw SendTrouble(message: error.message)
        }
    }

    /// 2020 to 2200: a clock of ours that was never set may be off by half a century, a server's is not.
    private static let possibleTimes = 1_577_836_800_000...7_258_118_400_000

    private func correctClock(_ answer: HTTPAnswer?) {
        guard let answer else { return }
        let now = WallClock.milliseconds
        let told = AnswerWords(answer).json?["meta"]?["timestamp"]?.text.flatMap { CaptureTime($0)?.milliseconds }
        guard let server = told ?? answer["date"].flatMap({ HTTPDate.milliseconds($0, now: now) }),
            Self.possibleTimes.contains(server)
        else { return }
        shared.offset.withLock { $0 = server - now }
    }

    // MARK: - The rest

    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState {
        switch landed(job, control) {
        case .absent: return .lost("the server has no record of it")
        case .unknown(let text): return .unknown(text)
        case .outcome(.completed(_, let id, _)):
            return id == job.delivery.remoteID ? .there : .unknown("the server has its photo under another id")
        case .outcome(let outcome): return .unknown(outcome.trouble ?? "no answer")
        }
    }

    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? {
        "a server of the capture API does not give bundles back"
    }

    func test(_ control: SendControl) -> DestinationTest {
        var found = DestinationTest()
        guard let endpoint = WebAddress(template.example) else {
            found.hold = DestinationHold(code: AnswerClass.endpoint.rawValue, message: "the destination has no URL")
            return found
        }
        if let hold = reach(control) {
            found.hold = hold
            return found
        }
        found.findings.append("\(endpoint.origin) can be reached")
        do throws(SendTrouble) {
            if let device = try shared.device(destination) {
                found.findings.append("the key of device \(device.id) opens")
            }
            if let tokens = shared.tokens {
                _ = try tokens.current(control)
                found.findings.append("there is a token")
            }
        } catch {
            found.hold = DestinationHold(code: AnswerClass.local.rawValue, message: error.message)
            return found
        }
        // A capture that no server has: who asks is judged before what is asked for.
        let nobody = "00000000-0000-4000-8000-000000000000"
        guard let address = WebAddress(endpoint.origin.description + endpoint.path + "/" + nobody),
            let empty = try? Digest.of([]), let token = try? RandomBytes.make(16),
            case .success(let end) = authorized(HTTPRequest(.get, address), empty, token, control)
        else { return found }
        // A server of another kind has no code for it.
        found.judge(end, allowing: end.kind == .final ? [404] : [])
        return found
    }
}

extension Destination {
    /// Headers that the user gave.
    var ownHeaders: [HTTPRequest.Header] { settings["header"].map(HeaderLines.parse)?.compactMap(\.self) ?? [] }
}

extension HTTPRequest {
    /// Adds headers of the user's; of Content-Type there is one.
    mutating func add(_ own: [Header]) {
        if own.contains(where: { $0.name.lowercased() == "content-type" }) {
            headers.removeAll { $0.name.lowercased() == "content-type" }
        }
        headers += own
    }
}

extension DestinationTest {
    /// - Parameter fine: statuses that only say that there is no such thing yet.
    mutating func judge(_ end: HTTPEnd, allowing fine: Set<Int>) {
        let status = end.answer?.status ?? 0
        let isFine = (200...299).contains(status) || fine.contains(status) && end.kind != .credentials
        switch end.kind {
        case _ where isFine: findings.append(end.message)
        case .again: hold = DestinationHold(code: AnswerClass.credentials.rawValue, message: end.message)
        case .final, .present, .followed:
            hold = DestinationHold(code: AnswerClass.endpoint.rawValue, message: end.message)
        default: hold = DestinationHold(code: end.kind.rawValue, message: end.message)
        }
    }
}

/// UUIDs of chance (RFC 9562 version 4).
enum RandomUUID {
    /// - Parameter bytes: 16 of them.
    static func text(of bytes: [UInt8]) -> String {
        var bytes = bytes
        guard bytes.count == 16 else { return "00000000-0000-4000-8000-000000000000" }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let hex = Hex.encode(bytes)
        let ends = [8, 12, 16, 20, 32]
        var start = 0
        return ends.map { end in
            defer { start = end }
            return String(Array(hex)[start..<end])
        }.joined(separator: "-")
    }

    static func make() throws -> String {
        text(of: try onFile("random numbers") { () throws(NativeError) in try RandomBytes.make(16) })
    }
}

/// A form with one file in it, streamed.
private final class FormFile: RequestBody {
    let contentType: String
    let byteCount: Int
    private let file: FileBody
    private let head: MemoryBody
    private let tail: MemoryBody

    init(_ photo: SpooledPart, _ control: SendControl) throws(NativeError) {
        let boundary = "capqueue-" + Hex.encode(try RandomBytes.make(20))
        contentType = "multipart/form-data; boundary=\(boundary)"
        head = MemoryBody(
            Array(
                """
                --\(boundary)\r\nContent-Disposition: form-data; name="file"; filename="capture.jpg"\r\n\
                Content-Type: image/jpeg\r\n\r\n
                """.utf8))
        tail = MemoryBody(Array("\r\n--\(boundary)--\r\n".utf8))
        file = FileBody(photo.handle, byteCount: photo.byteCount, sha256: photo.sha256, control)
        byteCount = head.byteCount + photo.byteCount + tail.byteCount
    }

    var isSent: Bool { tail.isSent && file.isSent }

    func rewind() -> Bool { head.rewind() && file.rewind() && tail.rewind() }

    func lend(_ limit: Int, to taker: (Span<UInt8>) -> Void) -> Bool {
        if !head.isSent { return head.lend(limit, to: taker) }
        if !file.isSent { return file.lend(limit, to: taker) }
        return tail.lend(limit, to: taker)
    }
}
