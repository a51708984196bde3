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
        if !store.place.exists {
            StoreOptions.note("created \(store.folder); serve it with: receiver serve \(store.folder)")
        }
        let devices = try store.devices(create: true)
        if try devices.all(StoreOptions.note).contains(where: { $0.line.name == name }) {
            StoreOptions.note("another device is named \(name) already; readers of pages cannot tell the two apart")
        }
        let (id, secret) = try devices.invite(name, until: expires)
        print(Self.script(name, id: id, secret: secret, until: UnixTime.text(expires)))
    }

    /// The script for the device. The names and values that it contains need no quotes in a shell.
    private static func script(_ name: String, id: String, secret: String, until: String) -> String {
        #"""
        #!/bin/sh
        # Registers this device as \#(name), and adds the receiver to its queue. Valid until \#(until).
        # usage: sh \#(name).sh URL [DESTINATION]
        set -eu
        url=${1:?"usage: sh \#(name).sh URL [DESTINATION]"}
        destination=${2:-receiver}
        id=\#(id)
        secret=\#(secret)
        url=${url%/}
        fail() { echo "$0: $2" >&2; exit "$1"; }
        case $url in
            http://* | https://*) ;;
            *) fail 64 "$url is not a URL, expected http://… or https://…" ;;
        esac
        for program in capbundle capqueue curl; do
            command -v "$program" >/dev/null || fail 69 "$program is not in PATH"
        done
        # A device that was registered before has the destination already.
        verb=add
        if known=$(capqueue dest show "$destination" --json 2>/dev/null); then
            verb=set
            case $known in
                *'"retired":true'*) fail 64 "the destination $destination is retired; choose another name: sh $0 $url NAME" ;;
                *"\"url\":\"$url\""*) ;;
                *) fail 64 "the queue has a destination $destination with another URL; choose another name: sh $0 $url NAME" ;;
            esac
        fi
        public_key=$(capbundle key public --format jwk)
        body=$(mktemp)
        trap 'rm -f "$body"' EXIT
        printf '{"invitation":"%s","public_key":%s}' "$secret" "$public_key" >"$body"
        headers=$(capbundle sign-request "$body" --device-id "$id")
        answer=$(printf '%s\n' "$headers" | curl -qgsS --fail-with-body -H @- -H 'Content-Type: application/json' \
            --data-binary "@$body" "$url/api/v1/devices/register") || fail 69 "not registered at $url; check the URL, and that the receiver runs: $answer"
        case $answer in
            *"\"device_id\":\"$id\""*) printf '%s\n' "$answer" ;;
            *) fail 69 "not registered: $url did not answer as a receiver does; does it redirect to https? $answer" ;;
        esac
        # The queue signs with the key that was registered, also if the destination had another one.
        key=${CAPBUNDLE_KEY:-${XDG_DATA_HOME:-$HOME/.local/share}/capbundle/device.key}
        set -- "$destination" --url "$url" --device-id "$id" --key "$key"
        [ "$verb" = set ] || set -- "$@" --kind http
        capqueue dest "$verb" "$@"
        """#
    }
}
