package import CaptureBundle
package import CaptureDevice
import CaptureNative
package import SystemPackage

/// Reads a raw folder: `photo.jpg`, `depth.f32`, `metadata.json`, `confidence.png` (Spec/command-line.md, "Raw folders").
package struct RawCaptureReader {
    let folder: FilePath
    let options: RawCaptureOptions
    var remarks = RemarkList()

    package static let photoName = "photo.jpg"
    package static let depthName = "depth.f32"
    package static let metadataName = "metadata.json"
    private static let confidenceName = "confidence.png"

    /// - Throws: `input.unreadable` if the folder cannot be read, `raw.capture` if something in it is wrong.
    package static func read(_ folder: FilePath, _ options: RawCaptureOptions) throws(BundleError) -> RawCapture {
        var reader = RawCaptureReader(folder: folder, options: options)
        return try reader.read()
    }

    private init(folder: FilePath, options: RawCaptureOptions) {
        self.folder = folder
        self.options = options
    }

    func path(_ name: String) -> FilePath { folder.appending(name) }

    func wrong(_ name: String, _ message: String, hints: [Hint] = []) -> BundleError {
        BundleError(.rawCapture, message, file: path(name), hints: hints)
    }

    func wrong(_ name: String, wording: Wording) -> BundleError {
        BundleError(.rawCapture, wording: wording, file: path(name).string)
    }

    mutating func remark(_ weight: Remark.Weight, _ code: String, _ name: String, wording: Wording) {
        remarks.add(weight, code, path(name), wording: wording)
    }

    /// Every file is looked at, whatever is wrong with the others.
    private mutating func read() throws(BundleError) -> RawCapture {
        let names = try readNames()
        let search = RawFolderSearch(folder, names)
        if let error = search.notACapture([Self.photoName, Self.depthName, Self.metadataName]) { throw error }
        var faults = FaultList()
        let photo = faults.attempt { () throws(BundleError) in try readPhoto(search) }
        let metadata = faults.attempt { () throws(BundleError) in try readMetadata(search, photo) }
        let depth = faults.attempt { () throws(BundleError) in try readDepth(search, metadata) }
        let position = metadata.flatMap { metadata in
            faults.attempt { () throws(BundleError) in try readPosition(metadata) }
        }
        let confidence = faults.attempt { () throws(BundleError) in try readConfidence(search) }
        guard let photo, let metadata, let position, let depth, let confidence else { throw faults.joined }
        if let depth { PhotoRemarks.turned(depth.size, photo.structure, file: path(Self.depthName), &remarks) }
        return RawCapture(
            origin: RawCapture.Origin(layout: CapbundleLayout.name, frame: nil), photo: photo, depth: depth,
            carried: confidence, metadataFile: path(Self.metadataName),
            metadata: canonical(metadata, depth: depth?.size), capturedAt: metadata.capturedAt,
            deviceModel: metadata.deviceModel, position: position, remarks: remarks.remarks)
    }

    private mutating func readNames() throws(BundleError) -> [String] {
        let names: [String]
        do {
            names = try DirectoryHandle.names(in: folder).map(\.string)
        } catch {
            guard error.isNoFolder else { throw .reading(folder, error) }
            let kind = FileKind(file: folder)
            throw BundleError(
                .inputUnreadable, "is \(kind?.words ?? "not a folder"), expected a raw folder", file: folder,
                hints: FileKind.hints(insteadOfARawFolder: folder, kind))
        }
        let known = [Self.photoName, Self.depthName, Self.metadataName, Self.confidenceName]
        let others = names.filter { !known.contains($0) }
        if !others.isEmpty {
            let list = others.prefix(4).joined(separator: ", ") + (others.count > 4 ? ", …" : "")
            remarks.add(.note, "raw.ignored", folder, "ignored: \(list)")
        }
        return names
    }

    /// Reads the confidence map, except if the depth map is left out.
    private mutating func readConfidence(_ search: RawFolderSearch) throws(BundleError) -> [RawCapture.Carried] {
        let name = Self.confidenceName
        guard search.holds(name), !options.withoutDepth else { return [] }
        let bytes = try readSmall(name, limit: FileLimits.confidence)
        guard try ConfidenceMap.accepts(bytes, file: path(name), options, &remarks) else { return [] }
        return [try RawCapture.Carried(.confidence, bytes)]
    }

    private func readSmall(_ name: String, limit: Int) throws(BundleError) -> [UInt8] {
        try native({
            $0.isTooLarge
                ? wrong(name, "has more than the \(limit) bytes that are allowed") : .reading(path(name), $0)
        }) { try open(name).readAll(limit: limit) }
    }

    func open(_ name: String) throws -> FileHandle {
        guard let handle = try FileHandle.readingPlainFile(path(name)) else {
            throw wrong(name, "is not a regular file")
        }
        return handle
    }

    private mutating func readMetadata(
        _ search: RawFolderSearch, _ photo: RawCapture.Photo?
    ) throws(BundleError) -> CaptureMetadata {
        let name = Self.metadataName
        guard search.holds(name) else { throw search.missingMetadata(name) }
        let bytes = try readSmall(name, limit: BundleLimits.metadataBytes)
        let root: JSONValue
        do {
            root = try JSONParser.parse(bytes, nesting: BundleLimits.metadataNesting)
        } catch {
            if bytes.starts(with: [0xef, 0xbb, 0xbf]) {
                throw wrong(
                    name, "begins with a UTF-8 byte order mark, expected {",
                    hints: ["to remove it: sed -i '1s/^\\xef\\xbb\\xbf//' \(ShellWord.quote(path(name)))"])
            }
            let place = JSONParser.place(of: error.offset, in: bytes)
            if let kind = FileKind(bytes), ![.json, .text].contains(kind.family) {
                throw wrong(name, "is \(kind.words), expected a JSON object")
            }
            throw wrong(name, "not usable JSON at \(place): \(error.message)")
        }
        do {
            // A member that is null counts as missing. `depth_map_dimensions` is kept, and `CaptureMetadata` refuses
            // its null.
            let members = root.members?.filter { member in
                if case .null = member.value { member.name != "depth_map_dimensions" } else { true }
            }
            return try CaptureMetadata(members.map { filled(.object($0), photo) } ?? root)
        } catch {
            var faults = FaultList()
            for fault in error.each {
                _ = faults.attempt { () throws(BundleError) in throw wrong(name, fault.message) }
            }
            if root.members != nil, root["depth_map_dimensions"] == nil, !options.withoutDepth {
                _ = faults.attempt { () throws(BundleError) in try depthSize(said: nil) }
            }
            throw faults.joined
        }
    }
}

extension RawCaptureReader {
    /// The members of metadata.json, with a time and a model from elsewhere where it has none.
    private mutating func filled(_ root: JSONValue, _ photo: RawCapture.Photo?) -> JSONValue {
        let facts = photo?.structure.exif
        let time = FactChoice.time([
            .init(root["captured_at"]?.text, "\(Self.metadataName)"),
            .init(facts?.capturedAt(zone: options.timeZone), "the photo's EXIF"),
            .init(options.capturedAt?.description, "\(.capturedAt)"),
        ])
        let model = FactChoice.model([
            .init(root["device_model"]?.text, "\(Self.metadataName)"), .init(facts?.device, "the photo's EXIF"),
            .init(options.deviceModel, "\(.deviceModel)"),
        ])
        var members = root.members ?? []
        for (name, choice) in [("captured_at", time), ("device_model", model)] {
            if let both = choice.disagreement {
                remark(.warning, "raw.disagree", Self.metadataName, wording: "\(name): \(both)")
            }
            if root[name] == nil, let text = choice.text { members.append(JSONValue.Member(name, .string(text))) }
        }
        return .object(members)
    }

    /// The bundle's metadata.json. It has no position, and it has dimensions only if there is a depth map.
    private func canonical(_ metadata: CaptureMetadata, depth: DepthSize?) -> [UInt8] {
        var members = (metadata.root.members ?? []).filter { $0.name != "location" }
        if depth == nil {
            members.removeAll { $0.name == "depth_map_dimensions" }
        } else if let depth, metadata.depthSize == nil {
            let size = JSONValue.members(["height": .integer(depth.height), "width": .integer(depth.width)])
            members.append(JSONValue.Member("depth_map_dimensions", size))
        }
        return CanonicalJSON.encode(.object(members))
    }

    private func readPosition(_ metadata: CaptureMetadata) throws(BundleError) -> GeoPosition? {
        let name = Self.metadataName
        var position: GeoPosition?
        if let root = metadata.root["location"], root.kind != JSONValue.null.kind {
            do {
                position = try GeoPosition(root)
            } catch {
                throw wrong(name, "location: \(error.message)")
            }
        }
        do {
            return try position?.applying(options.location)
        } catch {
            throw wrong(name, "location: \(error.message)")
        }
    }
}
