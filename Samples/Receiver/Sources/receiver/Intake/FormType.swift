import Foundation
import Hummingbird

/// Header values of forms: a type or a word, and parameters after semicolons.
enum FormType {
    /// - Throws: 400 if the request is not `multipart/form-data` with a boundary of 1 to 70 characters.
    static func boundary(of request: Request) throws -> [UInt8] {
        let values = request.headers[values: .contentType]
        guard values.count == 1, values[0].utf8.count <= 300,
            let boundary = parameter("boundary", of: values[0], after: "multipart/form-data")?.utf8,
            (1...70).contains(boundary.count), boundary.last != 0x20,
            boundary.allSatisfy({ (0x20...0x7e).contains($0) })
        else { throw APIError.validation("Content-Type is not multipart/form-data with a boundary") }
        return Array(boundary)
    }

    /// The name of a part; nil if its headers do not give one.
    static func partName(_ headers: [UInt8]) -> String? {
        let lines = String(decoding: headers, as: UTF8.self).components(separatedBy: CharacterSet(charactersIn: "\r\n"))
        let field = "content-disposition:"
        guard let line = lines.first(where: { $0.lowercased().hasPrefix(field) }) else { return nil }
        return parameter("name", of: String(line.dropFirst(field.count)), after: "form-data")
    }

    /// The value of a parameter; nil if it is missing or repeated, or if another word comes before the parameters.
    private static func parameter(_ name: String, of value: String, after word: String) -> String? {
        var isQuoted = false
        let parts = value.unicodeScalars.split(omittingEmptySubsequences: false) { scalar in
            if scalar == "\"" { isQuoted.toggle() }
            return scalar == ";" && !isQuoted
        }.map { String($0).trimmingCharacters(in: .whitespaces) }
        let found = parts.dropFirst().filter { $0.lowercased().hasPrefix("\(name)=") }
        guard parts[0].lowercased() == word, found.count == 1 else { return nil }
        let pieces = String(found[0].dropFirst(name.count + 1)).components(separatedBy: "\"")
        if pieces.count == 1 { return pieces[0] }
        return pieces.count == 3 && pieces[0].isEmpty && pieces[2].isEmpty ? pieces[1] : nil
    }
}
