"""The annotation page: FastAPI, server-rendered, needs the extra ``annotate``."""
