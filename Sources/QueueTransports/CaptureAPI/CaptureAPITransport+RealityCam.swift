import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel
import Synchronization
import SystemPackage

/// Sends to a RealityCam server (Spec/upload.md section 6).
extension CaptureAPITransport {
    /// The `part` of a receipt, because this server does not get the whole bundle.
    static let realityCamPart = "realitycam"

    /// Sends one capture. Each request has a new body, because its assertion needs a counter above that of the header.
    func sendToRealityCam(
        _ job: SendJob, to endpoint: WebAddress, with profile: HTTPSettings.RealityCam, _ control: SendControl
    ) throws -> SendOutcome {
        var last: (file: FileBody, sha256: Digest)?
        let end = try authorized(HTTPRequest(.post, endpoint), job.token, control) { request in
            last = try attempt(&request, job, with: profile, control)
            return true
        }
        if let fault = last?.file.fault { return fault }
        let outcome = evaluate(end.named(template, settings.connection), of: job, body: last?.sha256, control)
        return Self.explained(outcome, end, bodyBytes: last?.file.byteCount ?? 0)
    }

    /// Adds the probable reason to a refusal: a server with default settings answers 400 to a large body, with a message
    /// about the form.
    private static func explained(_ outcome: SendOutcome, _ end: HTTPEnd, bodyBytes: Int) -> SendOutcome {
        let limit = RealityCamForm.stockLimit
        guard case .rejected(let code, let message) = outcome, end.answer?.status == 400, bodyBytes > limit else {
            return outcome
        }
        return .rejected(
            code: code,
            message:
                "\(message); the body has \(bodyBytes) bytes, and a server with default settings takes at most \(limit)"
        )
    }

    /// Reserves counters, and makes and signs a body of the request with them.
    private func attempt(
        _ request: inout HTTPRequest, _ job: SendJob, with profile: HTTPSettings.RealityCam, _ control: SendControl
    ) throws -> (file: FileBody, sha256: Digest) {
        let signer = try shared.signer(profile)
        let source = try job.open()
        let counters = try reserve(signer, withAssertion: profile.hasAssertion)
        let form = counters.assertion.map { signer.form(counter: $0) } ?? RealityCamForm(assertion: nil)
        var candidate = 0
        while true {
            let (file, layout): (FileBody, BodyLayout)
            do throws(BundleError) {
                layout = try BodyLayout.of(source.handle, name: source.name, from: candidate, form: form)
                file = FileBody(source.handle, layout, of: (job.capture.byteCount, job.capture.expectedBytes), control)
                if let hash = file.digest() {
                    let signature = try signer.sign(
                        hash, counter: counters.header, deviceID: profile.device.id, timestamp: serverTime)
                    request.headers += [("Content-Type", layout.body.contentType), ("Accept", "application/json")]
                    request.headers += signature.headers
                    request.body = file
                    return (file, hash)
                }
            } catch {
                // This server can never accept such a bundle, so it is refused before anything is sent.
                throw [.entryAbsent, .outputUnusable].contains(error.code)
                    ? SendOutcome.rejected(code: error.code.rawValue, message: error.message) : SendOutcome(error)
            }
            guard file.isSpoilt else {
                throw file.fault ?? .parked(cause: control.stopped ?? "", isInDoubt: false)
            }
            // The boundary occurs in the body. Try the next boundary of the manifest.
            candidate = layout.candidate + 1
        }
    }

    func reserve(
        _ signer: any RealityCamRequestSigner, withAssertion: Bool
    ) throws -> (header: UInt32, assertion: UInt32?) {
        do throws(BundleError) { return try signer.reserve(withAssertion: withAssertion) } catch {
            throw SendOutcome.ours("the RealityCam key: \(error.description)")
        }
    }

    /// Waits until no other request with the same key is under way, in this process or another, so that the server gets
    /// counters in the order in which they were reserved.
    ///
    /// - Returns: nil if requests have no counters.
    func takeTurn(_ control: SendControl) throws -> FileLock? {
        guard let profile = settings.realityCam else { return nil }
        let path = try shared.signer(profile).turnPath
        return try control.whileWaiting {
            while true {
                do throws(NativeError) {
                    if let lock = try FileLock.take(path, milliseconds: 0) { return lock }
                } catch {
                    throw SendOutcome.ours("\(path) cannot be locked: \(error.text)")
                }
                guard control.wait(seconds: 0.1) else { throw SendOutcome.ours(control.stopped ?? "") }
            }
        }
    }
}
