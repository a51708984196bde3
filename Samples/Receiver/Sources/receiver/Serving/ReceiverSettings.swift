/// What the operator chose for a running receiver.
struct ReceiverSettings: Sendable {
    var host = "127.0.0.1"
    var port = 8080
    /// The URL under which others reach the receiver, without a slash at the end; nil for the address it listens on.
    var publicURL: String?
    var capturesAtOnce = 16
    /// The maximum number of samples on a side of a depth map.
    var depthSide = 4096
    /// Whether anyone may see positions and what may be withheld.
    var showsPlace = false
    /// The port of the operator's list on the loopback interface; 0 for any free port.
    var operatorPort = 8081
}
