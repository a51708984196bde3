import CaptureBundle
import CaptureNative
import SystemPackage

/// A capture whose bundle exists already, because an earlier run of the same command made it.
struct PackedCapture {
    /// The plan, with the link of the bundle if it has one.
    let plan: BundlePlan
    let counter: UInt32
    let assertion: [UInt8]

    /// - Parameter counter: nil for a dry run.
    func result(counter: UInt32?) throws(BundleError) -> Packer.Packed {
        var packed = try plan.packed(counter: counter, assertion: assertion.count, body: nil)
        packed.wasPackedBefore = true
        return packed
    }
}

extension PackedCapture {
    /// The bundle at a path, if it is a whole and sound one with exactly this manifest.
    ///
    /// - Throws: `output.exists` for any other file; the errors of reading it.
    init(_ plan: BundlePlan, at path: FilePath) throws(BundleError) {
        let report = try Verifier.soundness.verify(BundleSource(file: path))
        guard report.isSound, report.withheld.isEmpty, let counter = report.authenticatorData?.counter,
            try report.manifestSHA256 == Digest.of(plan.manifestBytes)
        else { throw .exists(path) }
        let assertion = try BundleReader(BundleSource(file: path)).readHead().assertion
        self.init(plan: plan, counter: counter, assertion: assertion)
    }
}
