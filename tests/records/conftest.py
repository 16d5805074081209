import pytest

from tests.conftest import person


@pytest.fixture
def as_curator(client, curator_user):
    client.force_login(curator_user)
    return client


@pytest.fixture
def as_viewer(client, viewer_user):
    client.force_login(viewer_user)
    return client


@pytest.fixture
def admin(admin_user):
    return person(admin_user)
