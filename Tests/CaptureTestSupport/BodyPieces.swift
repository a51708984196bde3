/// Bytes that arrive in pieces, as from a network. After them comes the end, an error, or nothing more.
public struct BodyPieces: AsyncSequence, Sendable {
    public enum End: Sendable { case whole, broken, stalled }

    /// The connection broke.
    public struct Broken: Error {}

    private let bytes: [UInt8]
    private let step: Int
    private let end: End

    public init(_ bytes: [UInt8], of step: Int = 1000, _ end: End = .whole) {
        self.bytes = bytes
        self.step = step
        self.end = end
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes[...], step: step, end: end) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var bytes: ArraySlice<UInt8>
        fileprivate let step: Int
        fileprivate let end: End

        public mutating func next() async throws -> [UInt8]? {
            guard bytes.isEmpty else {
                defer { bytes = bytes.dropFirst(step) }
                return Array(bytes.prefix(step))
            }
            switch end {
            case .whole: return nil
            case .broken: throw Broken()
            case .stalled:
                try await Task.sleep(for: .seconds(600))
                return nil
            }
        }
    }
}
