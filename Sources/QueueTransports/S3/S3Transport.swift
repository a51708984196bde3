import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Uploads with PUT to an S3-compatible store, under a key that contains the hash (Spec/queue.md section 12).
final class S3Transport: UploadTransport {
    private let settings: S3Settings
    private let exchange: S3Exchange
    private let template: URLTemplate

    init(_ settings: S3Settings) {
        self.settings = settings
        template = settings.object
        exchange = S3Exchange(settings)
    }

    func reach(_ control: SendControl) -> Block? {
        exchange.connections.reach(WebAddress(template.example), control)
    }

    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        do throws(SendTrouble) {
            guard let address = template.address(of: job.capture) else {
                throw SendTrouble(message: "the URL of \(job.capture.id) cannot be used")
            }
            return try send(job, job.open().handle, address, control)
        } catch {
            return error.outcome(control)
        }
    }

    private func send(
        _ job: SendJob, _ handle: FileHandle, _ address: WebAddress, repairs: Bool = false, _ control: SendControl
    ) throws(SendTrouble) -> SendOutcome {
        if !repairs && (job.delivery.isInDoubt || !settings.isConditional) {
            switch try landed(job, handle, address, control) {
            case nil: break
            // The credentials may only allow writing. The key contains the hash, so a PUT only replaces equal bytes.
            case .blocked(let block)? where block.reason == .credentials: break
            case .conflict? where job.mayRepair():
                return try send(job, handle, address, repairs: true, control)
            case let outcome?: return outcome
            }
        }
        let capture = job.capture
        let body = FileBody(handle, of: (capture.byteCount, capture.expectedBytes), control)
        var request = HTTPRequest(.put, address)
        request.headers = try headers(capture, handle, isConditional: settings.isConditional && !repairs)
        request.body = body
        let end = try exchange.perform(request, contentHash: capture.sha256.description, control)
            .named(template, settings.connection)
        if let fault = body.fault { return fault }
        if let refusal = unknownHeader(end) { return refusal }
        switch end.kind {
        case .landed, .present:
            switch try landed(job, handle, address, control) {
            case .conflict? where !repairs && job.mayRepair():
                return try send(job, handle, address, repairs: true, control)
            case let outcome?: return outcome
            case nil where end.kind == .present:
                // Another client is uploading the object, or has just deleted it.
                return .failed(code: end.code, message: end.message)
            case nil:
                return .unclear(code: "s3.absent", message: "\(end.message), and does not have the object")
            }
        case .endpoint where end.word == "NoSuchUpload": return .failed(code: end.code, message: end.message)
        default: return end.outcome
        }
    }

    private func headers(
        _ capture: CaptureRecord, _ handle: FileHandle, isConditional: Bool
    ) throws(SendTrouble) -> [HTTPRequest.Header] {
        var headers = [HTTPRequest.Header("Content-Type", "application/vnd.capture-bundle")]
        if isConditional { headers.append(HTTPRequest.Header("If-None-Match", "*")) }
        switch settings.checksum {
        case .sha256:
            headers.append(HTTPRequest.Header("x-amz-checksum-sha256", Base64.encode(capture.sha256.bytes)))
        case .md5:
            do throws(NativeError) {
                headers.append(HTTPRequest.Header("Content-MD5", Base64.encode(try MD5.hash(handle))))
            } catch {
                throw SendTrouble(message: "the bytes cannot be read: \(error.text)")
            }
        case .none: break
        }
        return headers
    }

    /// Blocks the destination if the store does not know a header, because it would refuse the other captures too.
    private func unknownHeader(_ end: HTTPEnd) -> SendOutcome? {
        guard let answer = end.answer else { return nil }
        let cause: Block.Cause
        // If the store knows the checksum but finds it wrong, the answer is handled as usual.
        if settings.checksum == .sha256, [400, 501].contains(answer.status), answer.names("x-amz-checksum"),
            end.word != "BadDigest"
        {
            cause = .noChecksum
        } else if settings.isConditional, end.isOfUnknownHeader("If-None-Match") {
            cause = .noCondition
        } else {
            return nil
        }
        return .blocked(Block(.endpoint, "\(end.message): \(cause.rawValue)"))
    }

    // MARK: - Asking

    /// Reads back what the store has under the key: the size, and the checksum, the MD5 or the bytes themselves.
    ///
    /// - Returns: nil if it has nothing there.
    private func landed(
        _ job: SendJob, _ handle: FileHandle?, _ address: WebAddress, _ control: SendControl
    ) throws(SendTrouble) -> SendOutcome? {
        let asking = settings.checksum == .sha256 ? [HTTPRequest.Header("x-amz-checksum-mode", "ENABLED")] : []
        let end = try exchange.perform(.head, address, asking, control)
        guard let answer = end.answer else {
            guard case .failed(let code, let message) = end.outcome else { return end.outcome }
            return .unclear(code: code, message: message)
        }
        if answer.status == 404 { return nil }
        guard answer.status == 200 else {
            return end.kind == .credentials || end.kind == .wait
                ? end.outcome : .unclear(code: end.code, message: "\(end.message) to HEAD")
        }
        guard let length = answer["content-length"].flatMap({ Int($0) }) else {
            return try readBack(job, address, control)
        }
        if let expected = job.sentByteCount, length != expected {
            return .conflict(message: "\(shown(address)) holds \(length) bytes; expected \(expected)")
        }
        switch RemoteDigest.compare(answer, handle, sha256: job.capture.sha256) {
        case .agrees:
            let proof = answer["x-amz-checksum-sha256"] == nil ? "etag" : "checksum"
            return completed(job, address, proof, answer["etag"])
        case .differs(let name):
            return .conflict(message: "\(shown(address)) holds other bytes: its \(name) differs")
        case .untold: return try readBack(job, address, control)
        }
    }

    private func readBack(
        _ job: SendJob, _ address: WebAddress, _ control: SendControl
    ) throws(SendTrouble) -> SendOutcome {
        let bytes = try ReturnedBytes(job.sentByteCount, job.capture.sha256)
        let end = try exchange.perform(.get, address, [], control, bytes.take)
        switch bytes.verdict(end) {
        case .same: return completed(job, address, "bytes", end.answer?["etag"])
        case .different: return .conflict(message: "\(shown(address)) holds other bytes")
        case .unread(let text): return .unclear(code: end.code, message: "the upload cannot be read back: \(text)")
        }
    }

    private func shown(_ address: WebAddress) -> String { settings.connection.shown(address) }

    private func completed(_ job: SendJob, _ address: WebAddress, _ proof: String, _ etag: String?) -> SendOutcome {
        let receipt = job.receipt(
            .s3,
            [
                "url": .string(shown(address)), "confirmed_by": .string(proof),
                "etag": etag.map { .string($0.cut(to: 200)) },
            ])
        return .completed(
            receipt: receipt, remoteID: nil, remoteURL: settings.connection.hidesPaths ? nil : address.text)
    }

    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState {
        guard let address = template.address(of: job.capture) else { return .unknown("the URL cannot be used") }
        do throws(SendTrouble) {
            switch try landed(job, job.openSent(), address, control) {
            case nil: return .lost("\(address.origin) does not have the object")
            case .completed?: return .there
            case .conflict(let message)?: return .lost(message)
            case let outcome?: return .unknown(outcome.trouble ?? "no answer")
            }
        } catch {
            return .unknown(error.message)
        }
    }

    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? {
        guard let address = template.address(of: job.capture) else { return "the URL cannot be used" }
        do throws(SendTrouble) {
            let bytes = try ReturnedBytes(job.capture.byteCount, job.capture.sha256, into: target)
            return bytes.trouble(try exchange.perform(.get, address, [], control, bytes.take))
        } catch {
            return error.message
        }
    }

    /// Whether the bucket is missing. It is the first part of the path, unless the host name contains it.
    private func bucketIsMissing(_ address: WebAddress, _ control: SendControl) throws(SendTrouble) -> Bool {
        guard let name = address.path.pieces(by: "/").first,
            let bucket = WebAddress("\(address.origin)/\(name)")
        else { return false }
        return try exchange.perform(.head, bucket, [], control).answer?.status == 404
    }

    func test(_ control: SendControl) -> DestinationTest {
        let example = WebAddress(template.example)
        var found = exchange.connections.test(example, control)
        guard found.block == nil, let address = example else { return found }
        do throws(SendTrouble) {
            let end = try exchange.perform(.head, address, [], control)
            switch end.answer?.status {
            case 404? where try bucketIsMissing(address, control):
                found.block = Block(.endpoint, "\(settings.connection.shown(template)): the bucket does not exist")
            case 200?, 404?:
                found.findings.append("the store accepts the credentials, region \(S3Credentials.region(settings))")
            default: found.judge(end, allowing: [])
            }
        } catch {
            found.block = Block(.local, error.message)
        }
        return found
    }
}
