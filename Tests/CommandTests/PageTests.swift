import CaptureBundle
import CaptureTestSupport
import CommandSupport
import Foundation
import SystemPackage
import Testing

/// Tests of the markup of pages, without a browser; Tests/Pages has one.
struct PageTests {
    /// Texts that try to be markup, an attribute, or a control.
    static let texts = [
        "<script>alert(1)</script>", "\" onload=\"alert(1)", "' onload='alert(1)", "&lt;b&gt;", "</title><b>",
        "a\u{202e}b\u{2066}\u{7}\u{1b}[31m", "]]>", "<!--",
    ]

    @Test(arguments: texts)
    func textNeverBecomesMarkup(_ text: String) {
        let html: HTML = "<p title=\"\(text)\">\(text)\(foreign: text)</p>"
        let bytes = Array(html.source.utf8)
        #expect(bytes.count { $0 == UInt8(ascii: "<") } == 4 && bytes.count { $0 == UInt8(ascii: ">") } == 4)
        #expect(bytes.count { $0 == UInt8(ascii: "\"") } == 2 && !bytes.contains(UInt8(ascii: "'")))
        #expect(!html.source.unicodeScalars.contains { $0.value < 0x20 || $0.properties.generalCategory == .format })
    }

    @Test func longTextIsCutAndSaysItsLength() {
        let html: HTML = "\(String(repeating: "é", count: 1 << 20))"
        #expect(html.source.hasSuffix("é… (2097152 bytes)"))
        #expect(html.source.utf8.count < 1100)
    }

    @Test(arguments: [
        ("https://example.org/a?b=1&c=2", true), ("HTTP://example.org", true), ("javascript:alert(1)", false),
        ("data:text/html,x", false), ("https://example.org/\u{202e}", false), ("//example.org", false),
        ("https://example.org/\n", false), (" https://example.org", false),
    ])
    func onlyWebAddressesBecomeLinks(_ address: String, _ isLink: Bool) {
        let html = WebLink.html(address).source
        #expect(html.hasPrefix("<a href=\"http") == isLink || html.hasPrefix("<a href=\"HTTP") == isLink)
        #expect(!isLink || html.contains("rel=\"noreferrer noopener\""))
    }

    @Test(arguments: [
        ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""), ("=1+1", "'=1+1"), ("+49", "+49"),
        ("-12.5", "-12.5"), ("-rf", "'-rf"), ("@SUM(A1)", "'@SUM(A1)"), ("=a,b", "\"'=a,b\""), ("a\nb", "a\\u{a}b"),
        ("\t=1", "\\u{9}=1"), ("-", "'-"), ("+1-2", "'+1-2"), ("-1e5", "-1e5"),
    ])
    func cellsOfATableCannotBeFormulas(_ cell: String, _ expected: String) {
        #expect(String(decoding: CSVLine([cell]).bytes, as: UTF8.self) == expected + "\r\n")
    }

    @Test func thePolicyNamesTheHashOfTheStyleThatFollows() throws {
        let page = try ReportPage(title: "x", maker: "y").opening(lead: "", tiles: []).source
        let style = try #require(page.firstMatch(of: /<style>([\s\S]*?)<\/style>/)).1
        let folder = try TemporaryFolder()
        try Data(style.utf8).write(to: folder.url.appending(path: "style"))
        let openssl = try Program.run(
            URL(filePath: "/bin/sh"), ["-c", "openssl dgst -sha256 -binary style | base64"], in: folder.url)
        let hash = openssl.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(page.contains("default-src 'none'; img-src data:; style-src 'sha256-\(hash)'"))
        #expect(!style.contains("url(") && !style.contains("@import"))
    }

    @Test(arguments: [
        (0, "Thursday, 1 January 1970"), (-1, "Wednesday, 31 December 1969"),
        (1_773_500_966_535, "Saturday, 14 March 2026"), (951_782_400_000, "Tuesday, 29 February 2000"),
    ])
    func daysHaveTheirNames(_ milliseconds: Int, _ words: String) {
        #expect(ReportDay(milliseconds: milliseconds).words == words)
    }

    /// Whatever the verdicts, the page is written whole, and the exit code is that of verify.
    @Test func thePageIsWrittenForDamagedBundlesToo() throws {
        let tool = try Capbundle()
        let samples = Places.root.appending(path: "Samples").path()
        let result = try tool.run(
            "report", samples + "/tampered", samples + "/desk-lamp/desk-lamp.bundle", "-o", "page.html", "--csv",
            "t.csv")
        #expect(result.exitCode == 1)
        let page = try String(contentsOf: tool.folder.url.appending(path: "page.html"), encoding: .utf8)
        #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
        #expect(page.matches(of: /<article/).count == 5)
        let table = try String(contentsOf: tool.folder.url.appending(path: "t.csv"), encoding: .utf8)
        #expect(table.utf8.split(separator: 10).count == 6)
    }

    @Test func nothingIsLeftWhereAPageCannotBeWritten() throws {
        let tool = try Capbundle()
        let bundle = Places.root.appending(path: "Samples/desk-lamp/desk-lamp.bundle").path()
        try Data("mine".utf8).write(to: tool.folder.url.appending(path: "page.html"))
        #expect(try tool.run("report", bundle, "-o", "page.html").exitCode == 73)
        #expect(try tool.run("report", bundle, "-o", "new.html", "--csv", "page.html").exitCode == 73)
        #expect(try tool.run("report", bundle, "-o", "new.html", "--csv", "new.html").exitCode == 73)
        #expect(try tool.folder.url.children.map(\.lastPathComponent).filter { $0.hasSuffix("html") } == ["page.html"])
    }

    /// A large photo is reduced while it is decoded, a small one is not; both are turned as EXIF says.
    @Test(arguments: [(2417, 1811, 303, 227), (640, 480, 320, 240), (90, 70, 90, 70)])
    func photosAreUprightAndHaveTheSizeThatThePageSays(
        _ width: Int, _ height: Int, _ small: Int, _ smallHeight: Int
    ) throws {
        let tool = try Capbundle()
        let decoder = PictureDecoder(executable: FilePath(Places.product("capbundle-decode").path()))
        // The left half is red, the right half is blue.
        let row = (0..<width).flatMap { $0 < width / 2 ? [220, 0, 0] : [0, 0, 220] as [UInt8] }
        let image = try #require(PixelImage(width: width, height: height, rgb: (0..<height).flatMap { _ in row }))
        let jpeg = try decoder.jpeg(image, quality: 90)
        // TIFF, big endian, one entry: orientation 6, so the left side becomes the top.
        let exif: [UInt8] =
            Array("Exif".utf8) + [0, 0, 0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6]
            + [0, 0, 0, 0, 0, 0]
        try RawFolder.write(to: tool.folder)
        let photo = Array(jpeg[..<2]) + [0xff, 0xe1, 0, UInt8(exif.count + 2)] + exif + jpeg[2...]
        try Data(photo).write(to: tool.folder.url.appending(path: "raw/photo.jpg"))
        #expect(try tool.run("key", "new").exitCode == 0)
        #expect(try tool.run("pack", "raw", "-o", "cap.bundle").exitCode == 0)
        #expect(try tool.run("report", "cap.bundle", "-o", "page.html").exitCode == 3)
        let page = try String(contentsOf: tool.folder.url.appending(path: "page.html"), encoding: .utf8)
        let found = try #require(
            page.firstMatch(of: /base64,([A-Za-z0-9+\/=]+)" width="([0-9]+)" height="([0-9]+)" alt="Photo/))
        let shown = try decoder.pixels(Array(try #require(Data(base64Encoded: String(found.1)))), .jpeg)
        #expect((shown.width, shown.height) == (smallHeight, small))
        #expect((String(shown.width), String(shown.height)) == (String(found.2), String(found.3)))
        let (top, bottom) = (shown.rgb.prefix(3), shown.rgb.suffix(3))
        #expect(top[0] > 180 && bottom[bottom.startIndex] < 60)
    }
}
