public import CaptureBundle

/// The options of a push.
public struct PushOptions: Sendable {
    /// The names of destinations; empty for the default destination.
    public var destinations: [String] = []
    public var session: String?
    /// Whether to reopen a session that has ended.
    public var reopensSession = false
    public var priority = 0
    /// The earliest time to send.
    public var notBefore: CaptureTime?
    /// How long to wait after the push, instead of `notBefore`. A wrong clock does not change this.
    public var delay: Duration?
    /// Whether to send completed deliveries again.
    public var resends = false
    /// Whether to send them again if the queue did not have the bytes any more, or if the destination then compares its
    /// copy. A server needs this: whoever sends a capture again may know that it was lost.
    public var resendsLost = false
    /// Whether to delete the user's file once the queue holds its bytes.
    public var moves = false
    /// Whether to keep only the hash and the path, for a disk without room.
    public var isByReference = false
    /// Whether others can change the folder of the bundles. Then a file must have one name, and links are not followed.
    package var isFromInbox = false
    /// The state of captures whose sidecars say that a queue had them before; nil to ignore sidecars.
    package var adopts: DeliveryState?
    /// Whether to refuse a bundle whose device is not trusted, or that is not acceptable.
    public var requiresTrust = false
    public var trust = TrustFile()
    /// The size of the spool in bytes above which to warn; nil for the queue's setting.
    public var warnAt: Int?

    public init() {}
}
