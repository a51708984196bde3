"""What the package manager of this machine, if it is Debian's, is set to."""
import subprocess

from Kit.outcomes import expect


def setting(name):
    """A setting of this machine's apt."""
    said = subprocess.run(["apt-config", "dump", "--format", "%v%n", name], check=True, stdout=subprocess.PIPE, text=True).stdout
    return said.strip()


def mirror():
    """The mirror that this machine's apt uses for Debian itself."""
    targets = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(REPO_URI) $(COMPONENT)", "Created-By: Packages"],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
    found = [line.split()[1] for line in targets.splitlines() if line.endswith(" main") and "security" not in line]
    expect(found, "apt of this machine has no mirror of Debian")
    return found[0]
