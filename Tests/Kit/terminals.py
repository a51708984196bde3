"""A pseudo-terminal for one run of a tool, and pyte to tell what a person sees on it."""
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

from Kit.outcomes import Failed, expect

COLUMNS, LINES = 80, 24


class Terminal:
    """A run of the tool on its own terminal; `streams` lists the streams on the terminal, and the others are pipes."""

    def __init__(self, rig, *arguments, streams="stdin stdout stderr", environment=None, columns=COLUMNS):
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
        self.shown = b""
        self.columns, self._all = columns, b""
        named = {name: self.slave if name in streams.split() else subprocess.PIPE
                 for name in ("stdin", "stdout", "stderr")}
        self.process = subprocess.Popen(
            rig.argv(*arguments), start_new_session=True, cwd=rig.home,
            env=rig.env | {"TERM": "xterm-256color"} | (environment or {}), **named,
            # /dev/tty must be this terminal and not that of the person who runs the tests.
            preexec_fn=lambda: fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        os.close(self.master)
        os.close(self.slave)

    @property
    def echoes(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def _read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return b""
        piece = os.read(self.master, 65536)
        self.shown += piece
        self._all += piece
        return piece

    def wait_for(self, text, seconds=20):
        """Reads until `text` was shown after the text of the last call."""
        end = time.monotonic() + seconds
        while text.encode() not in self.shown:
            if time.monotonic() > end:
                raise Failed(f"the terminal never shows {text!r}, but {self.shown[-200:]!r}")
            if not self._read(0.05) and self.process.poll() is not None and text.encode() not in self.shown:
                raise Failed(f"ends with {self.process.returncode} without {text!r}: {self.shown[-200:]!r}")
        at = self.shown.index(text.encode()) + len(text)
        seen, self.shown = self.shown[:at], self.shown[at:]
        return seen

    def type(self, text):
        os.write(self.master, text.encode())

    def hidden(self, seconds=20):
        """Waits until typed characters are no longer shown."""
        end = time.monotonic() + seconds
        while self.echoes:
            if time.monotonic() > end:
                raise Failed("typed characters are shown")
            time.sleep(0.005)

    def answer(self, prompt, text):
        """Returns the terminal's output up to the prompt; then types the answer."""
        seen = self.wait_for(prompt)
        self.hidden()
        self.type(text)
        return seen

    def end(self, seconds=60):
        """Returns (exit code, all output on the terminal since, standard output and error if they are pipes)."""
        stop = time.monotonic() + seconds
        piped = [stream for stream in (self.process.stdout, self.process.stderr) if stream]
        kept = {stream: b"" for stream in piped}
        if self.process.stdin:
            self.process.stdin.close()
        while self.process.poll() is None or self._read(0.02):
            if time.monotonic() > stop:
                raise Failed(f"it continues after {self.shown[-100:]!r}")
            for stream in select.select([self.master, *piped], [], [], 0.05)[0]:
                if stream == self.master:
                    self._read(0)
                elif piece := os.read(stream.fileno(), 65536):
                    kept[stream] += piece
                else:
                    piped.remove(stream)
        for stream in piped:
            kept[stream] += stream.read()
        out, err = (kept.get(stream, b"") for stream in (self.process.stdout, self.process.stderr))
        return self.process.returncode, self.shown, out, err

    @property
    def lines(self):
        """Returns the text that is on the screen now."""
        screen = pyte.Screen(self.columns, LINES)
        pyte.ByteStream(screen).feed(self._all)
        return [line.rstrip() for line in screen.display if line.strip()]

    def signal(self, number):
        os.kill(self.process.pid, number)

    def interrupt(self):
        """Types Ctrl-C, as on a keyboard."""
        self.type("\x03")


INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)


def played(rig, *words, answers=(), **how):
    """Runs the tool on a terminal, and gives `answers` to its prompts; returns (exit code, all that the terminal shows
    since, standard output and error if they are pipes). The terminal must show typed characters afterwards."""
    with Terminal(rig, *words, **how) as terminal:
        for prompt, text in answers:
            terminal.answer(prompt, text)
        ended = terminal.end()
        expect(terminal.echoes, f"{words[0]}: the echo stays off")
        return ended
