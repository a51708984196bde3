import ArgumentParser
import Foundation
import QueueModel
import SystemPackage

struct ShareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Share the devices of this receiver with other receivers, in an S3-compatible store.",
        discussion: """
            Copies registrations, invitations and revocations to the store, and writes FOLDER/shared-store.json. Run \
            it once for each receiver, with the same URL, before the receiver is started. The credentials are those \
            of AWS's tools: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile of ~/.aws/credentials. All \
            commands of the receiver need them from then on.

            example: receiver share captures --url https://s3.example.org/bucket/receivers
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: "The URL of the bucket, with a prefix after it: https://host/bucket/prefix.")
    var url: String

    @Option(help: "The region of the bucket; the default is that of AWS's tools, or else us-east-1.")
    var region: String?

    @Option(help: "The profile of the credentials file.")
    var profile: String?

    @Option(help: "A PEM file of certificate authorities, in place of the system's.")
    var ca: String?

    func run() throws {
        try store.place.make()
        // A receiver that runs would go on with the devices of its folder.
        let lock: FileDescriptor
        do { lock = try store.place.lock() } catch let error as Unusable { throw ValidationError(error.description) }
        defer { try? lock.close() }
        var settings = S3Settings(url: URLTemplate(url))
        (settings.region, settings.profile) = (region, profile)
        settings.connection.authorities = ca.map { FilePath(URL(filePath: $0).path) }
        // The times are short, because a device waits while the receiver asks the store.
        settings.connection.connectTimeout = .seconds(5)
        settings.connection.answerTimeout = .seconds(10)
        let count = try store.place.share(settings)
        print("sharing with \(url); copied \(count) \(count == 1 ? "device" : "devices")")
    }
}
