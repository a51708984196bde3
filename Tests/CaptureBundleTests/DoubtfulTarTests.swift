import CaptureBundle
import CaptureTestSupport
import PictureClient
import SystemPackage
import Testing

/// Tar archives in which programs see different files (Spec/raw-captures.md section 1).
struct DoubtfulTarTests {
    let folder: TemporaryFolder

    /// Functions that make the parts of a tar: a header, a pax record, a member with contents, a pax header, a long name.
    private static let parts = """
        def head(name, size, kind=b"0", magic=b"ustar\\x0000", prefix=b""):
            fields = (name.ljust(100, b"\\0") + b"0000644\\0" + b"0000000\\0" * 2 + b"%011o\\0" % size + b"0" * 11
                + b"\\0" + b" " * 8 + kind + bytes(100) + magic + bytes(80) + prefix).ljust(512, b"\\0")
            return fields[:148] + b"%06o\\0 " % sum(fields) + fields[156:]
        def body(data): return data + bytes(-len(data) % 512)
        def record(key, value):
            rest = " " + key + "=" + value + "\\n"
            return next("%d%s" % (n, rest) for n in range(9999) if len("%d%s" % (n, rest)) == n)
        def file(name, data, **more): return head(name, len(data), **more) + body(data)
        def pax(*records, kind=b"x"): return file(b"pax", "".join(record(*r) for r in records).encode(), kind=kind)
        def long(name, kind=b"L"): return file(b"././@LongLink", name + b"\\0", kind=kind, magic=b"ustar  \\0")
        def sized(member, text):
            fields = member[:124] + text.ljust(12, b"\\0") + member[136:148] + b" " * 8 + member[156:512]
            return fields[:148] + b"%06o\\0 " % sum(fields) + fields[156:] + member[512:]
        one = file(b"one", b"content")
        write = lambda data: open("a.tar", "wb").write(data + bytes(1024))

        """

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [
        (#"long(b"gnu") + pax(("path", "pax")) + one"#, #"calls a file "gnu" in one header and "pax" in another"#),
        (#"pax(("path", "pax")) + long(b"gnu") + one"#, #"calls a file "gnu" in one header and "pax" in another"#),
        (#"long(b"one") + long(b"two") + one"#, "a name that is there twice"),
        (#"pax(("path", "a")) + pax(("path", "b")) + one"#, "a header that is there twice"),
        (#"pax(("path", "a"), ("path", "b")) + one"#, #""path" that is there twice"#),
        (#"pax(("path", "all"), kind=b"g") + one"#, #""path""#),
        (#"pax(("path", "")) + one"#, #""path""#), (#"pax(("path", "a\0b")) + one"#, #""path""#),
        (#"long(b"a", b"K") + pax(("linkpath", "b")) + one"#, #"calls a file "a" in one header and "b" in another"#),
        // busybox takes the size of the member's own header and shows another file in the contents of this one.
        (#"pax(("size", "600")) + one + file(b"two", b"x" * 80)"#, "a size"),
        (#"pax(("size", "7x")) + one"#, "a size"), (#"pax(("size", "+7")) + one"#, "a size"),
        (#"sized(one, b"-0000000007")"#, "a size"), (#"sized(one, b"0000000007x")"#, "a size"),
        (#"pax(("size", "7"), kind=b"g") + one"#, #""size""#),
        (#"pax(("SCHILY.realsize", "9")) + one"#, "a size"),
        (#"pax(("GNU.sparse.name", "two")) + one"#, #"calls a file "two" in one header and "one" in another"#),
        (#"pax(("GNU.sparse.map", "0,4"), ("GNU.sparse.map", "4,4")) + one"#, "GNU.sparse.map"),
        (#"pax(("GNU.sparse.size", "9"), kind=b"g") + one"#, "GNU.sparse.size"),
        (#"long(b"gnu") + pax(("GNU.sparse.size", "7")) + one"#, "a sparse file"),
        // busybox goes on after a single block of zeros.
        (#"one + bytes(512) + file(b"two", b"x")"#, "where the archive ends"),
    ])
    func refusesATarThatProgramsReadDifferently(_ archive: String, _ words: String) throws {
        try folder.write("\(Self.parts)write(\(archive))", to: "make.py")
        try folder.shell("python3 make.py")
        let error = try #require(throws: BundleError.self) { try PictureDecoder().files(of: folder.path("a.tar")) }
        #expect(error.code == .rawArchive && error.message.contains(words), "\(error)")
        #expect(error.message.hasPrefix("is a tar archive that "))
    }

    /// What writers of tar archives make: a long name and other facts in pax, in both orders; a comment for all files, as
    /// of git; the name twice; a label.
    @Test(arguments: [
        #"long(b"two") + pax(("mtime", "1.5")) + one"#, #"pax(("mtime", "1.5")) + long(b"two") + one"#,
        #"pax(("comment", "0123"), kind=b"g") + pax(("path", "two"), ("size", "7")) + one"#,
        #"long(b"two") + pax(("path", "two")) + one"#, #"head(b"label", 0, kind=b"V") + file(b"two", b"content")"#,
        #"pax(("path", "two")) + one + bytes(512)"#, #"head(b"d/", 0, kind=b"5") + file(b"two", b"content")"#,
    ])
    func readsATarThatProgramsReadAlike(_ archive: String) throws {
        try folder.write("\(Self.parts)write(\(archive))", to: "make.py")
        try folder.shell("python3 make.py")
        #expect(try PictureDecoder().files(of: folder.path("a.tar")) == ["two": Array("content".utf8)])
    }

    /// Long names, many files and sizes that end blocks, from each writer.
    @Test(arguments: [
        "tar --format=gnu", "tar --format=oldgnu", "tar --format=pax", "tar --format=ustar", "tar --format=v7",
        "bsdtar --format=pax", "bsdtar --format=gnutar", "bsdtar --format=ustar",
    ])
    func readsWhatWritersMake(_ command: String) throws {
        let isShort = command.hasSuffix("v7") || command.hasSuffix("ustar")
        for size in [0, 1, 511, 512, 513, 70_000] {
            let name = "\(String(repeating: "n", count: isShort ? 20 : 180))/größe-\(size)"
            try folder.write([UInt8](repeating: 7, count: size), to: "raw/\(isShort ? "\(size)" : name)")
        }
        try folder.shell("\(command) -cf a.tar raw")
        let files = try PictureDecoder().files(of: folder.path("a.tar"))
        #expect(files.count == 6 && files.values.map(\.count).sorted() == [0, 1, 511, 512, 513, 70_000])
    }
}
