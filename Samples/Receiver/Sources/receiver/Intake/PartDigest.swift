import CaptureBundle

/// Finds the SHA-256 of one part of a form (`multipart/form-data`) while it arrives, in little memory. Only the boundary
/// separates parts, so the contents of a part cannot end it.
struct PartDigest {
    private var pieces: BodyPieces.AsyncIterator
    /// What arrived and is not read yet. The first delimiter has no CRLF before it.
    private var buffer = Array("\r\n".utf8)

    private static let maxParts = 16
    private static let maxHeaders = 2048
    private static let malformed = Result<Digest, APIError>.failure(.validation("the form is not well-formed"))

    /// Reads a form to its end. If several parts have the name, the first one counts.
    ///
    /// - Throws: 400 if the form is not well-formed before such a part, or has none; the errors of `body`.
    static func of(_ name: String, in body: BodyPieces, boundary: [UInt8]) async throws -> Digest {
        var form = PartDigest(pieces: body.makeAsyncIterator())
        let digest = try await form.find(name, boundary)
        while try await form.pieces.next() != nil {}
        return try digest.get()
    }

    private mutating func find(_ name: String, _ boundary: [UInt8]) async throws -> Result<Digest, APIError> {
        let delimiter = Array("\r\n--".utf8) + boundary
        guard try await read(to: delimiter, limit: 0, { _ in }) else { return Self.malformed }
        for _ in 0..<Self.maxParts {
            var headers: [UInt8] = []
            let isWhole = try await read(to: Array("\r\n\r\n".utf8), limit: Self.maxHeaders) { headers += $0 }
            if headers.starts(with: "--".utf8) { break }
            guard isWhole, headers.isEmpty || headers.starts(with: "\r\n".utf8) else { return Self.malformed }
            let hash = try DigestStream()
            guard try await read(to: delimiter, limit: .max, { try hash.update(Array($0).span) }) else {
                return Self.malformed
            }
            if FormType.partName(headers) == name { return .success(try hash.finish()) }
        }
        return .failure(.validation("the form has no part \"\(name)\""))
    }

    /// Passes on the bytes before a separator, and reads both.
    ///
    /// - Returns: false if more than `limit` bytes are before it, or the body has none.
    private mutating func read(
        to separator: [UInt8], limit: Int, _ take: (ArraySlice<UInt8>) throws -> Void
    ) async throws -> Bool {
        var count = 0
        while true {
            let found = find(separator)
            // The last bytes may be the beginning of the separator.
            let end = found ?? max(0, buffer.count - separator.count + 1)
            try take(buffer[..<end])
            buffer.removeFirst(found == nil ? end : end + separator.count)
            count += end
            if found != nil || count > limit { return count <= limit }
            guard let piece = try await pieces.next() else {
                try take(buffer[...])
                return false
            }
            buffer += piece
        }
    }

    /// Each byte is compared only a few times: a separator begins with CR, and only CRLFCRLF contains a second one.
    private func find(_ separator: [UInt8]) -> Int? {
        var from = 0
        while let place = buffer[from...].firstIndex(of: separator[0]), place + separator.count <= buffer.count {
            if buffer[place..<(place + separator.count)].elementsEqual(separator) { return place }
            from = place + 1
        }
        return nil
    }
}
