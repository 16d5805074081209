"""What keeps a backup or a restore from being made; the text says what to do."""


class BackupProblem(Exception):
    """Nothing was left half-written, unless the text says so."""
