import ArgumentParser
import Foundation
import SystemPackage

/// The folder of a receiver. Its devices are in the object store of this folder, or in one that it shares.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The receiver's folder.")
    var folder: String

    var place: ReceiverFolder { ReceiverFolder(path: FilePath(folder)) }

    func devices(create: Bool = false) throws -> Devices {
        if create { try place.make() }
        guard place.exists else {
            throw ValidationError(
                "\(folder) is not the folder of a receiver; create it with: receiver invite \(folder) NAME")
        }
        return Devices(store: try place.objects())
    }

    /// Prints a remark on standard error, because standard output is for programs.
    static func note(_ text: String) { FileHandle.standardError.write(Data("receiver: note: \(text)\n".utf8)) }
}
