import CaptureBundle
import CurlClient
import QueueTransports
import Testing

/// The place to which a URL leads (Spec/upload.md section 4.3).
struct PutPlaceTests {
    private func place(_ rest: String) throws -> String {
        try #require(WebAddress("http://Host.example:80\(rest)")?.place).description
    }

    @Test(arguments: ["/a", "/%61", "/b/../a", "/a#b", "/a?", "/a?id=1#b"])
    func isTheSameHoweverTheURLIsWritten(_ rest: String) throws {
        #expect(try place(rest) == place("/a"))
    }

    @Test(arguments: ["/A", "/a/", "/a%3Fx", "/b?a"])
    func isAnotherForAnotherPath(_ rest: String) throws {
        #expect(try place(rest) != place("/a"))
    }
}
