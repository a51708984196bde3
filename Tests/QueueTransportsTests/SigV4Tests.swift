import CurlClient
import Testing

@testable import QueueTransports

/// The examples of AWS's "Signature calculations for the Authorization header", with the values from that page.
struct SigV4Tests {
    private static let emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test func signsTheExampleOfAnObjectThatIsRead() throws {
        let address = try #require(WebAddress("https://examplebucket.s3.amazonaws.com/test.txt"))
        let request = HTTPRequest(.get, address, [("Range", "bytes=0-9")])
        let signer = SigV4(
            credentials: S3Credentials(
                key: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", session: nil),
            region: "us-east-1", now: 1_369_353_600_000)
        let signed = try signer.signed(request, contentHash: Self.emptyHash)
        let authorization = signed.headers.first { $0.name == "Authorization" }?.value
        #expect(
            authorization == """
                AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
                SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
                Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41
                """)
    }
}
