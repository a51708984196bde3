import CaptureNative

/// A place to which a body is written.
package protocol BodyTarget {
    func write(_ bytes: Span<UInt8>) throws(BundleError)
}

extension OutputTarget: BodyTarget {}

/// Writes a body while the entries of its bundle are read, and searches them for the boundary.
package final class BodyWriter: BundleObserver {
    private let layout: BodyLayout
    private let target: any BodyTarget
    private var scanner = BoundaryScanner()
    /// The pieces and the entries that are still to come.
    private var pieces: ArraySlice<BodyLayout.Piece>
    private var entries: ArraySlice<ManifestEntry>
    /// Whether the current entry is copied into the body.
    private var isSent = false
    private var isSpoilt = false
    /// Whether the layout was computed from other bytes.
    private var isOther = false

    package init(_ layout: BodyLayout, _ target: any BodyTarget) {
        (self.layout, self.target) = (layout, target)
        pieces = layout.pieces[...]
        entries = layout.facts.entries[...]
    }

    package func read(_ head: BundleReader.Head, _ manifest: Manifest) {
        isOther = head.manifest != layout.facts.manifestBytes || head.assertion != layout.facts.assertion
    }

    package func begin(_ entry: ManifestEntry) throws(BundleError) {
        isOther = isOther || entries.popFirst() != entry
        isSent = !isOther && layout.form.header(of: entry) != nil
        guard isSent else { return }
        try writeMade()
        scanner = BoundaryScanner(of: layout.boundary)
    }

    package func consume(_ piece: Span<UInt8>) throws(BundleError) {
        guard isSent else { return }
        try scanner.scan(piece) { _ in isSpoilt = true }
        try target.write(piece)
    }

    /// Ends the body; false if the boundary occurs in an entry, so that it cannot be used.
    package func finish() throws(BundleError) -> Bool {
        guard !isOther, entries.isEmpty else { throw PayloadContent.changed(layout.name) }
        try writeMade()
        return !isSpoilt
    }

    /// Writes the piece before the next entry that is sent, or the end of the body.
    private func writeMade() throws(BundleError) {
        if case .made(let bytes) = pieces.popFirst() { try target.write(bytes.span) }
        _ = pieces.popFirst()
    }
}
