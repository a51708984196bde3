import CurlClient
import QueueModel

/// Finds out that the folder of a place is missing (RFC 4918 section 9.7.1).
extension PutTransport {
    /// Decides about a refusal to put something where nothing is. A WebDAV server says so if the folder is missing; the
    /// second such answer blocks the destination.
    func nowhere(_ upload: Upload, _ refusal: HTTPEnd) -> SendOutcome {
        let words = "\(refusal.message), and GET finds nothing there"
        guard refusal.answer?.status == 409, refusal.word == nil else {
            return .unclear(code: refusal.code, message: words)
        }
        guard shared.digests.isMissingFolder(again: upload.wasNowhere) else {
            upload.job.records.keep(.accepted(status: PlaceTurn.nowhere))
            return .unclear(code: refusal.code, message: words)
        }
        var folder = "the folder of its URL"
        if case .url = settings.source { folder = settings.connection.shown(upload.place.address).folder }
        var block = Block(.endpoint, "\(words): \(folder) does not exist there; make it")
        block.isPerhapsOfCapture = true
        return .blocked(block)
    }

    /// Looks for the folder of the URL on a server that says that it speaks WebDAV.
    func testFolder(of address: WebAddress, into found: inout DestinationTest, _ control: SendControl) {
        guard case .url(let template) = settings.source, !template.text.folder.contains("{"),
            let folder = WebAddress(address.withoutQuery.folder)
        else { return }
        let place = PutPlace(address: folder)
        guard let options = try? authorized(HTTPRequest(.options, folder), place, control),
            options.answer?["dav"] != nil, head(place, control).isOfAbsence
        else { return }
        // Apache answers 404 to HEAD for a folder that is there, if no module lists it.
        let asking = HTTPRequest(.propfind, folder, [("Depth", "0")])
        guard let told = try? authorized(asking, place, control).answer, told.status != 207 else { return }
        found.block = Block(
            .endpoint, "\(settings.connection.shown(template).folder) does not exist: a WebDAV server needs the folder")
    }
}
