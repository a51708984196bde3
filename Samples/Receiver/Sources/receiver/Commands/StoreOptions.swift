import ArgumentParser
import SystemPackage

/// The folder of a receiver. Its devices are in the object store of this folder, or in one that it shares.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The receiver's folder.")
    var folder: String

    var place: ReceiverFolder { ReceiverFolder(path: FilePath(folder)) }

    /// Opens the registrations, invitations and revocations.
    func devices() throws -> Devices {
        try place.make()
        return Devices(store: try place.objects())
    }
}
