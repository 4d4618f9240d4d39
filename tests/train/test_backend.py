"""How many trials side by side a device's memory allows."""

import pytest

from privacy_audit.train import backend


@pytest.fixture
def accelerator(monkeypatch):
    monkeypatch.setattr(backend, "is_cpu", lambda: False)


@pytest.mark.parametrize(("memory", "trials"), [(10_000, 32), (3_000, 16), (120, 1)])
def test_as_many_as_fit(accelerator, memory, trials):
    assert backend.trials_at_once(lambda n: 100 * n, memory) == trials


def test_one_that_does_not_fit_is_an_error(accelerator):
    with pytest.raises(
        ValueError, match=r"^model and batch must fit 1 MiB of device memory, got 2 MiB for one trial$"
    ):
        backend.trials_at_once(lambda n: n * 2**21, 2**20)


def test_one_after_the_other_where_jax_cannot_vmap(accelerator):
    def bytes_for(trials):
        if trials > 1:
            raise NotImplementedError
        return 1

    assert backend.trials_at_once(bytes_for, 100) == 1


def test_a_cpu_trains_one_and_compiles_nothing_to_find_out():
    assert backend.trials_at_once(lambda n: pytest.fail("compiled"), 1) == 1


def test_memory_is_known():
    import jax

    assert backend.memory_of(jax.devices()[0]) > 2**27
