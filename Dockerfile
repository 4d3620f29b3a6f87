# An image of the service: the API and the workers. The log and the queue run in containers of their own (compose.yaml).
FROM python:3.11.13-slim-bookworm AS wheels
WORKDIR /src
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY requirements.lock ./
RUN pip wheel --no-cache-dir --require-hashes --requirement requirements.lock --wheel-dir /wheels
COPY pyproject.toml README.md LICENSE ./
COPY service service
COPY events events
COPY api api
COPY workers workers
# The build uses only packages of the lock file; the image gets only those that the service needs.
RUN pip install --no-index --find-links /wheels setuptools wheel \
 && pip wheel --no-cache-dir --no-index --no-deps --no-build-isolation --wheel-dir /own .

FROM python:3.11.13-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data moonstone && install --directory --owner moonstone --mode 700 /data
RUN --mount=type=bind,from=wheels,source=/wheels,target=/wheels --mount=type=bind,from=wheels,source=/own,target=/own \
    pip install --no-cache-dir --no-index --find-links /wheels /own/*.whl
USER moonstone
WORKDIR /data
VOLUME /data
ENV PYTHONUNBUFFERED=1 MOONSTONE_HOST=0.0.0.0 MOONSTONE_PORT=8080 MOONSTONE_DATA_DIR=/data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["python", "-c", "import http.client as h, os; c = h.HTTPConnection('127.0.0.1', int(os.environ['MOONSTONE_PORT']), timeout=2); c.request('GET', '/healthz'); c.getresponse()"]
STOPSIGNAL SIGTERM
CMD ["moonstone", "serve"]
