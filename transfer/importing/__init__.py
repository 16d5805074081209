"""Decision records from files into the desk: found, read, compared with what is kept, written, linked, reported."""
