/// The place of a capture in the order of all pushes, which its sidecar keeps (Spec/queue.md section 4).
package struct PushOrder: Hashable, Sendable {
    /// The highest row number when the push read the bundle.
    package let after: Int
    /// The place of the bundle in its push.
    package let position: Int

    /// Returns nil for a number that no queue reaches, so that a row number after it never overflows.
    package init?(after: Int, position: Int) {
        let possible = 0..<(1 << 40)
        guard possible.contains(after), possible.contains(position) else { return nil }
        (self.after, self.position) = (after, position)
    }
}
