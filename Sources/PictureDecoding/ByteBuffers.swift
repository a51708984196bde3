import PictureMessages

extension [UInt8] {
    /// Creates an array of `count` bytes that `fill` writes. All bytes are zero at first.
    static func filled<Failure: Error>(
        _ count: Int, _ fill: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try unsafe bytes.withUnsafeMutableBufferPointer { buffer -> Result<Void, Failure> in
            guard let base = buffer.baseAddress else { return .success(()) }
            return Result { () throws(Failure) in try unsafe fill(base) }
        }.get()
        return bytes
    }

    /// Calls `body` with a pointer to the bytes. The pointer is valid even if the array is empty.
    func read<Value, Failure: Error>(
        _ body: (UnsafePointer<UInt8>, Int) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe withUnsafeBufferPointer { buffer -> Result<Value, Failure> in
            var none: UInt8 = 0
            return unsafe withUnsafePointer(to: &none) { pointer in
                Result { () throws(Failure) in try unsafe body(buffer.baseAddress ?? pointer, buffer.count) }
            }
        }.get()
    }
}

/// The memory that this process may use for one request (Spec/raw-captures.md section 9).
struct MemoryShare {
    let request: PictureRequest

    /// Refuses a request that needs more than this share for the file and for `bytes` bytes. It is called before the
    /// memory is allocated.
    func require(_ bytes: Int) throws(DecodingRefusal) {
        let need = request.byteCount + bytes
        guard need <= PictureLimits.memoryBytes else {
            throw DecodingRefusal(
                .tooLarge,
                "needs \(need >> 20) MiB of memory to be decoded, more than \(PictureLimits.memoryBytes >> 20) MiB")
        }
        guard request.hasAllMemory || need <= PictureLimits.memoryShare else {
            throw DecodingRefusal(.needsAllMemory, "needs \(need >> 20) MiB of memory to be decoded")
        }
    }
}
