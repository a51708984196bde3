// check-bundle TRUST BUNDLE
// Verifies the file BUNDLE as a server would: with CaptureBundle only, which links no picture library, and reads neither
// a key nor the home folder. Prints the verdict and the id. The exit code is 0 if the bundle is verified.

import CaptureBundle
import Foundation
import SystemPackage

let words = CommandLine.arguments
guard words.count == 3 else {
    print("usage: check-bundle TRUST BUNDLE")
    exit(64)
}

do {
    let report = try Verifier(trust: TrustFile(path: FilePath(words[1]))).verify(BundleSource(path: FilePath(words[2])))
    print(report.verdict.word, report.manifest?.id ?? "-")
    for fault in report.faults { print(fault) }
    exit(report.verdict == .verified ? 0 : 1)
} catch {
    print("check-bundle: \(error)")
    exit(1)
}
