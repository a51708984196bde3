package import CaptureBundle
package import QueueModel

/// What `push` knew about a bundle, stored in a file beside it (Spec/queue.md section 4).
package struct Sidecar: Hashable, Sendable {
    package static let format = "capqueue/sidecar/1"
    package static let sizeLimit = 65_536

    package var id: String
    /// The facts about the bundle, for use when its bytes are not available.
    package var facts: CaptureFacts
    package var pushedAt: CaptureTime
    package var priority: Int
    package var notBefore: CaptureTime?
    package var session: String?
    package var destinations: [String]
    /// The path of the user's own file; nil if the queue holds the bytes.
    package var reference: String?
    /// nil in sidecars of 1.0.
    package var order: PushOrder?

    package init(
        id: String, facts: CaptureFacts, pushedAt: CaptureTime, priority: Int, notBefore: CaptureTime?,
        session: String?, destinations: [String], reference: String?, order: PushOrder?
    ) {
        self.id = id
        self.facts = facts
        self.pushedAt = pushedAt
        self.priority = priority
        self.notBefore = notBefore
        self.session = session
        self.destinations = destinations
        self.reference = reference
        self.order = order
    }

    package var encoded: [UInt8] {
        CanonicalJSON.encode(
            .members([
                "format": .string(Self.format), "id": .string(id), "bundle_id": .string(facts.bundleID),
                "identity": .string(facts.identity.description), "sha256": .string(facts.sha256.description),
                "manifest_sha256": .string(facts.manifestSHA256.description), "bytes": .integer(facts.byteCount),
                "captured_at": .string(facts.capturedAt.description), "device": .string(facts.device.description),
                "pushed_at": .string(pushedAt.description),
                "priority": .integer(priority), "not_before": notBefore.map { .string($0.description) },
                "session": session.map { .string($0) }, "destinations": .array(destinations.map { .string($0) }),
                "reference": reference.map { .string($0) },
                "order": order.map {
                    .members(["after": .integer($0.after), "position": .integer($0.position)])
                },
            ]))
    }

    /// Sorts captures in the order of their pushes. Those without `order` come first, by the times of their pushes.
    package var turn: (Int, Int, Int, String) {
        (order?.after ?? -1, order?.position ?? 0, pushedAt.milliseconds, facts.sha256.description)
    }

    /// Whether its place in its session is known only by its time.
    package var lacksOrder: Bool { session != nil && order == nil }
}

extension Sidecar {
    /// Returns nil if the bytes are not a sidecar of this version.
    package init?(decoding bytes: [UInt8]) {
        guard let value = try? JSONParser.parse(bytes, nesting: 4), value["format"]?.text == Self.format,
            let id = value["id"]?.text, let bundleID = value["bundle_id"]?.text,
            let identity = value["identity"]?.text.flatMap(Digest.init(hex:)),
            let sha256 = value["sha256"]?.text.flatMap(Digest.init(hex:)),
            let manifestSHA256 = value["manifest_sha256"]?.text.flatMap(Digest.init(hex:)),
            let byteCount = value["bytes"]?.integer,
            let capturedAt = value["captured_at"]?.text.flatMap({ CaptureTime($0) }),
            let device = value["device"]?.text.flatMap(Digest.init(hex:)),
            let pushedAt = value["pushed_at"]?.text.flatMap({ CaptureTime($0) }),
            let priority = value["priority"]?.numberText.flatMap({ Int($0) }), Priority.range.contains(priority),
            let destinations = value["destinations"]?.elements?.compactMap(\.text)
        else { return nil }
        self.id = id
        facts = CaptureFacts(
            bundleID: bundleID, identity: identity, sha256: sha256, manifestSHA256: manifestSHA256,
            byteCount: byteCount, capturedAt: capturedAt, device: device, verdict: .unknownDevice, photo: nil)
        self.pushedAt = pushedAt
        self.priority = priority
        notBefore = value["not_before"]?.text.flatMap { CaptureTime($0) }
        session = value["session"]?.text
        self.destinations = destinations
        reference = value["reference"]?.text
        if let after = value["order"]?["after"]?.integer, let position = value["order"]?["position"]?.integer {
            order = PushOrder(after: after, position: position)
        }
    }
}

/// The priority of a capture. Of those that were not tried yet, the highest are sent first.
public enum Priority {
    public static let range = -10...10
}
