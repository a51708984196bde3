import CaptureBundle
import Testing

@testable import CaptureImport

/// Times in the names of files (Spec/raw-captures.md section 5.1).
struct NameTimeTests {
    @Test(
        arguments: [
            (.seconds, "1305031102.175304", "2011-05-10T12:38:22.175304Z"), (.seconds, "1305031102", "12:38:22.000Z"),
            (.milliseconds, "1773497366535", "2026-03-14T14:09:26.535Z"),
            (.milliseconds, "1773497366535.25", "14:09:26.53525Z"),
            (.microseconds, "1773497366535001", "14:09:26.535001Z"),
            (.nanoseconds, "1403636579763555584", "2014-06-24T19:02:59.763555584Z"),
            (.iso, "2026-03-14T15:09:26.535+01:00", "2026-03-14T15:09:26.535+01:00"),
            (.iso, "20260314_150926Z", "2026-03-14T15:09:26Z"),
            (.iso, "2026-03-14-15-09-26,5-0330", "2026-03-14T15:09:26.5-03:30"),
            (.iso, "2026-03-14 15.09.26", "2026-03-14T15:09:26+02:00"),
        ] as [(NameTimeForm, String, String)])
    func readsATime(_ form: NameTimeForm, _ name: String, _ expected: String) throws {
        let time = try #require(form.read(name, zone: ZoneOffset("+02:00")))
        #expect(time.text.hasSuffix(expected))
        let moment = try #require(CaptureTime(time.text))
        #expect(time.nanoseconds / 1_000_000 == moment.milliseconds)
        let found = try #require(NameTimeForm.fitting([name]))
        #expect(found.form == form && found.needsZone == name.hasSuffix(".09.26"))
    }

    @Test(arguments: ["", "20", "ms", "0ms", "2s", "1001ms", "-1ms", "1.5ms", "20 ms"])
    func refusesOtherLimits(_ text: String) { #expect(MatchLimit(text) == nil) }

    @Test(
        arguments: [
            (
                .seconds,
                ["1773497366535", "000012", "", "1305031102.", ".5", "-1305031102", "1305031102.1234567890", "1e9"]
            ),
            (.milliseconds, ["1773497366", "1773497366535001", "1773497366535 "]),
            (.nanoseconds, ["99999999999999999999", "9999999999999999999", "4102444800000000000"]),
            (
                .iso,
                [
                    "2026-02-29T00:00:00Z", "2026-0314T000000Z", "20260314T00:0000Z", "20260314T000000.Z",
                    "20260314T000000-0000", "20260314T000000", "20260314T000000Zx", "1999-12-31T23:59:59Z",
                ]
            ),
        ] as [(NameTimeForm, [String])])
    func refusesOtherNames(_ form: NameTimeForm, _ names: [String]) {
        for name in names { #expect(form.read(name, zone: nil) == nil, "\(name)") }
    }
}
