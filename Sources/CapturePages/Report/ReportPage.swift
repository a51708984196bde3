package import CaptureBundle
import CaptureNative
package import SystemPackage

/// The beginning and the end of a page about many captures. The page is one file that needs no network.
package struct ReportPage: Sendable {
    package let title: String
    /// The tool that writes the page, with its version.
    private let maker: String
    private static let kind: HTML = "capture-report"

    package init(title: String, maker: String) { (self.title, self.maker) = (title, maker) }

    /// The markup before the first section.
    ///
    /// - Parameters:
    ///   - lead: A sentence below the title.
    ///   - tiles: The counts at the top of the page.
    package func opening(lead: HTML, tiles: [HTML]) -> HTML {
        let head: HTML = """
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
            style-src '\(PageFrame.styleHash)'; base-uri 'none'; form-action 'none'">
            <meta name="referrer" content="no-referrer">
            <meta name="generator" content="\(maker)">

            """
        return """
            \(PageFrame(Self.kind, title: title, head: head).opening)<a class="skip" href="#captures">Skip to the captures</a>
            <header>
            <h1>\(foreign: title)</h1>
            <p class="lead">\(lead)</p>
            <ul class="tiles" aria-label="Summary">
            \(tiles)</ul>
            </header>
            <main>

            """
    }

    package static func tile(_ count: String, _ label: HTML) -> HTML {
        "<li><strong>\(count)</strong> \(label)</li>\n"
    }

    /// A box that leads to the first row of a kind; nil leads to the table.
    package static func tile(_ count: String, _ label: HTML, to kind: ReportKind?) -> HTML {
        "<li><a href=\"#\(kind?.anchor ?? "table")\"><strong>\(count)</strong> \(label)</a></li>\n"
    }

    package func closing(_ remarks: [HTML]) -> HTML { PageFrame.closing(remarks + ["Made by \(maker)."]) }
}

extension ReportPage {
    /// Refuses a path at which there is a file that is not a page of ours. A page that is written repeatedly must not
    /// replace a file that the user named by mistake.
    ///
    /// - Throws: `output.exists`, `output.unusable`.
    package static func requireReplaceable(_ path: FilePath) throws(BundleError) {
        guard FileStatus.exists(path) else { return }
        let mark = Array(PageFrame.mark(kind).source.utf8)
        var start = [UInt8](repeating: 0, count: mark.count)
        let handle = (try? FileHandle.readingPlainFile(path)) ?? nil
        guard let handle, let count = try? handle.read(into: &start), count == mark.count, start == mark else {
            throw BundleError(
                .outputExists, "exists and is not a page of capqueue, so it is not replaced", file: path,
                cause: .otherPage)
        }
    }
}
