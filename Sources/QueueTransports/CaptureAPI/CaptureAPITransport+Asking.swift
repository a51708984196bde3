import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Asks a server of the capture API (Spec/upload.md sections 4.3 and 4.4).
extension CaptureAPITransport {
    enum Landing {
        case outcome(SendOutcome)
        /// The server says that it does not have this photo.
        case absent
        /// The server has the photo, but it belongs, or may belong, to another capture.
        case anothers
        /// The server does not say.
        case unknown(String)
    }

    /// Asks the server whether it has the photo (Spec/upload.md section 4.4).
    func landed(_ job: SendJob, _ control: SendControl) -> Landing {
        guard let verify = settings.verify else { return .unknown("the destination has no verify URL") }
        // Without a photo the server cannot be asked.
        guard let source = try? job.open(),
            let photo = try? UploadFile.photo(of: source.handle, sha256: job.held, name: source.name),
            let boundary = try? "capqueue-" + Hex.encode(RandomBytes.make(20))
        else { return .unknown("its photo cannot be read, so the server cannot look it up") }
        let request = HTTPRequest(
            .post, verify,
            [("Content-Type", "multipart/form-data; boundary=\(boundary)"), ("Accept", "application/json")],
            body: Self.form(photo, boundary, control))
        let asked = try? exchange.perform(request, token: nil, control) { _ in false }
        guard let end = asked else { return .unknown("the server cannot be asked") }
        if let answer = end.answer {
            let value = answer.status == 200 ? try? JSONParser.parse(answer.body, nesting: 32) : nil
            let data = value?["data"] ?? value
            let status = data?["status"]?.text
            if status == "verified", let id = data?["capture_id"]?.text, (1...256).contains(id.utf8.count) {
                // Several captures can have the same photo, but not the same id.
                let isKnown = id == job.delivery.remoteID
                if !isKnown && (job.records.isAnother(id, photo: photo.sha256) || Self.isBundleID(id)) {
                    return .anothers
                }
                let url = shown(data?["verification_url"]?.text)
                return .outcome(completed(job, id, url, by: "verify-file", data ?? .null))
            }
            if status == "no_record" { return .absent }
            // After a server error, ask again later; a server that does not know the service is not asked again.
            return answer.status >= 500 || end.kind == .outage || end.kind == .wait
                ? .outcome(Self.stillUnclear(end)) : .unknown(end.message)
        }
        switch end.kind {
        case .offline, .tls, .stopped: return .outcome(end.outcome)
        default: return .outcome(Self.stillUnclear(end))
        }
    }

    private static func form(_ photo: UploadFile, _ boundary: String, _ control: SendControl) -> FileBody {
        let line = "--" + boundary
        let head = """
            \(line)\r\nContent-Disposition: form-data; name="file"; filename="capture.jpg"\r\n\
            Content-Type: image/jpeg\r\n\r\n
            """
        let tail = "\r\n\(line)--\r\n"
        return FileBody(
            photo.handle,
            pieces: [
                .made(Array(head.utf8)), .copied(offset: 0, count: photo.byteCount), .made(Array(tail.utf8)),
            ], of: (photo.byteCount, photo.expected), control)
    }

    /// Whether the server's id is that of a bundle: a UUID of version 8 (Spec/capture-bundle.md section 4.6). Bundles of
    /// other devices can have the same photo, and a copy with withheld entries has the same id. To send the capture again
    /// doubles nothing on such a server, and its answer says that it has these bytes.
    private static func isBundleID(_ id: String) -> Bool {
        let start = String(decoding: id.utf8.prefix(36), as: UTF8.self)
        return RequestSignature.isDeviceID(start) && start.utf8.dropFirst(14).first == UInt8(ascii: "8")
    }

    private static func stillUnclear(_ end: HTTPEnd) -> SendOutcome {
        if case .wait = end.kind { return end.outcome }
        return end.unproven(end.message)
    }

    func poll(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        guard let endpoint = template.address(of: job.capture), let id = job.delivery.remoteID,
            let address = WebAddress(endpoint.origin.description + endpoint.path + "/" + URLTemplate.escaped(id))
        else { return .unclear(code: "poll", message: "the server's id for the capture is unknown") }
        return SendOutcome.of(control) {
            let end = try asked(.get, address, job.token, control)
            if end.answer?.status == 404 {
                return .unclear(code: "http.404", message: "the server no longer knows \(id)")
            }
            let json = end.answer.flatMap { AnswerWords($0).json }
            guard end.answer?.status == 200, let data = json?["data"], data.members != nil else {
                if end.kind != .outage, case .blocked = end.outcome { return end.outcome }
                // Nothing is decided.
                return .parked(cause: end.message, isInDoubt: false)
            }
            if Self.isUndecided(data["status"]?.text) { return .accepted(remoteID: nil, remoteURL: nil) }
            if let refusal = Self.refusal(data, json, hiding: end.secrets) { return refusal }
            return completed(job, id, shown(data["verification_url"]?.text) ?? job.delivery.remoteURL, by: "poll", data)
        }
    }

    /// Makes a signed request without a body.
    func asked(
        _ method: HTTPRequest.Method, _ address: WebAddress, _ token: [UInt8], _ control: SendControl
    ) throws -> HTTPEnd {
        guard let empty = try? Digest.of([]) else { throw SendOutcome.ours("no hash") }
        return try authorized(HTTPRequest(method, address), token, control) { try sign(&$0, empty) }
    }

    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState {
        switch landed(job, control) {
        case .absent: return .lost("the server has no record of it")
        case .anothers: return .unknown("the server has its photo under another id")
        case .unknown(let text): return .unknown(text)
        case .outcome(.completed(_, let id, _)):
            return id == job.delivery.remoteID ? .there : .unknown("the server has its photo under another id")
        case .outcome(let outcome): return .unknown(outcome.trouble ?? "no answer")
        }
    }

    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? {
        "a server of the capture API does not return bundles"
    }

    func test(_ control: SendControl) -> DestinationTest {
        let endpoint = WebAddress(template.example)
        var found = exchange.test(endpoint, control)
        guard found.block == nil, let endpoint else { return found }
        do {
            if let device = settings.device {
                _ = try shared.signer(device)
                found.findings.append("the key of device \(device.id) can be used")
            }
            if let profile = settings.realityCam {
                _ = try shared.signer(profile)
                found.findings.append("the RealityCam key of device \(profile.device.id) can be used")
            }
        } catch {
            found.block = Block(.local, SendOutcome.words(error))
            return found
        }
        found.check(shared.tokens, control)
        if found.block == nil { testPath(of: endpoint, into: &found, control) }
        return found
    }

    /// Asks for a capture that no server has. A server checks the credentials before it looks for the capture. If it gives
    /// the same 404 for a path that does not exist, the path is wrong.
    private func testPath(of endpoint: WebAddress, into found: inout DestinationTest, _ control: SendControl) {
        guard let end = askForNobody(endpoint.path, control)?.named(template, settings.connection) else { return }
        if [405, 501].contains(end.answer?.status) {
            found.findings.append(
                "\(end.message): it can be reached, but does not look up captures, so only the first upload shows "
                    + "whether it accepts them")
            return
        }
        guard end.answer?.status == 404, let word = end.word, end.kind != .credentials else {
            found.evaluate(end, allowing: [])
            if end.isOfAbsence, end.kind == .endpoint {
                found.block = Block(.endpoint, end.message + Self.pathWords(endpoint))
            }
            return
        }
        if word != "CAPTURE_NOT_FOUND" {
            guard let other = askForNobody(endpoint.path + "-no-such-path", control), let answer = other.answer else {
                found.block = Block(.offline, "\(end.message), and then the server could not be reached")
                return
            }
            if answer.status == 404, other.word == word {
                let words = "\(end.message), as it does for a path that does not exist" + Self.pathWords(endpoint)
                found.block = Block(.endpoint, words)
                return
            }
        }
        let url = settings.connection.shown(template)
        found.findings.append("\(url) accepts captures: it answered 404 (\(word)) for a capture that does not exist")
    }

    private static func pathWords(_ endpoint: WebAddress) -> String {
        endpoint.path == "/api/v1/captures" ? "" : "; for a URL without a path, /api/v1/captures is used"
    }

    private func askForNobody(_ path: String, _ control: SendControl) -> HTTPEnd? {
        let nobody = "00000000-0000-4000-8000-000000000000"
        guard let origin = WebAddress(template.example)?.origin,
            let address = WebAddress(origin.description + path + "/" + nobody),
            let token = try? RandomBytes.make(16)
        else { return nil }
        return try? asked(.get, address, token, control)
    }
}

extension HTTPEnd {
    /// Why an accepted upload gave no id: how its answer begins, if that is not the expected JSON.
    var withoutID: String {
        if let coding = answer?["content-encoding"], answer?.isUnreadable ?? false {
            return "in the coding \(coding), which was not asked for and cannot be read"
        }
        guard let answer, !answer.body.isEmpty else { return "without a capture_id: the answer is empty" }
        if answer.isCut { return "without a capture_id: the answer is incomplete, or over 1 MiB" }
        guard (try? JSONParser.parse(answer.body, nesting: 32)) == nil else { return "without a capture_id" }
        if answer.body.starts(with: [0xef, 0xbb, 0xbf]) {
            return "without a capture_id that can be read: a byte order mark is before the JSON"
        }
        let start = AnswerWords.shown(
            String(decoding: answer.body.prefix(60), as: UTF8.self), hiding: secrets, limit: 60)
        return "without a capture_id that can be read: the answer is not JSON, it begins with \(start)"
    }
}
