/// Parses an HTTP/1 answer from the raw bytes of a connection.
enum EarlyAnswer {
    /// - Returns: nil unless the bytes are an HTTP/1 answer with a status of 300 to 599.
    static func parse(_ bytes: [UInt8]) -> (status: Int, headers: [(name: String, value: String)], body: [UInt8])? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.starts(with: Array("HTTP/1.".utf8)),
            let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) })
        else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).pieces(by: "\n")
        guard let status = lines.first?.pieces(by: " ").dropFirst().first.flatMap({ Int($0.trimmed) }),
            (300...599).contains(status)
        else { return nil }
        let headers = lines.dropFirst().compactMap { line in
            line.nameAndValue().map { (name: $0.name.lowercased(), value: $0.value) }
        }
        return (status, headers, Array(bytes[(end + mark.count)...]))
    }
}
