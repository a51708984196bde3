import Glibc
import PictureDecoding

@main
enum CapbundleDecodeCommand {
    static func main() { exit(DecodeServer.run(Array(CommandLine.arguments.dropFirst()))) }
}
