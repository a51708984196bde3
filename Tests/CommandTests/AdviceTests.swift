import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import CommandSupport
import PictureClient
import SystemPackage
import Testing

/// The advice that no transcript shows.
@Suite struct AdviceTests {
    private static let errors: [(BundleError, [String])] = [
        (
            BundleError(.keyDamaged, "", file: "a b", cause: .isSSHPrivateKey),
            ["to make a device key: capbundle key new"]
        ),
        (
            BundleError(.keyDamaged, "", file: "a", cause: .isSSHSecret),
            ["keep it secret; to make a device key: capbundle key new"]
        ),
        (BundleError(.keyDamaged, "", file: "-", cause: .isSSHSecret), []),
        (
            BundleError(.keyDamaged, "", file: "-", cause: .isBundle),
            ["to print the right key on the device: capbundle key public"]
        ),
        (BundleError(.trustName, "", cause: .severalLines), ["delete all but one of these lines"]),
        (
            BundleError(.restoreUnknown, "", file: "a", cause: .withheld),
            ["no entry of this bundle is withheld"]
        ),
        (
            BundleError(.stateDamaged, "", file: "a", cause: .recordCut),
            [
                "restore the folder from a backup",
                "without a backup, give a new folder to --state; it remembers nothing that was verified before",
            ]
        ),
        (
            BundleError(.trustOpenToOthers, "", file: "-a", cause: .openToOthers),
            ["check the trust file, then: chmod go-w ./-a"]
        ),
        (BundleError(.keyOpenToOthers, "", file: "a b", cause: .openToOthers), ["chmod 600 'a b'"]),
        (BundleError(.outputExists, "", file: "a"), []),
    ]

    @Test(arguments: errors) func isComputedFromCodeCauseAndPlace(_ error: BundleError, _ advice: [String]) {
        #expect(error.advice == advice)
    }

    @Test func looksIntoTheFolder() throws {
        let folder = try TemporaryFolder()
        for name in ["a b/1.bundle", "a b/2.bundle", "photos/photo.jpg"] {
            try folder.write(JPEGPieces.photo(with: []), to: name)
        }
        #expect(
            BundleError(.inputUnreadable, "", file: folder.path("a b") as String, cause: .isFolder).advice == [
                "it holds 2 bundles; to check them: capbundle verify '\(folder.path("a b") as String)'/*.bundle"
            ])
        #expect(
            BundleError(.containerMagic, "", file: folder.path("photos/photo.jpg") as String, cause: .otherKind).advice
                == ["to make a bundle from a raw folder: capbundle pack RAW -o FILE"])
    }

    private static let capture: [(BundleError, [String])] = [
        (
            BundleError(.rawTime, "", file: "a/photo.jpg", cause: .noOwnTime, values: ["", "iso", "local"]),
            [
                "the name is a date with a time: --time-from-name iso --time-zone +HH:MM",
                "if one time is right for all frames: --captured-at TIME --same-time",
            ]
        ),
        (
            BundleError(.rawTime, "", file: "a/photo.jpg", cause: .noTime, values: ["portrait", "s"]),
            [
                "the name is a time in seconds since 1970: --time-from-name s",
                "give it: --captured-at TIME, such as 2026-03-14T15:09:26+01:00",
            ]
        ),
        (
            BundleError(.rawArchive, "", file: "a.gz", cause: .archiveLink, values: ["gzip"]),
            ["unpack it, check its files, and pack the folder", "unpack it first: gzip -dc a.gz > a"]
        ),
        (BundleError(.rawTime, "", file: "a", cause: .noZone), ["give the time zone: --time-zone +HH:MM"]),
    ]

    @Test(arguments: capture.indices) func adviseOnACapture(_ index: Int) {
        let (error, advice) = Self.capture[index]
        #expect(error.advice == advice)
    }

    @Test func sayHowToPackSomeFoldersInAFolder() throws {
        let folder = try TemporaryFolder()
        try ["a/photo.jpg", "b/notes.txt", "c"].forEach { try folder.write("", to: "f/\($0)") }
        let path = folder.path("f") as String
        #expect(
            BundleError(.rawCapture, "", file: path, cause: .noCapture).advice == [
                "of the 3 files and folders in it, 1 is a raw folder; to pack only it: find \(path) -mindepth 2 "
                    + "-maxdepth 2 -name photo.jpg -printf '%h\\0' | capbundle pack --from0 --out-dir BUNDLES"
            ])
    }

    private static let keys: [(BundleError, String)] = [
        (
            BundleError(.inputOutput, "", cause: .linkPending, values: ["7"]),
            "link 7 is given out; the next \"capbundle pack --chain\" with this key finishes the bundle"
        ),
        (
            BundleError(.keyMissing, "", file: "-k" as FilePath, cause: .noDeviceKey),
            "make one with: capbundle key new --key ./-k"
        ),
        (
            BundleError(.keyDamaged, "", file: "k.state" as FilePath, cause: .otherState, values: ["k"]),
            "if the right .state file is lost, move this one away, then: capbundle key recover --counter N --key k"
        ),
    ]

    @Test(arguments: keys) func namesTheCommand(_ error: BundleError, _ sentence: String) {
        #expect(error.advice.last == sentence)
    }

    @Test func cutsALongMessage() {
        let long = String(repeating: "a", count: 2000)
        #expect(BundleError(.rawCapture, long).message == String(repeating: "a", count: 1000) + "…")
    }
}
