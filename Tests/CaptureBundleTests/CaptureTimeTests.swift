import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

struct CaptureTimeTests {
    /// The formatter of Samples/library and of the guide for apps.
    @Test func theSampleKeepsEveryMillisecond() throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        for milliseconds in 1_773_497_366_000..<1_773_497_367_000 {
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
            #expect(CaptureTime(text)?.milliseconds == milliseconds)
        }
        for name in ["library/Sources/send-capture/main.swift", "Guides.docc/Apps.md"] {
            let code = try String(contentsOf: Places.root.appending(path: "Samples/\(name)"), encoding: .utf8)
            #expect(code.contains("formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]"))
            #expect(!code.contains("ISO8601Format("))
        }
    }

    @Test(arguments: [
        ("2026-03-14T15:09:26.535+01:00", "2026-03-14T14:09:26.535Z"),
        ("2026-03-14T00:30:00+01:00", "2026-03-13T23:30:00.000Z"),
        ("2024-02-29T23:59:59.999999999Z", "2024-02-29T23:59:59.999Z"),
        ("2026-12-31T23:00:00.9-02:30", "2027-01-01T01:30:00.900Z"),
        ("1969-12-31T23:59:59.0009Z", "1969-12-31T23:59:59.000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("2000-02-29T12:00:00+00:00", "2000-02-29T12:00:00.000Z"),
        ("1900-03-01T00:00:00+23:59", "1900-02-28T00:01:00.000Z"),
    ])
    func convertsToUTCAndCutsToMilliseconds(_ text: String, _ expected: String) {
        #expect(CaptureTime(text)?.description == expected)
    }

    @Test(arguments: [
        "", "2026-03-14", "2026-03-14T15:09:26", "2026-03-14T15:09:26.Z", "2026-03-14T15:09:60Z",
        "2026-03-14T24:00:00Z",
        "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-03-00T00:00:00Z", "2026-03-14T15:09:26-00:00", "2026-03-14T15:09:26+24:00", "2026-03-14T15:09:26+01:60",
        "2026-03-14t15:09:26Z", "2026-03-14T15:09:26z", "2026-03-14 15:09:26Z", "2026-03-14T15:09:26.1234567890Z",
        "0000-12-31T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "2026-03-14T15:09:26Z ",
        "٢٠٢٦-03-14T15:09:26Z", "+026-03-14T15:09:26Z", "2026-3-14T15:09:26Z", "2026-03-14T15:09:26+0100",
    ])
    func refuses(_ text: String) {
        #expect(CaptureTime(text) == nil)
    }

    /// The short run takes three years around 1900, which was not a leap year, and three around 2000, which was.
    @Test(arguments: isLongRun ? [(1800, 2200)] : [(1899, 1902), (1999, 2002)])
    func agreesWithItselfOnEveryDay(_ first: Int, _ last: Int) throws {
        var time = try #require(CaptureTime("\(first)-01-01T00:00:00Z"))
        let end = try #require(CaptureTime("\(last)-01-01T00:00:00Z"))
        while time < end {
            let next = try #require(CaptureTime(time.description.replacing("T00:00:00.000Z", with: "T23:59:59.999Z")))
            #expect(next.milliseconds - time.milliseconds == 86_399_999)
            let shifted = time.description.replacing("T00:00:00.000Z", with: "T23:59:00-00:01")
            time = try #require(CaptureTime(shifted))
        }
        #expect(time == end)
    }
}

struct DecimalRoundingTests {
    @Test(arguments: [
        ("12.345678", "12.35"), ("-45.678901", "-45.68"), ("0.005", "0.01"), ("-0.005", "-0.01"), ("0.0049", "0"),
        ("-0.004", "0"), ("12", "12"), ("12.5", "12.5"), ("12.50", "12.5"), ("9.995", "10"), ("-179.999", "-180"),
        ("1e2", "100"), ("1.2345E1", "12.35"), ("123456e-4", "12.35"), ("1e-300", "0"), ("0", "0"), ("-0", "0"),
        ("5e-3", "0.01"), ("4.9e-3", "0"), ("89.994999999999999999999999", "89.99"), ("0.045", "0.05"),
        ("1.005", "1.01"), ("0.000000000001e12", "1"), ("1e-99999999999999999999", "0"), ("0e99999999999", "0"),
    ])
    func roundsHalfAwayFromZero(_ number: String, _ expected: String) {
        #expect(DecimalRounding.toHundredths(number) == expected)
    }
}
