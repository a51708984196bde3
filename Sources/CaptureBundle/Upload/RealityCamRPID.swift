/// The app that a RealityCam server expects, `TEAM.BUNDLE` in its settings.
public enum RealityCamRPID {
    /// The app that a RealityCam server with default settings expects. The server writes this text as it is: the ten X
    /// stand where a team has its number.
    public static let usual = "XXXXXXXXXX.com.realitycam.app"

    /// Whether the text has the form `TEAM.BUNDLE`: two or more words of letters, digits and hyphens.
    public static func isWellFormed(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return words.count >= 2 && text.utf8.count <= 255
            && words.allSatisfy { word in
                !word.isEmpty
                    && word.allSatisfy { (0x41...0x5a).contains($0) || $0 == 0x2d || EntryPath.isAlphanumeric($0) }
            }
    }
}
