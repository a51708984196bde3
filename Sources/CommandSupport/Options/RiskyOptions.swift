/// Options that delete or replace something, open it to others, weaken a check, or act on everything. They are never proposed
/// for an option that does not exist: a person who copies a hint would do more than was asked for.
package enum RiskyOptions {
    package static let names: Set<String> = [
        // They delete or replace.
        "--move", "--force", "--cancelled", "--older-than", "--unset", "--repair",
        // They give up what protects the bytes.
        "--reference", "--accept-parts", "--accept-clock", "--release", "--reset",
        // They weaken a check, or show what is secret.
        "--allow-withheld", "--proof", "--condition", "--no-condition", "--secret-path", "--no-secret-path", "--ca",
        // They act on everything, or send again.
        "--all", "--now", "--resend", "--reopen", "--incomplete",
    ]
}
