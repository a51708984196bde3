import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Uploads with PUT to an S3-compatible store, under a key that contains the hash (Spec/queue.md section 12).
struct S3Transport: UploadTransport {
    let settings: S3Settings
    let exchange: S3Exchange
    let known: KnownDigests
    let warn: (String) -> Void

    var template: URLTemplate { settings.object }

    func reach(_ control: SendControl) -> Block? {
        exchange.connections.reach(WebAddress(template.example), control)
    }

    /// One try: what is sent, and where to. Also a question about an earlier one.
    struct Upload {
        let job: SendJob
        /// The bytes; nil if they are no longer here.
        let handle: FileHandle?
        let address: WebAddress
        let control: SendControl
        /// Whether to try once if the store refuses a wrong checksum, and to remember what is found.
        var mayTry = true
    }

    /// What the store must have under the key, so that it takes a PUT.
    private enum Condition {
        case absent
        /// An object with this ETag; nil if it has none.
        case damaged(etag: String?)
        case none

        var headers: HTTPHeaders {
            switch self {
            case .absent: [("If-None-Match", "*")]
            case .damaged(let etag?): [("If-Match", etag)]
            case .damaged(nil), .none: []
            }
        }
    }

    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        SendOutcome.of(control) {
            guard let address = template.address(of: job.capture) else {
                throw SendOutcome.ours("the URL of the capture cannot be used", perhapsOfCapture: true)
            }
            let source: FileHandle
            do { source = try job.open().handle } catch {
                let asked = Upload(job: job, handle: nil, address: address, control: control)
                guard job.delivery.isInDoubt, case .ours(let outcome) = try stored(asked) else { throw error }
                return outcome
            }
            return try send(Upload(job: job, handle: source, address: address, control: control))
        }
    }

    private func send(_ upload: Upload) throws -> SendOutcome {
        if let outage = upload.job.outage,
            let outcome = try exchange.perform(HTTPRequest(.head, upload.address), upload.control)
                .named(template, settings.connection).remains(of: outage)
        {
            return outcome
        }
        let usual = settings.isConditional ? Condition.absent : .none
        guard upload.job.delivery.isInDoubt || !settings.isConditional else { return try put(upload, usual) }
        switch try stored(upload) {
        case .absent: return try put(upload, usual)
        case .ours(let outcome), .unknown(let outcome): return outcome
        case .damaged(let etag): return try put(upload, .damaged(etag: etag))
        // The credentials may only allow writing. The key contains the hash, so a PUT only replaces equal bytes, or those
        // that an answer said to be others.
        case .hidden(let end):
            switch accepted(upload) {
            case nil: return try put(upload, usual)
            case PlaceTurn.doubted?: return try put(upload, .none)
            case let status?: return try hidden(upload, nil, status: status, end)
            }
        }
    }

    private func put(_ upload: Upload, _ condition: Condition) throws -> SendOutcome {
        guard let handle = upload.handle else { throw SendOutcome.damaged(message: "the stored file is missing") }
        let capture = upload.job.capture
        let body = FileBody(handle, of: (capture.byteCount, capture.expectedBytes), upload.control)
        let request = try HTTPRequest(.put, upload.address, headers(capture, handle) + condition.headers, body: body)
        let end = try exchange.perform(request, contentHash: capture.sha256.description, upload.control)
            .named(template, settings.connection)
        if let fault = body.fault { return fault }
        if case .damaged(_?) = condition, end.isOfUnknownHeader("If-Match") { return try put(upload, .none) }
        if let refusal = unknownHeader(end, condition) { return refusal }
        switch end.kind {
        // The one proof that needs no further request.
        case .landed where settings.checksum != .md5 && end.answer.map({ RemoteDigest.ofETag($0, handle) }) == .agrees:
            return completed(upload, by: "etag", etag: end.answer?["etag"])
        case .landed, .present: return try landed(upload, condition, end)
        // The object that was to be replaced has just been deleted, or the store is confused.
        case .endpoint where ["NoSuchUpload", "NoSuchKey"].contains(end.word):
            return .failed(code: end.code, message: end.message)
        default: return end.outcome
        }
    }

    /// Looks at what the store has after it took the bytes, or said that it has something under the key.
    private func landed(_ upload: Upload, _ condition: Condition, _ end: HTTPEnd) throws -> SendOutcome {
        switch try stored(upload) {
        case .ours(let outcome), .unknown(let outcome): return outcome
        case .hidden(let asked): return try hidden(upload, end.answer, status: end.answer?.status ?? 0, asked)
        case .absent where end.kind == .present:
            // Another client is uploading the object, or has just deleted it.
            return .failed(code: end.code, message: end.message)
        case .absent: return .unclear(code: "s3.absent", message: "\(end.message), and does not have the object")
        case .damaged(let etag):
            if end.kind == .present, case .absent = condition { return try put(upload, .damaged(etag: etag)) }
            let message = "\(shown(upload.address)) holds other bytes than its name says"
            // An object that stays damaged needs a person.
            guard settings.pace.retry.isLast(upload.job.delivery.attempts) else {
                return .unclear(code: "s3.damaged", message: "\(message); it is replaced")
            }
            return .conflict(message: "\(message), after \(upload.job.delivery.attempts) tries: delete it")
        }
    }

    private func headers(_ capture: CaptureRecord, _ handle: FileHandle) throws -> HTTPHeaders {
        var headers: HTTPHeaders = [("Content-Type", "application/vnd.capture-bundle")]
        switch settings.checksum {
        case .sha256: headers.append(("x-amz-checksum-sha256", Base64.encode(capture.sha256.bytes)))
        case .md5:
            do throws(NativeError) {
                headers.append(("Content-MD5", Base64.encode(try MD5.hash(handle))))
            } catch {
                throw SendOutcome.failed(code: "spool.io", message: "the bytes cannot be read: \(error.text)")
            }
        case .none: break
        }
        return headers
    }

    /// Blocks the destination if the store does not know a header, because it would refuse the other captures too.
    private func unknownHeader(_ end: HTTPEnd, _ condition: Condition) -> SendOutcome? {
        guard let answer = end.answer else { return nil }
        let (cause, words): (Block.Cause, String)
        // If the store knows the checksum but finds it wrong, the answer is handled as usual.
        if settings.checksum == .sha256, [400, 501].contains(answer.status), answer.names("x-amz-checksum"),
            !AnswerClass.wrongBytes.contains(end.word ?? "")
        {
            (cause, words) = (.noChecksum, "x-amz-checksum-sha256")
        } else if case .absent = condition, end.isOfUnknownHeader("If-None-Match") {
            (cause, words) = (.noCondition, "If-None-Match")
        } else {
            return nil
        }
        return .blocked(Block(.endpoint, "\(end.message): the store does not support \(words)", cause: cause))
    }

    func shown(_ address: WebAddress) -> String { settings.connection.shown(address) }

    /// - Parameter status: the status of the PUT, if it alone is the proof.
    func completed(_ upload: Upload, by proof: String, etag: String?, status: Int? = nil) -> SendOutcome {
        let address = upload.address
        let receipt = upload.job.receipt(
            .s3,
            [
                "url": .string(shown(address)), "confirmed_by": .string(proof), "status": status.map { .integer($0) },
                "etag": etag.map { .string($0.cut(to: 200)) },
            ])
        return .completed(
            receipt: receipt, remoteID: nil, remoteURL: settings.connection.hidesPaths ? nil : address.text)
    }

    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState {
        guard let address = template.address(of: job.capture) else { return .unknown("the URL cannot be used") }
        do {
            let asked = Upload(
                job: job, handle: job.openSent(), address: address, control: control, mayTry: false)
            switch try stored(asked) {
            case .absent: return .lost("\(address.origin) does not have the object")
            case .ours: return .there
            case .damaged: return .lost("\(shown(address)) holds other bytes")
            case .hidden(let end): return .unknown("\(end.message) to GET")
            case .unknown(let outcome): return .unknown(outcome.trouble ?? "no answer")
            }
        } catch {
            return .unknown(SendOutcome.words(error))
        }
    }

    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? {
        guard let address = template.address(of: job.capture) else { return "the URL cannot be used" }
        do {
            let bytes = try ReturnedBytes(job.capture.byteCount, job.capture.sha256, into: target)
            return bytes.trouble(try exchange.perform(HTTPRequest(.get, address, sink: bytes.take), control))
        } catch {
            return SendOutcome.words(error)
        }
    }

    func test(_ control: SendControl) -> DestinationTest {
        let example = WebAddress(template.example)
        var found = exchange.connections.test(example, control)
        guard found.block == nil, let address = example else { return found }
        do {
            // Unlike HEAD, GET has an answer that says why a request is refused, and whether the bucket is missing.
            let end = try exchange.perform(HTTPRequest(.get, address, sink: { _ in true }), control)
            switch end.answer?.status {
            case 404? where end.word == "NoSuchBucket":
                found.block = Block(.endpoint, "\(settings.connection.shown(template)): the bucket does not exist")
            case 200?, 404?:
                found.findings.append("the store accepts the credentials, region \(S3Credentials.region(settings))")
                found.findings.append(known.traits.sentence)
            case 403? where end.word == "AccessDenied" && settings.trustsStatus:
                found.findings.append("the keys may not read, so the status of an upload is its proof")
            default:
                found.evaluate(end, allowing: [])
                if end.word == "AccessDenied", let block = found.block {
                    found.block = Block(
                        block.reason, "\(block.message); \(S3Settings.mayNotRead)", cause: .mayNotRead)
                }
            }
        } catch {
            found.block = Block(.local, SendOutcome.words(error))
        }
        return found
    }
}

extension S3Settings {
    static let mayNotRead = "HEAD and GET need s3:GetObject"
}

extension DigestTraits {
    /// What counts as a proof, for `dest test`.
    fileprivate var sentence: String {
        let checksums =
            switch refusesWrong {
            case nil: "whether the store refuses a wrong checksum is tried by the first upload that needs it"
            case true?: "the store has refused a wrong checksum, so its checksums are proofs"
            case false?: "the store has accepted a wrong checksum, so its checksums prove nothing"
            }
        return checksums + (hasMD5ETags ? "" : "; its ETags are not MD5s")
    }
}
