import CaptureBundle
import CaptureTestSupport
import CurlClient
import Foundation
import QueueTransports
import Testing

/// The place to which a URL leads (Spec/upload.md section 4.3).
struct PutPlaceTests {
    private func place(_ rest: String) throws -> String {
        try #require(WebAddress("http://Host.example:80\(rest)")?.place).description
    }

    @Test func isTheSameIfTheURLIsSignedAgain() throws {
        let page = try String(contentsOf: Places.root.appending(path: "Spec/upload.md"), encoding: .utf8)
        let begin = try #require(page.firstRange(of: "<!-- signing -->"))
        let end = try #require(page.firstRange(of: "<!-- end of signing -->"))
        let names = page[begin.upperBound..<end.lowerBound].split(separator: "`").enumerated()
            .filter { $0.offset % 2 == 1 }
        #expect(names.count == 23)
        let plain = try place("/a?part=1")
        for name in names.map({ $0.element.hasSuffix("-") ? $0.element + "Any" : $0.element }) {
            for spelled in [String(name), name.lowercased(), name.uppercased()] {
                #expect(try place("/a?\(spelled)=1&part=1") == plain, "\(name)")
                #expect(try place("/a?part=1&\(spelled)#f") == plain, "\(name)")
            }
        }
    }

    @Test(arguments: ["/a", "/%61", "/b/../a", "/a#b", "/a?", "/a?sig=x&se=2026#b"])
    func isTheSameHoweverTheURLIsWritten(_ rest: String) throws {
        #expect(try place(rest) == place("/a"))
    }

    @Test(arguments: ["/A", "/a/", "/a?x", "/a?signed=1", "/a?x-sig=1"])
    func isAnotherForAnotherPathOrParameter(_ rest: String) throws {
        #expect(try place(rest) != place("/a"))
    }
}
