"""Problems of BoFire and ConfigSpace."""

import itertools
import json

import pytest

import leafgp
from leafgp.convert import from_bofire, from_configspace

# `Domain.model_dump_json()` of BoFire, and `to_serialized_dict()` of ConfigSpace 1.2.
BOFIRE = """{"type":"Domain","inputs":{"type":"Inputs","features":[
{"type":"ContinuousInput","key":"a b","context":null,"unit":null,"bounds":[0.0,1.0],"local_relative_bounds":null,"stepsize":null,"allow_zero":false},
{"type":"ContinuousInput","key":"b","context":null,"unit":"g","bounds":[0.25,1.0],"local_relative_bounds":null,"stepsize":null,"allow_zero":true},
{"type":"DiscreteInput","key":"d","context":null,"unit":null,"values":[1.0,2.0,5.0],"rtol":1e-7},
{"type":"CategoricalInput","key":"c","context":null,"categories":["x","y","z"],"allowed":[true,true,false]}]},
"outputs":{"type":"Outputs","features":[{"type":"ContinuousOutput","key":"y","context":null,"unit":null,"objective":{"type":"MaximizeObjective","w":1.0,"bounds":[0.0,1.0]}}]},
"constraints":{"type":"Constraints","constraints":[
{"type":"LinearInequalityConstraint","features":["a b","b"],"context":null,"coefficients":[1.0,-2.0],"rhs":0.5},
{"type":"NChooseKConstraint","features":["a b","b"],"context":null,"min_count":2,"max_count":2,"none_also_valid":true}]},"context":null}"""

CONFIGSPACE = {
    "name": "net",
    "hyperparameters": [
        {"type": "categorical", "name": "c", "choices": ["x", "y"], "weights": None, "default_value": "x", "meta": None},
        {"type": "constant", "name": "k", "value": 3, "meta": None},
        {"type": "ordinal", "name": "o", "sequence": [1, 2, 5], "default_value": 1, "meta": None},
        {"type": "uniform_float", "name": "a", "lower": 0.1, "upper": 1.0, "default_value": 0.5, "log": True, "meta": None},
        {"type": "uniform_int", "name": "b", "lower": 1, "upper": 9, "default_value": 5, "log": False, "meta": None},
    ],
    "conditions": [
        {"type": "EQ", "child": "b", "parent": "c", "value": "x"},
        {"type": "GT", "child": "a", "parent": "b", "value": 3},
    ],
    "forbiddens": [
        {"type": "AND", "clauses": [{"type": "EQUALS", "name": "c", "value": "y"}, {"type": "IN", "name": "o", "values": [2, 5]}]}
    ],
    "python_module_version": "1.2.0",
    "format_version": 0.4,
}


def test_a_domain_of_bofire():
    problem = from_bofire(BOFIRE)
    assert (problem.objective, problem.goal) == ("y", "maximize")
    assert problem.variables["b"] == leafgp.Continuous(0.25, 1.0, or_zero=True, unit="g")
    assert problem.variables["c"] == leafgp.Categorical(["x", "y"], removed=["z"])
    for a, b in itertools.product([0.0, 0.5, 1.0], [0.0, 0.25, 0.5]):
        meant = a - 2 * b <= 0.5 and ((a != 0) + (b != 0) == 2 or a == b == 0)
        assert problem.is_feasible({"a b": a, "b": b, "d": 2, "c": "x"}) == meant, (a, b)
    assert {s["c"] for s in leafgp.Optimizer(problem).ask(8)} == {"x", "y"}


def test_a_space_of_configspace():
    problem = from_configspace(CONFIGSPACE)
    assert from_configspace(json.dumps(CONFIGSPACE)) == problem and problem.name == "net"
    assert problem.variables["o"] == leafgp.Discrete([1, 2, 5]) and problem.variables["k"] == leafgp.Discrete([3])
    assert problem.variables["a"].scale == "log"
    points = [s.point for s in leafgp.Optimizer(problem.with_settings(design={"initial": 40})).ask(30)]
    for point in points:
        assert not (point["c"] == "y" and point["o"] in (2, 5))
        assert point["c"] == "x" or point["b"] == 1, "an inactive variable has its inactive value"
        assert point["c"] == "x" and point["b"] > 3 or point["a"] == 0.1, "and what depends on it"
    assert any(point["a"] > 0.1 for point in points) and any(point["c"] == "y" for point in points)


def changed(document, path, value):
    document = json.loads(document if isinstance(document, str) else json.dumps(document))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: from_bofire("{"), "no JSON"),
        (lambda: from_bofire([]), "no domain"),
        (lambda: from_bofire(changed(BOFIRE, ["inputs", "features", 0, "type"], "CategoricalMolecularInput")), "CategoricalMolecularInput"),
        (lambda: from_bofire(changed(BOFIRE, ["outputs", "features"], [])), "expected one"),
        (lambda: from_bofire(changed(BOFIRE, ["outputs", "features", 0, "objective"], None)), "the objective is None"),
        (lambda: from_bofire(changed(BOFIRE, ["constraints", "constraints", 0, "type"], "InterpointEqualityConstraint")), "Interpoint"),
        (lambda: from_configspace(changed(CONFIGSPACE, ["hyperparameters", 3, "type"], "normal_float")), "normal_float"),
        (lambda: from_configspace(changed(CONFIGSPACE, ["conditions", 0, "type"], "LIKE")), "LIKE"),
        (lambda: from_configspace(changed(CONFIGSPACE, ["forbiddens", 0, "type"], "RELATION")), "RELATION"),
    ],
)
def test_what_cannot_be_said_is_refused_by_its_name(call, said):
    with pytest.raises(leafgp.ProblemError) as caught:
        call()
    assert said in str(caught.value)
