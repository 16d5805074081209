from tests.graph.server import clean_graph, graph_address, graph_schema  # noqa: F401
