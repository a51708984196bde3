import ArgumentParser
import CaptureBundle

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices: id, name, key id, and \"revoked\" if the device was revoked.",
        discussion: "example: receiver devices captures")

    @OptionGroup var store: StoreOptions

    func run() throws {
        for device in try store.devices().all() {
            let words = [device.id, device.line.name, device.line.point.keyID.description]
            print((words + (device.isRevoked ? ["revoked"] : [])).joined(separator: " "))
        }
    }
}
