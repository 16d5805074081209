"""The classes of neomodel, which need no server."""

import pytest

from graph.nodes import node_class
from records.kinds import graph_kinds


@pytest.mark.parametrize("kind", graph_kinds(), ids=lambda kind: kind.name)
def test_every_kind_of_the_graph_has_one_class_of_nodes(kind):
    assert node_class(kind) is node_class(kind)
    assert {"node_id", "title", "version"} <= dict(node_class(kind).__all_properties__).keys()
