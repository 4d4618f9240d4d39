"""The canary experiment at toy scale: end to end, resumed, and refused."""

import dataclasses
import json
import math
import shutil

import jax
import pytest
from etils import epath

from privacy_audit.reproduce.adversary_aware.canaries import joined, section
from privacy_audit.reproduce.adversary_aware.canaries import run as experiment
from privacy_audit.reproduce.adversary_aware.canaries.game import Table, key_of, people
from privacy_audit.reproduce.adversary_aware.canaries.settings import SCALES
from privacy_audit.train.language.small import FIRST_PUBLIC

pytest.importorskip("zxcvbn", reason="optional extra: pip install 'privacy-audit[language]'")
pytest.importorskip("names", reason="optional extra: pip install 'privacy-audit[language]'")

SMOKE = dataclasses.replace(SCALES["smoke"], kinds=("names",))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    out = tmp_path_factory.mktemp("canaries")
    heard = []
    return experiment.run(SMOKE, epath.Path(out), 0, heard.append), out, heard


def test_every_game_is_played_and_no_bound_exceeded(played):
    results, _, _ = played
    assert set(results["cells"]) == {"names-epsinf", "names-eps10"}
    for cell in results["cells"].values():
        for attack, hits in cell["hits"].items():
            for k, count in hits.items():
                low, high = cell["intervals"][attack][k]
                assert count <= cell["bound"][k]
                assert low <= count / 8 <= high
        if cell["epsilon_proven"]:
            assert 9.9 < cell["epsilon_proven"]["replace_one"] <= 10
            assert cell["epsilon_proven"]["add_remove"] < cell["epsilon_proven"]["replace_one"]
            assert cell["epsilon_lower"]["epsilon_lower"] <= 10
    json.dumps(results, allow_nan=False)


def test_counts_stand_for_the_guesses_that_the_files_hold(played):
    results, out, _ = played
    for name, cell in results["cells"].items():
        game = json.loads((out / f"{name}.json").read_text())
        assert not {"guesses", "secrets"} & set(cell)
        for attack, guesses in game["guesses"].items():
            for k, count in cell["hits"][attack].items():
                right = [s in some[: int(k)] for some, s in zip(guesses, game["secrets"], strict=True)]
                assert count == sum(right) == sum(cell["found_at"][attack][: int(k)])


def test_joined_bounds_stay_below_what_is_proven(played):
    (run_,) = played[0]["joined"].values()
    assert set(run_["bounds"]) == {"secrets guessed", "members told", "gradients seen"}
    for found in run_["bounds"].values():
        assert found["epsilon_lower"] <= run_["epsilon_proven"][found["adjacency"]]
    assert run_["bounds"]["gradients seen"]["epsilon_lower"] > 0.5  # the strongest adversary sees something


def test_goes_on_where_it_was_stopped(played, monkeypatch):
    results, out, heard = played
    assert heard[-3:] == ["names-epsinf …", "names-eps10 …", "joined-eps10 …"]
    (out / "names-eps10.json").write_text("{")  # half-written by someone else
    monkeypatch.setattr(experiment, "_game", lambda table, cell, seed: {"played": cell.name, "seconds": 0})
    again = []
    repeated = experiment.run(SMOKE, epath.Path(out), 0, again.append)
    assert again == ["names-eps10 …"]
    assert repeated["cells"]["names-eps10"]["played"] == "names-eps10"
    assert repeated["cells"]["names-epsinf"] == results["cells"]["names-epsinf"]
    with pytest.raises(ValueError, match="out must hold games of these settings or none"):
        experiment.run(SMOKE, epath.Path(out), 1, again.append)


def test_files_of_others_are_refused_before_any_game_is_written(played, tmp_path):
    _, out, _ = played
    (last,) = out.glob("joined-*.json")
    for stored in (last, *out.glob("small_gpt2-*.npz")):
        shutil.copy(stored, tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"or none, got another's joined-eps10\.json"):
        experiment.run(SMOKE, epath.Path(tmp_path), 1, print)
    assert sorted(tmp_path.iterdir()) == before


def test_the_base_model_and_the_lists_belong_to_the_identity(played):
    _, out, _ = played
    language = experiment.language_of(SMOKE, epath.Path(out), print)
    table = Table.laid(language, SMOKE)
    name = next(iter(language.params))
    other = language._replace(params=language.params | {name: language.params[name] + 1e-6})
    prior = table.priors["names"]
    longer = dataclasses.replace(prior, probabilities=prior.probabilities[::-1])
    identities = {
        experiment.identity_of_games(each, 0)
        for each in (
            table,
            dataclasses.replace(table, language=other),
            dataclasses.replace(table, priors={"names": longer}),
            dataclasses.replace(table, settings=dataclasses.replace(SMOKE, kinds=("names", "numbers"))),
        )
    }
    assert len(identities) == 4
    more = dataclasses.replace(table, settings=dataclasses.replace(SMOKE, epsilons=(1.0,), joined=()))
    assert experiment.identity_of_games(more, 0) in identities


def test_every_training_has_a_key_of_its_own():
    names = ["joined-eps10", "joined-eps100", joined.name_of(0.5), joined.name_of(0.9), "names-eps10"]
    keys = {tuple(jax.random.key_data(key_of(seed, name)).tolist()) for name in names for seed in (0, 1)}
    assert len(keys) == 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joined": (math.inf,)}, "joined must be finite and > 0, got inf"),
        ({"targets": 625}, "targets must be <= 624 for letters that no public record is about, got 625"),
    ],
)
def test_settings_without_meaning_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(SMOKE, **change)
    assert max(map(ord, people(624))) < FIRST_PUBLIC


def test_document_and_figure(played, tmp_path):
    results = played[0]
    text = section.write(results)
    assert "The bound is at or above every attack in every cell." in text
    assert "NOT" not in text
    captions = section.draw(results, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == list(captions)


def test_a_published_model_without_its_files_writes_nothing(tmp_path):
    empty = tmp_path / "model"
    empty.mkdir()
    settings = dataclasses.replace(SMOKE, model=None, source=str(empty), epsilons=(math.inf,))
    with pytest.raises(ValueError, match=r"config\.json must be in the model's folder"):
        experiment.run(settings, epath.Path(tmp_path / "out"), 0, print)
    assert not (tmp_path / "out").exists()
