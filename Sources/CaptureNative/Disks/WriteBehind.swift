import Synchronization

/// Writes to a file on a separate thread, so that the producer of the bytes does not wait for the disk.
///
/// Only a few pieces are in flight at a time, so memory does not grow with the file.
package final class WriteBehind {
    fileprivate static let pieceLength = 1 << 18
    fileprivate static let pieces = 8

    private let channel: Channel
    private var filling: [UInt8]

    /// nil if the system cannot start a thread.
    package init?(_ handle: FileHandle, from offset: Int) {
        let channel = Channel()
        self.channel = channel
        filling = channel.emptyPiece()
        let isStarted = Thread.start {
            var offset = offset
            while let piece = channel.take() {
                do throws(NativeError) {
                    try handle.write(piece)
                    handle.startWriting(from: offset, count: piece.count)
                    offset += piece.count
                    channel.recycle(piece, failure: nil)
                } catch {
                    channel.recycle(piece, failure: error)
                }
            }
        }
        guard isStarted else { return nil }
    }

    deinit { channel.end() }

    /// - Throws: The failure of an earlier write. A failure to write these bytes is reported by a later call.
    package func write(_ bytes: Span<UInt8>) throws(NativeError) {
        var rest = bytes
        while !rest.isEmpty {
            let taken = min(rest.count, Self.pieceLength - filling.count)
            filling.append(copying: rest.extracting(first: taken))
            rest = rest.extracting(droppingFirst: taken)
            if filling.count == Self.pieceLength { try send() }
        }
    }

    /// Waits until all bytes have been passed to the kernel.
    package func finish() throws(NativeError) {
        if !filling.isEmpty { try send() }
        try channel.drain()
    }

    private func send() throws(NativeError) {
        try channel.put(filling)
        filling = channel.emptyPiece()
    }
}

/// Full pieces on their way to the thread, and empty ones on their way back.
private final class Channel: Sendable {
    private struct State {
        var full: [[UInt8]] = []
        var empty: [[UInt8]] = []
        /// The number of pieces that were put and not given back yet.
        var underWay = 0
        var failure: NativeError?
        var isEnded = false
    }

    private let state = Mutex(State())
    private let changed = Signal()

    func emptyPiece() -> [UInt8] {
        if let piece = state.withLock({ $0.empty.popLast() }) { return piece }
        var piece: [UInt8] = []
        piece.reserveCapacity(WriteBehind.pieceLength)
        return piece
    }

    func put(_ piece: [UInt8]) throws(NativeError) {
        let failure = changed.wait {
            state.withLock { state -> NativeError?? in
                if let failure = state.failure { return .some(failure) }
                guard state.underWay < WriteBehind.pieces else { return nil }
                state.full.append(piece)
                state.underWay += 1
                return .some(nil)
            }
        }
        changed.raise()
        if let failure { throw failure }
    }

    /// Waits for the next piece to write; nil after the end.
    func take() -> [UInt8]? {
        changed.wait {
            state.withLock { state -> [UInt8]?? in
                if !state.full.isEmpty { return .some(state.full.removeFirst()) }
                return state.isEnded ? .some(nil) : nil
            }
        }
    }

    func recycle(_ piece: consuming [UInt8], failure: NativeError?) {
        var piece = consume piece
        piece.removeAll(keepingCapacity: true)
        let emptied = piece
        state.withLock { state in
            state.empty.append(emptied)
            state.underWay -= 1
            state.failure = state.failure ?? failure
        }
        changed.raise()
    }

    func drain() throws(NativeError) {
        let failure = changed.wait {
            state.withLock { state -> NativeError?? in state.underWay == 0 ? .some(state.failure) : nil }
        }
        if let failure { throw failure }
    }

    func end() {
        state.withLock { $0.isEnded = true }
        changed.raise()
    }
}
