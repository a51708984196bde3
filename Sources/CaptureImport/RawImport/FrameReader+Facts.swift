import CaptureBundle
import CaptureDevice
import PictureClient
import SystemPackage

/// The facts of a frame from metadata.json, the layout, EXIF and the options (Spec/raw-captures.md section 5).
extension FrameReader {
    /// - Parameters:
    ///   - own: The members of a metadata.json of our own form.
    ///   - photo: nil if it cannot be read.
    /// - Returns: metadata.json as it was found, with a time and a model, and the position after the location policy was
    ///   applied.
    mutating func facts(
        _ own: JSONValue, _ photo: FramePhoto?
    ) throws(BundleError) -> (metadata: CaptureMetadata, position: GeoPosition?) {
        var faults: [BundleError] = []
        let time = faults.attempt { try capturedAt(own, photo?.facts) }
        let model = faults.attempt { try deviceModel(own, photo?.facts) }
        guard let time, let model else { throw faults.joined }
        var members = MemberList(own)
        // A time that metadata.json gives for several frames is not the frame's own.
        if let time { members.replace("captured_at", .string(time)) }
        if let model { members.add("device_model", .string(model)) }
        let metadata: CaptureMetadata
        do { metadata = try CaptureMetadata(members.object) } catch {
            throw error.each.map { fault in
                BundleError(
                    .rawCapture, fault.message, file: metadataFile, cause: photo == nil ? nil : fault.cause,
                    values: [layout])
            }.joined
        }
        return (metadata, try position(own, photo))
    }

    /// metadata.json of the bundle: without `location`, in canonical form.
    func canonical(
        _ metadata: CaptureMetadata, _ photo: FramePhoto, with depth: RawCapture.Depth?
    ) throws(BundleError) -> [UInt8] {
        var members = MemberList(metadata.root)
        if let size = depth?.size {
            members.add(
                "depth_map_dimensions", .members(["height": .integer(size.height), "width": .integer(size.width)]))
        } else {
            members.replace("depth_map_dimensions", nil)
        }
        addOrigin(photo, &members)
        members.replace("location", nil)
        let canonical = CanonicalJSON.encode(members.object)
        guard canonical.count <= BundleLimits.metadataBytes else {
            let limit = BundleLimits.metadataBytes
            throw BundleError(
                .rawCapture, "its facts have \(canonical.count) bytes, at most \(limit) are allowed", file: metadataFile
            )
        }
        return canonical
    }

    /// Whether metadata.json is where the user looks for a fact that is missing: `CaptureMetadata` names it.
    var hasOwnMetadata: Bool { layout == CapbundleLayout.name && export.metadata != nil }

    private mutating func deviceModel(_ own: JSONValue, _ exif: PhotoFacts?) throws(BundleError) -> String? {
        if let value = own["device_model"], value.text == nil { return nil }
        let sources: [(text: String?, words: String)] = [
            (own["device_model"]?.text, "metadata.json"), (exif?.device?.cut(to: 256), "the photo's EXIF"),
            (options.deviceModel, "--device-model"),
        ]
        if let text = choose("device_model", sources, agree: Self.areSameModels) { return text }
        if let app = export.app { return "unknown (\(app))" }
        if hasOwnMetadata { return nil }
        throw BundleError(
            .rawCapture, "the model of the device is unknown", file: metadataFile, cause: .noModel, values: [layout])
    }

    /// Whether two models are the same: one may contain the other, since some sources put the maker in front.
    private static func areSameModels(_ one: String, _ other: String) -> Bool {
        let (one, other) = (one.lowercased(), other.lowercased())
        return one == other || other.isEmpty || one.isEmpty || one.contains(other) || other.contains(one)
    }

    /// Chooses a fact: that of the first source that has it. If another source disagrees, a remark gives both.
    ///
    /// - Parameter sources: What each source says, in order of precedence, and what messages call the source.
    mutating func choose(
        _ fact: String, _ sources: [(text: String?, words: String)], agree: (String, String) -> Bool
    ) -> String? {
        let known = sources.compactMap { source in source.text.map { (text: $0, words: source.words) } }
        guard let first = known.first else { return nil }
        if let other = known.first(where: { !agree(first.text, $0.text) }) {
            let both = "\(first.words) says \(first.text), but \(other.words) says \(other.text); the first is used"
            remarks.add(.warning, "raw.disagree", file: metadataFile, message: "\(fact): \(both)")
        }
        return first.text
    }

    /// Adds the members about the source, the camera and the pose. Members that metadata.json already has are kept.
    private func addOrigin(_ photo: FramePhoto, _ members: inout MemberList) {
        if let camera = intrinsics(photo.structure.size) { members.add("camera_intrinsics", camera) }
        if let pose = layoutFacts.pose {
            members.add("camera_pose", .members(["matrix": .array(pose.matrix.map { .real($0) })]))
        }
        if layout != CapbundleLayout.name {
            members.add(
                "capture_source",
                .members([
                    "app": export.app.map { .string($0) }, "frame": frame.name.map { .string($0) },
                    "layout": .string(layout),
                ]))
        }
        if let offset = frame.depth?.timeOffset, !options.withoutDepth {
            members.add("depth_time_offset", .real(Double(offset) / 1e9))
        }
        if let accuracy = portrait?.accuracy { members.add("depth_accuracy", .string(accuracy)) }
        if let from = photo.convertedFrom {
            members.add(
                "photo_converted", .members(["from": .string(from), "quality": .integer(HEIFPicture.quality)]))
        }
        if photo.isRewritten { members.add("photo_rewritten", .string("position removed")) }
    }

    /// The camera in pixels of the stored photo; nil if the numbers belong to a picture of another size or shape.
    private func intrinsics(_ photo: PixelSize?) -> JSONValue? {
        guard let photo, let camera = layoutFacts.intrinsics ?? portrait?.intrinsics else { return nil }
        let across = Double(photo.width) / Double(camera.width ?? photo.width)
        let down = Double(photo.height) / Double(camera.height ?? photo.height)
        // The numbers of a layout are for the photo's own size; Apple's, inside of a photo, for a reference size of its shape.
        guard layoutFacts.intrinsics == nil ? abs(across - down) <= 0.01 * across : across == 1 && down == 1 else {
            return nil
        }
        let numbers = [camera.fx * across, camera.fy * down, camera.cx * across, camera.cy * down]
        guard numbers.allSatisfy(\.isFinite) else { return nil }
        return .members([
            "fx": .real(numbers[0]), "fy": .real(numbers[1]), "cx": .real(numbers[2]), "cy": .real(numbers[3]),
            "width": .integer(photo.width), "height": .integer(photo.height),
        ])
    }

    private func position(_ own: JSONValue, _ photo: FramePhoto?) throws(BundleError) -> GeoPosition? {
        let fromPhoto = photo?.facts?.position?.json
        // A metadata.json without a position means that the capture has none.
        let root = own["location"] ?? layoutFacts.location ?? (export.metadata == nil ? fromPhoto : nil)
        do {
            let position = try root.map { root throws(BundleError) in try GeoPosition(root) }
            return try position?.applying(options.location)
        } catch {
            throw BundleError(.rawCapture, "location: \(error.message)", file: metadataFile)
        }
    }
}

/// The members of a JSON object that is being made.
struct MemberList {
    private var members: [JSONValue.Member]

    init(_ object: JSONValue) { members = object.members ?? [] }

    var object: JSONValue { .object(members) }

    /// Adds a member unless there is one with this name.
    mutating func add(_ name: String, _ value: JSONValue) {
        if object[name] == nil { members.append(JSONValue.Member(name, value)) }
    }

    /// Replaces or removes a member.
    mutating func replace(_ name: String, _ value: JSONValue?) {
        members.removeAll { $0.name == name }
        if let value { members.append(JSONValue.Member(name, value)) }
    }
}
