import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// Archives that bsdtar and Python make, and what must not come out of hostile ones.
struct ArchiveUnpackingTests {
    let decoder = PictureDecoder()
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static let kinds = ["a.zip", "a.tar", "a.tar.gz", "a.tar.zst"]

    @Test(arguments: kinds)
    func givesTheFilesOfAnArchive(_ name: String) throws {
        let large = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
        try write([("raw/photo.jpg", large), ("raw/empty", []), ("raw/größe.json", Array("{}".utf8))])
        try shell("bsdtar -acf \(name) raw")
        let files = try unpacked(name)
        #expect(Set(files.keys) == ["raw/photo.jpg", "raw/empty", "raw/größe.json"])
        #expect(files["raw/photo.jpg"] == large)
        #expect(files["raw/empty"] == [])
    }

    @Test(arguments: kinds)
    func refusesEveryArchiveThatIsCutOff(_ name: String) throws {
        try write((0..<3).map { ("raw/\($0)", [UInt8](repeating: UInt8($0), count: 700)) })
        // With -b 1 a tar ends behind its mark; a compressed file would be padded.
        try shell("bsdtar \(name == "a.tar" ? "-b 1" : "") -acf \(name) raw")
        let whole = try folder.bytes(name)
        let step = max(1, whole.count / 60)
        // A tar is cut at each block, where a header would begin. The last of its two blocks of zeros is dispensable.
        let end = name == "a.tar" ? whole.count - 1024 : whole.count - 1
        let counts = Array(stride(from: 0, through: end, by: name == "a.tar" ? 512 : step)) + [end]
        for count in counts {
            try folder.write(Array(whole[..<count]), to: "cut")
            #expect(throws: BundleError.self, "\(count) of \(whole.count) bytes") { try unpacked("cut") }
        }
    }

    @Test(arguments: ["/abs", "../up", "raw/../../up", "raw//twice", "."])
    func refusesNamesThatLeadElsewhere(_ name: String) throws {
        let script =
            "import zipfile,sys; z=zipfile.ZipFile('a.zip','w'); z.writestr('ok','1'); z.writestr(sys.argv[1],'x')"
        try shell("python3 -c \"\(script)\" '\(name)'")
        let error = try #require(throws: BundleError.self) { try unpacked("a.zip") }
        #expect(error.message.contains("\"\(name)\""))
        #expect(error.file == folder.path("a.zip"))
    }

    @Test func refusesANameThatOccursTwice() throws {
        try write([("one", [1])])
        try shell("bsdtar -cf a.tar one ./one")
        let error = try #require(throws: BundleError.self) { try unpacked("a.tar") }
        #expect(error.message.contains("twice"))
    }

    @Test(arguments: ["ln -s one two", "ln one two", "mkfifo two"])
    func refusesLinksAndSpecialFiles(_ command: String) throws {
        try write([("one", [1])])
        try shell("\(command); bsdtar -cf a.tar one two")
        let error = try #require(throws: BundleError.self) { try unpacked("a.tar") }
        #expect(error.message.contains("link or special file (\"two\")"))
    }

    @Test func refusesASparseFileWhoseEndWouldBeMissing() throws {
        try shell("truncate -s 1M hole && bsdtar -cf a.tar hole")
        let error = try #require(throws: BundleError.self) { try unpacked("a.tar") }
        #expect(error.message == "is an archive with a sparse file, which has holes")
    }

    @Test func stopsABombEarly() throws {
        try shell("head -c 400M /dev/zero >zeros && bsdtar --zstd -cf a.tar.zst zeros && rm zeros")
        let size = try folder.bytes("a.tar.zst").count
        let expected = (64 << 20) + 1000 * size
        try #require(expected < (400 << 20))
        var received = 0
        let error = #expect(throws: BundleError.self) {
            try decoder.unpack(.reading(folder.path("a.tar.zst")), named: folder.path("a.tar.zst")) { event in
                if case .bytes(let bytes) = event { received += bytes.count }
            }
        }
        #expect(error?.message.contains("bytes of content") == true)
        #expect(received <= expected)
    }

    @Test func refusesMoreFilesThanTheLimit() throws {
        try write((0..<5).map { ("raw/\($0)", []) })
        try shell("bsdtar -cf a.tar raw")
        var limits = ArchiveLimits()
        limits.entries = 4
        let error = try #require(throws: BundleError.self) { try unpacked("a.tar", limits) }
        #expect(error.message == "is an archive of more than 4 files")
        limits.entries = 5
        #expect(try unpacked("a.tar", limits).count == 5)
    }

    /// An archive inside an archive is a file like any other.
    @Test func doesNotUnpackNestedArchives() throws {
        try write([("inner", [1])])
        try shell("bsdtar -acf inner.zip inner && bsdtar -acf a.zip inner.zip")
        #expect(try Array(unpacked("a.zip").keys) == ["inner.zip"])
    }

    @Test func survivesChangedArchives() throws {
        try write([("raw/one", [UInt8](repeating: 7, count: 3000)), ("raw/two", [1, 2, 3])])
        var generator = SeededGenerator(seed: 13)
        for name in Self.kinds {
            try shell("bsdtar -acf \(name) raw")
            let file = try folder.bytes(name)
            for _ in 0..<25 {
                var changed = file
                changed[.random(in: 0..<file.count, using: &generator)] = .random(in: 0...255, using: &generator)
                try folder.write(changed, to: "changed")
                do { _ = try unpacked("changed") } catch let error as BundleError {
                    #expect(error.code == .rawArchive, "\(name): \(error)")
                }
            }
        }
    }

    private func unpacked(_ name: String, _ limits: ArchiveLimits = ArchiveLimits()) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        var current = ""
        try decoder.unpack(.reading(folder.path(name)), named: folder.path(name), limits: limits) { event in
            switch event {
            case .file(let name):
                current = String(decoding: name, as: UTF8.self)
                files[current] = []
            case .bytes(let bytes): files[current]? += bytes
            }
        }
        return files
    }

    private func write(_ files: [(String, [UInt8])]) throws {
        for (name, content) in files {
            let url = folder.url.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(content).write(to: url)
        }
    }

    private func shell(_ line: String) throws {
        let done = try Program.run(
            URL(filePath: "/bin/sh"), ["-c", line], in: folder.url,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
        try #require(done.exitCode == 0, "\(done.errorText)")
    }
}
