//! What a node costs, stage by stage, at the root of three reference instances:
//! `cargo bench -p leafgp-solver --features stages --bench search_stages`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use leafgp_solver::search::Stages;
use leafgp_testdata::shared;

const INSTANCES: [&str; 3] =
    ["styblinski10-m100-t50d3-s101", "mixed7-m150-t100d5-s101", "rastrigin10-m150-t100d5-s101"];

fn stages(criterion: &mut Criterion) {
    let Some(shared) = shared("instances") else { return };
    for name in INSTANCES {
        let instance = support::read_instance(&shared.join("plain").join(format!("{name}.json")));
        let problem = instance.problem(None);
        let mut stages = Stages::new(&problem).expect("an instance with something to branch on");
        let mut group = criterion.benchmark_group(name);
        group.bench_function("bound pass", |b| b.iter(|| black_box(stages.bound_pass())));
        group.bench_function("links", |b| b.iter(|| black_box(stages.links())));
        group.bench_function("messages", |b| b.iter(|| black_box(stages.messages())));
        group.bench_function("branching", |b| b.iter(|| black_box(stages.branching())));
        group.bench_function("propagation", |b| b.iter(|| black_box(stages.propagation())));
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30);
    targets = stages
}
criterion_main!(benches);
