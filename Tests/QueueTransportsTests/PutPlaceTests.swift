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

    /// One link-local address in two zones is two computers.
    @Test func isAnotherInAnotherZone() throws {
        let one = try #require(WebAddress("http://[fe80::7%25eth0]:81/a"))
        let two = try #require(WebAddress("http://[fe80::7%25eth1]:81/a"))
        #expect(one.place != two.place && one.origin != two.origin)
        #expect(one.origin.description == "http://[fe80::7%25eth0]:81" && one.origin.authority == "[fe80::7]:81")
        #expect(WebAddress(one.origin.description + one.path)?.origin == one.origin)
    }
}
