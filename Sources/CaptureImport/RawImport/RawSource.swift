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
    /// - Throws: `raw.layout`, `raw.frames`, `raw.capture`, `raw.archive`, `input.unreadable`.
    package static func open(
        _ raw: FilePath, _ options: RawCaptureOptions, _ decoder: PictureDecoder
    ) throws(BundleError) -> RawSource {
        switch (try? FileStatus.of(raw))?.kind {
        case .folder:
            return try RawSource(raw, RawTree(root: raw, storage: FolderStorage(listing: raw)), options)
        case .file: return try opening(file: raw, options, decoder)
        case .pipe, .link, .other, nil: return incomplete(raw)
        }
    }

    private static func opening(
        file raw: FilePath, _ options: RawCaptureOptions, _ decoder: PictureDecoder
    ) throws(BundleError) -> RawSource {
        let kind = FileKind(file: raw)
        switch kind?.family {
        case .jpeg, .heif: return try RawSource(photo: raw, options)
        case .picture where kind?.format == .png: return try RawSource(photo: raw, options)
        case .zip, .tar, .compressed:
            let tree = RawTree(root: raw, storage: try ArchiveStorage(raw, decoder))
            return try RawSource(raw, tree, options)
        default: return incomplete(raw)
        }
    }

    /// A RAW in which no layout is found.
    static func incomplete(_ raw: FilePath, _ listed: RawTree? = nil) -> RawSource {
        let tree = listed ?? RawTree(root: raw, storage: FolderStorage(folder: raw))
        let export = CapbundleLayout.export(tree)
        return RawSource(raw, tree, layout: CapbundleLayout.name, export, frames: export.frames, remarks: [])
    }

    private init(
        _ raw: FilePath, _ tree: RawTree, layout: String, _ export: RawExport, frames: [RawFrame], remarks: [Remark]
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
        _ raw: FilePath, _ tree: RawTree, layout: String, _ export: RawExport, _ options: RawCaptureOptions,
        _ remarks: RemarkList = RemarkList()
    ) throws(BundleError) {
        let chosen = try FrameChoice(export, of: raw, options)
        var remarks = remarks
        if let note = chosen.note { remarks.add(.note, "raw.frames", raw, note) }
        self.init(raw, tree, layout: layout, export, frames: chosen.frames, remarks: remarks.remarks)
    }

    /// One photo with its depth map inside.
    private init(photo raw: FilePath, _ options: RawCaptureOptions) throws(BundleError) {
        let name = raw.lastComponent.map { FilePath(root: nil, [$0]) } ?? raw
        let tree = RawTree(root: raw.removingLastComponent(), storage: SingleFile(path: raw, name: name))
        var frame = RawFrame()
        frame.photo = name
        frame.hasDepthInside = true
        try self.init(
            raw, tree, layout: "portrait", RawExport(frames: [frame], isSingle: true), options)
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

    func holds(_ path: FilePath) -> Bool { path == name }

    func read(_ path: FilePath, limit: Int, label: FilePath) throws(BundleError) -> [UInt8] {
        try FolderStorage(folder: self.path.folder).read(path, limit: limit, label: label)
    }
}
