"""``python -m heldout``: the command, where its script is not on the path."""

from heldout.cli.main import main

if __name__ == "__main__":
    main(prog_name="heldout")
