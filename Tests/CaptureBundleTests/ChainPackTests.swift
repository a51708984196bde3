import CaptureBundle
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

    private func head(_ name: String) throws -> UnverifiedHead {
        try UnverifiedHead(BundleSource(path: folder.path(name)))
    }

    @Test func linksEachBundleToTheOneBefore() throws {
        let raws = try raws(3)
        for index in 0..<3 {
            let packed = try packer.pack(raws[index], to: .file(folder.path("\(index)")))
            #expect(packed.manifest.chain?.seq == index + 1)
            #expect(packed.counter == UInt32(index + 1))
            let before = index == 0 ? nil : try head("\(index - 1)").manifestSHA256
            #expect(try head("\(index)").manifest.chain?.prev == before)
        }
        #expect(try key.state().chain.end?.seq == 3)
    }

    /// The bundle of a capture is recognised by its manifest, so the same command again makes nothing new.
    @Test func aCaptureThatIsPackedKeepsItsLink() throws {
        let raws = try raws(40)
        let first = try PackingRun(Array(raws[..<35]), into: folder.path("out"), packer: packer)
        try first.pack { _, result in #expect((try? result.get())?.wasPackedBefore == false) }
        let again = try PackingRun(raws, into: folder.path("out"), packer: packer)
        var results: [Packer.Packed] = []
        try again.pack { _, result in if let packed = try? result.get() { results.append(packed) } }
        #expect(results.map(\.wasPackedBefore) == (0..<40).map { $0 < 35 })
        #expect(results.map { $0.manifest.chain?.seq } == Array(1...40))
        #expect(results.map(\.counter) == Array(1...40))
        let single = try packer.pack(raws[3], to: .replacing(folder.path("out/3.bundle")))
        #expect(single.wasPackedBefore && single.manifest.chain?.seq == 4)
        #expect(try key.state().chain.end?.seq == 40)
    }

    @Test(arguments: [true, false])
    func replacesNoLinkOfItsOwnChain(_ isChained: Bool) throws {
        let raws = try raws(2)
        let target: FilePath = folder.path("0.bundle")
        _ = try packer.pack(raws[0], to: .file(target))
        let bytes = try folder.bytes("0.bundle")
        let other = Packer(key: key, isChained: isChained)
        let body = Packer.BodyPlaces(body: .replacing(target))
        let calls: [() throws -> Void] = [
            { _ = try other.pack(raws[1], to: .replacing(target)) },
            { _ = try other.pack(raws[1], to: .replacing(target), isDryRun: true) },
            { _ = try other.pack(raws[1], to: .file(folder.path("1.bundle")), body: body) },
        ]
        for call in calls {
            let error = #expect(throws: BundleError.self) { try call() }
            #expect(error?.code == .outputExists)
            #expect(error?.message.contains("is link 1 of this key's chain") == true)
        }
        #expect(try folder.bytes("0.bundle") == bytes)
        #expect(try key.state().counter == 1)
    }

    @Test func keepsTheIDOfTheContent() throws {
        let raw = try raws(1)[0]
        let chained = try packer.pack(raw, to: .file(folder.path("a")))
        let plain = try Packer(key: key).pack(raw, to: .file(folder.path("b")))
        #expect(chained.id == plain.id)
        #expect(plain.manifest.chain == nil)
    }

    /// The state is not touched, so the next capture gets the same link.
    @Test func aDryRunShowsTheLinkAndTakesNone() throws {
        let raw = try raws(1)[0]
        _ = try packer.pack(raw, to: .file(folder.path("a")))
        for _ in 0..<2 {
            let planned = try packer.pack(raw, to: .file(folder.path("b")), isDryRun: true)
            #expect(planned.manifest.chain?.seq == 2)
        }
        #expect(try packer.pack(raw, to: .file(folder.path("b"))).manifest.chain?.seq == 2)
    }

    @Test func aTargetThatAppearsMeanwhileTakesNoLink() throws {
        let run = try PackingRun(try raws(40), into: folder.path("out"), packer: packer)
        try FileManager.default.createDirectory(atPath: folder.path("out"), withIntermediateDirectories: false)
        for index in [0, 7, 39] { try folder.write("mine", to: "out/\(index).bundle") }
        var seqs: [Int?] = []
        try run.pack { _, result in seqs.append((try? result.get())?.manifest.chain?.seq) }
        #expect(seqs.count == 40)
        #expect(seqs.compactMap(\.self) == Array(1...37))
        #expect(seqs.indices.filter { seqs[$0] == nil } == [0, 7, 39])
        #expect(String(decoding: try folder.bytes("out/7.bundle"), as: UTF8.self) == "mine")
    }

    @Test func aStateThatLostItsChainIsNotTheSameAsAnEmptyChain() throws {
        let raw = try raws(1)[0]
        _ = try packer.pack(raw, to: .file(folder.path("a")))
        try FileManager.default.removeItem(atPath: folder.path("keys/device.key.state"))
        #expect(try key.recover(counter: 1).state.chain.end == nil)
        let error = #expect(throws: BundleError.self) { try packer.pack(raw, to: .file(folder.path("b"))) }
        #expect(error?.code == .keyState)
        let last = try DeviceKeyFile.LastBundle(BundleSource(path: folder.path("a")))
        #expect(try key.recover(counter: nil, lastBundles: [last]).state.chain.end?.seq == 1)
        #expect(try packer.pack(raw, to: .file(folder.path("b"))).manifest.chain?.seq == 2)
    }

    /// The key packed with a chain, then without, and lost its state: counter and link come from different bundles.
    @Test(arguments: [["a", "b", "plain"], ["plain", "b"], ["b", "plain"]])
    func recoversCounterAndLinkFromSeveralBundles(_ names: [String]) throws {
        let raw = try raws(1)[0]
        for name in ["a", "b"] { _ = try packer.pack(raw, to: .file(folder.path(name))) }
        try packPlain(raw)
        try FileManager.default.removeItem(atPath: folder.path("keys/device.key.state"))
        let recovered = try key.recover(counter: nil, lastBundles: lastBundles(names))
        #expect(recovered.state.counter == 3)
        #expect(recovered.state.chain.end?.seq == 2)
        #expect(!recovered.startsChain)
        #expect(try packer.pack(raw, to: .file(folder.path("c"))).manifest.chain?.seq == 3)
    }

    @Test func saysThatTheChainBeginsAnewIfNoLastBundleHasOne() throws {
        let raw = try raws(1)[0]
        _ = try packer.pack(raw, to: .file(folder.path("a")))
        try packPlain(raw)
        let last = try lastBundles(["plain"])
        #expect(try !key.recover(counter: nil, lastBundles: last).startsChain, "the state knows the chain")
        #expect(try key.recover(counter: nil, lastBundles: last).state.chain.end?.seq == 1)
        try FileManager.default.removeItem(atPath: folder.path("keys/device.key.state"))
        let recovered = try key.recover(counter: nil, lastBundles: last)
        #expect(recovered.startsChain)
        #expect(recovered.state.chain.end?.seq == 0)
        #expect(try key.recover(counter: nil, lastBundles: lastBundles(["a"])).state.chain.end?.seq == 1)
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
        let error = #expect(throws: BundleError.self) {
            try key.recover(counter: nil, lastBundles: lastBundles(["a", "b"]))
        }
        #expect(error?.code == .keyState)
        #expect(!FileManager.default.fileExists(atPath: state))
    }

    private func packPlain(_ raw: FilePath) throws {
        _ = try Packer(key: key).pack(raw, to: .file(folder.path("plain")))
    }

    private func lastBundles(_ names: [String]) throws -> [DeviceKeyFile.LastBundle] {
        try names.map { try DeviceKeyFile.LastBundle(BundleSource(path: folder.path($0))) }
    }
}
