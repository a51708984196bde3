/// What encrypts the files of the spool, as far as Linux says (Spec/queue.md section 16).
public enum StorageEncryption: String, Hashable, Sendable {
    /// Every disk below the file system is a dm-crypt volume, such as LUKS.
    case dmCrypt = "dm-crypt"
    /// The folder has a policy of fscrypt.
    case fscrypt
    /// Nothing known encrypts them: neither says Linux so, nor can it say so of a disk that encrypts itself.
    case unknown
}
