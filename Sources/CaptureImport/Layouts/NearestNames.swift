import CaptureBundle
import SystemPackage

/// Finds the depth map for each photo by the times in their names: the nearest pair is matched first, and each file is
/// used once (Spec/raw-captures.md section 4.1).
package enum NearestNames {
    package struct Match: Equatable {
        package let depth: [UInt8]
        /// The time of the depth map minus the time of the photo, in nanoseconds.
        package let offset: Int
    }

    /// Names that are not times are left out. Names do not occur twice.
    ///
    /// - Returns: For each photo that has one, its depth map.
    package static func match(
        _ photos: [[UInt8]], _ depths: [[UInt8]], by form: NameTimeForm, zone: ZoneOffset?, within limit: MatchLimit
    ) -> [[UInt8]: Match] {
        /// The names with their times, in the order of the times.
        func timed(_ names: [[UInt8]]) -> [(name: [UInt8], time: Int)] {
            names.compactMap { name in
                form.read(String(decoding: name, as: UTF8.self), zone: zone).map { (name, $0.nanoseconds) }
            }.sorted { ($0.time, $0.name.count) < ($1.time, $1.name.count) }
        }
        let photos = timed(photos)
        let depths = timed(depths)
        let limit = limit.nanoseconds
        var pairs: [(offset: Int, photo: Int, depth: Int)] = []
        var first = 0
        for (index, photo) in photos.enumerated() {
            while first < depths.count, depths[first].time < photo.time - limit { first += 1 }
            for (place, depth) in zip(first..., depths[first...]) {
                guard depth.time <= photo.time + limit else { break }
                pairs.append((depth.time - photo.time, index, place))
            }
        }
        pairs.sort { (abs($0.offset), $0.photo, $0.depth) < (abs($1.offset), $1.photo, $1.depth) }
        var used: Set<Int> = []
        var matches: [[UInt8]: Match] = [:]
        for pair in pairs where matches[photos[pair.photo].name] == nil && !used.contains(pair.depth) {
            used.insert(pair.depth)
            matches[photos[pair.photo].name] = Match(depth: depths[pair.depth].name, offset: pair.offset)
        }
        return matches
    }
}

/// The limit on the number of frames in an export (Spec/raw-captures.md section 2.2).
enum FrameCount {
    static let limit = 100_000

    /// Checks the number of frames.
    ///
    /// - Throws: `raw.layout` if there are no frames, or more than the limit.
    static func check(_ count: Int, in tree: RawTree) throws(BundleError) {
        guard count > 0 else { throw BundleError(.rawLayout, "has no frames", file: tree.root) }
        guard count <= limit else {
            throw BundleError(.rawLayout, "has \(count) frames, at most \(limit) are allowed", file: tree.root)
        }
    }
}

extension String {
    /// Whether the text is the number of a frame: 1 to 18 digits, so that it fits an Int.
    var isFrameNumber: Bool { number(digits: 1...18) != nil }

    /// The number of a text that has this many digits and nothing else.
    func number(digits: ClosedRange<Int>) -> Int? {
        digits.contains(utf8.count) && utf8.allSatisfy { (48...57).contains($0) } ? Int(self) : nil
    }

    /// Whether the text looks like the version of an app: short and printable ASCII, since it goes into metadata.json.
    var isVersion: Bool { (1...32).contains(utf8.count) && utf8.allSatisfy { (0x21...0x7e).contains($0) } }
}
