import CaptureBundle

/// Finds the SHA-256 of one part of a form (`multipart/form-data`) that arrives in pieces, in little memory. Only the
/// boundary separates parts, so the contents of a part cannot end it.
struct PartDigest {
    private enum Place {
        case preamble, headers
        case contents(DigestStream, isWanted: Bool)
        /// Nothing more is read, for this reason.
        case ended(APIError)
    }

    private let name: String
    private let delimiter: [UInt8]
    /// What arrived and is not read yet. The first delimiter has no CRLF before it.
    private var buffer = Array("\r\n".utf8)
    private var place = Place.preamble
    private var parts = 0
    private var digest: Digest?

    /// The maximum number of parts, and of bytes in the headers of a part.
    private static let maxParts = 16
    private static let maxHeaders = 2048
    private static let malformed = APIError.validation("the form is not well-formed")

    /// - Parameter name: The name of the part. If several parts have it, the first one counts.
    init(_ name: String, boundary: [UInt8]) {
        self.name = name
        delimiter = Array("\r\n--".utf8) + boundary
    }

    mutating func consume(_ piece: [UInt8]) throws {
        guard digest == nil else { return }
        buffer += piece
        while try digest == nil && read() {}
    }

    /// - Throws: 400 if the form is not well-formed or has no such part.
    func finish() throws -> Digest {
        if let digest { return digest }
        guard case .ended(let reason) = place else { throw Self.malformed }
        throw reason
    }

    /// Reads to the next mark, or to the end of the buffer.
    ///
    /// - Returns: Whether there was a mark.
    private mutating func read() throws -> Bool {
        switch place {
        case .ended:
            buffer = []
            return false
        case .preamble:
            var isEmpty = true
            let isFound = try take(to: delimiter) { isEmpty = $0.isEmpty }
            guard isFound || !isEmpty else { return false }
            place = isEmpty ? .headers : .ended(Self.malformed)
        case .headers:
            let end = Array("\r\n\r\n".utf8)
            let found = find(end)
            let headers = Array(buffer[..<(found ?? max(0, buffer.count - end.count))])
            let isBegun = headers.starts(with: "\r\n".utf8) || headers.isEmpty || found == nil && headers.count == 1
            guard !buffer.starts(with: "--".utf8), parts < Self.maxParts else {
                place = .ended(.validation("the form has no part \"\(name)\""))
                return true
            }
            guard headers.count <= Self.maxHeaders, isBegun else {
                place = .ended(Self.malformed)
                return true
            }
            guard let found else { return false }
            buffer.removeFirst(found + end.count)
            parts += 1
            let isWanted = FormType.partName(headers).map { $0.elementsEqual(name.utf8) } ?? false
            place = .contents(try DigestStream(), isWanted: isWanted)
        case .contents(let hash, let isWanted):
            guard try take(to: delimiter, { try hash.update(Array($0).span) }) else { return false }
            if isWanted { digest = try hash.finish() }
            place = .headers
        }
        return true
    }

    /// Removes the bytes before a mark from the buffer, and the mark.
    ///
    /// - Returns: false if the buffer does not have the mark. Its last bytes stay then, since they may begin one.
    private mutating func take(to mark: [UInt8], _ body: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
        let found = find(mark)
        let end = found ?? max(0, buffer.count - mark.count + 1)
        try body(buffer[..<end])
        buffer.removeFirst(found == nil ? end : end + mark.count)
        return found != nil
    }

    /// The mark begins with the byte CR and has no other one before its end but in CRLFCRLF, so each byte is compared
    /// at most a few times.
    private func find(_ mark: [UInt8]) -> Int? {
        var from = 0
        while let place = buffer[from...].firstIndex(of: mark[0]), place + mark.count <= buffer.count {
            if buffer[place..<(place + mark.count)].elementsEqual(mark) { return place }
            from = place + 1
        }
        return nil
    }
}
