/// A store of small objects that are created once and never changed, so several receivers can use it without a lock.
/// All calls block, and throw if the store cannot be reached.
protocol ObjectStore: Sendable {
    func get(_ name: String) throws -> [UInt8]?

    /// Creates an object. It survives a crash once the call returns. If several callers create the same name at once,
    /// one of them succeeds.
    ///
    /// - Returns: false if the name exists.
    func create(_ name: String, _ bytes: [UInt8]) throws -> Bool

    /// The names that begin with a prefix, such as `devices/`, in order.
    func names(_ prefix: String) throws -> [String]
}
