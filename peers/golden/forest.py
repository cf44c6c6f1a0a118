"""LightGBM's models as the lists of nodes that the golden files hold, and the writing of these files."""

import json


def nodes(tree):
    """A dumped tree as a list of nodes in preorder, node 0 the root; leaves are numbered from the left."""
    out = []
    n_leaves = 0

    def visit(node):
        nonlocal n_leaves
        place = len(out)
        out.append(None)
        if "split_feature" not in node:
            out[place] = {"leaf": n_leaves, "value": node["leaf_value"]}
            n_leaves += 1
            return place
        own = {"feature": node["split_feature"]}
        if node["decision_type"] == "==":
            own["categories"] = [int(level) for level in str(node["threshold"]).split("||")]
        else:
            own["threshold"] = node["threshold"]
        own["left"] = visit(node["left_child"])
        own["right"] = visit(node["right_child"])
        out[place] = own
        return place

    visit(tree["tree_structure"])
    return out


def trees(booster):
    return [nodes(tree) for tree in booster.dump_model()["tree_info"]]


def write(path, data):
    """One line a key, numbers with all their digits, the same bytes on every run."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in data.items()]
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
