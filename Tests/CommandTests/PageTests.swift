import CaptureBundle
import CapturePages
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
        let page = ReportPage(title: "x", maker: "y").opening(lead: "", tiles: []).source
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
        #expect(PageDay(CaptureTime(clamping: milliseconds)).words == words)
    }
}
