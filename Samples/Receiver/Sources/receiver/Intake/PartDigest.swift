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

    /// Reads to the next delimiter or end of headers, or to the end of the buffer.
    ///
    /// - Returns: Whether it was found.
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

    /// Passes on the bytes before a separator, and removes both from the buffer.
    ///
    /// - Returns: false if the separator is not in the buffer. The last bytes then stay, since they may be its
    ///   beginning.
    private mutating func take(to separator: [UInt8], _ body: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
        let found = find(separator)
        let end = found ?? max(0, buffer.count - separator.count + 1)
        try body(buffer[..<end])
        buffer.removeFirst(found == nil ? end : end + separator.count)
        return found != nil
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
