import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import Testing

/// Facts come from metadata.json, else the layout, else EXIF, else an option (Spec/raw-captures.md section 5).
struct FactPrecedenceTests {
    private let room: ImportRoom

    init() throws { room = try ImportRoom() }

    private func exif(offset: String? = "+01:00", gps: Bool = false) -> [UInt8] {
        var exif = ExifBuilder(isLittle: true)
        exif.main = [.text(0x010f, "Maker"), .text(0x0110, "Model 5")]
        exif.exif = [.text(0x9003, "2026:03:14 15:09:26")]
        if let offset { exif.exif.append(.text(0x9011, offset)) }
        if gps { exif.gps = ExifBuilder.gpsFields }
        return Array(RawFolder.photo.prefix(2)) + exif.segment + RawFolder.photo.dropFirst(2)
    }

    /// A folder of our own layout with floats and, if wanted, metadata.json.
    private func write(_ photo: [UInt8], _ metadata: String?) throws {
        try RawFolder.write(to: room.folder, photo: photo, depth: nil, metadata: metadata)
        try room.folder.write(PictureFiles.npy("<f4", RawFolder.floats([1, 2]), shape: "(1, 2)"), to: "raw/depth.npy")
    }

    @Test func takesTimeAndModelFromEXIF() throws {
        try write(exif(), nil)
        let made = try room.pack("raw")
        #expect(try made.metadata()["captured_at"] as? String == "2026-03-14T15:09:26+01:00")
        #expect(try made.metadata()["device_model"] as? String == "Maker Model 5")
        #expect(made.codes.isEmpty)
    }

    @Test func warnsWithBothWhereTwoSourcesDisagree() throws {
        try write(exif(), ImportRoom.metadata.replacing("15:09:26.535", with: "15:09:29.000"))
        let made = try room.pack("raw")
        #expect(made.codes == ["raw.disagree", "raw.disagree"])
        let message = try #require(made.packed.remarks.first?.message)
        #expect(message.contains("2026-03-14T15:09:29.000+01:00") && message.contains("2026-03-14T15:09:26+01:00"))
        #expect(made.packed.manifest.capturedAt.description == "2026-03-14T14:09:29.000Z")
        #expect(try made.metadata()["device_model"] as? String == "Test rig")
    }

    @Test func twoSecondsAndAMakersNameAgree() throws {
        let metadata = ImportRoom.metadata.replacing("15:09:26.535", with: "15:09:28").replacing(
            "Test rig", with: "Model 5")
        try write(exif(), metadata)
        #expect(try room.pack("raw").codes.isEmpty)
    }

    @Test func fillsWhatMetadataOfAPlainFolderDoesNotSay() throws {
        let metadata = #"{"depth_map_dimensions": {"width": 4, "height": 3}}"#
        try RawFolder.write(to: room.folder, photo: exif(), metadata: metadata)
        #expect(try room.pack("raw").metadata()["device_model"] as? String == "Maker Model 5")
        try RawFolder.write(to: room.folder, metadata: metadata)
        let made = try room.pack("raw") {
            $0.capturedAt = CaptureTime("2026-03-14T15:09:26Z")
            $0.deviceModel = "Rig"
        }
        #expect(try made.metadata()["device_model"] as? String == "Rig")
        #expect(made.packed.manifest.capturedAt.description == "2026-03-14T15:09:26.000Z")
    }

    @Test func aLocalTimeNeedsItsZone() throws {
        try write(exif(offset: nil), nil)
        let error = try room.refusal("raw")
        #expect(error.code == .rawTime && error.cause == .noZone)
        let made = try room.pack("raw") { $0.timeZone = ZoneOffset("-03:30") }
        #expect(made.packed.manifest.capturedAt.description == "2026-03-14T18:39:26.000Z")
    }

    @Test func satellitesTellTheZone() throws {
        // The satellites say 14:09:24.53 UTC.
        try write(exif(offset: nil, gps: true), nil)
        #expect(try room.pack("raw").metadata()["captured_at"] as? String == "2026-03-14T15:09:26+01:00")
    }

    /// A PNG becomes a JPEG only if the user says so, and the original is carried.
    @Test(arguments: ["raw/photo.png", "photo.png"]) func convertsAPNG(_ name: String) throws {
        let rows = (0..<8).map { _ in [UInt8](repeating: 200, count: 24) }
        let tiff = Array(exif().dropFirst(12).dropLast(RawFolder.photo.count - 2))
        let chunk = PictureFiles.chunk("eXIf", tiff)
        let png = PictureFiles.png(width: 8, height: 8, bits: 8, colour: 2, rows: rows, between: chunk)
        try room.folder.write(png, to: name)
        let raw = name == "photo.png" ? name : "raw"
        let refused = try room.refusal(raw) { $0.withoutDepth = true }
        #expect(refused.message == "is an 8-bit colour PNG, 8x8, expected a JPEG")
        #expect(refused.cause == .notConverted)
        let made = try room.pack(raw) { ($0.withoutDepth, $0.convertsPhoto) = (true, true) }
        #expect(made.entries["source/photo.png"] == png)
        let photo = try #require(made.entries["photo.jpg"])
        #expect(try JPEGStructure(photo).size?.width == 8)
        let facts = try made.metadata()
        #expect(facts["device_model"] as? String == "Maker Model 5")
        #expect((facts["photo_converted"] as? [String: Any])?["from"] as? String == "image/png")
        let bare = try room.pack(raw) { ($0.withoutDepth, $0.convertsPhoto, $0.rewritesPhoto) = (true, true, true) }
        #expect(bare.entries["source/photo.png"] == nil)
    }

    @Test func saysWhatGivesTheTimeOrTheModel() throws {
        try write(RawFolder.photo, #"{"device_model": "Rig"}"#)
        let time = try room.refusal("raw")
        #expect(time.cause == .noTime && time.values == ["capbundle"])
        try write(RawFolder.photo, #"{"captured_at": "2026-03-14T15:09:26Z"}"#)
        let model = try room.refusal("raw")
        #expect(model.cause == .noModel && model.values == ["capbundle"])
    }

    @Test func thePositionInThePhotoMustNotStayWhereItIsWithheld() throws {
        let photo = exif(gps: true)
        try write(photo, nil)
        for location in [LocationPolicy.coarse, .omit] {
            let error = try room.refusal("raw") { $0.location = location }
            #expect(error.code == .rawPosition && error.file?.hasSuffix("raw/photo.jpg") == true)
            #expect(error.cause == .positionInPhoto)
        }
        let kept = try room.pack("raw") {
            $0.location = .omit
            $0.keepsPhotoLocation = true
        }
        #expect(kept.entries["photo.jpg"] == photo && kept.codes == ["photo.position"])
        let made = try room.pack("raw") {
            $0.location = .coarse
            $0.rewritesPhoto = true
        }
        let rewritten = try #require(made.entries["photo.jpg"])
        #expect(rewritten == exif())
        #expect(try made.metadata()["photo_rewritten"] as? String == "position removed")
        let place = try #require(made.entries["location.json"])
        #expect(String(decoding: place, as: UTF8.self).contains(#""latitude":-12.5"#))
    }

    /// A photo that stays as it is leads to one note, unless the position can be withheld with the photo.
    @Test func saysThatThePositionCannotBeWithheldLater() throws {
        try write(exif(gps: true), nil)
        #expect(try room.pack("raw").codes == ["photo.fields"])
        #expect(try room.pack("raw") { $0.withholdable.add(.photo) }.codes.isEmpty)
        let made = try room.pack("raw") { $0.rewritesPhoto = true }
        #expect(made.codes.isEmpty && made.entries["photo.jpg"] == exif())
        try write(exif(), nil)
        let plain = try room.pack("raw") { $0.rewritesPhoto = true }
        #expect(try plain.metadata()["photo_rewritten"] == nil && plain.entries["photo.jpg"] == exif())
    }

    /// The photo of a HEIC file that only the file itself turns, by a quarter clockwise.
    @Test func takesTheOrientationOfAHEICFile() throws {
        try RawFolder.write(to: room.folder, photo: nil, depth: nil, metadata: ImportRoom.metadata)
        try room.folder.write([UInt8](#require(Data(base64Encoded: Self.turned))), to: "raw/photo.heic")
        let photo = try #require(
            try room.pack("raw") { ($0.convertsPhoto, $0.withoutDepth) = (true, true) }.entries["photo.jpg"])
        #expect(PhotoFacts(jpeg: photo)?.orientation == 6)
    }

    /// 16 by 16 grey pixels, by pillow-heif 1.8, with `irot` 3.
    private static let turned =
        """
        AAAAHGZ0eXBoZWl4AAAAAG1pZjFoZWl4bWlhZgAAAYBtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJp\
        bG9jAAAAAERAAAEAAQAAAAABpAABAAAAAAAAABoAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAAB\
        AAABAGlwcnAAAADfaXBjbwAAAHFodmNDAQQIAAAAn/gAAAAAHvAA/Pz4+AAADwNgAAEAF0ABDAH//wQIAAADAJ/4AAADAAAeugJAYQAB\
        ACZCAQEECAAAAwCf+AAAAwAAHsCCBBZbqrprmwIAAAMAMgAAAwACEGIAAQAGRAHBc8GJAAAAE2NvbHJuY2x4AAEADQAGgAAAABRpc3Bl\
        AAAAAAAAAEAAAABAAAAAKGNsYXAAAAAQAAAAAQAAABAAAAAB////0AAAAAL////QAAAAAgAAAA5waXhpAAAAAAEIAAAACWlyb3QDAAAA\
        GWlwbWEAAAAAAAAAAQABBoECAwWEhgAAACJtZGF0AAAAFigBrggkbbjga9M1skErUKZ/ZsCVARE=
        """

    /// Files as they were found are refused; a depth map inside a photo is read before the photo is rewritten.
    @Test func carriesNoFileAsItWasFound() throws {
        try write(RawFolder.photo, ImportRoom.metadata)
        let error = try room.refusal("raw") { ($0.location, $0.keepsSource) = (.omit, true) }
        #expect(error.code == .rawPosition && error.message.contains("source/depth.npy"))
        try room.folder.write(PortraitDepthTests.portrait, to: "portrait.jpg")
        let made = try room.pack("portrait.jpg") {
            ($0.location, $0.rewritesPhoto) = (.omit, true)
            ($0.capturedAt, $0.deviceModel) = (CaptureTime("2026-03-14T15:09:26Z"), "Rig")
        }
        #expect(made.source?.encoding == "apple-disparity-u8" && made.entries["photo.jpg"] == RawFolder.photo)
    }
}
