import ArgumentParser
import CaptureBundle

struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Refuse all further requests of a device. This cannot be undone.",
        discussion: """
            A running receiver refuses the device at once. The captures that it sent before are kept, and their pages \
            say that the device was revoked. An invitation that was not used yet becomes invalid.

            example: receiver revoke captures 3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c
            """)

    @OptionGroup var store: StoreOptions

    @Argument(help: "The id of the device.")
    var deviceID: String

    func run() throws {
        guard RequestSignature.isDeviceID(deviceID) else {
            throw ValidationError(
                "\(deviceID) is not a device id (8-4-4-4-12 hex digits); list the ids with: "
                    + "receiver devices \(store.folder)")
        }
        let id = deviceID.lowercased()
        guard try store.devices().revoke(id, at: UnixTime.now) else {
            throw ValidationError("no device and no invitation has the id \(id)")
        }
        print("revoked \(id)")
    }
}
