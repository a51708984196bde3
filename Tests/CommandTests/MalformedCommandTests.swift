import CaptureTestSupport
import Foundation
import Testing

/// The property tests of MalformedTests with the real tool, on a sample of the changes.
struct MalformedCommandTests {
    @Test func refusesASampleOfFlippedBitsAndPrefixes() throws {
        let vector = try VectorFile(Places.vectors.appending(path: "valid/valid_minimal"))
        let tool = try Capbundle()
        try tool.folder.write(vector.trust[0] + "\n", to: "trust")
        var generator = SeededGenerator(seed: 4)
        var names: [String] = []
        for round in 0..<400 {
            var bytes = vector.content
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            if round % 4 == 0 {
                bytes.removeSubrange(index...)
            } else {
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            names.append("\(round)")
            try tool.folder.write(bytes, to: "\(round)")
        }
        let result = try tool.run(["verify", "--trust", "trust"] + names)
        let lines = result.outputText.split(separator: "\n")
        #expect(result.exitCode == 2)
        #expect(result.errorText.isEmpty)
        #expect(lines.count == 401)
        for line in lines.dropLast() {
            let words = line.split(separator: " ")
            #expect(words[1] == "ALTERED:" || words[1] == "MALFORMED:", "\(line)")
        }
    }
}
