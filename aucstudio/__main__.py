"""Entry point of ``python -m aucstudio``, the same program as the ``aucstudio`` command."""

import signal
import sys


def main() -> int:
    """Run the program, or the service that a packaged program starts itself for.

    Ctrl+C while it is being loaded ends it without a message.
    """
    if sys.argv[1:2] == ["--run-child-process"]:
        from aucstudio.project import child_process

        child_process.serve(sys.argv[2:])
        return 0
    taken = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if taken:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from aucstudio import cli

    if taken:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
