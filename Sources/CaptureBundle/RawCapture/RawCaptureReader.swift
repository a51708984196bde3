import CaptureNative
package import SystemPackage

/// Reads a raw folder: `photo.jpg`, `depth.f32`, `metadata.json` (Spec/command-line.md, "Raw folders").
package struct RawCaptureReader {
    private let folder: FilePath
    private let options: RawCaptureOptions
    private var remarks: [Remark] = []

    private static let photoName = "photo.jpg"
    private static let depthName = "depth.f32"
    private static let metadataName = "metadata.json"

    /// - Throws: `input.unreadable` if the folder cannot be read, `raw.capture` if something in it is wrong.
    package static func read(_ folder: FilePath, _ options: RawCaptureOptions) throws(BundleError) -> RawCapture {
        var reader = RawCaptureReader(folder: folder, options: options)
        return try reader.read()
    }

    private init(folder: FilePath, options: RawCaptureOptions) {
        self.folder = folder
        self.options = options
    }

    private func path(_ name: String) -> FilePath { folder.appending(name) }

    private func wrong(_ name: String, _ message: String, hints: [String] = []) -> BundleError {
        BundleError(.rawCapture, message, file: path(name), hints: hints)
    }

    private mutating func remark(_ weight: Remark.Weight, _ code: String, _ name: String, _ message: String) {
        remarks.append(Remark(weight: weight, code: code, file: path(name).string, message: message))
    }

    private mutating func read() throws(BundleError) -> RawCapture {
        let names: [String]
        do {
            names = try DirectoryHandle.names(in: folder).map(\.string)
        } catch {
            if error.isNoFolder { throw BundleError(.inputUnreadable, "is no folder", file: folder) }
            throw .reading(folder, error)
        }
        let known = [Self.photoName, Self.depthName, Self.metadataName]
        let others = names.filter { !known.contains($0) }
        if !others.isEmpty {
            let list = others.prefix(4).joined(separator: ", ") + (others.count > 4 ? ", …" : "")
            remarks.append(Remark(weight: .note, code: "raw.ignored", file: folder.string, message: "ignored: \(list)"))
        }
        let photo = try readPhoto(isThere: names.contains(Self.photoName))
        let metadata = try readMetadata(isThere: names.contains(Self.metadataName))
        let depth = try readDepth(isThere: names.contains(Self.depthName), said: metadata.depthSize)
        return RawCapture(
            folder: folder, photo: photo, depth: depth, metadata: canonical(metadata, depth: depth?.size),
            capturedAt: metadata.capturedAt, deviceModel: metadata.deviceModel,
            position: try readPosition(metadata, photo: photo), remarks: remarks)
    }

    private mutating func readPhoto(isThere: Bool) throws(BundleError) -> RawCapture.Photo {
        guard isThere else { throw wrong(Self.photoName, "missing; a raw folder holds the photo under this name") }
        let file = path(Self.photoName)
        return try native({ .reading(file, $0) }) {
            let handle = try open(Self.photoName)
            let size = try handle.status().size
            guard size <= BundleLimits.entryBytes else {
                throw wrong(Self.photoName, "has \(size) bytes, at most \(BundleLimits.entryBytes) fit a bundle")
            }
            if size > UploadAdvice.photoBytes {
                remark(
                    .warning, "upload.size", Self.photoName,
                    "has \(size) bytes; servers refuse more than \(UploadAdvice.photoBytes)")
            }
            guard size <= PayloadContent.memoryLimit else { return try readLargePhoto(handle, size: size) }
            var bytes = [UInt8](repeating: 0, count: size)
            var more: [UInt8] = [0]
            guard try handle.read(into: &bytes) == size, try handle.read(into: &more) == 0 else {
                throw BundleError(.inputUnreadable, "changed while it was being packed", file: file)
            }
            let structure = try judge { () throws(JPEGStructure.Failure) in try JPEGStructure(bytes) }
            return RawCapture.Photo(
                content: .bytes(bytes), size: size, sha256: try Digest.of(bytes), holdsPosition: structure.holdsPosition
            )
        }
    }

    private mutating func readLargePhoto(_ handle: FileHandle, size: Int) throws(BundleError) -> RawCapture.Photo {
        let file = path(Self.photoName)
        var walk = JPEGWalk(size: size)
        let sha256 = try PayloadContent.hash(handle, name: file.string, expecting: size) { piece throws(BundleError) in
            do throws(JPEGStructure.Failure) {
                try walk.take(piece)
            } catch {
                throw wrong(Self.photoName, error.message)
            }
        }
        let structure = try judge { () throws(JPEGStructure.Failure) in try walk.finish() }
        return RawCapture.Photo(
            content: .file(handle, name: file.string), size: size, sha256: sha256,
            holdsPosition: structure.holdsPosition)
    }

    private mutating func judge(
        _ read: () throws(JPEGStructure.Failure) -> JPEGStructure
    ) throws(BundleError) -> JPEGStructure {
        let structure: JPEGStructure
        do { structure = try read() } catch { throw wrong(Self.photoName, error.message) }
        if let oddity = structure.oddity {
            remark(
                .warning, "photo.structure", Self.photoName,
                "has a structure that some programs may refuse: \(oddity); it is packed as it is")
        }
        return structure
    }

    private func readSmall(_ name: String, limit: Int) throws(BundleError) -> [UInt8] {
        try native({
            $0.isTooLarge
                ? wrong(name, "has more than the \(limit) bytes that are allowed") : .reading(path(name), $0)
        }) { try open(name).readAll(limit: limit) }
    }

    private func open(_ name: String) throws -> FileHandle {
        guard let handle = try FileHandle.readingPlainFile(path(name)) else { throw wrong(name, "is no plain file") }
        return handle
    }

    private func readMetadata(isThere: Bool) throws(BundleError) -> CaptureMetadata {
        let name = Self.metadataName
        guard isThere else { throw wrong(name, "missing; a raw folder holds what is known of the capture in it") }
        let bytes = try readSmall(name, limit: BundleLimits.metadataBytes)
        let root: JSONValue
        do {
            root = try JSONParser.parse(bytes, nesting: BundleLimits.metadataNesting)
        } catch {
            let place = JSONParser.place(of: error.offset, in: bytes)
            throw wrong(name, "not usable JSON at \(place): \(error.message)")
        }
        do {
            // A member that is null counts as missing. `depth_map_dimensions` is kept, and `CaptureMetadata` refuses
            // its null.
            let members = root.members?.filter { member in
                if case .null = member.value { member.name != "depth_map_dimensions" } else { true }
            }
            return try CaptureMetadata(members.map(JSONValue.object) ?? root)
        } catch {
            throw wrong(name, error.message)
        }
    }

    private mutating func readDepth(
        isThere: Bool, said: CaptureMetadata.Dimensions?
    ) throws(BundleError) -> RawCapture.Depth? {
        let name = Self.depthName
        if options.withoutDepth {
            if isThere { remark(.note, "raw.ignored", name, "left out, as --no-depth says") }
            return nil
        }
        guard isThere else {
            throw wrong(name, "missing", hints: ["use --no-depth to pack a capture without a depth map"])
        }
        let size = try depthSize(said: said)
        if max(size.width, size.height) > UploadAdvice.depthSide {
            let limit = UploadAdvice.depthSide
            remark(.warning, "upload.size", name, "is \(size); servers refuse more than \(limit)x\(limit)")
        }
        let (floats, sha256, meaningless) = try readFloats(size)
        if meaningless > 0 {
            let message = "\(meaningless) samples are negative or infinite; they are kept as they are"
            remark(.warning, "raw.samples", name, message)
        }
        return RawCapture.Depth(floats: floats, size: size, sha256: sha256)
    }

    private func readFloats(
        _ size: DepthSize
    ) throws(BundleError) -> (floats: PayloadContent, sha256: Digest, meaningless: Int) {
        let name = Self.depthName
        func wrongLength(_ count: Int) -> BundleError {
            wrong(name, "has \(count) bytes, expected \(size.byteCount) (4 x \(size.width) x \(size.height))")
        }
        return try native({ .reading(path(name), $0) }) {
            let handle = try open(name)
            // The size is checked first, so that a file of another size is not read into memory.
            let length = try handle.status().size
            guard length == size.byteCount else { throw wrongLength(length) }
            var meaningless = MeaninglessSamples()
            guard size.byteCount <= DepthMapCodec.memoryLimit else {
                let file = path(name).string
                let sha256 = try PayloadContent.hash(handle, name: file, expecting: size.byteCount) {
                    meaningless.add($0)
                }
                return (.file(handle, name: file), sha256, meaningless.count)
            }
            let floats = try handle.readAll(limit: size.byteCount)
            guard floats.count == size.byteCount else { throw wrongLength(floats.count) }
            meaningless.add(floats.span)
            return (.bytes(floats), try Digest.of(floats), meaningless.count)
        }
    }

    private func depthSize(said: CaptureMetadata.Dimensions?) throws(BundleError) -> DepthSize {
        let name = Self.metadataName
        if let said, let given = options.depthSize, (said.width, said.height) != (given.width, given.height) {
            throw wrong(name, "depth_map_dimensions is \(said), but --depth-size says \(given)")
        }
        if let given = options.depthSize { return given }
        guard let said else {
            throw wrong(
                name, "depth_map_dimensions is missing, so the size of \(Self.depthName) is not known",
                hints: ["add it, or give the size with --depth-size WIDTHxHEIGHT"])
        }
        guard let size = DepthSize(width: said.width, height: said.height) else {
            throw wrong(name, "depth_map_dimensions is \(said), each side must be 1 to \(BundleLimits.depthSide)")
        }
        return size
    }
}

extension RawCaptureReader {
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

    private mutating func readPosition(
        _ metadata: CaptureMetadata, photo: RawCapture.Photo
    ) throws(BundleError) -> GeoPosition? {
        let name = Self.metadataName
        // Only the top-level `location` moves to location.json; a member called "location.raw" stays.
        let kept = (metadata.root.members ?? []).filter { $0.name != "location" }
        for member in CaptureMetadata.namesThatLookLikeAPosition(in: .object(kept)) {
            remark(
                .warning, "metadata.position", name,
                "the member \(member) looks like a position and is kept as it is, whatever --location says")
        }
        var position: GeoPosition?
        if let root = metadata.root["location"], root.kind != JSONValue.null.kind {
            do {
                position = try GeoPosition(root)
            } catch {
                throw wrong(name, "location: \(error.message)")
            }
        }
        if photo.holdsPosition && (options.location != .exact || position == nil) {
            remark(
                .warning, "photo.position", Self.photoName,
                "holds a position in its EXIF or XMP, which stays in it, as every byte of the photo does")
        }
        do {
            return try position?.applying(options.location)
        } catch {
            throw wrong(name, "location: \(error.message)")
        }
    }
}
