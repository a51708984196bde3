"""A token that must not appear anywhere, and all outputs of the tool about a capture and its destination."""

TOKEN = "tok-3b4c6f1d2e-never-sent"


def token_of(rig):
    path = rig.folder / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return ("--token-file", path)


def outputs(rig, bundle, destination):
    """Returns all outputs of the tool about a capture and its destination."""
    words = (["show", bundle.id], ["show", "--json", bundle.id], ["list"], ["list", "--json"], ["history", bundle.id],
             ["history", "--json", bundle.id], ["status"], ["status", "--json"], ["status", "--prometheus"],
             ["dest", "show", destination], ["dest", "show", "--json", destination], ["dest", "list"])
    return {" ".join(one): (result := rig.run(*one)).out + result.err for one in words}


def dumped(rig):
    """Returns the whole database as SQL."""
    with rig.database() as database:
        return list(database.iterdump())
