import CaptureBundle
import Foundation
import SystemPackage

/// Reads a form (`multipart/form-data`) from a file, in constant memory. Only the boundary separates parts, so the
/// contents of a part cannot end it.
struct FormScanner {
    private let file: FileHandle
    private let delimiter: [UInt8]
    private var buffer: [UInt8]
    private var start = 0

    private static let piece = 64 * 1024
    /// The maximum number of parts, and of bytes in the headers of a part.
    private static let parts = 16
    private static let headers = 2048

    init(_ path: FilePath, boundary: [UInt8]) throws {
        file = try FileHandle(forReadingFrom: URL(filePath: path.string))
        delimiter = Array("\r\n--".utf8) + boundary
        // The first delimiter has no CRLF before it.
        buffer = Array("\r\n".utf8)
    }

    /// Returns the SHA-256 of the contents of the first part with this name.
    ///
    /// - Throws: 400 if the form is not well-formed or has no such part.
    mutating func digest(ofPart name: String) throws -> Digest {
        var preamble = 0
        guard try copy(until: delimiter, to: { preamble += $0.count }), preamble == 0 else { throw Self.malformed }
        for _ in 0..<Self.parts {
            guard let headers = try headers() else { break }
            let hash = try DigestStream()
            guard try copy(until: delimiter, to: { try hash.update(Array($0).span) }) else { throw Self.malformed }
            if FormType.partName(headers).map({ $0.elementsEqual(name.utf8) }) ?? false { return try hash.finish() }
        }
        throw APIError.validation("the form has no part \"\(name)\"")
    }

    private static let malformed = APIError.validation("the form is not well-formed")

    /// The headers of the next part; nil after the last part.
    private mutating func headers() throws -> [UInt8]? {
        var headers: [UInt8] = []
        let isFound = try copy(until: Array("\r\n\r\n".utf8)) { piece in
            headers += piece
            guard headers.count <= Self.headers else { throw Self.malformed }
        }
        if headers.starts(with: "--".utf8) { return nil }
        guard isFound, headers.isEmpty || headers.starts(with: "\r\n".utf8) else { throw Self.malformed }
        return headers
    }

    /// Passes the bytes before a mark to `take`, and goes behind the mark.
    ///
    /// - Returns: false if the file ends without the mark.
    private mutating func copy(until mark: [UInt8], to take: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
        while true {
            if let place = find(mark) {
                try take(buffer[start..<place])
                start = place + mark.count
                return true
            }
            // The end of the buffer may be the beginning of the mark.
            let end = max(start, buffer.count - mark.count + 1)
            try take(buffer[start..<end])
            buffer.removeSubrange(..<end)
            start = 0
            guard let next = try file.read(upToCount: Self.piece), !next.isEmpty else { return false }
            buffer += next
        }
    }

    /// The mark begins with the byte CR and has no other one before its end but in CRLFCRLF, so each byte is compared
    /// at most a few times.
    private func find(_ mark: [UInt8]) -> Int? {
        var from = start
        while let place = buffer[from...].firstIndex(of: mark[0]), place + mark.count <= buffer.count {
            if buffer[place..<(place + mark.count)].elementsEqual(mark) { return place }
            from = place + 1
        }
        return nil
    }
}
