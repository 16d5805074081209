"""answers.py URL: exit code 0 when it answers 200. For health checks: standard library, no Django."""

import sys
import urllib.error
import urllib.request


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=8) as answer:  # noqa: S310 -- of this machine
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError) as error:
        sys.stderr.write(f"{url}: {error}\n")
        return False


if __name__ == "__main__":
    sys.exit(not answers(sys.argv[1]))
