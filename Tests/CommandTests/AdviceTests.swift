import CaptureBundle
import CaptureTestSupport
import CommandSupport
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
}
