// seal-and-check RAW KEY BUNDLE
// Packs the raw folder RAW into the new file BUNDLE, verifies it, and prints the verdict and the id. Creates the key
// KEY if it is missing. The exit code is 0 if the bundle is verified.

import CaptureBundle
import CaptureDevice
import CaptureImport
import Foundation
import SystemPackage

let words = CommandLine.arguments
guard words.count == 4 else {
    print("usage: seal-and-check RAW KEY BUNDLE")
    exit(64)
}
let raw = FilePath(words[1])
let key = DeviceKeyFile(path: FilePath(words[2]))
let bundle = FilePath(words[3])

do {
    if (try? key.publicKey()) == nil { _ = try key.create(passphrase: nil) }
    let packed = try Packer(key: key).pack(raw, to: .file(bundle))

    var trust = TrustFile()
    try trust.add(TrustedDeviceLine(name: "this-rig", point: key.publicKey()))
    let report = try Verifier(trust: trust).verify(BundleSource(path: bundle))
    print(report.verdict.word, packed.id)
    for fault in report.faults { print(fault) }
    exit(report.verdict == .verified ? 0 : 1)
} catch {
    print("seal-and-check: \(error)")
    exit(1)
}
