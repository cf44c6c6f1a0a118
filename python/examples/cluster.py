# %% [markdown]
# # Trials on a cluster
# As soon as one experiment is done, the next one is suggested; those that run count. Here a local cluster of Dask; with `Client(address)` an existing one.

# %%
from dask.distributed import Client, LocalCluster, as_completed

import leafgp

problem = leafgp.Problem(
    "camel",
    {"x": leafgp.Continuous(-2, 2), "y": leafgp.Continuous(-1, 1)},
    constraints={"ring": "x^2 + y^2 >= 0.05"},
    settings={"design": {"initial": 8}},
)


def camel(point):
    """The experiment, which a worker runs."""
    x, y = point["x"], point["y"]
    return (4 - 2.1 * x**2 + x**4 / 3) * x**2 + x * y + (4 * y**2 - 4) * y**2


# %%
def main():
    optimizer = leafgp.Optimizer(problem)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster, Client(cluster) as client:
        running = {}
        trials = as_completed()

        def start(suggestion):
            future = client.submit(camel, suggestion.point, pure=False)
            running[future.key] = suggestion
            trials.add(future)

        for suggestion in optimizer.ask(4, pending=True):
            start(suggestion)
        n_started = 4
        for future in trials:
            optimizer.tell(running.pop(future.key), future.result())
            if n_started < 40:
                start(optimizer.ask(1, pending=True)[0])
                n_started += 1
    return optimizer


if __name__ == "__main__":
    optimizer = main()
    points = [tuple(row["point"].values()) for row in optimizer.observations()]
    assert len(points) == len(set(points)) == 40 and all(problem.is_feasible(row["point"]) for row in optimizer.observations())
    print(optimizer.best())
    assert optimizer.best().value < -0.95
