/// Collects the links of any number of bundles, and walks along their chains. Records and names are in temporary files,
/// so memory grows by half a byte for each link.
package final class ChainCollection {
    private let sort = RecordSort()
    private let names = TemporaryText()
    package private(set) var isEmpty = true

    package init() {}

    /// Adds a copy of a link.
    ///
    /// - Parameter file: The name of the bundle.
    /// - Throws: `output.unusable`, `io.failed`.
    package func add(_ record: LinkRecord, file: String) throws(BundleError) {
        var named = record
        named.name = LinkRecord.Name(offset: try names.append(file.utf8), length: file.utf8.count)
        try sort.add(named)
        isEmpty = false
    }

    /// Passes the events of all chains to `visit`, one device after the other. Call it once, after the last `add`.
    ///
    /// - Throws: `io.failed`, and the errors that `visit` throws.
    package func walk(_ visit: ChainWalk.Emit) throws(BundleError) {
        try native {
            var walk = ChainWalk()
            try sort.forEach { try walk.take($0, visit) }
            try walk.finish(visit)
        }
    }

    /// The name of a file that was passed to `add`.
    ///
    /// - Throws: `io.failed`.
    package func file(_ name: LinkRecord.Name) throws(BundleError) -> String {
        String(decoding: try names.read(name.length, at: name.offset), as: UTF8.self)
    }

    /// The names of the files of a fault.
    ///
    /// - Throws: `io.failed`.
    package func files(_ fault: ChainFault) throws(BundleError) -> [String] {
        var files: [String] = []
        for name in fault.names { files.append(try file(name)) }
        return files
    }
}
