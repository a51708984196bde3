import ArgumentParser
import CaptureBundle

struct InviteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Make an invitation with which one device can register.",
        discussion: """
            Prints the device's id, the secret, and the commands that register the device. Only the hash of the \
            secret is stored. The invitation is for one key.

            example: receiver invite captures rig-4
            """)

    @OptionGroup var store: StoreOptions

    @Argument(help: "The device's name.")
    var name: String

    @Option(help: "The number of days for which the invitation is valid.")
    var days = 7

    func validate() throws {
        guard TrustedDeviceLine.isName(name) else {
            throw ValidationError(
                "\"\(name)\" is not a device name, expected a letter or digit, then up to 63 letters, digits or ._@+-")
        }
        guard (1...3650).contains(days) else { throw ValidationError("--days is \(days), expected 1 to 3650") }
    }

    func run() throws {
        let (id, secret) = try store.devices().invite(name, until: UnixTime.now + days * 86_400_000)
        print("device-id \(id)")
        print("secret \(secret)")
        print(
            """
            register with:
              printf '{"invitation":"%s","public_key":"%s"}' \(secret) "$(capbundle key public | openssl pkey -pubin -outform DER | tail -c 65 | base64 -w 0)" > registration.json
              capbundle sign-request registration.json --device-id \(id) | curl --fail-with-body -H @- -H 'Content-Type: application/json' --data-binary @registration.json URL/api/v1/devices/register
            """)
    }
}
