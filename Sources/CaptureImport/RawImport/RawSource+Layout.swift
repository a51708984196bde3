package import CaptureBundle
import CaptureDevice
package import SystemPackage

/// Finds the layout of a folder or an archive.
extension RawSource {
    /// The layouts in the order of Spec/raw-captures.md section 2. The first that fits is taken.
    static let layouts: [any RawLayout.Type] = [
        RealityCamLayout.self, Record3DLayout.self, CapbundleLayout.self, ScannerAppLayout.self, PolycamLayout.self,
        NerfstudioLayout.self, StrayScannerLayout.self, R3DLayout.self,
    ]

    package init(_ raw: FilePath, _ tree: RawTree, _ options: RawCaptureOptions) throws(BundleError) {
        if let patterns = options.patterns {
            let export = try GenericLayout(patterns: patterns, options: options).export(tree)
            try self.init(raw, tree, layout: GenericLayout.name, export, options)
            return
        }
        // Most captures are such folders, so no other layout is looked for.
        let isUsual =
            tree.isFolder && Self.isWanted(CapbundleLayout.self, options)
            && CapbundleLayout.usual.allSatisfy(tree.holds)
        let layouts: [any RawLayout.Type] = isUsual ? [CapbundleLayout.self] : Self.layouts
        let fitting = layouts.compactMap { layout in layout.evidence(in: tree).map { (layout, $0) } }
        guard let (layout, evidence) = fitting.first(where: { Self.isWanted($0.0, options) }) else {
            self = try Self.unknown(raw, tree, fitting.map(\.0), options)
            return
        }
        var remarks = RemarkList()
        if layout != CapbundleLayout.self {
            let others = fitting.map(\.0).filter { $0 != layout }
            let taken = "taken as \(layout.words) (\(evidence))"
            let all = others.reduce(taken) { "\($0); it could also be \($1.words) (--layout \($1.name))" }
            remarks.add(.note, "raw.layout", raw, all)
        }
        try self.init(raw, tree, layout: layout.name, layout.export(tree), options, remarks)
    }

    private static func isWanted(_ layout: any RawLayout.Type, _ options: RawCaptureOptions) -> Bool {
        options.layout == .auto || options.layout.rawValue == layout.name
    }

    private static func unknown(
        _ raw: FilePath, _ tree: RawTree, _ fitting: [any RawLayout.Type], _ options: RawCaptureOptions
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
