import CaptureBundle
import CaptureQueue
import Foundation
import SystemPackage

/// The captures that were acknowledged: their bytes are in the queue, and the index says what they are.
///
/// Every call except `keep` blocks its thread.
struct Captures: Sendable {
    /// A verified bundle that is not kept yet.
    struct Arrival: Sendable {
        let bundle: ReceivedBundle
        let device: RegisteredDevice
        let manifest: Manifest
    }

    private let queue: UploadQueue
    private let index: CaptureIndex
    private let keeper: Keeper

    init(_ queue: UploadQueue, _ index: CaptureIndex, _ threads: BlockingThreads) {
        self.queue = queue
        self.index = index
        keeper = Keeper(queue, index, threads)
    }

    // MARK: - Keeping

    /// Checks the Idempotency-Key of a request.
    ///
    /// - Throws: 422 if it was used for another body.
    func check(_ request: CaptureRequest) throws { try index.check(request) }

    /// Restores the bundle of a body and verifies it.
    func receive(_ body: FilePath, _ receiver: BundleReceiver) throws -> ReceivedBundle {
        try queue.captures.receive(body, receiver, destinations: queue.namesOfDestinations())
    }

    /// Keeps a capture. When this returns, the queue and the index have it on the disk. The identical capture again is not
    /// a second one. If its bytes were lost or damaged here, they are stored again.
    ///
    /// - Returns: The id of the capture.
    func keep(_ arrival: Arrival, for request: CaptureRequest) async throws -> String {
        try await keeper.keep(arrival, for: request)
    }

    // MARK: - Asking

    /// Finds a capture by its id.
    func capture(_ id: String) throws -> CaptureRow? { try index.capture(id) }

    /// Finds the first capture with this photo.
    func capture(photo: Digest) throws -> CaptureRow? { try index.capture(photo: photo) }

    /// The captures that fit all conditions, the latest arrival first. See `CaptureIndex.search`.
    func search(
        day: String? = nil, device: String? = nil, verdict: String? = nil, among devices: DeviceChoice? = nil,
        before: Int? = nil, limit: Int = 50
    ) throws -> [CaptureRow] {
        try index.search(day: day, device: device, verdict: verdict, among: devices, before: before, limit: limit)
    }

    /// The ids and names of the devices that sent captures, by name.
    func devices() throws -> [(id: String, name: String)] { try index.devices() }
}
