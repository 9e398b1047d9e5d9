"""``python -m aucstudio`` is the same program as the ``aucstudio`` command: both begin here."""

import signal


def main() -> int:
    """Run the program; Ctrl+C while it is still being loaded ends it without a word."""
    taken = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if taken:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from aucstudio import cli

    if taken:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
