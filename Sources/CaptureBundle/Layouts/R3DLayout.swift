import SystemPackage

/// A recording in Record3D's own format, whose depth is compressed with LZFSE. The app exports a form without it.
struct R3DLayout: RawLayout {
    static let name = "r3d"
    static let words = "a recording in Record3D's own format (.r3d)"

    static func evidence(in tree: RawTree) -> String? {
        tree.holds("metadata") && tree.holds("rgbd") ? "metadata, rgbd" : nil
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        throw BundleError(
            .rawLayout, "is \(words); pack does not read its depth maps, which are compressed with LZFSE",
            file: tree.root,
            hints: [
                "in Record3D, export the recording as \"EXR + RGB\", and pack that folder: "
                    + "capbundle pack FOLDER --captured-at TIME --out-dir BUNDLES"
            ])
    }
}
