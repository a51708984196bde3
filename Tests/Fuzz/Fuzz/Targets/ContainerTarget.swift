@testable import CaptureBundle

/// The container: the headers, the order and the sizes, without any hash.
enum ContainerTarget: FuzzTarget {
    static let name = "container"

    static func seeds(_ samples: Samples) -> [[UInt8]] { samples.bundles }

    static func judge(_ bytes: [UInt8]) {
        let whole = Cost.bounded(bytes.count) { events(BundleSource(bytes: bytes)) }
        for source in BundleSource.inPieces(bytes) {
            let found = events(source)
            expect(found == whole, "in pieces the container gives \(found), expected \(whole)")
        }
    }

    /// What the reader finds, in order: the entries with their bytes, then the error or the end.
    private static func events(_ source: BundleSource) -> [String] {
        let reader = BundleReader(source)
        var events: [String] = []
        do {
            let manifest = try Manifest.decode(reader.readHead().manifest)
            while let entry = try reader.nextEntry(of: manifest) {
                var sum = 0
                try reader.readData { piece in
                    for index in piece.indices { sum = sum &* 31 &+ Int(piece[index]) }
                }
                events.append("\(entry.path) \(sum)")
            }
            events.append("end, withheld \(reader.withheld.map(\.path))")
        } catch {
            events.append("\(error.code.rawValue) \(error)")
        }
        return events
    }
}
