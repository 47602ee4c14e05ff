# The labelling page (`fairjudge annotate`): see docs/annotate.md and compose.yaml.
FROM python:3.13-slim

WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY fairjudge fairjudge
COPY prompts prompts
COPY graphs graphs
COPY calibration calibration
RUN pip install --no-cache-dir --constraint constraints.txt '.[annotate]' \
    && useradd --create-home --uid 1000 annotator

USER annotator
WORKDIR /data
EXPOSE 8765
ENTRYPOINT ["fairjudge", "annotate"]
