/// The claims of a bundle's headers, for callers that quickly need to know which bundle it may be. Only the manifest is
/// hashed, and no signature is checked.
package struct UnverifiedHead: Sendable {
    package let manifest: Manifest
    package let manifestSHA256: Digest
    /// The payload entries that have a header, in their order.
    package let present: [EntryPath]

    /// - Throws: `container.…` and `manifest.…` codes if the file is not a bundle.
    package init(_ source: BundleSource) throws(BundleError) {
        let reader = BundleReader(source)
        let head = try reader.readHead()
        manifest = try Manifest.decode(head.manifest)
        manifestSHA256 = try Digest.of(head.manifest)
        var present: [EntryPath] = []
        while let header = reader.nextHeader() {
            guard let entry = manifest.entries.first(where: { $0.path.description == header.name }), reader.skipData()
            else {
                throw BundleError(.containerUnlisted, "is not listed in the manifest", entry: header.name)
            }
            present.append(entry.path)
        }
        self.present = present
    }
}
