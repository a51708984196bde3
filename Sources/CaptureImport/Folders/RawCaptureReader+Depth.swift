import CaptureBundle
import CaptureDevice
import CaptureNative
import SystemPackage

/// The depth map of a raw folder.
extension RawCaptureReader {
    mutating func readDepth(
        _ search: RawFolderSearch, _ metadata: CaptureMetadata?
    ) throws(BundleError) -> RawCapture.Depth? {
        let name = Self.depthName
        let isThere = search.holds(name)
        if options.withoutDepth {
            if isThere { remark(.note, "raw.ignored", name, wording: "left out because of \(.withoutDepth)") }
            return nil
        }
        var faults = FaultList()
        let isSizeSaid = metadata != nil || options.depthSize != nil
        let size =
            isSizeSaid ? faults.attempt { () throws(BundleError) in try depthSize(said: metadata?.depthSize) } : nil
        guard isThere else {
            // A depth map in another form is not missing: it is read once the photo has its name.
            if search.hasOtherDepth, faults.faults.isEmpty { return nil }
            _ = faults.attempt { () throws(BundleError) in throw search.missingDepth(name, size) }
            throw faults.joined
        }
        guard let size else {
            // Without a size, it can still be seen that it is something else.
            _ = faults.attempt { () throws(BundleError) in
                _ = try native({ .reading(path(name), $0) }) { try open(name) }
                if let kind = FileKind(file: path(name)) { throw notFloats(kind, nil) }
            }
            if faults.faults.isEmpty { return nil }
            throw faults.joined
        }
        let file = path(name)
        DepthRemarks.size(size, file: file, &remarks)
        let (floats, sha256, survey, encoding) = try readFloats(size)
        DepthRemarks.survey(survey, file: file, unitAdvice: "divide each sample by 1000 and pack again", &remarks)
        return RawCapture.Depth(floats: floats, size: size, sha256: sha256, file: file, source: .floats(encoding))
    }

    private func readFloats(
        _ size: DepthSize
    ) throws(BundleError) -> (floats: PayloadContent, sha256: Digest, survey: DepthSurvey, encoding: String) {
        let name = Self.depthName
        return try native({ .reading(path(name), $0) }) {
            let handle = try open(name)
            // Looked at first, so that a file of another size is not read into memory to find out.
            let length = try handle.status().size
            var survey = DepthSurvey()
            guard length == size.byteCount else {
                guard let (floats, encoding) = try inflated(handle, length, size) else {
                    throw wrongLength(length, size)
                }
                survey.add(floats.span)
                return (.bytes(floats), try Digest.of(floats), survey, encoding)
            }
            guard size.byteCount <= DepthMapCodec.memoryLimit else {
                let file = path(name).string
                let sha256 = try PayloadContent.hash(handle, name: file, expecting: size.byteCount) {
                    survey.add($0)
                }
                return (.file(handle, name: file), sha256, survey, DepthDescription.encoding)
            }
            let floats = try handle.readAll(limit: size.byteCount)
            guard floats.count == size.byteCount else { throw wrongLength(floats.count, size) }
            survey.add(floats.span)
            return (.bytes(floats), try Digest.of(floats), survey, DepthDescription.encoding)
        }
    }

    /// The floats of a file that holds them compressed, and the name of that encoding; nil for other bytes.
    private func inflated(_ handle: FileHandle, _ length: Int, _ size: DepthSize) throws -> ([UInt8], String)? {
        guard length > 0, length <= size.entryLimit, size.byteCount <= DepthMapCodec.memoryLimit else { return nil }
        let bytes = try handle.readAll(limit: size.entryLimit)
        guard let grid = try? CompressedFloats.decode(bytes, size: size) else { return nil }
        let encoding = "\(DepthDescription.encoding)+\(CompressedFloats.Wrapper(bytes).rawValue)"
        return ([UInt8](littleEndian: DepthUnits.metres.metres(grid)), encoding)
    }

    func depthSize(said: CaptureMetadata.Dimensions?) throws(BundleError) -> DepthSize {
        let name = Self.metadataName
        if let said, let given = options.depthSize, (said.width, said.height) != (given.width, given.height) {
            throw wrong(name, wording: "depth_map_dimensions is \(said), but \(.depthSize) says \(given)")
        }
        if let given = options.depthSize { return given }
        guard let said else {
            throw wrong(
                name, "depth_map_dimensions is missing, expected the width and height of \(Self.depthName)",
                hints: [.raw(.giveDepthSize)])
        }
        guard let size = DepthSize(width: said.width, height: said.height) else {
            throw wrong(name, "depth_map_dimensions is \(said), each side must be 1 to \(BundleLimits.depthSide)")
        }
        return size
    }

    private func wrongLength(_ count: Int, _ size: DepthSize) -> BundleError {
        if let kind = FileKind(file: path(Self.depthName)) { return notFloats(kind, size) }
        return wrong(
            Self.depthName, "has \(count) bytes, expected \(size.byteCount) (4 x \(size.width) x \(size.height))",
            hints: DepthAdvice.hints(length: count, size))
    }

    private func notFloats(_ kind: FileKind, _ size: DepthSize?) -> BundleError {
        let file = path(Self.depthName)
        return wrong(
            Self.depthName, "looks like \(kind.words); expected \(DepthAdvice.expected(size, insteadOf: kind))",
            hints: DepthAdvice.hints(at: file, kind, to: file))
    }
}
