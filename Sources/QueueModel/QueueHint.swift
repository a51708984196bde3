public import SystemPackage

/// Advice about an error of the queue: what a person can try. The program adds its own command for it.
public enum QueueHint: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// A sentence that needs no command of ours.
    case words(String)

    /// Rebuild the database from the stored bundles; do so although it is sound.
    case salvage, salvageAnyway
    /// Check what is stored and set damaged files aside; give up bundles that are lost.
    case checkData, checkRepair
    /// Make a queue of the backup in this folder.
    case restore(FilePath)
    /// Use another folder; `isForeign`: the database in this one belongs to another program.
    case otherFolder(isForeign: Bool)
    /// Make a queue in this folder; nil for the default folder, where the first push makes one.
    case createQueue(FilePath?)
    /// Let this user name an inbox, into which others can put bundles; nil if the name of the user is not known.
    case nameInbox(String?)

    /// Push this bundle; adopt the bundles in this folder; pack this raw folder and adopt its bundle.
    case push(FilePath), adopt(FilePath), adoptPacked(FilePath)
    /// Push the bundle by reference, which needs no space.
    case pushByReference
    /// Open the session again, and add to it.
    case reopenSession
    /// Send it again; try again to send this capture; send this capture, which is held; cancel this capture.
    case resend, retry(String), release(String), cancel(String)

    /// Put this folder of the queue on the mount of the others.
    case oneMount(FilePath)
    /// Push the damaged bundles again, and move away or delete their old files, which are in this folder.
    case quarantine(FilePath)

    /// Free some space.
    case freeSpace
    /// Delete what can be released; nil if nothing can be, so that it must be sent first.
    case prune(Releasable?)
    /// Change this setting of the queue; `isOther`: in place of the advice before.
    case change(QueueSettings.Name, isOther: Bool)

    /// Look up the names of destinations; `isOther`: to give another one.
    case listDestinations(isOther: Bool)
    /// Name a destination.
    case nameDestination
    /// Print this destination, change its settings, or let it take no more captures.
    case showDestination(String), changeDestination(String), retireDestination(String)
    /// Give one of these settings of a destination, which the owner (a kind or another setting) needs.
    case give([String], owner: String, example: String?)
    /// Make a device key.
    case makeKey

    public init(stringLiteral text: String) { self = .words(text) }
}
