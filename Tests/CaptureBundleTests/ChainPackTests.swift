import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// The links of a chain (Spec/capture-bundle.md section 9.3). Tests/Faults kills and disturbs the real tool.
struct ChainPackTests {
    private let folder: TemporaryFolder
    private let key: DeviceKeyFile
    private let packer: Packer

    init() throws {
        folder = try TemporaryFolder()
        key = DeviceKeyFile(path: folder.path("keys/device.key"))
        _ = try key.create(passphrase: nil)
        packer = Packer(key: key, isChained: true)
    }

    private func raws(_ count: Int) throws -> [FilePath] {
        try (0..<count).map { index in
            let metadata = RawFolder.metadata.replacing("Test rig", with: "Rig \(index)")
            try RawFolder.write(to: folder, name: "raw/\(index)", metadata: metadata)
            return folder.path("raw/\(index)")
        }
    }

    @Test func keepsTheIDOfTheContent() throws {
        let raw = try raws(1)[0]
        let chained = try packer.pack(raw, to: .file(folder.path("a")))
        let plain = try Packer(key: key).pack(raw, to: .file(folder.path("b")))
        #expect(chained.id == plain.id)
        #expect(plain.manifest.chain == nil)
    }

    @Test func aTargetThatAppearsMeanwhileTakesNoLink() throws {
        let run = try PackingRun(try raws(12), into: folder.path("out"), packer: packer)
        try FileManager.default.createDirectory(atPath: folder.path("out"), withIntermediateDirectories: false)
        for index in [0, 7, 11] { try folder.write("mine", to: "out/\(index).bundle") }
        var seqs: [Int?] = []
        try run.pack { _, result in seqs.append((try? result.get())?.manifest.chain?.seq) }
        #expect(seqs.count == 12)
        #expect(seqs.compactMap(\.self) == Array(1...9))
        #expect(seqs.indices.filter { seqs[$0] == nil } == [0, 7, 11])
        #expect(String(decoding: try folder.bytes("out/7.bundle"), as: UTF8.self) == "mine")
    }

    @Test func refusesTwoLastBundlesWithOneLink() throws {
        let raws = try raws(2)
        let state = folder.path("keys/device.key.state")
        try FileManager.default.copyItem(atPath: state, toPath: folder.path("old"))
        _ = try packer.pack(raws[0], to: .file(folder.path("a")))
        try FileManager.default.removeItem(atPath: state)
        try FileManager.default.moveItem(atPath: folder.path("old"), toPath: state)
        _ = try packer.pack(raws[1], to: .file(folder.path("b")))
        try FileManager.default.removeItem(atPath: state)
        #expect(refusal { try key.recover(counter: nil, lastBundles: lastBundles(["a", "b"])) }?.code == .keyState)
        #expect(!FileManager.default.fileExists(atPath: state))
    }

    private func lastBundles(_ names: [String]) throws -> [DeviceKeyFile.LastBundle] {
        try names.map { try DeviceKeyFile.LastBundle(BundleSource(path: folder.path($0))) }
    }
}
