import CaptureBundle
import CaptureImport
import CaptureNative
import SystemPackage

/// Patterns for the names of the files in a folder. They are made from these files, and tried on them before they are
/// proposed.
struct PatternProposal {
    /// The command that packs with them.
    let advice: String

    /// The files of one folder that are all photos, or all depth maps.
    private struct Series {
        let pattern: NamePattern
        /// What `*` matches; one empty text without `*`.
        let stars: Set<[UInt8]>
        let isPNG: Bool
    }

    private enum Use { case photo, colourPNG, depth }

    /// How many folders are searched, and how many files are opened in each.
    private static let most = (folders: 32, files: 64)

    /// nil for anything but a folder, and for a folder in which no photo and depth map belong together.
    init?(_ folder: FilePath) {
        guard let tree = RawTree(folder: folder) else { return nil }
        let found = Self.folders(in: tree).map { Self.series(in: $0, tree) }
        let photos = found.flatMap { $0.filter { $0.key != .depth }.values }
        let depths = found.flatMap { $0.filter { $0.key == .depth }.values }
        let pairs = photos.flatMap { photo in
            depths.filter { $0.pattern.hasStar == photo.pattern.hasStar }.map { Pair(photo: photo, depth: $0) }
        }
        guard let best = pairs.max(by: { $0.count < $1.count }), best.count > 0 else { return nil }
        advice = best.advice(in: folder)
    }

    /// Photos and depth maps that may belong together.
    private struct Pair {
        let photo: Series
        let depth: Series
        /// How many photos have a depth map.
        let count: Int
        private let times: (form: NameTimeForm, needsZone: Bool)?
        private let isNearest: Bool

        init(photo: Series, depth: Series) {
            (self.photo, self.depth) = (photo, depth)
            times = NameTimeForm.fitting(photo.stars.map { String(decoding: $0, as: UTF8.self) })
            let same = photo.stars.intersection(depth.stars).count
            guard same == 0, let form = times?.form else {
                (count, isNearest) = (same, false)
                return
            }
            count =
                NearestNames.match(
                    photo.stars.sorted { $0.lexicographicallyPrecedes($1) }, Array(depth.stars), by: form,
                    zone: ZoneOffset("Z"), within: .usual
                ).count
            isNearest = true
        }

        func advice(in folder: FilePath) -> String {
            let words = [
                "capbundle pack \(ShellWord.quote(folder)) --photo \(ShellWord.quote("\(photo.pattern)"))",
                "--depth \(ShellWord.quote("\(depth.pattern)")) --depth-scale METRES",
                times.map { "--time-from-name \($0.form.rawValue)\($0.needsZone ? " --time-zone +HH:MM" : "")" },
                isNearest ? "--match-within \(MatchLimit.usual)" : nil, photo.isPNG ? "--convert-photo" : nil,
                "--device-model NAME", photo.pattern.hasStar ? "--out-dir BUNDLES" : "-o FILE",
            ]
            return
                "it has \(count == 1 ? "a photo with its depth map" : "\(count) photos with their depth maps"); to pack: "
                + words.compactMap(\.self).joined(separator: " ")
        }
    }

    /// The folder itself and the two levels below it.
    private static func folders(in tree: RawTree) -> [FilePath] {
        var folders: [FilePath] = [""]
        var level = folders
        for _ in 0..<2 {
            level = level.flatMap { folder in visible(folder, tree).map { folder.appending($0) } }
                .filter { !tree.names(in: $0).isEmpty }
            level = Array(level.prefix(most.folders))
            folders += level
        }
        return folders
    }

    private static func visible(_ folder: FilePath, _ tree: RawTree) -> [FilePath.Component] {
        tree.names(in: folder).filter { !$0.bytes.starts(with: ".".utf8) }
    }

    private static func series(in folder: FilePath, _ tree: RawTree) -> [Use: Series] {
        var uses: [FilePath.Component: Use] = [:]
        let names = visible(folder, tree).prefix(most.files)
        for name in names { uses[name] = use(of: tree.label(folder.appending(name))) }
        var series: [Use: Series] = [:]
        for use in [Use.photo, .colourPNG, .depth] {
            let members = names.filter { uses[$0] == use }
            guard let last = pattern(members.map(\.bytes)), let name = FilePath.Component(last),
                let pattern = NamePattern(folder.appending(name).string)
            else { continue }
            let stars = pattern.matches(in: tree)
            // The pattern must not take a file of another use.
            let taken = Set(stars.compactMap { pattern.path($0)?.lastComponent })
            guard names.allSatisfy({ uses[$0] == use || !taken.contains($0) }) else { continue }
            series[use] = Series(pattern: pattern, stars: Set(stars), isPNG: use == .colourPNG)
        }
        return series
    }

    private static func use(of file: FilePath) -> Use? {
        guard let kind = FileKind(file: file) else { return nil }
        switch kind.family {
        case .jpeg: return .photo
        case .picture where kind.png?.colour == .colour: return .colourPNG
        case .depthPicture where kind.png?.colour != .colour, .numpy: return .depth
        default: return nil
        }
    }

    /// The pattern for these names: what they have in common around one `*`, which matches whole numbers. It is the name
    /// itself if there is only one.
    private static func pattern(_ names: [[UInt8]]) -> [UInt8]? {
        let star = UInt8(ascii: "*")
        guard let first = names.first, !names.contains(where: { $0.contains(star) }) else { return nil }
        if names.count == 1 { return first }
        var before = common(names)
        var after = common(names.map { Array($0.dropFirst(before.count).reversed()) })
        trimNumber(&before)
        after.reverse()
        trimNumber(&after, atStart: true)
        return before + [star] + after
    }

    /// The longest common beginning.
    private static func common(_ texts: [[UInt8]]) -> [UInt8] {
        texts.dropFirst().reduce(texts.first ?? []) { kept, text in zip(kept, text).prefix { $0 == $1 }.map(\.0) }
    }

    /// Removes what is a part of a number or a time from the end, or from the start.
    private static func trimNumber(_ text: inout [UInt8], atStart: Bool = false) {
        var rest = atStart ? text.reversed() : text
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { (48...57).contains($0) } ?? false }
        while let last = rest.last, isDigit(last) || (".-_:T".utf8.contains(last) && isDigit(rest.dropLast().last)) {
            rest.removeLast()
        }
        text = atStart ? rest.reversed() : rest
    }
}
