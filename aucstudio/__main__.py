"""``python -m aucstudio`` is the same program as the ``aucstudio`` command."""

from aucstudio.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
