import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

/// A HEIC photo is converted only where the user asks for it.
struct HEICTests {
    @Test func saysHowAHEICPhotoIsConverted() throws {
        let room = try ImportRoom()
        try room.folder.write(FileKindTests.heic, to: "photo.heic")
        let error = try room.refusal("photo.heic")
        #expect(error.code == .rawCapture && error.message == "is a HEIC photo, expected a JPEG")
        #expect(error.hints.contains { $0.contains("--convert-photo") })
        // There is no picture in it.
        #expect(try room.refusal("photo.heic") { $0.convertsPhoto = true }.code == .rawCapture)
        try RawFolder.write(to: room.folder, photo: nil)
        try room.folder.write(FileKindTests.heic, to: "raw/photo.heic")
        #expect(try room.refusal("raw").hints.contains { $0.contains("--convert-photo") })
    }
}
