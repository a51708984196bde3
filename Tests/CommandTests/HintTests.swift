import CaptureBundle
import CommandSupport
import SystemPackage
import Testing

/// The sentences that no transcript shows.
@Suite struct HintTests {
    private static let sentences: [(Hint, String)] = [
        (.verifyAll("/", count: 2), "it holds 2 bundles; to check them: capbundle verify /*.bundle"),
        (.verifyAll("a b", count: 2), "it holds 2 bundles; to check them: capbundle verify 'a b'/*.bundle"),
        (.finishLink(7), "link 7 is given out; the next \"capbundle pack --chain\" with this key finishes the bundle"),
        (.key(.makeMissing("-k")), "make one with: capbundle key new --key ./-k"),
        (
            .key(.recoverCounter("k", isOther: true)),
            "if the right .state file is lost, move this one away, then: capbundle key recover --counter N --key k"
        ),
        (
            .raw(.packSome("a", count: 1, of: 3)),
            "of the 3 files and folders in it, 1 is a raw folder; to pack only it: find a -mindepth 2 -maxdepth 2 "
                + "-name photo.jpg -printf '%h\\0' | capbundle pack --from0 --out-dir BUNDLES"
        ),
        (
            .raw(.readTimes(.init(form: "s", needsZone: true), words: "seconds")),
            "the name is seconds: --time-from-name s --time-zone +HH:MM"
        ),
        (
            .raw(
                .packMatching(
                    "s", count: 2, photo: "*.png", depth: "d/*.pgm", isMany: true,
                    times: .init(form: "s", needsZone: true), limit: "20ms", convertsPhoto: true)),
            "it has 2 photos with their depth maps; to pack: capbundle pack s --photo '*.png' --depth 'd/*.pgm' "
                + "--depth-scale METRES --time-from-name s --time-zone +HH:MM --match-within 20ms --convert-photo "
                + "--device-model NAME --out-dir BUNDLES"
        ),
        (.set(.timeZone), "give the time zone: --time-zone +HH:MM"),
    ]

    @Test(arguments: sentences) func namesTheCommand(_ hint: Hint, _ sentence: String) {
        #expect(hint.sentence == sentence)
    }

    @Test func namesOptionsInPlaceOfSettings() {
        let error = BundleError(.rawCapture, wording: "is 4x3, but \(.depthSize) says 3x4", file: "d")
        #expect(error.line == "d: is 4x3, but --depth-size says 3x4")
        #expect(error.description == "d: is 4x3, but depth-size says 3x4")
    }

    @Test func cutsALongMessage() {
        let long = String(repeating: "a", count: 2000)
        let error = BundleError(.rawCapture, wording: "\(.frames) \(long) \(.layout)")
        #expect(error.words == "--frames " + String(repeating: "a", count: 991) + "…")
        #expect(BundleError(.rawCapture, long).message == String(repeating: "a", count: 1000) + "…")
    }
}
