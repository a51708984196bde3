extension [UInt8] {
    /// Creates an array of `count` bytes that `fill` writes. All bytes are zero at first.
    static func filled<Failure: Error>(
        _ count: Int, _ fill: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var failure: Failure?
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            do throws(Failure) { try unsafe fill(base) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Calls `body` with a pointer to the bytes. The pointer is valid even if the array is empty.
    func read<Value, Failure: Error>(
        _ body: (UnsafePointer<UInt8>, Int) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result = unsafe withUnsafeBufferPointer { buffer -> Result<Value, Failure> in
            var none: UInt8 = 0
            do throws(Failure) {
                if let base = buffer.baseAddress { return .success(try unsafe body(base, buffer.count)) }
                return .success(
                    try unsafe withUnsafePointer(to: &none) { pointer throws(Failure) in
                        try unsafe body(pointer, 0)
                    })
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
