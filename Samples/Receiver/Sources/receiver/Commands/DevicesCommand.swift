import ArgumentParser
import CaptureBundle

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices: id, name, key id, and \"revoked\" if the device was revoked.",
        discussion: """
            A device whose files are damaged or incomplete is named on standard error, and the exit code is 1 then.

            example: receiver devices captures
            """)

    @OptionGroup var store: StoreOptions

    func run() throws {
        var isDamaged = false
        let devices = try store.devices().all { damage in
            StoreOptions.note(damage)
            isDamaged = true
        }
        for device in devices {
            let words = [device.id, device.line.name, device.line.point.keyID.description]
            print((words + (device.isRevoked ? ["revoked"] : [])).joined(separator: " "))
        }
        if isDamaged { throw ExitCode.failure }
    }
}
