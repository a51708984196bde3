import ArgumentParser
import CaptureBundle

struct InviteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Make an invitation with which one device can register.",
        discussion: """
            Prints a shell script for the device. It registers the device's key, and adds the receiver to the device's \
            queue. It needs capbundle, capqueue and curl. The invitation is for one key; the receiver stores only the \
            hash of its secret.

            example: receiver invite captures rig-4 > rig-4.sh
              then on rig-4: sh rig-4.sh https://captures.example.org
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
        let expires = UnixTime.now + days * 86_400_000
        let (id, secret) = try store.devices(create: true).invite(name, until: expires)
        print(Self.script(name, id: id, secret: secret, until: UnixTime.text(expires)))
    }

    /// The script for the device. The names and values that it contains need no quotes in a shell.
    private static func script(_ name: String, id: String, secret: String, until: String) -> String {
        #"""
        #!/bin/sh
        # Registers this device as \#(name), and adds the receiver to its queue. Valid until \#(until).
        # usage: sh \#(name).sh URL
        set -eu
        url=${1:?"usage: sh \#(name).sh URL"}
        id=\#(id)
        secret=\#(secret)
        case $url in
            http://* | https://*) ;;
            *) echo "$0: $url is not a URL, expected http://… or https://…" >&2; exit 64 ;;
        esac
        public_key=$(capbundle key public --format jwk)
        body=$(mktemp)
        trap 'rm -f "$body"' EXIT
        printf '{"invitation":"%s","public_key":%s}' "$secret" "$public_key" >"$body"
        headers=$(capbundle sign-request "$body" --device-id "$id")
        printf '%s\n' "$headers" | curl -sS --fail-with-body -H @- -H 'Content-Type: application/json' \
            --data-binary "@$body" "$url/api/v1/devices/register"
        # A device that was registered before has the destination already.
        set -- receiver --url "$url" --device-id "$id" ${CAPBUNDLE_KEY:+--key "$CAPBUNDLE_KEY"}
        if capqueue dest show receiver >/dev/null 2>&1; then
            capqueue dest set "$@"
        else
            capqueue dest add "$@" --kind http
        fi
        """#
    }
}
