package import ArgumentParser
package import CaptureBundle
import CaptureNative
package import SystemPackage

private func trustHelp(_ text: String) -> ArgumentHelp {
    ArgumentHelp(
        text, discussion: "Default: CAPBUNDLE_TRUST, else $XDG_CONFIG_HOME/capbundle/trusted_devices.",
        valueName: "file")
}

/// The option `--trust` of commands that read trust files.
package struct TrustOptions: ParsableArguments {
    package init() {}

    @Option(
        name: .customLong("trust"),
        help: trustHelp("A trust file; give the option again for further files, whose lines count too."),
        completion: .file())
    package var paths: [String] = []

    /// Reads the trust files. Their lines count together, so a key that one of them revokes is revoked.
    ///
    /// - Throws: The errors of `Environment.trustFile`.
    package func file(warn: (BundleError) -> Void) throws(BundleError) -> TrustFile {
        guard let first = paths.first else { return try Environment.trustFile(nil, warn: warn) }
        var trust = try Environment.trustFile(first, warn: warn)
        for path in paths.dropFirst() { trust.append(try Environment.trustFile(path, warn: warn)) }
        return trust
    }

    /// The trust files, whether they exist or not.
    package var files: [FilePath] {
        paths.isEmpty ? (try? Environment.trustPath(nil) { _ in }).map { [$0] } ?? [] : paths.map { FilePath(file: $0) }
    }

    /// What a proposed `trust add` needs so that it changes the first of these files; empty without one, and for what is no
    /// plain file, such as /dev/null.
    package var words: String {
        guard let first = paths.first, (try? FileStatus.of(FilePath(first)))?.kind == .file else { return "" }
        return " --trust \(ShellWord.quote(FilePath(first)))"
    }
}

/// The option `--trust` of commands that change a trust file.
package struct ChangedTrustOptions: ParsableArguments {
    package init() {}

    @Option(name: .customLong("trust"), help: trustHelp("The trust file."), completion: .file())
    package var paths: [String] = []

    package func validate() throws {
        guard paths.count < 2 else { throw ValidationError("--trust is given \(paths.count) times, expected once") }
    }

    /// The path of the trust file, which need not exist yet.
    ///
    /// - Throws: The errors of `Environment.trustPath`.
    package func pathToChange(warn: (BundleError) -> Void) throws(BundleError) -> FilePath {
        try Environment.trustPath(paths.first, warn: warn)
    }
}
