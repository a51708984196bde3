"""A token that must be shown nowhere, and all that the tool shows of a capture and its destination."""

TOKEN = "tok-3b4c6f1d2e-never-sent"


def token_of(rig):
    path = rig.folder / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return ("--token-file", path)


def outputs(rig, bundle, destination):
    """All that is said of a capture and its destination."""
    words = (["show", bundle.id], ["show", "--json", bundle.id], ["list"], ["list", "--json"], ["history", bundle.id],
             ["history", "--json", bundle.id], ["status"], ["status", "--json"], ["status", "--prometheus"],
             ["dest", "show", destination], ["dest", "show", "--json", destination], ["dest", "list"])
    return {" ".join(one): (result := rig.run(*one)).out + result.err for one in words}


def dumped(rig):
    """All that the queue keeps, as SQL."""
    with rig.database() as database:
        return list(database.iterdump())
