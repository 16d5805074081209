"""Migration operations: what plain-SQL readers and writers get beside each table."""

from typing import Any

from django.db.migrations.operations.base import Operation

from database.columns import SQLITE_NOW

ACTIVE = "archived_at IS NULL AND merged_into IS NULL AND review_state NOT IN ('rejected', 'quarantined')"


class _SchemaOnly(Operation):
    reversible = True

    def state_forwards(self, app_label: str, state: Any) -> None:
        pass


class ActiveView(_SchemaOnly):
    """The view active_<table>: what people who read by SQL should see; the same rule as `Record.objects.active()`.

    A view freezes its columns: repeat the operation in every later migration that alters the table.
    """

    def __init__(self, table: str) -> None:
        self.table = table

    def deconstruct(self) -> Any:
        return (self.__class__.__qualname__, [self.table], {})

    def database_forwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        view, table = editor.quote_name(f"active_{self.table}"), editor.quote_name(self.table)
        editor.execute(f"DROP VIEW IF EXISTS {view}")
        editor.execute(f"CREATE VIEW {view} AS SELECT * FROM {table} WHERE {ACTIVE}")

    def database_backwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        editor.execute(f"DROP VIEW IF EXISTS {editor.quote_name('active_' + self.table)}")

    def describe(self) -> str:
        return f"Create the view active_{self.table}"


class RowChanged(_SchemaOnly):
    """Lets the database itself keep a time column on every UPDATE: ON UPDATE on MySQL, a trigger on SQLite."""

    def __init__(self, table: str, column: str = "row_changed_at", key: str = "id") -> None:
        self.table, self.column, self.key = table, column, key

    def deconstruct(self) -> Any:
        return (self.__class__.__qualname__, [self.table], {"column": self.column, "key": self.key})

    def database_forwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        table, column, key = (editor.quote_name(name) for name in (self.table, self.column, self.key))
        if editor.connection.vendor == "mysql":
            editor.execute(
                f"ALTER TABLE {table} MODIFY {column} timestamp(6) NOT NULL"
                " DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)"
            )
        else:
            trigger = editor.quote_name(f"{self.table}_{self.column}")
            editor.execute(f"DROP TRIGGER IF EXISTS {trigger}")
            editor.execute(
                f"CREATE TRIGGER {trigger} AFTER UPDATE ON {table} FOR EACH ROW WHEN NEW.{column} = OLD.{column} BEGIN"
                f" UPDATE {table} SET {column} = {SQLITE_NOW} WHERE {key} = NEW.{key}; END"
            )

    def database_backwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        if editor.connection.vendor == "sqlite":
            editor.execute(f"DROP TRIGGER IF EXISTS {editor.quote_name(f'{self.table}_{self.column}')}")

    def describe(self) -> str:
        return f"Let the database keep {self.table}.{self.column}"


class FullText(_SchemaOnly):
    """The database's own full-text index: FULLTEXT on MySQL and MariaDB; on SQLite an FTS5 table <table>_<column>
    beside the table, kept by triggers.

    SQLite drops the triggers with the table that an ALTER makes anew: repeat the operation in such a migration.
    """

    def __init__(self, table: str, column: str, tokenize: str) -> None:
        self.table, self.column, self.tokenize = table, column, tokenize

    def deconstruct(self) -> Any:
        return (self.__class__.__qualname__, [self.table, self.column, self.tokenize], {})

    def database_forwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        table, column = editor.quote_name(self.table), editor.quote_name(self.column)
        name = f"{self.table}_{self.column}"
        index = editor.quote_name(name)
        if editor.connection.vendor == "mysql":
            editor.execute(f"CREATE FULLTEXT INDEX {index} ON {table} ({column})")
            return
        self._drop(editor)
        editor.execute(
            f"CREATE VIRTUAL TABLE {index} USING fts5({column}, content={table}, content_rowid='id',"
            f' tokenize="{self.tokenize}")',
            None,
        )
        add = f"INSERT INTO {index}(rowid, {column}) VALUES (NEW.id, NEW.{column});"
        take = f"INSERT INTO {index}({index}, rowid, {column}) VALUES ('delete', OLD.id, OLD.{column});"
        for event, does in (("INSERT", add), ("DELETE", take), (f"UPDATE OF {column}", take + add)):
            trigger = editor.quote_name(f"{name}_{event.split()[0].lower()}")
            editor.execute(f"CREATE TRIGGER {trigger} AFTER {event} ON {table} BEGIN {does} END", None)
        editor.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')", None)

    def database_backwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        if editor.connection.vendor == "mysql":
            editor.execute(f"DROP INDEX {editor.quote_name(f'{self.table}_{self.column}')} ON {self.table}")
        else:
            self._drop(editor)

    def _drop(self, editor: Any) -> None:
        for event in ("insert", "delete", "update"):
            editor.execute(
                f"DROP TRIGGER IF EXISTS {editor.quote_name(f'{self.table}_{self.column}_{event}')}"
            )
        editor.execute(f"DROP TABLE IF EXISTS {editor.quote_name(f'{self.table}_{self.column}')}")

    def describe(self) -> str:
        return f"Index the words of {self.table}.{self.column}"
