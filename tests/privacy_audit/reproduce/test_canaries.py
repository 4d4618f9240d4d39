"""The canary experiment at toy scale: end to end, resumed, and refused."""

import dataclasses
import json
import math

import pytest
from etils import epath

from privacy_audit.reproduce.adversary_aware.canaries import run as experiment
from privacy_audit.reproduce.adversary_aware.canaries import section
from privacy_audit.reproduce.adversary_aware.canaries.settings import SCALES

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
