"""gunicorn's settings, for `make run` and for `gunicorn -c deploy/gunicorn.conf.py memory_site.wsgi`.

On SQLite one process serves with threads, and the worker of vectors and graph is one more thread of it. On a server
database there may be more processes, and the worker is a process of its own: `manage.py run_worker`.
"""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")

import django
from django.conf import settings
from django.db import connection

from database.schema import OtherSchema, await_schema

bind = f"{settings.HOST}:{settings.PORT}"
worker_class = "gthread"
workers = settings.WEB_PROCESSES
threads = settings.WEB_THREADS
limit_request_line = 8190  # a question of the Recall page stands in its address
keepalive = 30
timeout = 120
graceful_timeout = 12  # the worker thread finishes its batch within eight seconds
errorlog = "-"
loglevel = "warning"
accesslog = None  # memory_site.middleware.RequestId logs each request, with its id
control_socket_disable = True
# The heartbeat file of a worker is written often; memory, where there is such a folder, spares the disk.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108


def on_starting(server):
    """Before any process serves: the tables must be those that this program knows."""
    django.setup()
    from memory_site import metrics

    metrics.share_between_processes()
    try:
        await_schema(server.log.warning, seconds=60)
    except OtherSchema as error:
        sys.exit(f"{error}")


def post_worker_init(worker):
    """In the serving process, after the fork: threads do not survive one."""
    from memory_site.garbage import settle

    settle()
    if connection.vendor == "sqlite":
        from graph.worker_thread import start_worker_thread

        start_worker_thread()


def child_exit(server, worker):
    from memory_site import metrics

    metrics.forget_process(worker.pid)
