# Memory Desk with the ONNX encoder (no PyTorch) and the MySQL driver: one image for web, worker and commands.
#   docker build -t memory-desk .
FROM python:3.11-slim-bookworm AS build
# mysqlclient comes as source alone.
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc pkg-config default-libmysqlclient-dev \
    && rm -rf /var/lib/apt/lists/*
COPY requirements.txt requirements-run.txt constraints.txt /build/
RUN python -m venv /opt/desk \
    && /opt/desk/bin/pip install --no-cache-dir -r /build/requirements-run.txt \
    && /opt/desk/bin/pip install --no-cache-dir -c /build/constraints.txt \
        "$(grep '^mysqlclient==' /build/requirements.txt)"

FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends libmariadb3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /desk --shell /usr/sbin/nologin desk \
    && install -d -o desk -g desk /data
COPY --from=build /opt/desk /opt/desk
COPY . /desk
WORKDIR /desk
ENV PATH=/opt/desk/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 DATA_DIR=/data HOST=0.0.0.0
USER desk
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "-c", "deploy/gunicorn.conf.py", "memory_site.wsgi"]
