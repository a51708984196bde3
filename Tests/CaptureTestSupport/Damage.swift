public import CaptureBundle

/// What broken and hostile files are made of: sound ones.
public enum Damage {
    /// Beginnings of the bytes, the empty one first. The short run gets about `count` of them, `make test-all` each.
    public static func cuts(_ bytes: [UInt8], count: Int = 100) -> some Sequence<[UInt8]> {
        stride(from: 0, to: bytes.count, by: isLongRun ? 1 : max(1, bytes.count / count)).lazy
            .map { Array(bytes[..<$0]) }
    }

    /// The bytes with one changed bit: about `count` bits, and in `make test-all` one bit of each byte.
    public static func flips(_ bytes: [UInt8], count: Int = 100) -> some Sequence<[UInt8]> {
        // Steps that are no multiple of 8 change all bits of the bytes.
        stride(from: 0, to: bytes.count, by: isLongRun ? 1 : max(1, bytes.count / count) | 1).lazy.map { index in
            var changed = bytes
            changed[index] ^= 1 << UInt8(index % 8)
            return changed
        }
    }

    /// Calls a parser with cuts and with flips, which it must survive.
    public static func each(
        _ bytes: [UInt8], count: Int = 100, _ parse: ([UInt8]) throws -> Void
    ) rethrows {
        for changed in cuts(bytes, count: count) { try parse(changed) }
        for changed in flips(bytes, count: count) { try parse(changed) }
    }
}

extension [UInt8] {
    /// These bytes in pieces of one size; the last piece may be shorter.
    public func pieces(of size: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}

/// The error with which a call ends; nil if it succeeds or ends with an error of another kind.
public func refusal<Value>(_ call: () throws -> Value) -> BundleError? {
    do {
        _ = try call()
        return nil
    } catch {
        return error as? BundleError
    }
}
