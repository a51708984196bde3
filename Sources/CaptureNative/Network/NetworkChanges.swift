import CLinux
import Glibc

/// Reports that links, addresses or routes of this machine changed (rtnetlink(7)), but not what changed.
package final class NetworkChanges: Sendable {
    package let handle: FileHandle

    /// nil if the system does not allow listening for such changes.
    package init?() {
        let descriptor = capture_route_socket()
        guard descriptor >= 0 else { return nil }
        handle = FileHandle(owning: descriptor)
    }

    /// Discards the messages that have arrived.
    package func drain() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        // If the kernel dropped messages because the buffer was full (ENOBUFS), that also counts as a change.
        while unsafe recv(handle.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 || errno == ENOBUFS {}
    }
}
