import PictureMessages

/// The memory that this process may use for one request (Spec/raw-captures.md section 9).
struct MemoryShare {
    private let isWhole: Bool
    private let fileBytes: Int

    init(_ request: PictureRequest) {
        isWhole = request.hasAllMemory
        fileBytes = request.byteCount
    }

    /// Refuses a request that needs more than this share for the file and for `bytes` bytes. It is called before the
    /// memory is allocated.
    func require(_ bytes: Int) throws(DecodingRefusal) {
        let need = fileBytes + bytes
        guard need <= PictureLimits.memoryBytes else {
            throw DecodingRefusal(
                .tooLarge,
                "needs \(need >> 20) MiB of memory to be decoded, more than \(PictureLimits.memoryBytes >> 20) MiB")
        }
        guard isWhole || need <= PictureLimits.memoryShare else {
            throw DecodingRefusal(.needsAllMemory, "needs \(need >> 20) MiB of memory to be decoded")
        }
    }
}
