"""Where secrets come from, and what bounds are told of it."""

import numpy as np
import pytest

from privacy_audit.attacks.secrets.priors import SecretPrior, names, numbers, passwords

pytest.importorskip("zxcvbn", reason="optional extra: pip install 'privacy-audit[language]'")
pytest.importorskip("names", reason="optional extra: pip install 'privacy-audit[language]'")


def test_passwords_follow_zipf_on_the_lists_nine_digit_ones():
    prior = passwords()
    assert (len(prior.candidates), prior.candidates[0]) == (108, "123456789")
    harmonic = sum(1 / rank for rank in range(1, 109))
    np.testing.assert_allclose(prior.bound_prior().largest, 1 / harmonic)
    np.testing.assert_allclose(prior.bound_prior(2).largest, 1.5 / harmonic)


def test_names_are_the_census():
    prior = names(20)
    assert {"James", "Mary", "John"} <= set(prior.candidates[:5])
    # 1990 Census: James is 3.318 % of men, Mary 2.629 % of women.
    ratio = (
        prior.probabilities[prior.candidates.index("James")]
        / prior.probabilities[prior.candidates.index("Mary")]
    )
    np.testing.assert_allclose(ratio, 3.318 / 2.629, rtol=0.02)


def test_numbers_are_uniform_and_keep_their_zeros():
    drawn = numbers().draw(np.random.default_rng(0), 1000)
    assert {len(number) for number in drawn} == {9}
    assert any(number.startswith("0") for number in drawn)
    assert numbers().bound_prior(10).largest == 1e-8


def test_draws_follow_the_prior():
    """False alarm 1e-6: the count of the first candidate is binomial."""
    prior = SecretPrior("coins", "{}:", "{}", ("a", "b"), np.array([0.2, 0.8]))
    count = prior.draw(np.random.default_rng(1), 10_000).count("a")
    assert abs(count - 2000) < 4.9 * (10_000 * 0.2 * 0.8) ** 0.5


@pytest.mark.parametrize(
    ("candidates", "probabilities", "message"),
    [
        (("a", "b"), [0.5, 0.6], r"sum of p must be 1 within 1e-9"),
        (("a", "b"), [0.5], r"probabilities must have one entry a candidate \(2\), got 1"),
        (("a", "a"), [0.5, 0.5], r"candidates of x must differ"),
    ],
)
def test_refuses_what_is_no_prior(candidates, probabilities, message):
    with pytest.raises(ValueError, match=message):
        SecretPrior("x", "{}:", "{}", candidates, np.array(probabilities))
