package import CaptureBundle
package import CaptureDevice
import CaptureNative
package import PictureClient
package import SystemPackage

/// A RAW whose layout is known, with the frames to pack (Spec/raw-captures.md section 2).
package struct RawSource: Sendable {
    /// RAW as the user named it.
    package let raw: FilePath
    /// The layout's name as for `--layout`; `generic` if the user gives the file names, `portrait` for a photo.
    package let layout: String
    /// The chosen frames that have a photo.
    package let frames: [RawFrame]
    /// The remarks about RAW as a whole.
    package let remarks: [Remark]
    /// The form in which the names of all chosen frames are times, for advice.
    let nameTimes: (form: NameTimeForm, needsZone: Bool)?
    let tree: RawTree
    /// What the layout found. Of its frames, only the first are kept here.
    private(set) var export: RawExport

    /// Finds the layout and the frames of RAW. A RAW in which no layout is found is taken as a folder of our own layout;
    /// reading it reports what is missing.
    ///
    /// - Throws: `raw.layout`, `raw.frames`, `raw.capture`, `raw.archive`, `input.unreadable`, `io.failed`.
    package static func open(
        _ raw: FilePath, options: RawCaptureOptions, decoder: PictureDecoder
    ) throws(BundleError) -> RawSource {
        let form = try native({ .reading(raw, $0) }) { try allowing(\.isMissing) { try FileStatus.of(raw).kind } }
        if form == .folder {
            return try RawSource(raw, tree: RawTree(root: raw, storage: FolderStorage(listing: raw)), options: options)
        }
        let kind = try native({ .reading(raw, $0) }) { try form == .file ? FileKind(reading: raw) : nil }
        switch kind?.family {
        case .jpeg, .heif: return try RawSource(photo: raw, options)
        case .picture where kind?.format == .png: return try RawSource(photo: raw, options)
        case .zip, .tar, .compressed:
            let tree = RawTree(root: raw, storage: try ArchiveStorage(raw, decoder))
            return try RawSource(raw, tree: tree, options: options)
        default: return incomplete(raw)
        }
    }

    /// The files that are read for a frame, and that `--keep-source` carries.
    package func files(of frame: RawFrame) -> [FilePath] {
        let read = [frame.photo, frame.depth?.path, frame.confidence, export.metadata].compactMap(\.self)
        return (read + frame.carried).map(tree.label)
    }

    /// A RAW in which no layout is found.
    static func incomplete(_ raw: FilePath, _ listed: RawTree? = nil) -> RawSource {
        let tree = listed ?? RawTree(root: raw, storage: FolderStorage(folder: raw))
        let export = CapbundleLayout.export(tree)
        return RawSource(
            raw, tree: tree, layout: CapbundleLayout.name, export: export, frames: export.frames, remarks: [])
    }

    private init(
        _ raw: FilePath, tree: RawTree, layout: String, export: RawExport, frames: [RawFrame], remarks: [Remark]
    ) {
        (self.raw, self.tree, self.layout) = (raw, tree, layout)
        (self.frames, self.remarks) = (frames, remarks)
        (self.export, self.export.frames) = (export, Array(export.frames.prefix(Self.shownFrames)))
        nameTimes = frames.count > 1 ? NameTimeForm.fitting(frames.map { $0.name ?? "" }) : nil
    }

    /// Chooses the frames of an export.
    ///
    /// - Parameter remarks: The remarks that were made about RAW before.
    init(
        _ raw: FilePath, tree: RawTree, layout: String, export: RawExport, options: RawCaptureOptions,
        remarks: [Remark] = []
    ) throws(BundleError) {
        var remarks = remarks
        let frames = try Self.frames(of: export, raw, options, &remarks)
        self.init(raw, tree: tree, layout: layout, export: export, frames: frames, remarks: remarks)
    }

    /// One photo with its depth map inside.
    private init(photo raw: FilePath, _ options: RawCaptureOptions) throws(BundleError) {
        let name = raw.lastComponent.map { FilePath(root: nil, [$0]) } ?? raw
        let tree = RawTree(root: raw.removingLastComponent(), storage: SingleFile(path: raw, name: name))
        var frame = RawFrame()
        frame.photo = name
        frame.hasDepthInside = true
        try self.init(
            raw, tree: tree, layout: "portrait", export: RawExport(frames: [frame], isSingle: true), options: options)
    }
}

extension RawSource {
    /// The only frame.
    ///
    /// - Throws: `raw.frames` if there are several.
    package func single() throws(BundleError) -> RawFrame {
        guard let frame = frames.first, frames.count == 1 else {
            throw BundleError(
                .rawFrames, "has \(frames.count) frames with a photo, but a bundle contains only one", file: raw,
                cause: .severalFrames, values: frames.prefix(1).compactMap { $0.number.map(String.init) })
        }
        return frame
    }

    /// The beginning of the names of RAW's bundles: the name of RAW, without the ending if RAW is a file.
    ///
    /// - Throws: `raw.capture` if it has no name.
    func name() throws(BundleError) -> FilePath.Component {
        guard let name = raw.name ?? raw.resolved.name else {
            throw BundleError(.rawCapture, "has no name, so its bundle cannot be named after it", file: raw)
        }
        guard !tree.isFolder else { return name }
        let small = name.bytes.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        let ending = Self.endings.first { small.reversed().starts(with: $0.utf8.reversed()) }?.utf8.count ?? 0
        return FilePath.Component(Array(name.bytes.dropLast(ending))) ?? name
    }

    private static let shownFrames = 16

    private static let endings = [
        ".tar.gz", ".tar.zst", ".tar.bz2", ".tar.xz", ".tar", ".tgz", ".tzst", ".zip", ".r3d", ".jpg", ".jpeg", ".heic",
        ".heif", ".png",
    ]
}

private struct SingleFile: RawTreeStorage {
    let path: FilePath
    let name: FilePath

    func names(in folder: FilePath) -> [FilePath.Component] { folder.isEmpty ? Array(name.components) : [] }

    func has(_ path: FilePath) -> Bool { path == name }

    func read(_ path: FilePath, limit: Int, label: FilePath) throws(BundleError) -> [UInt8] {
        try FolderStorage(folder: self.path.folder).read(path, limit: limit, label: label)
    }
}

/// Finds the layout of a folder or an archive.
extension RawSource {
    /// The layouts in the order of Spec/raw-captures.md section 2. The first that fits is taken.
    static let layouts: [any RawLayout.Type] = [
        RealityCamLayout.self, Record3DLayout.self, CapbundleLayout.self, ScannerAppLayout.self, PolycamLayout.self,
        NerfstudioLayout.self, StrayScannerLayout.self, R3DLayout.self,
    ]

    package init(_ raw: FilePath, tree: RawTree, options: RawCaptureOptions) throws(BundleError) {
        if let patterns = options.patterns {
            let export = try GenericLayout(patterns: patterns, options: options).export(tree)
            try self.init(raw, tree: tree, layout: GenericLayout.name, export: export, options: options)
            return
        }
        // Most captures are such folders, so no other layout is looked for.
        let isUsual =
            tree.isFolder && Self.isWanted(CapbundleLayout.self, options)
            && CapbundleLayout.usual.allSatisfy(tree.has)
        let layouts: [any RawLayout.Type] = isUsual ? [CapbundleLayout.self] : Self.layouts
        let fitting = layouts.compactMap { layout in layout.evidence(in: tree).map { (layout, $0) } }
        guard let (layout, evidence) = fitting.first(where: { Self.isWanted($0.0, options) }) else {
            self = try Self.unknown(raw, tree: tree, fitting: fitting.map(\.0), options: options)
            return
        }
        var remarks: [Remark] = []
        if layout != CapbundleLayout.self {
            let others = fitting.map(\.0).filter { $0 != layout }
            let taken = "taken as \(layout.words) (\(evidence))"
            let all = others.reduce(taken) { "\($0); it could also be \($1.words) (--layout \($1.name))" }
            remarks.add(.note, "raw.layout", file: raw, message: all)
        }
        try self.init(
            raw, tree: tree, layout: layout.name, export: layout.export(tree), options: options, remarks: remarks)
    }

    private static func isWanted(_ layout: any RawLayout.Type, _ options: RawCaptureOptions) -> Bool {
        options.layout == .auto || options.layout.rawValue == layout.name
    }

    private static func unknown(
        _ raw: FilePath, tree: RawTree, fitting: [any RawLayout.Type], options: RawCaptureOptions
    ) throws(BundleError) -> RawSource {
        if options.layout != .auto {
            let words = layouts.first { $0.name == options.layout.rawValue }?.words ?? options.layout.rawValue
            let other = fitting.first.map { "; it looks like \($0.words) (--layout \($0.name))" }
            throw BundleError(.rawLayout, "is not \(words)\(other ?? "")", file: raw, cause: .unknownLayout)
        }
        if tree.isFolder { return incomplete(raw, tree) }
        throw BundleError(
            .rawLayout, "holds no capture in a layout that pack knows", file: raw, cause: .unknownLayout)
    }
}

extension RawSource {
    /// Chooses the frames of an export to pack: those with a photo, limited by `--frames` and `--every`.
    ///
    /// - Throws: `raw.frames` if no frame can be packed, or a frame that the user asked for has no photo.
    private static func frames(
        of export: RawExport, _ raw: FilePath, _ options: RawCaptureOptions, _ remarks: inout [Remark]
    ) throws(BundleError) -> [RawFrame] {
        // The frames are copied only if some cannot be packed.
        let usable =
            export.frames.allSatisfy { $0.photo != nil } ? export.frames : export.frames.filter { $0.photo != nil }
        // If a single capture has no photo, `FrameReader` reports it.
        let all = export.isSingle ? export.frames : usable
        guard !all.isEmpty else {
            let count = export.frames.count
            let message = count == 0 ? "has no frames" : "none of its \(count) frames has a photo"
            throw BundleError(.rawFrames, message, file: raw)
        }
        var chosen = all
        if let selection = options.frames {
            if export.isSingle {
                throw BundleError(.rawFrames, "is a single capture, so --frames cannot be used", file: raw)
            }
            chosen = try frames(selection, of: all, raw)
        }
        if options.every > 1 { chosen = stride(from: 0, to: chosen.count, by: options.every).map { chosen[$0] } }
        let left = export.isSingle ? 0 : export.frames.count - usable.count
        if left > 0 {
            let verbs = left == 1 ? ("has", "is") : ("have", "are")
            let note = "\(left) of \(export.frames.count) frames \(verbs.0) no photo and \(verbs.1) not packed"
            remarks.add(.note, "raw.frames", file: raw, message: note)
        }
        return chosen
    }

    private static func frames(
        _ selection: FrameSelection, of all: [RawFrame], _ raw: FilePath
    ) throws(BundleError) -> [RawFrame] {
        let numbers = all.map { $0.number ?? -1 }
        for range in selection.ranges where !numbers.contains(where: range.contains) {
            let (first, last) = (range.lowerBound, range.upperBound)
            let words = first == last ? "frame \(first) has" : "the frames \(first)-\(last) have"
            let known = numbers.filter { $0 >= 0 }
            let list = known.prefix(8).map(String.init).joined(separator: ", ") + (known.count > 8 ? ", …" : "")
            throw BundleError(
                .rawFrames, "\(words) no photo", file: raw, cause: .noFrame, values: known.isEmpty ? [] : [list])
        }
        return zip(all, numbers).filter { frame in selection.ranges.contains { $0.contains(frame.1) } }.map(\.0)
    }
}
