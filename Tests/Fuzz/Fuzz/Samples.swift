import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import SystemPackage

@testable import CaptureBundle

/// The files from which the seeds are made: the vectors and the sample capture.
struct Samples {
    /// The bundles of Spec/Vectors.
    let bundles: [[UInt8]]
    /// The upload bodies of Spec/Vectors.
    let bodies: [[UInt8]]
    /// The trust lines of the vectors, each once.
    let trustLines: [[UInt8]]

    init() throws {
        let vectors = try VectorFile.bundles()
        bundles = vectors.map(\.content)
        bodies = try VectorFile.all(of: "multipart").map(\.content)
        trustLines = Self.lines(vectors)
    }

    /// The contents of an entry in all bundles that have it, each once.
    func entries(_ name: String) -> [[UInt8]] {
        var found: Set<[UInt8]> = []
        for bundle in bundles {
            let reader = BundleReader(BundleSource(bytes: bundle))
            guard let head = try? reader.readHead() else { continue }
            if name == "manifest.json" { found.insert(head.manifest) }
            if name == "assertion.cbor" { found.insert(head.assertion) }
            while let header = reader.nextHeader(), let bytes = try? reader.readDataWhole() {
                if header.name == name { found.insert(bytes) }
            }
        }
        return found.sorted { ($0.count, $0.first ?? 0) < ($1.count, $1.first ?? 0) }
    }

    /// A trust file with the devices of the sound vectors.
    static func trust() throws -> TrustFile {
        let vectors = try VectorFile.bundles() + VectorFile.all(of: "multipart")
        let lines = Self.lines(vectors.filter { $0.expectedExit == 0 })
        return try TrustFile(bytes: Array(lines.joined(separator: [0x0a])), name: "trust")
    }

    private static func lines(_ vectors: [VectorFile]) -> [[UInt8]] {
        Set(vectors.flatMap(\.trust).map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// A sound bundle of about `size` bytes, most of which are the photo's.
    static func plainBundle(_ size: Int) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let key = DeviceKeyFile(path: folder.path("keys/device.key"))
        _ = try key.create(passphrase: nil)
        var noise = SeededGenerator(seed: 1)
        let scan = (0..<size).map { _ in UInt8.random(in: 0...0xfe, using: &noise) }
        let end = RawFolder.photo.count - 2
        try RawFolder.write(to: folder, photo: RawFolder.photo[..<end] + scan + RawFolder.photo[end...])
        let path: FilePath = folder.path("bundle")
        _ = try Packer(key: key).pack(folder.path("raw"), to: .replacing(path))
        return try folder.bytes("bundle")
    }
}

extension BundleSource {
    /// The sources with which each input is read again: its findings must not depend on the pieces in which it arrives.
    static func inPieces(_ bytes: [UInt8]) -> [BundleSource] {
        (bytes.count <= 16 << 10 ? [1, 512] : [512]).map {
            BundleSource(stream: Trickle(bytes, of: $0), name: "bundle")
        }
    }
}
