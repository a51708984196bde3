/// The limits of Spec/capture-bundle.md section 12.
public enum BundleLimits {
    public static let manifestBytes = 1_048_576
    public static let metadataBytes = 1_048_576
    public static let assertionBytes = 4096
    public static let locationBytes = 512
    /// The first bytes of the photo that are searched for EXIF.
    public static let photoHeaderBytes = 1_048_576
    public static let entries = 4096
    public static let pathBytes = 99
    /// The largest number that eleven octal digits can express: 8 GiB − 1.
    public static let entryBytes = 8_589_934_591
    /// The maximum number of samples on one side of the depth map.
    public static let depthSide = 16384
    public static let manifestNesting = 8
    public static let metadataNesting = 32
    public static let numberCharacters = 64
    public static let trustFileBytes = 67_108_864
}

/// The limits of upload servers. Packing a larger capture gives a warning.
public enum UploadAdvice {
    public static let bodyBytes = 20 << 20
    public static let photoBytes = 10 << 20
    public static let depthBytes = 5 << 20
    public static let depthSide = 1000
}
