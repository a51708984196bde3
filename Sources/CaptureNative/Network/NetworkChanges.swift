import CLinux
import Glibc

/// Tells that links, addresses or routes of this machine changed (rtnetlink(7)); what changed is not told.
package final class NetworkChanges: Sendable {
    package let handle: FileHandle

    /// nil where the system does not let us hear of it.
    package init?() {
        let descriptor = capture_route_socket()
        guard descriptor >= 0 else { return nil }
        handle = FileHandle(owning: descriptor)
    }

    /// Throws away what came.
    package func drain() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        // Messages that were lost for want of room (ENOBUFS) are changes, too.
        while unsafe recv(handle.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 || errno == ENOBUFS {}
    }
}
