import CaptureQueue
import QueueModel

/// Hints that name the next command.
enum NextSteps {
    private static var add: String { "\(capqueue("dest add")) NAME --kind KIND ..." }

    /// Hints for a blocked destination; none if the user can only wait.
    ///
    /// - Parameter kind: the kind of the destination; nil if it is not known.
    static func of(_ block: Block, _ name: String, kind: String?) -> [String] {
        let set = "\(capqueue("dest set")) \(name)"
        let run = "then send the waiting captures with: \(capqueue("run"))"
        if let change = change(after: block, name) { return ["\(change.advice): \(change.next)", run] }
        switch block.reason {
        case .endpoint, .refusing, .tls, .credentials:
            guard let setting = setting(after: block, kind: kind) else { return [ofCode(block.cause?.code, set), run] }
            return ["\(setting.advice) with: \(set) \(setting.options)", run]
        case .local, .unproven, .address: return ["print its settings with: \(capqueue("dest show")) \(name)"]
        case .wait, .full, .offline, .failing: return []
        }
    }

    /// What a person can change about the connection or the credentials; nil for credentials that the server's code names.
    private static func setting(after block: Block, kind: String?) -> (advice: String, options: String)? {
        switch (block.reason, block.cause) {
        case (.endpoint, .onlyTLS): ("change the URL", "--url https://...")
        case (.endpoint, _), (.tls, .noTLS): ("change the URL", "--url URL")
        case (.refusing, _): ("change its URL or other settings", "--url URL")
        case (_, .otherName): ("use a name that is in the certificate", "--url https://NAME/...")
        case (_, .expired): ("renew it at the server, or trust another one", "--ca FILE")
        case (_, .notYetValid): ("set the clock of this computer, or trust another certificate", "--ca FILE")
        case (_, .selfSigned): ("if it is the right server, trust its certificate", "--ca FILE")
        case (_, .ofClient): ("give a client certificate that the server accepts", "--cert FILE --cert-key FILE")
        case (.tls, _): ("trust the authority that signed the server's certificate", "--ca FILE")
        case (_, .refusedByProxy): ("give the user and password for the proxy", "--proxy URL")
        case _ where kind == "s3": ("change the access keys in the AWS files, or use others", "--profile NAME")
        case (_, let cause) where kind == "put" || cause?.code?.hasPrefix("TOKEN_") ?? false:
            ("change the token", "--token-file FILE")
        default: nil
        }
    }

    /// The change of settings that would end a block, with its command; nil if that is not known.
    static func change(after block: Block, _ name: String) -> (advice: String, next: String)? {
        let set = "\(capqueue("dest set")) \(name)"
        return switch (block.reason, block.cause) {
        case (.endpoint, .noChecksum): ("leave it out with", "\(set) --checksum md5")
        case (.endpoint, .noCondition): ("leave it out with", "\(set) --no-condition")
        case (.endpoint, let cause?) where cause.bucket != (nil, nil):
            ("use the bucket's own place with", ([set] + placeOfBucket(cause)).joined(separator: " "))
        case (.address, .sharedPlaces): ("change the URL with", "\(set) --url URL")
        case (.credentials, .mayNotRead): ("if these keys may only write", "\(set) --proof status")
        case (.unproven, _): ("if the server never shows stored objects", "\(set) --proof status")
        case (.local, .unusable): ("change them with", set)
        case (.local, .unwritable):
            ("let this user make files in it, then try at once with", "\(capqueue("resume")) --dest \(name)")
        case (.local, .failedDisk):
            (
                "see what the kernel reports about its disk (dmesg), then try at once with",
                "\(capqueue("resume")) --dest \(name)"
            )
        default: nil
        }
    }

    /// The options that name the place of a bucket, if the store said it.
    private static func placeOfBucket(_ cause: Block.Cause) -> [String] {
        [cause.bucket.host.map { "--url https://\($0)/..." }, cause.bucket.region.map { "--region \($0)" }]
            .compactMap(\.self)
    }

    /// The hint for refused credentials: which of them to change, by the code that the server gave.
    private static func ofCode(_ code: String?, _ set: String) -> String {
        let byCode = [
            "DEVICE_AUTH_REQUIRED": "sign the requests with: \(set) --device-id UUID --key FILE",
            "DEVICE_NOT_FOUND":
                "the server does not know the device id; give the one that it registered with: \(set) --device-id UUID",
            "SIGNATURE_INVALID":
                "the server has another key for the device id; give the registered key with: "
                + "\(set) --key FILE (or --realitycam-key FILE)",
            "DEVICE_UNVERIFIED": "the server must accept the device first; print its key id with: capbundle key show",
            "TIMESTAMP_EXPIRED": "set the clock of this computer",
            "REPLAY_DETECTED":
                "the server has seen a higher counter; raise the counter of the key with: "
                + "capbundle key recover --realitycam --counter N --key FILE",
        ]
        return byCode[code ?? ""]
            ?? "change the refused credentials with: \(set) --device-id UUID --key FILE (or --token-file FILE)"
    }

    /// Hints after `dest test`. Unlike a run, a test of an unreachable server suggests to check the URL.
    static func ofTest(_ block: Block, _ name: String, kind: String) -> [String] {
        guard block.reason == .offline else { return of(block, name, kind: kind) }
        if kind == Destination.Kind.folder.rawValue { return [] }
        return [
            "if the server is up, correct its host, port or http:// with: \(capqueue("dest set")) \(name) --url URL"
        ]
    }

    /// Hints after a run if captures have failed for good.
    static func ofFailures(_ status: QueueStatus) -> [String] {
        let quarantined = status.totals[.quarantined]?.captures ?? 0
        let lost = "look again for missing bytes with: \(capqueue("check")); or push the bundles again"
        let others = [
            "see why with: \(capqueue("show")) ID; correct a destination with: \(capqueue("dest set")) NAME",
            "then send them again with: \(capqueue("retry")) --failed; \(capqueue("run"))",
        ]
        return (status.failedForGood > quarantined ? others : []) + (quarantined > 0 ? [lost] : [])
    }

    /// Why captures pushed without `--dest` will not be sent, and the command that changes it; nil if they will be sent.
    static func beforeSending(_ destinations: [Destination]) -> (why: String, command: String)? {
        if destinations.isEmpty { return ("nothing is sent until there is a destination; add one with", add) }
        if destinations.allSatisfy(\.isRetired) {
            return ("nothing more is sent, since all destinations are retired; add one with", add)
        }
        if destinations.contains(where: \.isDefault) { return nil }
        return (
            "captures pushed without --dest wait until a destination is the default; choose it with",
            "\(capqueue("dest default")) NAME"
        )
    }
}
