package import CaptureBundle
import CaptureNative
package import SystemPackage

/// The beginning and the end of a page. The page is one file without scripts, and needs no other file and no network.
package struct ReportPage: Sendable {
    package let title: String
    /// The tool that writes the page, with its version.
    private let maker: String
    private let styleHash: String

    /// - Throws: `internal` if OpenSSL fails.
    package init(title: String, maker: String) throws(BundleError) {
        self.title = title
        self.maker = maker
        styleHash = try ReportStyle.hash()
    }

    /// The first bytes of every page, by which the tools recognise their own pages.
    package static let mark: HTML = "<!doctype html>\n<html lang=\"en\" data-page=\"capture-report\">\n"

    /// The markup before the first section.
    ///
    /// - Parameters:
    ///   - lead: A sentence below the title.
    ///   - tiles: The counts at the top of the page.
    package func opening(lead: HTML, tiles: [HTML]) -> HTML {
        """
        \(Self.mark)<head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src '\(styleHash)'; \
        base-uri 'none'; form-action 'none'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <meta name="generator" content="\(maker)">
        <title>\(title)</title>
        <link rel="icon" href="data:,">
        <style>\(ReportStyle.sheet)</style>
        </head>
        <body>
        \(ReportTone.signs)<a class="skip" href="#captures">Skip to the captures</a>
        <header>
        <h1>\(foreign: title)</h1>
        <p class="lead">\(lead)</p>
        <ul class="tiles" aria-label="Summary">
        \(tiles)</ul>
        </header>
        <main>

        """
    }

    /// A box with a count and its label.
    package static func tile(_ count: String, _ label: HTML) -> HTML {
        "<li><strong>\(count)</strong> \(label)</li>\n"
    }

    /// A box that leads to the first row of a kind; nil leads to the table.
    package static func tile(_ count: String, _ label: HTML, to kind: ReportKind?) -> HTML {
        "<li><a href=\"#\(kind?.anchor ?? "table")\"><strong>\(count)</strong> \(label)</a></li>\n"
    }

    package func closing(_ remarks: [HTML]) -> HTML {
        """
        </main>
        <footer>
        \(remarks.map { "<p>\($0)</p>\n" })<p>Made by \(maker).</p>
        </footer>
        </body>
        </html>

        """
    }
}

extension ReportPage {
    /// Refuses a path at which there is a file that is not a page of ours. A page that is written repeatedly must not
    /// replace a file that the user named by mistake.
    ///
    /// - Throws: `output.exists`, `output.unusable`.
    package static func requireReplaceable(_ path: FilePath) throws(BundleError) {
        guard FileStatus.exists(path) else { return }
        let mark = Array(mark.source.utf8)
        var start = [UInt8](repeating: 0, count: mark.count)
        let handle = (try? FileHandle.readingPlainFile(path)) ?? nil
        guard let handle, let count = try? handle.read(into: &start), count == mark.count, start == mark else {
            throw BundleError(
                .outputExists, "exists and is not a page of capqueue, so it is not replaced", file: path,
                hints: ["choose another name, or remove the file"])
        }
    }
}
