import CaptureBundle
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// One run packs many captures with one key.
struct PackingRunTests {
    private let folder: TemporaryFolder
    private let packer: Packer
    private let raws: [FilePath]

    init() throws {
        let folder = try TemporaryFolder()
        let key = DeviceKeyFile(path: folder.path("keys/device.key"))
        _ = try key.create(passphrase: nil)
        packer = Packer(key: key)
        raws = try (0..<70).map { index in
            let metadata = RawFolder.metadata.replacing("Test rig", with: "Rig \(index)")
            try RawFolder.write(to: folder, name: "raw/\(index)", metadata: index == 40 ? "{" : metadata)
            return folder.path("raw/\(index)")
        }
        self.folder = folder
    }

    @Test(arguments: [1, 2, 5])
    func givesEachCaptureTheCounterOfItsPlaceAndLeavesOutTheBadOne(_ threads: Int) throws {
        let run = try PackingRun(raws, into: folder.path("out"), packer: packer)
        var told: [FilePath] = []
        try run.pack(threads: threads) { item, result in
            told.append(item.raw)
            switch result {
            case .success(let packed): #expect(packed.counter == UInt32(told.count))
            case .failure(let error): #expect(error.code == .rawCapture && told.count == 41)
            }
        }
        #expect(told == raws)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).count == 69)
        for index in [0, 31, 32, 69] {
            let inspection = try Inspection(BundleSource(path: folder.path("out/\(index).bundle")))
            #expect(inspection.report.authenticatorData?.counter == UInt32(index + 1))
            #expect(inspection.report.faults.isEmpty)
        }
    }

    @Test func leavesNothingAfterTheFirstFailureWhereAsked() throws {
        let run = try PackingRun(raws, into: folder.path("out"), packer: packer)
        var count = 0
        try run.pack(threads: 2, stopsAtFailure: true) { _, _ in count += 1 }
        #expect(count == 41)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("out"))
        #expect(Set(names) == Set((0..<40).map { "\($0).bundle" }))
    }

    @Test func refusesClashesBeforeAnyWork() throws {
        let twice = raws.prefix(3) + [FilePath("\(raws[1])/")]
        let error = #expect(throws: BundleError.self) {
            try PackingRun(Array(twice), into: folder.path("out"), packer: packer)
        }
        #expect(error?.code == .rawClash)
        #expect(!FileManager.default.fileExists(atPath: folder.path("out")))
    }
}
