import CaptureBundle
import CaptureNative
import CurlClient
public import QueueModel
import Synchronization

/// Small objects in a bucket of an S3-compatible store that are written once and never changed.
///
/// Several processes can share them without a lock, because the store lets only one of them create a name.
///
/// ```swift
/// let objects = try S3Objects(S3Settings(url: URLTemplate("https://s3.example.org/bucket/receivers")))
/// guard try objects.create("devices/3f2b8c1e", line) else { print("the name is taken") }
/// ```
///
/// A name has 1 to 512 bytes: ASCII letters, digits, and `-`, `.`, `_` and `/`. Calls block, and any thread may make
/// them. They throw `value.invalid` for a name of another form, and `io.failed` if the store cannot be reached or
/// refuses the request.
public final class S3Objects: Sendable {
    /// What errors about the settings name.
    private static let subject = "s3"

    private let settings: S3Settings
    private let bucket: String
    /// What every key begins with: empty, or a prefix that ends with a slash.
    private let prefix: String
    /// Exchanges whose connections no call uses at the moment.
    private let idle = Mutex<[IdleExchange]>([])

    /// It is `@unchecked Sendable` because a call takes it out of `idle`, and no other thread uses it until the call
    /// puts it back.
    private struct IdleExchange: @unchecked Sendable {
        let exchange: S3Exchange
    }

    /// - Parameter settings: the settings of a bucket; the URL names it in its path and may have a prefix after it.
    /// - Throws: `destination.settings`.
    public init(_ settings: S3Settings) throws(QueueError) {
        guard case .s3(let parsed) = try DestinationSettings.s3(settings).examined(of: Self.subject),
            let address = WebAddress(parsed.url.text), address.path.utf8.count > 1, !parsed.url.text.contains("{")
        else {
            throw QueueError(
                .destinationSettings, "url must have no {…}: expected https://host/bucket/prefix", of: Self.subject)
        }
        guard parsed.isConditional else {
            throw QueueError(
                .destinationSettings,
                "condition must be yes, because only If-None-Match keeps objects from being replaced",
                of: Self.subject)
        }
        self.settings = parsed
        let parts = address.path.pieces(by: "/")
        bucket = "\(address.origin)/\(parts[0])"
        prefix = parts.dropFirst().map { $0 + "/" }.joined()
    }

    /// Returns the bytes of an object; nil if the store does not have it.
    ///
    /// For a missing object, AWS answers 403 to credentials without the permission `s3:ListBucket`, which is an error
    /// here. An object of more than 1 MiB is an error, too.
    public func get(_ name: String) throws(QueueError) -> [UInt8]? {
        let end = try perform(HTTPRequest(.get, address(of: name)), [])
        guard let answer = end.answer else { throw trouble(end) }
        switch answer.status {
        case 200 where !answer.isCut: return answer.body
        case 404 where end.word != "NoSuchBucket": return nil
        default: throw trouble(end)
        }
    }

    /// Creates an object.
    ///
    /// After an error, the object may exist: the answer may have been lost. So a caller that tries again, and gets
    /// false, compares the object with what it wanted to write.
    ///
    /// - Returns: false if the name is taken; then nothing was changed.
    public func create(_ name: String, _ bytes: [UInt8]) throws(QueueError) -> Bool {
        let request = try HTTPRequest(
            .put, address(of: name), [("Content-Type", "application/octet-stream"), ("If-None-Match", "*")],
            body: MemoryBody(bytes))
        let end = try perform(request, bytes)
        switch end.answer?.status {
        case 200, 201, 204: return true
        case 412: return false
        default: throw trouble(end)
        }
    }

    /// Returns the names of all objects that begin with a text, in the order of their bytes.
    public func names(_ start: String) throws(QueueError) -> [String] { try names(start, atOnce: 1000) }

    /// - Parameter atOnce: the number of names in each answer of the store.
    package func names(_ start: String, atOnce: Int) throws(QueueError) -> [String] {
        var names: [String] = []
        var token: String?
        repeat {
            var query = [
                ("list-type", "2"), ("max-keys", String(atOnce)), ("prefix", prefix + start),
            ]
            // The query is signed in the order of its names.
            if let token { query.insert(("continuation-token", token), at: 0) }
            let text = query.map { "\($0.0)=\(URLTemplate.escaped($0.1))" }.joined(separator: "&")
            let end = try perform(HTTPRequest(.get, try usable("\(bucket)?\(text)")), [])
            guard let answer = end.answer, answer.status == 200, !answer.isCut else { throw trouble(end) }
            let page = String(decoding: answer.body, as: UTF8.self)
            // Names of another form are not ours. So no name has characters that XML escapes.
            names += AnswerWords.elements("Key", page).compactMap { $0.rest(after: prefix) }.filter(Self.isName)
            let isCut = AnswerWords.element("IsTruncated", page) == "true"
            token = isCut ? AnswerWords.element("NextContinuationToken", page) : nil
        } while token != nil
        return names.sorted()
    }

    // MARK: - Requests

    private func perform(_ request: HTTPRequest, _ body: [UInt8]) throws(QueueError) -> HTTPEnd {
        let idle = idle.withLock { $0.popLast() } ?? IdleExchange(exchange: S3Exchange(settings))
        defer { self.idle.withLock { $0.append(idle) } }
        do {
            let hash = Hex.encode(try SHA256Hasher.hash(body))
            return try idle.exchange.perform(request, contentHash: hash, SendControl())
        } catch {
            throw failure(SendOutcome.words(error))
        }
    }

    private func address(of name: String) throws(QueueError) -> WebAddress {
        guard Self.isName(name) else {
            throw QueueError(
                .valueInvalid,
                "a name of an object has 1 to 512 ASCII letters, digits, -, ., _ and /, found: \(name.cut(to: 80))")
        }
        return try usable("\(bucket)/\(prefix)\(name)")
    }

    private func usable(_ url: String) throws(QueueError) -> WebAddress {
        guard let address = WebAddress(url) else { throw failure("the URL cannot be used") }
        return address
    }

    private static func isName(_ name: String) -> Bool {
        // A URL with such a part would lead to another object.
        let parts = name.pieces(by: "/", keepsEmpty: true)
        return name.hasOnlyLettersDigits(or: "-._/") && name.utf8.count <= 512
            && !parts.contains { $0.isEmpty || $0 == "." || $0 == ".." }
    }

    private func trouble(_ end: HTTPEnd) -> QueueError {
        failure(end.answer?.isCut == true ? "\(end.place): the answer is incomplete, or over 1 MiB" : end.message)
    }

    private func failure(_ message: String) -> QueueError { QueueError(.inputOutput, message) }
}
