import CaptureTestSupport
import QueueModel
import Testing

/// How long a server asks us to wait (Spec/upload.md section 4.2).
struct RetryAfterTests {
    private static let day = 86_400_000
    /// Sun, 06 Nov 1994 08:49:37 GMT in Unix milliseconds.
    private static let then = 784_111_777_000
    static let forms = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ]

    private func wait(_ value: String, date: String? = nil, now: Int = Self.then) -> Int? {
        RetryAfter.milliseconds(value, answeredAt: date, now: now)
    }

    @Test(arguments: [
        ("1", 1000), ("120", 120_000), ("0120", 120_000), ("86399", 86_399_000), ("86400", 86_400_000),
        ("86401", 86_400_000), ("3000000000", 86_400_000), ("9223372036854775807", 86_400_000),
        ("9223372036854775808", 86_400_000), ("99999999999999999999999999", 86_400_000),
        ("00000000000000000000000000000000000000005", 5000),
    ])
    func countsSecondsAndCutsThemToADay(value: String, milliseconds: Int) {
        #expect(wait(value) == milliseconds)
        // Neither the date of the answer nor our clock changes a wait in seconds.
        #expect(wait(value, date: Self.forms[0], now: 0) == milliseconds)
    }

    /// A value that is neither a date nor a number of seconds gives no wait.
    @Test(arguments: [
        "", "0", "000", "-1", "-0", "+5", "1.5", "1e3", " 5", "5 ", "5s", "0x10", "soon", "NaN", "five", "5,6", "٣",
        "1994-11-06T08:49:37Z", "Sun", "Sun, 06 Nov 1994", "06 Nov 1994 08:49:37 GMT", "5\r\n",
    ])
    func takesAnythingElseForNone(value: String) {
        #expect(wait(value, now: 0) == nil)
    }

    @Test(arguments: forms)
    func countsADateFromNowWithoutADate(form: String) {
        #expect(wait(form, now: Self.then - 90_500) == 90_500)
        #expect(wait(form, now: Self.then - 1) == 1)
        #expect(wait(form, now: Self.then) == nil)
        #expect(wait(form, now: Self.then + 1) == nil)
        #expect(wait(form, now: Self.then - Self.day) == Self.day)
        #expect(wait(form, now: Self.then - Self.day - 1) == Self.day)
        #expect(wait(form, now: Self.then - 400 * Self.day) == Self.day)
    }

    /// Python's `email.utils.format_datetime`, and what slowapi 0.1.10 makes of it.
    @Test(arguments: ["-0000", "+0000", "UTC"])
    func readsTheZonesOfMail(zone: String) {
        #expect(wait("Sun, 06 Nov 1994 08:49:37 \(zone)", now: Self.then - 90_500) == 90_500)
    }

    /// The wait does not change if our own clock is wrong by days.
    @Test(arguments: forms)
    func countsADateFromTheAnswersOwn(form: String) {
        let date = "Sun, 06 Nov 1994 08:47:37 GMT"
        for now in [0, Self.then - 3 * Self.day, Self.then, Self.then + 3 * Self.day, 40 * 365 * Self.day] {
            #expect(wait(form, date: date, now: now) == 120_000)
        }
        #expect(wait(form, date: form, now: 0) == nil)
        #expect(wait(form, date: "Sun, 06 Nov 1994 08:49:38 GMT", now: 0) == nil)
    }

    @Test func countsFromNowWhereTheAnswersDateIsNone() {
        for date in ["", "yesterday", "Mon, 06 Nov 1994 08:47:37 GMT", "784111657"] {
            #expect(wait(Self.forms[0], date: date, now: Self.then - 5000) == 5000)
        }
    }
}

/// The parser takes the dates of HTTP only in their exact forms.
struct HTTPDateTests {
    private static let then = 784_111_777_000

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 06 08:49:37 1994", 784_111_777),
        ("Wed Nov 16 08:49:37 1994", 784_975_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Mon, 01 Jan 1900 00:00:00 GMT", -2_208_988_800), ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799),
    ])
    func reads(text: String, seconds: Int) {
        #expect(HTTPDate.milliseconds(text, now: Self.then) == seconds * 1000)
    }

    @Test(arguments: [
        "Mon, 06 Nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:60 GMT", "Wed, 31 Feb 1996 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 08:49:3Z GMT",
        "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 6-Nov-94 08:49:37 GMT",
        "Monday, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37", "Sun Nov 6 08:49:37 1994",
        "Sun Nov  6 08:49:37 94", "Sun Nov   6 08:49:37 1994", "Sun Nov  16 08:49:37 1994", "Sun, Nov  6 08:49:37 1994",
        "Sun Nov  6 08:49:37 1994 GMT", "Sun Nov  6 08:49:37 GMT 1994", "Sun, 31 Dec 1899 00:00:00 GMT", "", "GMT",
    ])
    func refuses(text: String) {
        #expect(HTTPDate.milliseconds(text, now: Self.then) == nil)
    }

    @Test(arguments: RetryAfterTests.forms)
    func refusesEveryPartAndEveryStrangeByte(text: String) {
        let bytes = Array(text.utf8)
        for index in bytes.indices {
            let short = String(decoding: bytes[..<index], as: UTF8.self)
            #expect(HTTPDate.milliseconds(short, now: Self.then) == nil, "\(short)")
            for strange in [UInt8(ascii: "?"), 0, 0x0a, UInt8(ascii: "-"), 0x7f] where strange != bytes[index] {
                var changed = bytes
                changed[index] = strange
                let text = String(decoding: changed, as: UTF8.self)
                #expect(HTTPDate.milliseconds(text, now: Self.then) == nil, "\(text)")
            }
        }
        for strange in [" " + text, text + " ", text + "\n", text + "0"] {
            #expect(HTTPDate.milliseconds(strange, now: Self.then) == nil)
        }
    }

    /// Checks each day of two centuries in all three forms.
    @Test func knowsEveryDayOfTwoCenturies() {
        let names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var (number, wrong) = (-25_567, [String]())
        for year in 1900..<2100 {
            let isLeap = year % 4 == 0 && year != 1900
            for (month, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                for day in 1...length {
                    // The short run reads the first and the last day of each month.
                    defer { number += 1 }
                    guard isLongRun || day < 2 || day == length else { continue }
                    let name = names[(number + 25_567) % 7]
                    let two = day < 10 ? "0\(day)" : "\(day)"
                    let texts = [
                        "\(name.prefix(3)), \(two) \(months[month]) \(year) 12:00:01 GMT",
                        "\(name), \(two)-\(months[month])-\("\(year)".suffix(2)) 12:00:01 GMT",
                        "\(name.prefix(3)) \(months[month]) \(day < 10 ? " " : "")\(day) 12:00:01 \(year)",
                    ]
                    let moment = (number * 86_400 + 43_201) * 1000
                    wrong += texts.filter { HTTPDate.milliseconds($0, now: moment) != moment }
                }
            }
        }
        #expect(number == 47_482)
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    /// RFC 9110: a short year that seems more than 50 years ahead is the latest past year with these digits.
    @Test func takesAShortYearForOneThatIsNotMoreThan50YearsAhead() {
        let now = 1_767_225_600_000  // 2026-01-01
        func year(_ text: String) -> Int? {
            HTTPDate.milliseconds(text, now: now).map { $0 / 31_556_952_000 + 1970 }
        }
        #expect(year("Tuesday, 01-Jul-25 00:00:00 GMT") == 2025)
        #expect(year("Tuesday, 01-Jul-75 00:00:00 GMT") == nil)
        #expect(year("Monday, 01-Jul-75 00:00:00 GMT") == 2075)
        #expect(year("Thursday, 01-Jul-76 00:00:00 GMT") == 1976)
        #expect(year("Thursday, 01-Jul-99 00:00:00 GMT") == 1999)
        #expect(year("Wednesday, 01-Jan-76 00:00:00 GMT") == 2076)
        #expect(year("Friday, 02-Jan-76 00:00:00 GMT") == 1976)
        #expect(year("Tuesday, 29-Feb-00 00:00:00 GMT") == 2000)
    }
}
