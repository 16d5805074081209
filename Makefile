# `make run` is all that a newcomer needs; `make help` lists the rest.
VENV     ?= .venv
VENV_DEV ?= .venv-dev
SERVICES := deploy/services/services

.DEFAULT_GOAL := help
.PHONY: help run token test test-all lint format pictures services services-stop

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  Settings: PORT=8000, PYTHON=python3; SUITES=\"sqlite mysql\" for make test"

run: ## install into .venv, then serve a demo on SQLite at http://127.0.0.1:8000
	@deploy/make_venv $(VENV) requirements-run.txt
	@exec $(VENV)/bin/python manage.py run_desk

token: ## print a new token for an agent
	@deploy/make_venv $(VENV) requirements-run.txt
	@$(VENV)/bin/python manage.py make_token

test: ## every suite, on SQLite, MySQL, MariaDB, in Chromium; says what was left out
	@python=$$(deploy/fit_python) && exec "$$python" deploy/run_tests.py --venv $(VENV_DEV) $(SUITES)

test-all: ## the same and the slow tests
	@python=$$(deploy/fit_python) && exec "$$python" deploy/run_tests.py --venv $(VENV_DEV) --slow $(SUITES)

lint: ## formatting, style, types, direction of imports, missing migrations
	@python=$$(deploy/fit_python) && exec "$$python" deploy/run_tests.py --venv $(VENV_DEV) lint

format: ## format the code and repair what ruff can
	@$(VENV_DEV)/bin/ruff format .
	@$(VENV_DEV)/bin/ruff check --fix .

pictures: ## of every page from a desk made for them, into var/pictures; those of the README into docs/pictures
	@$(VENV_DEV)/bin/python -m tests.e2e.screenshots var/pictures --readme

services: ## install and start the servers of the tests, print how to reach them
	@$(SERVICES) start && $(SERVICES) env

services-stop: ## stop them
	@$(SERVICES) stop
