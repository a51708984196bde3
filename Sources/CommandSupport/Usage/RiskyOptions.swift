/// Options that delete or replace something, open it to others, weaken a check, or act on everything. No message suggests them
/// for an unknown option: a person who follows the suggestion could do harm.
package enum RiskyOptions {
    package static let names: Set<String> = [
        // Delete or replace.
        "--move", "--force", "--cancelled", "--older-than", "--unset", "--repair",
        // Give up a protection of the bytes.
        "--reference", "--accept-parts", "--accept-absent", "--accept-clock", "--release", "--reset",
        // Weaken a check, or show a secret.
        "--allow-withheld", "--proof", "--condition", "--no-condition", "--secret-path", "--no-secret-path", "--ca",
        "--tsa-ca", "--remove",
        // Act on everything, or send again.
        "--all", "--now", "--resend", "--reopen", "--incomplete",
    ]
}
