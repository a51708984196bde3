import CaptureNative
import SystemPackage
import Testing

struct HardwareKeyURITests {
    @Test(arguments: [
        ("pkcs11:token=a;object=b", "pkcs11:token=a;object=b"),
        ("pkcs11:token=a;object=b?pin-value=12", "pkcs11:token=a;object=b"),
        ("pkcs11:token=a;pin-value=12;object=b", "pkcs11:token=a;object=b"),
        ("pkcs11:token=a?pin-value=1?2&module-path=/m", "pkcs11:token=a?module-path=/m"),
        ("pkcs11:token=a?pin-value=1&pin-source=file:/p&pin-value=2", "pkcs11:token=a?pin-source=file:/p"),
        ("pkcs11:?pin-value=1", "pkcs11:"),
        ("handle:0x81000010?pass", "handle:0x81000010?pass"),
    ])
    func leavesThePINOut(_ text: String, _ shown: String) throws {
        let uri = try #require(HardwareKeyURI(FilePath(text)))
        #expect(uri.shown == shown)
        #expect(uri.showsPIN == (text != shown))
    }

    @Test(arguments: ["device.key", "./pkcs11:a", "/k/handle:0x81000010", "pkcs11", "Handle:0x1", ""])
    func takesOtherPathsForFiles(_ path: String) {
        #expect(HardwareKeyURI(FilePath(path)) == nil)
    }
}
