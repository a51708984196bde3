/// The maximum sizes of files that are read into memory, in bytes.
enum FileLimits {
    static let photo = 1 << 30
    static let depth = 1 << 30
    static let confidence = 64 << 20
    static let carried = 64 << 20
    /// The app's file about all frames of an export, of which there are at most 100 000.
    static let scan = 128 << 20
}
