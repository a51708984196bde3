import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import CommandSupport
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

    private func patterns(_ photo: String, _ depth: String) -> CapturePatterns? {
        NamePattern(photo).flatMap { CapturePatterns(photo: $0, depth: NamePattern(depth)) }
    }

    private func choose(_ options: inout RawCaptureOptions) {
        options.patterns = patterns("rgb/frame-*.jpg", "./depth/frame-*.depth.png")
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

    /// What macOS puts beside each file on a foreign disk.
    @Test func aStarDoesNotMatchAPointAtTheBeginning() throws {
        for name in ["rgb/._frame-5.jpg", "depth/._frame-5.depth.png"] {
            try room.folder.write([0, 5, 0x16, 7], to: "scan/\(name)")
        }
        let names = try room.packFrames("scan") {
            choose(&$0)
            $0.patterns = patterns("rgb/*.jpg", "depth/*.depth.png")
        }
        #expect(names.count == 6)
        try room.folder.shell("rm scan/*/._*")
        for name in ["rgb/.5.jpg", "depth/.5.png"] {
            try FileManager.default.copyItem(
                atPath: room.folder.path(
                    "scan/\(name.hasPrefix("rgb") ? "rgb/frame-5.jpg" : "depth/frame-5.depth.png")"),
                toPath: room.folder.path("scan/\(name)"))
        }
        try FileManager.default.removeItem(atPath: room.folder.path("out"))
        let hidden = try room.packFrames("scan") {
            choose(&$0)
            $0.patterns = patterns("rgb/.*.jpg", "depth/.*.png")
        }
        #expect(hidden == ["scan-5.bundle"])
    }

    @Test func oneBundleTakesOneFrame() throws {
        let error = try room.refusal("scan") { choose(&$0) }
        #expect(error.code == .rawFrames && error.cause == .severalFrames && error.values == ["5"])
        let made = try room.pack("scan") {
            choose(&$0)
            $0.frames = FrameSelection("20")
        }
        #expect(made.packed.frame == "20" && made.packed.layout == "generic")
        #expect(made.depth == [UInt32](repeating: (4 as Float).bitPattern, count: 12))
    }

    @Test func namesTheUnicodeFormsOfNamesThatLookAlike() throws {
        let depth = PictureFiles.png(width: 4, height: 3, [UInt16](repeating: 1000, count: 12))
        for (photo, other, forms) in [
            ("caf\u{e9}", "cafe\u{301}", "NFD, the photo has NFC"),
            ("cafe\u{301}", "caf\u{e9}", "NFC, the photo has NFD"),
        ] {
            let name = "two-\(other.utf8.count)"
            try room.folder.write(RawFolder.photo, to: "\(name)/rgb/frame-\(photo).jpg")
            try room.folder.write(depth, to: "\(name)/depth/frame-\(other).depth.png")
            let error = try room.refusal(name) { choose(&$0) }
            #expect(error.code == .rawCapture && error.cause == .otherUnicode)
            #expect(error.file?.utf8.reversed().starts(with: "depth/frame-\(other).depth.png".utf8.reversed()) == true)
            #expect(error.message == "has the name of its photo in another Unicode form: \(forms)")
        }
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

    private func proposal(
        _ name: String, _ count: Int, _ photo: String, _ depth: String, _ options: String = ""
    ) -> String {
        "it has \(count) photos with their depth maps; to pack: capbundle pack \(room.folder.path(name) as String) "
            + "--photo '\(photo)' --depth '\(depth)' --depth-scale METRES\(options) --device-model NAME "
            + "--out-dir BUNDLES"
    }

    @Test func namesThePatternThatFitsNothingAndOneThatDoes() throws {
        let fitting = proposal("scan", 6, "rgb/frame-*.jpg", "depth/frame-*.depth.png")
        for (photo, depth, message) in [
            ("*.jpeg", "depth/*.png", "no file matches --photo *.jpeg"),
            ("rgb/frame-*.jpg", "depth/*.exr", "no file matches --depth depth/*.exr"),
            (
                "rgb/*.jpg", "depth/frame-*.depth.png",
                "no photo and depth map have the same name where their patterns have *"
            ),
        ] {
            let error = try room.refusal("scan") {
                choose(&$0)
                $0.patterns = patterns(photo, depth)
            }
            #expect(error.code == .rawLayout && error.message == message && error.advice == [fitting])
        }
    }

    /// 7-Scenes has both in one folder; a colour picture is never taken for a depth map.
    @Test func proposesOnlyPatternsThatFit() throws {
        let colour = PictureFiles.png(
            width: 2, height: 1, bits: 8, colour: 2, rows: [[UInt8](repeating: 9, count: 6)])
        for name in ["frame-000000", "frame-000001"] {
            try room.folder.write(colour, to: "seq/\(name).color.png")
            try room.folder.write("1 0 0 0", to: "seq/\(name).pose.txt")
            try room.folder.write(colour, to: "colour/\(name).png")
            try room.folder.write(RawFolder.photo, to: "photos/\(name).jpg")
        }
        for name in ["seq", "colour"] {
            #expect(try !room.refusal(name).advice.contains { $0.contains("--photo") })
        }
        #expect(
            try room.refusal("photos").advice == ["if the folder holds one capture, rename its photo to photo.jpg"])
        for name in ["frame-000000", "frame-000001"] {
            try room.folder.write(PictureFiles.png(width: 2, height: 1, [1, 2]), to: "seq/\(name).depth.png")
        }
        let fitting = proposal("seq", 2, "frame-*.color.png", "frame-*.depth.png", " --convert-photo")
        #expect(try room.refusal("seq").advice == [fitting])
    }

    @Test func refusesAnUnknownModel() throws {
        let error = try room.refusal("scan") {
            choose(&$0)
            ($0.deviceModel, $0.frames) = (nil, FrameSelection("5"))
        }
        #expect(error.message == "the model of the device is unknown")
        #expect(error.cause == .noModel && error.values == ["generic"])
    }

    /// Photos and depth maps of a recorder that gives each its own time, in seconds. 2.030 is 10 ms from two photos.
    @Test func takesTheNearestDepthMap() throws {
        for time in ["1305031102.000", "1305031102.020", "1305031102.040", "1305031109.000"] {
            try room.folder.write(RawFolder.photo, to: "tum/rgb/\(time).jpg")
        }
        for (time, code) in [("1305031101.987", 1), ("1305031102.0304", 2), ("1305031102.051", 3)] {
            try room.folder.write(
                PictureFiles.png(width: 2, height: 1, [UInt16(code * 1000), 9]), to: "tum/depth/\(time).png")
        }
        func pack(_ limit: String?) throws -> [Result<Packer.Packed, BundleError>] {
            var options = RawCaptureOptions()
            options.patterns = patterns("rgb/*.jpg", "depth/*.png")
            (options.depthScale, options.deviceModel) = (.millimetres, "Rig")
            (options.timeFromName, options.matchWithin) = (.seconds, limit.flatMap { MatchLimit($0) })
            let run = try PackingRun(
                [room.folder.path("tum") as FilePath], into: room.folder.path("out"), replaces: true,
                packer: room.packer, options: options)
            var results: [Result<Packer.Packed, BundleError>] = []
            try run.pack { _, result in results.append(result) }
            return results
        }
        let alone = try pack(nil)
        let advice = try #require(throws: BundleError.self) { try alone[0].get() }.advice
        let fitting = proposal("tum", 2, "rgb/*.jpg", "depth/*.png", " --time-from-name s --match-within 20ms")
        #expect(advice == [fitting])
        let results = try pack("20ms")
        let errors = results.map { result in if case .failure(let error) = result { error.message } else { "" } }
        let none = "has no depth map within 20ms of its time"
        #expect(errors == ["", none, "", none])
        for (photo, offset) in [("02.000", -0.013), ("02.040", -0.0096)] {
            let facts = try room.metadata("out/tum-13050311\(photo).bundle")
            #expect(facts["depth_time_offset"] as? Double == offset)
        }
        #expect(try results[2].get().manifest.capturedAt.description == "2011-05-10T12:38:22.040Z")
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

    @Test func ourOwnFloatsAreNoSourceAndOtherMembersMayBeNull() throws {
        let room = try ImportRoom()
        let metadata = RawFolder.metadata.replacing("\"unknown\"", with: "\"camera\": null, \"unknown\"")
        try RawFolder.write(to: room.folder, metadata: metadata)
        let made = try room.pack("raw") { $0.keepsSource = true }
        #expect(!made.entries.keys.contains { $0.hasPrefix("source/") })
        #expect(try made.metadata()["camera"] is NSNull)
    }
}
