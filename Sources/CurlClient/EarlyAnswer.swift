import CaptureNative

/// Parses an HTTP/1 answer from the raw bytes of a connection.
enum EarlyAnswer {
    /// - Returns: nil unless the bytes are an HTTP/1 answer with a status of 300 to 599, perhaps after interim answers.
    static func parse(_ bytes: [UInt8]) -> (status: Int, headers: [(name: String, value: String)], body: [UInt8])? {
        var rest = bytes[...]
        while let (status, lines, after) = head(rest) {
            rest = after
            // A server can send many interim answers before the one that counts.
            if (100...199).contains(status) { continue }
            guard (300...599).contains(status) else { return nil }
            let headers = lines.compactMap { line in
                line.nameAndValue().map { (name: $0.name.lowercased(), value: $0.value) }
            }
            return (status, headers, decoded(Array(rest), headers))
        }
        return nil
    }

    /// The status and the header lines of an answer, and the bytes behind them.
    private static func head(_ bytes: ArraySlice<UInt8>) -> (status: Int, lines: [String], after: ArraySlice<UInt8>)? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.starts(with: Array("HTTP/1.".utf8)),
            let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) })
        else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).pieces(by: "\n")
        guard let status = lines.first?.pieces(by: " ").dropFirst().first.flatMap({ Int($0.trimmed) }) else {
            return nil
        }
        return (status, Array(lines.dropFirst()), bytes[(end + mark.count)...])
    }

    /// The bytes of the body without its transfer coding and its content coding, as far as they arrived.
    private static func decoded(_ bytes: [UInt8], _ headers: [(name: String, value: String)]) -> [UInt8] {
        let isChunked = headers.contains { $0.name == "transfer-encoding" && $0.value.lowercased().contains("chunked") }
        let body = isChunked ? unchunked(bytes) : bytes
        let coding = ContentCoding.of(headers.last { $0.name == "content-encoding" }?.value)
        guard let decoder = ContentDecoder(coding) else { return body }
        var plain: [UInt8] = []
        _ = decoder.decode(body.span) { piece in
            plain.append(copying: piece.extracting(first: min(piece.count, mostDecoded - plain.count)))
            return plain.count < mostDecoded
        }
        return plain
    }

    private static let mostDecoded = 1 << 16

    private static func unchunked(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        var body: [UInt8] = []
        while let end = rest.firstIndex(of: 0x0a),
            let size = String(decoding: rest[..<end], as: UTF8.self).pieces(by: ";").first
                .flatMap({ Int($0.trimmed, radix: 16) }), (1...bytes.count).contains(size)
        {
            body += rest[(end + 1)...].prefix(size)
            rest = rest[(end + 1)...].dropFirst(size + 2)
        }
        return body
    }
}
