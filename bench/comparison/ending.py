"""How a tool ends: what it could not write is an error with exit status 1."""

import argparse
import os
import sys

MOST_OF_A_MESSAGE = 400


class Parser(argparse.ArgumentParser):
    """Tells what is wrong with a command line without the control characters in it, and in brief."""

    def print_help(self, file=None):
        print(self.format_help(), end="", file=file)  # argparse's own passes over what cannot be written

    def error(self, message):
        shown = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in message)
        super().error(shown[:MOST_OF_A_MESSAGE])


def end_with(tool, main):
    """Runs main(arguments) and ends the process with its result; a file or standard output that fails is told."""
    status = 1
    try:
        try:
            status = main(sys.argv[1:])
        except SystemExit as end:  # argparse's, after its help
            status = end.code
        sys.stdout.flush()
    except OSError as error:
        print(f"{tool}: {error}", file=sys.stderr)
        status = 1
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
    sys.exit(status)
