import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureNative
import CapturePages
import CaptureTestSupport
import Foundation
import PictureClient
import SystemPackage
import Testing

/// A folder with a key and a trust file, in which tests pack raw captures and take the bundles apart.
struct ImportRoom {
    let folder: TemporaryFolder
    let packer: Packer
    let decoder = PictureDecoder(executable: FilePath(Places.product("capbundle-decode").path()))
    private let trust: TrustFile

    init() throws {
        folder = try TemporaryFolder()
        let key = DeviceKeyFile(path: folder.path("keys/device.key"))
        var trust = TrustFile()
        try trust.add(TrustedDeviceLine(name: "rig", point: key.create(passphrase: nil).point))
        self.trust = trust
        packer = Packer(key: key)
    }

    /// What became of a raw capture: a verified bundle whose upload body gives the same bundle back.
    struct Made {
        let packed: Packer.Packed
        let entries: [String: [UInt8]]

        var codes: [String] { packed.remarks.map(\.code) }
        var source: DepthDescription.Source? { packed.manifest.depth?.source }

        /// The bits of the depth map's floats.
        var depth: [UInt32] {
            let bytes = entries["depth.f32"] ?? []
            return stride(from: 0, to: bytes.count, by: 4).map { start in
                (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << (8 * UInt32($1)) }
            }
        }

        func metadata() throws -> [String: Any] {
            let bytes = try #require(entries["metadata.json"])
            return try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        }
    }

    /// Packs a RAW of the folder, or another one, into one bundle and takes it the whole way.
    func pack(_ raw: String, _ change: (inout RawCaptureOptions) -> Void = { _ in }) throws -> Made {
        var options = RawCaptureOptions()
        change(&options)
        let path: FilePath = raw.hasPrefix("/") ? FilePath(raw) : folder.path(raw)
        let bundle: FilePath = folder.path("made.bundle")
        let packed = try packer.pack(path, to: .replacing(bundle), options: options, decoder: decoder)
        return Made(packed: packed, entries: try goTheWholeWay("made.bundle"))
    }

    /// Verifies a bundle, sends it through an upload body, and returns its entries; the depth map as floats.
    func goTheWholeWay(_ name: String) throws -> [String: [UInt8]] {
        let bundle: FilePath = folder.path(name)
        #expect(try Verifier(trust: trust).verify(BundleSource(path: bundle)).verdict == .verified)
        _ = try MultipartBody.write(bundle: bundle, to: .replacing(folder.path("body")))
        let received = try BundleReceiver(trust: trust).receive(
            BundleSource(path: folder.path("body")), to: .replacing(folder.path("back.bundle")))
        #expect(received.report.verdict == .verified)
        #expect(try folder.bytes("back.bundle") == folder.bytes(name))
        try? FileManager.default.removeItem(atPath: folder.path("entries"))
        let hasDepth = try UntrustedView(BundleSource(path: bundle)).report.manifest?.depth != nil
        _ = try Extractor(asFloats: hasDepth).extract(BundleSource(path: bundle), to: .folder(folder.path("entries")))
        let root = folder.url.appending(path: "entries")
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.path())
        return names.reduce(into: [:]) { entries, name in
            // A folder cannot be read as a file.
            if let bytes = try? root.appending(path: name).bytes { entries[name] = bytes }
        }
    }

    /// metadata.json of a bundle.
    func metadata(_ name: String) throws -> [String: Any] {
        let bytes = try #require(try goTheWholeWay(name)["metadata.json"])
        return try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    /// The error with which a RAW of the folder is refused.
    func refusal(_ raw: String, _ change: (inout RawCaptureOptions) -> Void = { _ in }) throws -> BundleError {
        var options = RawCaptureOptions()
        change(&options)
        return try #require(
            throws: BundleError.self,
            performing: {
                _ = try packer.pack(
                    folder.path(raw), to: .file(folder.path("refused.bundle")), options: options, decoder: decoder)
            })
    }

    /// Packs all frames of a RAW and returns the names of the bundles.
    func packFrames(_ raw: String, _ change: (inout RawCaptureOptions) -> Void = { _ in }) throws -> [String] {
        var options = RawCaptureOptions()
        change(&options)
        let run = try PackingRun(
            [folder.path(raw) as FilePath], into: folder.path("out"), packer: packer, options: options,
            decoder: decoder)
        try run.pack { item, result in
            if case .failure(let error) = result { Issue.record("\(item.frame ?? ""): \(error)") }
        }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).sorted()
    }

    /// Metadata without a size and a position.
    static let metadata = #"{"captured_at": "2026-03-14T15:09:26.535+01:00", "device_model": "Test rig"}"#
}
