"""Backups of the whole database, checked by checksums that do not depend on which database it is."""
