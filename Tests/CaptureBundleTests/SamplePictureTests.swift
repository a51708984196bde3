import CaptureBundle
import CaptureTestSupport
import Foundation
import PictureClient
import PictureMessages
import SystemPackage
import Testing

/// The picture in README.md.
struct SamplePictureTests {
    /// The command that README.md names makes it again. Versions of the JPEG decoder may differ in the last bits of the
    /// photo.
    @Test func isMadeFromTheSampleByTheCommand() throws {
        let folder = try TemporaryFolder()
        let bundle = Places.sample.appending(path: "desk-lamp.bundle").path()
        let result = try Program.run(
            Places.product("capbundle"), ["depth", bundle, "--beside", "--image", "picture.png"], in: folder.url,
            environment: [:])
        #expect(result.exitCode == 0, "\(result.errorText)")
        let decoder = PictureDecoder(executable: FilePath(Places.product("capbundle-decode").path()))
        let made = try decoder.pixels(folder.bytes("picture.png"), .png)
        let kept = try Places.sample.appending(path: "picture.png").bytes
        let shown = try decoder.pixels(kept, .png)
        #expect(made.width == shown.width && made.height == shown.height && made.rgb.count == shown.rgb.count)
        // A comparison of each pixel takes seconds in a debug build.
        if made.rgb != shown.rgb {
            #expect(zip(made.rgb, shown.rgb).allSatisfy { abs(Int($0) - Int($1)) <= 4 })
        }
        #expect(kept.count < 400_000)
    }
}
