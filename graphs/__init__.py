"""The LangGraph graphs: state, nodes and one builder function per graph."""
