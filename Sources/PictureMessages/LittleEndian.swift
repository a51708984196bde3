extension [UInt8] {
    /// Appends the `count` lowest bytes of a number, the least significant first.
    mutating func append(number: Int, bytes count: Int) {
        for index in 0..<count { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    /// The number in the `count` bytes at `offset`, at most 7, the least significant first. They must be inside the
    /// array.
    package func number(at offset: Int, bytes count: Int) -> Int {
        self[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
