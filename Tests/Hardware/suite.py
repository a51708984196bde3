"""Device keys in hardware: in a TPM (swtpm with tpm2-openssl), and in a token (softhsm2 with pkcs11-provider, in a
Debian that has it)."""
import contextlib

from Hardware.places import Bench

PROGRAMS = ("capbundle", "capqueue")


@contextlib.contextmanager
def bench(options, folder):
    with contextlib.ExitStack() as ending:
        yield Bench({"capbundle": options.capbundle, "capqueue": options.capqueue}, folder, ending)
