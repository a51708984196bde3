import CaptureBundle
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// Any folder can be packed by the names of its files (Spec/raw-captures.md section 4).
struct GenericFormTests {
    private let room: ImportRoom

    /// Seven frames; the third has no photo.
    init() throws {
        room = try ImportRoom()
        for number in 1...7 {
            let samples = [UInt16](repeating: UInt16(number * 1000), count: 12)
            try room.folder.write(
                PictureFiles.png(width: 4, height: 3, samples), to: "scan/depth/frame-\(number * 5).depth.png")
            if number != 3 {
                try room.folder.write(
                    RawFolder.photo + Array("\(number)".utf8), to: "scan/rgb/frame-\(number * 5).jpg")
            }
        }
    }

    private func choose(_ options: inout RawCaptureOptions) {
        let patterns = [NamePattern("rgb/frame-*.jpg"), NamePattern("./depth/frame-*.depth.png")].compactMap(\.self)
        options.patterns = patterns.first.flatMap { CapturePatterns(photo: $0, depth: patterns.last) }
        options.depthScale = .millimetres
        options.capturedAt = CaptureTime("2026-03-14T15:09:26Z")
        options.sharesTime = true
        options.deviceModel = "Rig"
    }

    @Test(arguments: [
        ("10,20-30", 1, [10, 20, 25, 30]), ("5-35", 1, [5, 10, 20, 25, 30, 35]), ("0-100", 2, [5, 20, 30]),
        ("35,35", 1, [35]),
    ])
    func packsTheChosenFrames(_ frames: String, _ every: Int, _ expected: [Int]) throws {
        let names = try room.packFrames("scan") {
            choose(&$0)
            $0.frames = FrameSelection(frames)
            $0.every = every
        }
        #expect(names.sorted() == expected.map { "scan-\($0).bundle" }.sorted())
    }

    @Test func oneBundleTakesOneFrame() throws {
        let error = try room.refusal("scan") { choose(&$0) }
        #expect(error.code == .rawFrames && error.hints.contains { $0.contains("--out-dir") })
        let made = try room.pack("scan") {
            choose(&$0)
            $0.frames = FrameSelection("20")
        }
        #expect(made.packed.frame == "20" && made.packed.layout == "generic")
        #expect(made.depth == [UInt32](repeating: (4 as Float).bitPattern, count: 12))
    }

    @Test func takesFactsOfAMetadataFileForAllFrames() throws {
        try room.folder.write(ImportRoom.metadata, to: "scan/metadata.json")
        let made = try room.pack("scan") {
            choose(&$0)
            ($0.capturedAt, $0.deviceModel) = (nil, nil)
            $0.frames = FrameSelection("5")
        }
        #expect(try made.metadata()["device_model"] as? String == "Test rig")
        #expect(made.packed.manifest.capturedAt.description == "2026-03-14T14:09:26.535Z")
    }

    /// Fifty frames of ten seconds, whose names are milliseconds.
    private func fiftyFrames(_ change: (inout RawCaptureOptions) -> Void) throws -> [Result<String, BundleError>] {
        for index in 0..<50 {
            try room.folder.write(RawFolder.photo, to: "film/\(1_773_497_366_535 + 200 * index).jpg")
        }
        var options = RawCaptureOptions(withoutDepth: true)
        options.patterns = NamePattern("*.jpg").flatMap { CapturePatterns(photo: $0) }
        options.deviceModel = "Rig"
        change(&options)
        let run = try PackingRun(
            [room.folder.path("film") as FilePath], into: room.folder.path("film-out"), replaces: true,
            packer: room.packer, options: options)
        var times: [Result<String, BundleError>] = []
        try run.pack { _, result in times.append(result.map(\.manifest.capturedAt.description)) }
        return times
    }

    @Test func severalFramesNeverGetOneTimeSilently() throws {
        let one = CaptureTime("2026-03-14T15:09:26Z")
        let hints = ["the name is a time in milliseconds since 1970: --time-from-name ms"]
        try room.folder.write(#"{"captured_at": "2026-03-14T15:09:26Z"}"#, to: "film/metadata.json")
        for (time, found) in [
            (nil, ", and metadata.json gives one time for 50 frames"),
            (one, ", and --captured-at gives one time for 50 frames"),
        ] {
            for refused in try fiftyFrames({ $0.capturedAt = time }) {
                let error = try #require(throws: BundleError.self) { try refused.get() }
                #expect(error.code == .rawTime && error.message == "has no time of its own\(found)")
                #expect(error.hints == hints + ["if one time is right for all frames: --same-time"])
            }
        }
        let own = try fiftyFrames { $0.timeFromName = .milliseconds }.map { try $0.get() }
        #expect(Set(own.map { Array($0.utf8) }).count == 50 && own.first == "2026-03-14T14:09:26.535Z")
        #expect(try room.metadata("film-out/film-1773497366735.bundle")["captured_at"] as? String == own[1])
        let shared = try fiftyFrames { ($0.capturedAt, $0.sharesTime) = (one, true) }
        #expect(try shared.allSatisfy { try $0.get() == "2026-03-14T15:09:26.000Z" })
        let wrong = try fiftyFrames { $0.timeFromName = .microseconds }
        #expect(throws: BundleError.self) { try wrong[0].get() }
    }

    @Test func namesThePatternThatFitsNothing() throws {
        let error = try room.refusal("scan") {
            choose(&$0)
            $0.patterns = NamePattern("*.jpeg").flatMap { CapturePatterns(photo: $0) }
        }
        #expect(error.code == .rawLayout && error.message == "no file matches --photo *.jpeg")
    }

    @Test(arguments: ["", "/etc/*.jpg", "../*.jpg", "a/../*.jpg", "*/*.jpg", "a*b*.jpg"])
    func refusesAPatternThatLeavesTheFolderOrHasTwoStars(_ text: String) { #expect(NamePattern(text) == nil) }

    @Test func allPatternsHaveAStarOrNone() throws {
        let (star, plain) = (try #require(NamePattern("*.jpg")), try #require(NamePattern("depth.png")))
        #expect(CapturePatterns(photo: star, depth: plain) == nil && CapturePatterns(photo: plain, depth: star) == nil)
        #expect(CapturePatterns(photo: plain, depth: plain) != nil)
    }

    @Test(arguments: ["", ",", "a", "3-1", "1-2-3", "-", "99999999999999999999"])
    func refusesWhatIsNoListOfFrames(_ text: String) { #expect(FrameSelection(text) == nil) }
}
