"""Flip probability against 60 digits, and its laws."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_audit.bounds import advantage, epsilon_for_advantage, flip_probability

probabilities = st.floats(0, 1, allow_subnormal=False)
epsilons = st.floats(0, 1e4, allow_subnormal=False)


def test_reference(reference):
    cases = reference("flip_probability")
    got = flip_probability([c["epsilon"] for c in cases], [c["prior"] for c in cases])
    np.testing.assert_allclose(got, [c["beta"] for c in cases], rtol=1e-15)


def test_logit_form():
    """logit β = ε + logit κ, where no logit overflows."""
    epsilon, prior = np.meshgrid([0.0, 0.1, 3.0, 20.0], [1e-12, 1e-3, 0.5, 0.9])
    beta = np.asarray(flip_probability(epsilon, prior))
    np.testing.assert_allclose(beta / (1 - beta), np.exp(epsilon) * prior / (1 - prior), rtol=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "prior", "beta"),
    [
        (0, 0, 0),
        (0, 1, 1),
        (np.inf, 0, 0),
        (np.inf, 1e-300, 1),
        (1000, 1e-9, 1),
        (1e4, 0.5, 1),
        (0, 0.3, 0.3),
    ],
)
def test_ends(epsilon, prior, beta):
    assert float(flip_probability(epsilon, prior)) == beta


@settings(deadline=None, max_examples=50)
@given(epsilons, epsilons, probabilities, probabilities)
def test_monotone(epsilon, other, prior, another):
    (low, high), (rare, likely) = sorted((epsilon, other)), sorted((prior, another))
    assert float(flip_probability(low, rare)) <= float(flip_probability(high, likely)) * (1 + 1e-15)
    assert float(flip_probability(0.0, prior)) == pytest.approx(prior, rel=1e-15)


@settings(deadline=None, max_examples=50)
@given(st.floats(0, 0.999), st.floats(1e-9, 0.999))
def test_advantage_inverse(wanted, prior):
    epsilon = epsilon_for_advantage(wanted, prior)
    assert float(advantage(flip_probability(epsilon, prior), prior)) == pytest.approx(wanted, abs=1e-9)


def test_paper_numbers():
    """Paper U: Table 2 and the example of its overview; the PII row mixes two priors, so both are shown."""
    assert float(flip_probability(1, 0.1)) == pytest.approx(0.232, abs=5e-4)
    assert float(flip_probability(1, 0.5)) == pytest.approx(0.731, abs=5e-4)
    assert float(epsilon_for_advantage(0.05, 1e-9)) == pytest.approx(17.8, abs=0.05)
    assert float(epsilon_for_advantage(0.05, 0.185)) == pytest.approx(0.25, abs=5e-3)
    assert float(advantage(flip_probability(1, 0.185), 0.185)) == pytest.approx(0.24, abs=5e-3)
    assert float(epsilon_for_advantage(0.05, 0.0054)) == pytest.approx(2.37, abs=0.01)
    assert float(advantage(flip_probability(1, 0.051), 0.051)) == pytest.approx(0.08, abs=5e-3)


def test_ends_of_advantage():
    np.testing.assert_array_equal(
        epsilon_for_advantage([0.0, 1.0, 0.5], [0.5, 0.5, 0.0]), [0, np.inf, np.inf]
    )
    assert float(advantage(1.0, 1.0)) == 0


@pytest.mark.skipif(not hasattr(jax, "enable_x64"), reason="JAX before 0.8 cannot mix widths in a jit")
def test_transforms():
    epsilon = np.linspace(0, 3, 4)
    expected = np.asarray(flip_probability(epsilon, 0.25))
    np.testing.assert_allclose(jax.jit(flip_probability)(epsilon, 0.25), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(flip_probability, (0, None))(epsilon, 0.25), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: flip_probability(-1.0, 0.1), "epsilon must be >= 0, got -1.0"),
        (lambda: flip_probability(np.nan, 0.1), "epsilon must be >= 0, got nan"),
        (lambda: flip_probability(1.0, [0.1, 1.5]), r"prior must be in \[0, 1\], got 1.5"),
        (lambda: advantage(-0.1, 0.1), r"posterior must be in \[0, 1\], got -0.1"),
        (lambda: epsilon_for_advantage(2, 0.1), r"advantage must be in \[0, 1\], got 2"),
        (lambda: flip_probability("x", 0.1), "epsilon must be numbers, got 'x'"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        call()
