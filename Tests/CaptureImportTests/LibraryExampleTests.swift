import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import SystemPackage
import Testing

/// The example of CaptureImport.docc (Tests/Documents/library.py compares them).
struct LibraryExampleTests {
    @Test func packsACapture() throws {
        let folder = try TemporaryFolder()
        try RawFolder.write(to: folder)
        let (keyPath, raw): (FilePath, FilePath) = (folder.path("keys/device.key"), folder.path("raw"))
        let bundle: FilePath = folder.path("cap.bundle")
        // docs: PackACapture
        let key = DeviceKeyFile(path: keyPath)
        if (try? key.publicKey()) == nil { _ = try key.create(passphrase: nil) }

        let packed = try Packer(key: key).pack(raw, to: .file(bundle)) { remark in
            print("\(remark.weight.rawValue): \(remark.file): \(remark.message)")
        }
        print("\(packed.id): \(packed.byteCount) bytes, counter \(packed.counter ?? 0)")
        // end
        #expect(packed.counter == 1)
        #expect(try Verifier(trust: TrustFile()).verify(BundleSource(path: bundle)).verdict == .unknownDevice)
    }
}
