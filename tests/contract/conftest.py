"""Neo4j under the contract: it is shown what a test has written before it is asked."""

from __future__ import annotations

import pytest

from tests.graph.server import (  # noqa: F401
    clean_graph,
    graph_address,
    graph_schema,
    show_everything,
)


@pytest.fixture
def shown_graph(db, clean_graph):  # noqa: F811
    from graph.neo4j import Neo4jGraph

    class ShownGraph(Neo4jGraph):
        """Shows all rows before its first answer, and again where there are other rows since."""

        shown = None

        def _nodes(self, node_ids, within):
            self._show()
            return super()._nodes(node_ids, within)

        def _offers(self, node_ids, within, per_node):
            self._show()
            return super()._offers(node_ids, within, per_node)

        def neighbourhood(self, node_id, within, *, depth=1, cap=30, known=()):
            self._show()
            return super().neighbourhood(node_id, within, depth=depth, cap=cap, known=known)

        def _likest(self, node_id, project_id, least, count):
            self._show()
            return super()._likest(node_id, project_id, least, count)

        def outcomes_after(self, node_ids, within):
            self._show()
            return super().outcomes_after(node_ids, within)

        def similar_by_vector(self, vector, within, *, k=10):
            self._show()
            return super().similar_by_vector(vector, within, k=k)

        def led_to(self, status, within, *, limit=100):
            self._show()
            return super().led_to(status, within, limit=limit)

        def _show(self):
            self.shown = show_everything(self.shown)

    return ShownGraph()
