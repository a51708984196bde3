import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import PictureClient
import SystemPackage
import Testing

/// Archives that bsdtar and Python make, and what must not come out of hostile ones.
struct ArchiveUnpackingTests {
    let decoder = PictureDecoder()
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static let kinds = ["a.zip", "a.tar", "a.tar.gz", "a.tar.zst", "a.tar.bz2", "a.tar.xz"]

    @Test(arguments: kinds)
    func givesTheFilesOfAnArchive(_ name: String) throws {
        let large = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
        for (name, bytes) in [("photo.jpg", large), ("empty", []), ("größe.json", Array("{}".utf8))] {
            try folder.write(bytes, to: "raw/\(name)")
        }
        try folder.shell("bsdtar -acf \(name) raw")
        let files = try unpacked(name)
        #expect(Set(files.keys) == ["raw/photo.jpg", "raw/empty", "raw/größe.json"])
        #expect(files["raw/photo.jpg"] == large)
        #expect(files["raw/empty"] == [])
    }

    @Test(arguments: kinds)
    func refusesEveryArchiveThatIsCutOff(_ name: String) throws {
        for byte in 0..<3 { try folder.write([UInt8](repeating: UInt8(byte), count: 700), to: "raw/\(byte)") }
        // With -b 1 a tar ends behind its mark; a compressed file would be padded.
        try folder.shell("bsdtar \(name == "a.tar" ? "-b 1" : "") -acf \(name) raw")
        let whole = try folder.bytes(name)
        let step = max(1, whole.count / (isLongRun ? 60 : 10))
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
        try folder.shell("python3 -c \"\(script)\" '\(name)'")
        let error = try #require(throws: BundleError.self) { try unpacked("a.zip") }
        #expect(error.message.contains("\"\(name)\""))
        #expect(error.file == folder.path("a.zip"))
    }

    /// Commands that make an archive of a file `one`, and what is said of it.
    @Test(arguments: [
        ("bsdtar -cf a.tar one ./one", "twice"),
        ("ln -s one two; bsdtar -cf a.tar one two", "link or special file (\"two\")"),
        ("ln one two; bsdtar -cf a.tar one two", "link or special file (\"two\")"),
        ("mkfifo two; bsdtar -cf a.tar one two", "link or special file (\"two\")"),
    ])
    func refusesWhatIsNotAFileOfItsOwn(_ command: String, _ words: String) throws {
        try folder.write([1], to: "one")
        try folder.shell(command)
        #expect(refusal { _ = try unpacked("a.tar") }?.message.contains(words) == true)
    }

    /// Files that begin with a hole, have several and end with one, and a file that is a hole.
    @Test(arguments: [
        "tar --format=gnu -S", "tar --format=oldgnu -S", "tar --format=pax --sparse-version=0.0 -S",
        "tar --format=pax --sparse-version=0.1 -S", "tar --format=pax --sparse-version=1.0 -S", "bsdtar",
    ])
    func fillsTheHolesOfSparseFiles(_ command: String) throws {
        try folder.write(
            """
            import os
            os.mkdir("raw")
            for name, size in ("hole", 1 << 20), ("many", 0), ("end", 1500001):
                with open(f"raw/{name}", "wb") as file:
                    for index in range(31 if name != "hole" else 0):
                        file.seek(index * 40000 + 20000)
                        file.write(b"%d" % index)
                    file.truncate(size or None)
            """, to: "make.py")
        try folder.shell("python3 make.py; \(command) -cf a.tar raw")
        #expect(try folder.bytes("a.tar").count < 1_000_000)
        let files = try unpacked("a.tar")
        for name in ["hole", "many", "end"] { #expect(files["raw/\(name)"] == (try folder.bytes("raw/\(name)"))) }
    }

    /// A hole at the end is a bomb as any other content is.
    @Test func stopsAHoleEarly() throws {
        try folder.shell("truncate -s 900G hole; tar --format=pax -Scf a.tar hole; rm hole")
        let error = #expect(throws: BundleError.self) { try unpacked("a.tar") }
        #expect(error?.message.contains("bytes of content") == true)
    }

    @Test func stopsABombEarly() throws {
        try folder.shell("head -c 200M /dev/zero >zeros && bsdtar --zstd -cf a.tar.zst zeros && rm zeros")
        let size = try folder.bytes("a.tar.zst").count
        let expected = (64 << 20) + 1000 * size
        try #require(expected < (200 << 20))
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
        for name in 0..<5 { try folder.write([], to: "raw/\(name)") }
        try folder.shell("bsdtar -cf a.tar raw")
        var limits = ArchiveLimits()
        limits.entries = 4
        #expect(refusal { try unpacked("a.tar", limits) }?.message == "is an archive of more than 4 files")
        limits.entries = 5
        #expect(try unpacked("a.tar", limits).count == 5)
    }

    /// An archive inside an archive is a file like any other.
    @Test func doesNotUnpackNestedArchives() throws {
        try folder.write([1], to: "inner")
        try folder.shell("bsdtar -acf inner.zip inner && bsdtar -acf a.zip inner.zip")
        #expect(try Array(unpacked("a.zip").keys) == ["inner.zip"])
    }

    /// Programs in Python that change the bytes `z` of a zip archive, and words of the refusal. The first name in the file
    /// is that of a header, the last one that of the directory.
    @Test(arguments: [
        ("z.replace(b'one', b'two', 1)", "calls a file \"one\" in its directory and \"two\" elsewhere"),
        ("b'two'.join(z.rsplit(b'one', 1))", "calls a file \"two\" in its directory and \"one\" elsewhere"),
        ("z + z", "its directory is not where"), ("b'PK\\3\\4' + z", "its directory is not where"),
        ("z + b'more'", "was cut off, or has other bytes at its end"),
        ("z[:14] + bytes(4) + z[18:]", "a file's header differs from the directory"),
        ("bytes(1) + z", "not a zip or tar archive"),
        // Another size and the bit for encryption, both in the directory.
        ("z[:-47] + bytes([z[-47] + 1]) + z[-46:]", "a file is shorter than the directory says"),
        ("z[:-63] + bytes([1]) + z[-62:]", "is an encrypted zip archive"),
    ])
    func refusesAZipThatProgramsReadDifferently(_ change: String, _ words: String) throws {
        try folder.write("content", to: "one")
        let script = "import zipfile as f; a = f.ZipFile('a.zip', 'w', 8); a.write('one'); a.close(); "
        let rest = "z = open('a.zip', 'rb').read(); open('b.zip', 'wb').write(\(change))"
        try folder.shell("python3 -c \"\(script)\(rest)\"")
        #expect(try unpacked("a.zip") == ["one": Array("content".utf8)])
        let error = try #require(throws: BundleError.self) { try unpacked("b.zip") }
        #expect(error.code == .rawArchive && error.message.contains(words), "\(error)")
    }

    /// The names as Windows PowerShell 5.1 writes them; and as a program on Unix, where `\` is a part of a name.
    @Test(arguments: [
        (#"['a\\b', 'a\\c\\d', 'a\\e\\']"#, ["a/b", "a/c/d"]), (#"['a\\b', 'c/d']"#, [#"a\b"#, "c/d"]),
    ])
    func readsBackslashesAsSeparators(_ names: String, _ expected: [String]) throws {
        let script = "import zipfile as f; z = f.ZipFile('a.zip', 'w'); "
        try folder.write("\(script)[z.writestr(n, '') for n in \(names)]; z.close()", to: "make.py")
        try folder.shell("python3 make.py")
        #expect(try Set(unpacked("a.zip").keys) == Set(expected))
    }

    /// All checks of names apply to what the separators make of them.
    @Test(arguments: [#"['a\\..\\b']"#, #"['\\a']"#, #"['a\\\\b']"#, #"['a\\b', 'a\\.\\b']"#])
    func refusesBackslashesThatLeaveTheArchive(_ names: String) throws {
        let script = "import zipfile as f; z = f.ZipFile('a.zip', 'w'); "
        try folder.write("\(script)[z.writestr(n, '') for n in \(names)]; z.close()", to: "make.py")
        try folder.shell("python3 make.py")
        #expect(try #require(throws: BundleError.self) { try unpacked("a.zip") }.code == .rawArchive)
    }

    /// stream-zip writes ffff for the numbers of disks where a zip64 end has them (APPNOTE 4.4.1.4).
    @Test func readsNumbersOfDisksThatAreOnlyInTheZip64End() throws {
        let change = "z[:-18] + b'\\xff' * 4 + z[-14:]"
        let wide =
            "e = len(z) - 22; d = z.index(b'PK\\1\\2'); import struct as s; "
            + "w = b'PK\\6\\6' + s.pack('<QHHIIQQQQ', 44, 45, 45, D, 0, 1, 1, e - d, d) + "
            + "b'PK\\6\\7' + s.pack('<IQI', 0, e, 1); z = z[:e] + w + z[e:]; "
        try folder.write("content", to: "one")
        for (disk, isRead) in [("0", true), ("1", false)] {
            try folder.write(
                "import zipfile as f; a = f.ZipFile('a.zip', 'w'); a.write('one'); a.close()\n"
                    + "z = open('a.zip', 'rb').read()\n\(wide.replacing("D", with: disk))\n"
                    + "open('a.zip', 'wb').write(\(change))\n", to: "make.py")
            try folder.shell("python3 make.py")
            #expect(isRead == ((try? unpacked("a.zip")) == ["one": Array("content".utf8)]))
        }
    }

    /// A skippable frame may come first (RFC 8878 section 3.1.2); pzstd writes one before each part.
    @Test func readsSkippableFramesOfZstandard() throws {
        try folder.write("content", to: "one")
        try folder.shell(#"(printf '\120\052\115\030\004\000\000\000abcd'; tar -cf- one | zstd -q) > a.tar.zst"#)
        #expect(try unpacked("a.tar.zst") == ["one": Array("content".utf8)])
        try folder.shell(#"printf '\120\052\115\030\377\377\377\377abcd' > b.tar.zst"#)
        #expect(throws: BundleError.self) { try unpacked("b.tar.zst") }
    }

    @Test func namesTheWindowThatIsTooLarge() throws {
        try folder.write("content", to: "one")
        try folder.shell("tar -cf- one | zstd -q --ultra --long=31 -o a.tar.zst")
        let error = try #require(throws: BundleError.self) { try unpacked("a.tar.zst") }
        #expect(error.message == "is Zstandard data that needs a window of 2 GiB, more than 128 MiB")
    }

    /// An archive of more files than 16 bits can count, as Python writes it, has a second end for larger numbers.
    @Test(.long) func readsAZipWithLargeNumbers() throws {
        let script = "import zipfile as f; z = f.ZipFile('a.zip', 'w'); "
        try folder.shell("python3 -c \"\(script)[z.writestr(str(i), str(i)) for i in range(65600)]; z.close()\"")
        let files = try unpacked("a.zip")
        #expect(files.count == 65600 && files["65599"] == Array("65599".utf8))
    }

    private func unpacked(_ name: String, _ limits: ArchiveLimits = ArchiveLimits()) throws -> [String: [UInt8]] {
        try decoder.files(of: folder.path(name), limits)
    }
}

extension PictureDecoder {
    /// The files of an archive by their names.
    func files(of path: FilePath, _ limits: ArchiveLimits = ArchiveLimits()) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        var current = ""
        try unpack(.reading(path), named: path, limits: limits) { event in
            switch event {
            case .file(let name):
                current = String(decoding: name, as: UTF8.self)
                files[current] = []
            case .bytes(let bytes): files[current]? += bytes
            }
        }
        return files
    }
}
