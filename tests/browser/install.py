"""A Chromium for the tests of pages: the one there is, else Debian's, else Playwright's own download.

Run by ``make test``. Where no browser can be had it says so and ends well: the tests that need one are then skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found() -> str | None:
    """The browser that the tests will use, or None."""
    named = os.environ.get("HELDOUT_BROWSER")
    return named or next(filter(None, map(shutil.which, NAMES)), None) or _of_playwright()


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


def ways() -> list[list[list[str]]]:
    """Commands that may install one, in the order they are tried."""
    asked = [] if os.geteuid() == 0 else ["sudo", "-n"]
    debian = []
    if shutil.which("apt-get") and (not asked or shutil.which("sudo")):
        apt = [*asked, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y"]
        debian = [[[*apt, "update"], [*apt, "install", "--no-install-recommends", "chromium", "fonts-dejavu-core"]]]
    return [*debian, [[sys.executable, "-m", "playwright", "install", "chromium"]]]


def main() -> int:
    """Find a browser or install one, and say which."""
    place = found()
    for commands in ways() if place is None else ():
        sys.stdout.write("Installing Chromium for the tests of pages\n")
        sys.stdout.flush()
        if all(subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0 for command in commands):
            place = found()
        if place is not None:
            break
    said = f"Browser: {place}" if place else "Browser: none could be installed, so the tests of pages are skipped"
    sys.stdout.write(said + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
