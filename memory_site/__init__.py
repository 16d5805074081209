import os

# Before numpy is loaded: the threads of its matrix products would else spin for a tenth of a second after each, and take
# the cores from the requests, the model and the database beside them (2 cores: 80 instead of 145 ms of processor time for
# an incident view, benchmarks/incident.py).
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
