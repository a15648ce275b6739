"""A bar with the time that is left on a terminal, a line now and then elsewhere."""
import sys
import time


class Progress:
    def __init__(self, total, skipped):
        self.total, self.skipped, self.done, self.runs = total, skipped, 0.0, 0
        self.start = self.shown = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def advance(self, cost, text):
        self.done += cost
        self.runs += 1
        now = time.monotonic()
        if now - self.shown >= (0.2 if self.terminal else 60):
            self.shown = now
            self._show(text)

    def _show(self, text):
        part = min(1, (self.skipped + self.done) / self.total)
        left = (time.monotonic() - self.start) * max(0, self.total - self.skipped - self.done) / self.done
        words = f"{part:4.0%}  {self.runs} runs  {left / 60:.0f} min left  {text}"
        if self.terminal:
            bar = "#" * int(30 * part)
            sys.stderr.write(f"\r[{bar:<30}] {words:<60.60}\033[K")
        else:
            sys.stderr.write(words + "\n")
        sys.stderr.flush()

    def finish(self):
        if self.terminal:
            sys.stderr.write("\r\033[K")
        sys.stderr.write(f"{self.runs} runs in {(time.monotonic() - self.start) / 60:.1f} minutes\n")
