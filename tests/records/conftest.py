import pytest

from tests.conftest import person


@pytest.fixture
def admin(admin_user):
    return person(admin_user)
