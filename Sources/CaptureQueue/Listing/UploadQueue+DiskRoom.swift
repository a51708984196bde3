public import QueueModel

extension UploadQueue {
    /// The room on the disk, and what `push` leaves free.
    public func diskRoom() throws -> DiskRoom {
        let (settings, next) = try store.read { (try QueueSettings($0), try $0.lastBytes()) }
        return try settings.room(at: folder, next: next)
    }
}
