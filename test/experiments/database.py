"""The server, through psql; the PG* variables say which one."""
import os
import subprocess
import threading

MARK = "-- end of answer --"


class Failed(Exception):
    """What goes wrong for a reason that the user can read."""


class Session:
    """One psql that answers one question after the other."""

    def __init__(self, database):
        self.process = subprocess.Popen(
            ["psql", "-XqAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", database], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.errors = []
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()

    def run(self, sql, source=()):
        """The rows of the answer, lists of text. `source` gives the lines of COPY FROM STDIN."""
        try:
            self.process.stdin.write(sql + ";\n")
            if source:
                self.process.stdin.writelines(source)
                self.process.stdin.write("\\.\n")
            self.process.stdin.write(f"\\echo '{MARK}'\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # psql said why
        rows = []
        for line in self.process.stdout:
            if line.rstrip("\n") == MARK:
                return rows
            rows.append(line.rstrip("\n").split("\t"))
        self.process.wait()
        raise Failed("".join(self.errors).strip() or "psql ended")

    def value(self, sql):
        """The one value of the answer."""
        return self.run(sql)[0][0]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def literal(text):
    return "'" + str(text).replace("'", "''") + "'"


def machine():
    """What the client runs on, and so the server, if it is local."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "script", "measured")
    return subprocess.run([script, "--machine"], capture_output=True, text=True, check=True).stdout.strip()
