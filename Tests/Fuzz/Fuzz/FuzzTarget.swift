/// One parser that libFuzzer feeds with bytes.
///
/// To add a target, write a file in `Targets` and add its type to `allTargets`.
protocol FuzzTarget: SendableMetatype {
    /// The word for `make fuzz ONLY=…`.
    static var name: String { get }
    /// The first inputs, from which libFuzzer makes others.
    static func seeds(_ samples: Samples) throws -> [[UInt8]]
    /// Runs once, before the first input.
    static func prepare()
    /// Gives the parser one input. Whatever the input is, the parser must not trap, and `expect` says what else must be
    /// true. Calls the parser through `Cost.bounded`, so that its time and memory are limited.
    static func judge(_ bytes: [UInt8])
}

extension FuzzTarget {
    static func prepare() {}
}

let allTargets: [any FuzzTarget.Type] = [
    ContainerTarget.self, ManifestTarget.self, MetadataTarget.self, LocationTarget.self, JSONTarget.self,
    AssertionTarget.self, DepthTarget.self, VerifyTarget.self, BodyTarget.self, TrustTarget.self, KeyStateTarget.self,
    ExifTarget.self, MultiPictureTarget.self, XMPTarget.self, JPEGTarget.self, PhotoFieldsTarget.self,
    PNGTarget.self, NumpyTarget.self, PortableFloatMapTarget.self, CompressedFloatsTarget.self,
    ScannerAppTarget.self, Record3DTarget.self, PolycamTarget.self, NerfstudioTarget.self, PatternTarget.self,
    StampTarget.self,
]

/// Ends the run, so that libFuzzer keeps the input, if something is not as expected.
func expect(_ condition: Bool, _ message: @autoclosure () -> String, line: Int = #line, file: String = #fileID) {
    if !condition { fatalError("finding: \(message()) (\(file):\(line))") }
}
