"""LangGraph topology: state, nodes and one builder a graph."""
