/// The lines of a PEM file (RFC 7468) that begin its blocks.
package enum PEMText {
    /// The number of blocks whose label ends with `word`, such as `PRIVATE KEY`, also damaged ones.
    package static func count(_ word: String, in bytes: [UInt8]) -> Int {
        let end = Array("\(word)-----".utf8)
        return bytes.split { $0 == 0x0a || $0 == 0x0d }.count { line in
            let text = line.prefix(through: line.lastIndex { $0 != 0x20 && $0 != 0x09 } ?? line.startIndex)
            return text.starts(with: "-----BEGIN ".utf8) && text.suffix(end.count).elementsEqual(end)
        }
    }
}
