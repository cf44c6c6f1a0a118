//! The quadratic program against independent twins: conditions of optimality, enumeration of active sets, a simplex method.

mod cases;
mod twins;

use leafgp_constraints::qp::{Qp, QpError, Side, Status};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use cases::{Case, Kind};
use twins::{check, enumerate, phase_one, price_of_violations};

/// Solves a case and checks whatever the answer claims; returns it.
fn solve_and_check(case: &Case, label: &str) -> (Status, Qp) {
    let mut qp = case.to_qp();
    let status = qp.solve().unwrap_or_else(|error| panic!("{label}: {error}"));
    check(case, &qp, status, label);
    (status, qp)
}

#[test]
fn agrees_with_enumeration_of_active_sets() {
    let (mut optimal, mut infeasible) = (0, 0);
    for seed in 0..3000 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let (n, m) = (rng.random_range(1..=3), rng.random_range(0..=4));
        let case = Case::random(kind, n, m, &mut rng);
        let label = format!("seed {seed} {kind:?} {n} x {m}");
        let (status, qp) = solve_and_check(&case, &label);
        match status {
            Status::Optimal => {
                let twin =
                    enumerate(&case, 1e-10).unwrap_or_else(|| panic!("{label}: the twin found no point"));
                // By weak duality the twin's tolerance lowers its value by no more than the multipliers say.
                let scale = 1e-9 * (1.0 + qp.value()) + 2e-10 * price_of_violations(&case, &qp);
                assert!((qp.value() - twin).abs() <= scale, "{label}: {} instead of {twin}", qp.value());
                optimal += 1;
            }
            _ => {
                assert_eq!(enumerate(&case, 1e-13), None, "{label}: {status:?}, the twin found a point");
                infeasible += 1;
            }
        }
    }
    assert!(optimal > 1000 && infeasible > 300, "{optimal} optimal, {infeasible} infeasible");
}

#[test]
fn infeasibility_agrees_with_a_simplex_method() {
    let (mut optimal, mut infeasible) = (0, 0);
    for seed in 0..1500 {
        let mut rng = ChaCha8Rng::seed_from_u64(10_000 + seed);
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let (n, m) = (rng.random_range(1..=14), rng.random_range(1..=16));
        let case = Case::random(kind, n, m, &mut rng);
        let label = format!("seed {seed} {kind:?} {n} x {m}");
        let (status, _) = solve_and_check(&case, &label);
        // The twin works with the width of the box as the unit of its rounding errors.
        let unit = if case.is_bounded() { case.widest().max(1.0) } else { 1.0 };
        let infeasibility = phase_one(&case) / unit;
        if status == Status::Optimal {
            assert!(infeasibility < 1e-7, "{label}: optimal, but phase 1 ends at {infeasibility}");
            optimal += 1;
        } else {
            assert!(infeasibility > 1e-11 / unit, "{label}: infeasible, but phase 1 ends at {infeasibility}");
            infeasible += 1;
        }
    }
    assert!(optimal > 400 && infeasible > 200, "{optimal} optimal, {infeasible} infeasible");
}

#[test]
fn large_programs_satisfy_the_conditions_of_optimality() {
    let (mut optimal, mut infeasible) = (0, 0);
    for seed in 0..400 {
        let mut rng = ChaCha8Rng::seed_from_u64(20_000 + seed);
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let (n, m) = (rng.random_range(15..=60), rng.random_range(5..=80));
        let case = Case::random(kind, n, m, &mut rng);
        match solve_and_check(&case, &format!("seed {seed} {kind:?} {n} x {m}")).0 {
            Status::Optimal => optimal += 1,
            _ => infeasible += 1,
        }
    }
    assert!(optimal > 100 && infeasible > 20, "{optimal} optimal, {infeasible} infeasible");
}

/// The long version of the three tests above: `cargo test --release -p leafgp-constraints --test qp -- --ignored`.
///
/// Rows that are infeasible or dependent within rounding errors may stay unsolved, but hardly ever.
#[test]
#[ignore = "about a minute"]
fn a_million_random_programs() {
    let mut unsolved = Vec::new();
    for seed in 0..1_000_000 {
        let mut rng = ChaCha8Rng::seed_from_u64(1_000_000 + seed);
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let (n, m) = (rng.random_range(1..=12), rng.random_range(0..=20));
        let case = Case::random(kind, n, m, &mut rng);
        let mut qp = case.to_qp();
        match qp.solve().unwrap() {
            Status::Unsolved => unsolved.push((seed, kind, qp.violation())),
            status => check(&case, &qp, status, &format!("seed {seed} {kind:?} {n} x {m}")),
        }
    }
    println!("unsolved: {unsolved:?}");
    assert!(unsolved.len() <= 50, "{} unsolved", unsolved.len());
}

#[test]
fn resume_gives_the_answer_of_solve() {
    let (mut saved, mut spent) = (0, 0);
    for seed in 0..300 {
        let mut rng = ChaCha8Rng::seed_from_u64(30_000 + seed);
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let (n, m) = (rng.random_range(1..=20), rng.random_range(0..=12));
        let mut case = Case::random(kind, n, m, &mut rng);
        let mut warm = case.to_qp();
        warm.resume().unwrap();
        for edit in 0..12 {
            let what = case.edit(&mut warm, &mut rng);
            let label = format!("seed {seed} {kind:?} edit {edit} {what}");
            let status = warm.resume().unwrap_or_else(|error| panic!("{label}: {error}"));
            check(&case, &warm, status, &label);
            let (cold_status, cold) = solve_and_check(&case, &label);
            assert_eq!(status, cold_status, "{label}");
            if status == Status::Optimal {
                let scale = 1e-8 * (1.0 + cold.value());
                assert!(
                    (warm.value() - cold.value()).abs() <= scale,
                    "{label}: {} {}",
                    warm.value(),
                    cold.value()
                );
                (saved, spent) = (saved + cold.n_iterations(), spent + warm.n_iterations());
            }
        }
    }
    assert!(2 * spent < saved, "warm starts take {spent} iterations, cold ones {saved}");
}

#[test]
fn scaling_rows_changes_nothing() {
    for seed in 0..500 {
        let mut rng = ChaCha8Rng::seed_from_u64(40_000 + seed);
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let (n, m) = (rng.random_range(1..=10), rng.random_range(1..=10));
        let case = Case::random(kind, n, m, &mut rng);
        let label = format!("seed {seed} {kind:?} {n} x {m}");
        let (status, qp) = solve_and_check(&case, &label);
        // Powers of two scale without rounding: everything must be the same to the last bits.
        let factors: Vec<f64> = (0..case.rows.len()).map(|_| 2f64.powi(rng.random_range(-20..=20))).collect();
        let mut scaled = case.clone();
        for (row, factor) in scaled.rows.iter_mut().zip(&factors) {
            row.scale(*factor);
        }
        let (scaled_status, scaled_qp) = solve_and_check(&scaled, &label);
        assert_eq!(status, scaled_status, "{label}");
        if status == Status::Optimal {
            assert_eq!(qp.x(), scaled_qp.x(), "{label}");
            for (row, factor) in factors.iter().enumerate() {
                let (plain, scaled) = (qp.row_multipliers()[row], scaled_qp.row_multipliers()[row] * factor);
                assert!((plain - scaled).abs() <= 1e-12 * plain.abs(), "{label}: {plain} {scaled}");
            }
        }
    }
}

#[test]
fn the_same_program_gives_the_same_bits() {
    let mut reused = Qp::new(1);
    for seed in 0..200 {
        let mut rng = ChaCha8Rng::seed_from_u64(50_000 + seed);
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let case = Case::random(kind, rng.random_range(0..=20), rng.random_range(0..=20), &mut rng);
        let mut fresh = case.to_qp();
        case.fill(&mut reused);
        assert_eq!(fresh.solve(), reused.solve());
        assert_eq!((fresh.x(), fresh.row_multipliers()), (reused.x(), reused.row_multipliers()));
        assert_eq!(fresh.solve(), reused.solve(), "a second time");
        assert_eq!(fresh.x(), reused.x());
    }
}

#[test]
fn dual_value_bounds_the_value_from_below() {
    for seed in 0..500 {
        let mut rng = ChaCha8Rng::seed_from_u64(60_000 + seed);
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let case = Case::random(kind, rng.random_range(1..=10), rng.random_range(1..=10), &mut rng);
        let mut qp = case.to_qp();
        if qp.solve() != Ok(Status::Optimal) {
            continue;
        }
        let (value, bounded) = (qp.value(), case.widest() < 1e3);
        let multipliers = qp.row_multipliers().to_vec();
        let dual = qp.dual_value(&multipliers);
        assert!(dual <= value * (1.0 + 1e-9) + 1e-9, "seed {seed}: {dual} > {value}");
        if bounded || case.dense.is_none() {
            assert!(dual >= value - 1e-6 * (1.0 + value), "seed {seed} {kind:?}: {dual} far below {value}");
        }
        // Any other multipliers bound it too.
        let other: Vec<f64> = multipliers.iter().map(|m| m * rng.random_range(0.0..2.0)).collect();
        assert!(qp.dual_value(&other) <= value * (1.0 + 1e-9) + 1e-9);

        // A cutoff below the value ends early with a proof, one above changes nothing.
        let mut cut = case.to_qp();
        cut.set_cutoff(0.5 * value);
        let status = cut.solve().unwrap();
        if status == Status::Cutoff {
            assert!(cut.dual_value(cut.row_multipliers()) > 0.5 * value, "seed {seed}");
            assert!(cut.n_iterations() <= qp.n_iterations());
        } else if value > 1e-6 && (bounded || case.dense.is_none()) {
            panic!("seed {seed}: {status:?} in spite of the cutoff");
        }
        cut.set_cutoff(1.001 * value + 1e-6);
        assert_eq!(cut.resume(), Ok(Status::Optimal), "seed {seed}");
        assert!((cut.value() - value).abs() <= 1e-8 * (1.0 + value));
    }
}

#[test]
fn cutoff_may_turn_an_infeasible_program_away() {
    let mut qp = Qp::new(1);
    qp.set_box(&[0.0], &[1.0]);
    qp.push_ge(&[1.0], 0.5);
    qp.push_ge(&[1.0], 2.0);
    qp.set_cutoff(1e-3);
    let status = qp.solve().unwrap();
    assert!(matches!(status, Status::Cutoff | Status::Infeasible { proved: true }));
}

#[test]
fn iteration_limit_is_reported() {
    let mut qp = Qp::new(3);
    for j in 0..3 {
        let mut row = [0.0; 3];
        row[j] = 1.0;
        qp.push_ge(&row, 1.0);
    }
    qp.set_iteration_limit(Some(2));
    assert_eq!(qp.solve(), Ok(Status::Unsolved));
    assert!(qp.dual_value(qp.row_multipliers()) > 0.9, "two of three rows count");
    qp.set_iteration_limit(None);
    assert_eq!(qp.resume(), Ok(Status::Optimal));
    assert_eq!(qp.x(), [1.0; 3]);
}

#[test]
fn edges() {
    // No variables: rows are constants.
    let mut qp = Qp::new(0);
    assert_eq!(qp.solve(), Ok(Status::Optimal));
    qp.push_le(&[], -1.0);
    assert_eq!(qp.solve(), Ok(Status::Infeasible { proved: true }));
    assert_eq!(qp.infeasibility_gap(qp.row_multipliers()).round(), 1.0);

    // No rows: the target, moved into the box.
    let mut qp = Qp::new(2);
    qp.set_target(&[3.0, -4.0]);
    qp.set_diagonal_metric(&[2.0, 1.0]);
    assert_eq!(qp.solve(), Ok(Status::Optimal));
    assert_eq!(qp.x(), [3.0, -4.0]);
    qp.set_range(0, f64::NEG_INFINITY, 1.0);
    assert_eq!(qp.resume(), Ok(Status::Optimal));
    assert_eq!((qp.x(), qp.value()), (&[1.0, -4.0][..], 4.0));
    assert!((qp.bound_multipliers()[0] - 4.0).abs() < 1e-14 && qp.bound_multipliers()[1] == 0.0);
    assert_eq!((qp.active_bound(0), qp.active_bound(1)), (Some(Side::Upper), None));

    // Everything fixed.
    qp.set_box(&[1.0, 2.0], &[1.0, 2.0]);
    let row = qp.push_eq(&[1.0, 1.0], 3.0);
    assert_eq!(qp.resume(), Ok(Status::Optimal));
    assert_eq!((qp.x(), qp.bound_multipliers()), (&[1.0, 2.0][..], &[4.0, -6.0][..]));
    qp.set_row_sides(row, 3.5, 4.0);
    assert_eq!(qp.resume(), Ok(Status::Infeasible { proved: true }));

    // Crossed sides of the box and of a row.
    qp.set_range(0, 1.0, 0.0);
    assert_eq!(qp.resume(), Ok(Status::Infeasible { proved: true }));
    assert_eq!(qp.infeasibility_gap(&[0.0]), f64::INFINITY);
    qp.set_box(&[0.0; 2], &[5.0; 2]);
    assert_eq!(qp.resume(), Ok(Status::Optimal));
    qp.set_row_sides(row, 4.0, 3.5);
    assert_eq!(qp.resume(), Ok(Status::Infeasible { proved: true }));
    qp.truncate_rows(0);
    assert_eq!((qp.resume(), qp.n_rows()), (Ok(Status::Optimal), 0));
}

#[test]
fn bad_data_are_refused() {
    let mut qp = Qp::new(2);
    let is = |qp: &mut Qp, what: &str, index: usize| match qp.solve() {
        Err(QpError::NotFinite { what: found, index: at, .. }) => (found, at) == (what, index),
        _ => false,
    };
    qp.push_le(&[0.0, 1.0], 1.0);
    qp.push_le(&[0.0, f64::NAN], 1.0);
    assert!(is(&mut qp, "row", 1));
    qp.replace_row(1, &[1.0, 0.0], f64::NEG_INFINITY, f64::NAN);
    assert!(is(&mut qp, "side of row", 1));
    qp.set_row_sides(1, f64::INFINITY, f64::INFINITY);
    assert!(is(&mut qp, "side of row", 1));
    qp.set_row_sides(1, 0.0, 1.0);
    qp.set_target(&[f64::INFINITY, 0.0]);
    assert!(is(&mut qp, "target", 0));
    qp.set_target(&[0.0, 0.0]);
    qp.set_range(1, f64::NAN, 0.0);
    assert!(is(&mut qp, "range of variable", 1));
    qp.set_range(1, -1.0, 1.0);
    qp.set_diagonal_metric(&[1.0, -1.0]);
    assert_eq!(qp.solve(), Err(QpError::NotPositiveDefinite { variable: 1, pivot: -1.0 }));
    qp.set_dense_metric(&[1.0, 0.0, 2.0, 1.0]);
    assert!(matches!(qp.solve(), Err(QpError::NotPositiveDefinite { variable: 1, .. })));
    qp.set_dense_metric(&[1.0, 0.0, 0.5, 1.0]);
    assert_eq!(qp.solve(), Ok(Status::Optimal), "data were mended");
}

#[test]
fn thin_infeasibility_is_proved() {
    // The rows leave a gap of 1e-6, then 1e-9 between them; at 1e-14 they touch in the arithmetic.
    for (gap, infeasible) in [(1e-6, true), (1e-9, true), (1e-14, false), (0.0, false), (-1e-9, false)] {
        let mut qp = Qp::new(3);
        qp.set_box(&[-1.0; 3], &[1.0; 3]);
        qp.set_target(&[0.9, -0.3, 0.2]);
        qp.push_le(&[0.1, 0.7, -0.3], 0.1);
        qp.push_ge(&[0.3, 2.1, -0.9], 0.3 + 3.0 * gap);
        let expected = if infeasible { Status::Infeasible { proved: true } } else { Status::Optimal };
        assert_eq!(qp.solve(), Ok(expected), "gap {gap}");
    }
}

#[test]
fn contradictions_without_a_box_are_proved() {
    // Multipliers (2, 1) cancel all coefficients exactly.
    let mut qp = Qp::new(2);
    qp.push_le(&[0.3, -0.7], 1.0);
    qp.push_ge(&[0.6, -1.4], 2.5);
    assert_eq!(qp.solve(), Ok(Status::Infeasible { proved: true }));
    // 3 * 0.1 is not 0.3 in binary: no multipliers cancel, the lines do meet far away.
    let mut qp = Qp::new(1);
    qp.push_eq(&[0.1], 1.0);
    qp.push_eq(&[0.1], 1.5);
    assert_eq!(qp.solve(), Ok(Status::Infeasible { proved: true }));
}

#[test]
fn projection_onto_doubly_stochastic_matrices() {
    // 2k equalities of rank 2k - 1 and k² bounds, all vertices degenerate. The matrix of equal entries has distance 0 from
    // itself; a permutation matrix scaled up projects onto the permutation.
    let k = 7;
    let mut rng = ChaCha8Rng::seed_from_u64(70_000);
    for round in 0..40 {
        let mut case = Case::random(Kind::Feasible, k * k, 0, &mut rng);
        case.weights.fill(1.0);
        case.dense = None;
        (case.lower, case.upper) = (vec![0.0; k * k], vec![f64::INFINITY; k * k]);
        let shift = rng.random_range(0..k);
        for cell in 0..k * k {
            let (i, j) = (cell / k, cell % k);
            let permuted = f64::from(u8::from((i + shift) % k == j));
            case.target[cell] = match round {
                0 => 1.0 / k as f64,
                1 => 3.0 * permuted,
                2 => f64::from(rng.random_range(-1i32..=1)),
                _ => rng.random_range(-1.0..2.0),
            };
        }
        for line in 0..k {
            for by_row in [true, false] {
                let belongs = |cell: usize| if by_row { cell / k == line } else { cell % k == line };
                let a = (0..k * k).map(|cell| f64::from(u8::from(belongs(cell)))).collect();
                case.rows.push(cases::Row { a, lower: 1.0, upper: 1.0 });
            }
        }
        let (status, qp) = solve_and_check(&case, &format!("round {round}"));
        assert_eq!(status, Status::Optimal);
        if round == 0 {
            assert!(qp.value() < 1e-28);
        }
        if round == 1 {
            assert!(qp.x().iter().zip(&case.target).all(|(x, c)| (x - c / 3.0).abs() < 1e-12));
        }
    }
}

#[test]
fn nearly_dependent_rows_never_give_a_wrong_answer() {
    // Rows of Hilbert matrices: condition numbers from 1e4 to 1e17.
    for n in 3..=14 {
        for equalities in [false, true] {
            let mut case = Case::random(Kind::Feasible, n, 0, &mut ChaCha8Rng::seed_from_u64(n as u64));
            case.dense = None;
            (case.lower, case.upper) = (vec![-3.0; n], vec![3.0; n]);
            for i in 0..n {
                let a: Vec<f64> = (0..n).map(|j| 1.0 / (i + j + 1) as f64).collect();
                let side = a.iter().sum();
                let lower = if equalities { side } else { f64::NEG_INFINITY };
                case.rows.push(cases::Row { a, lower, upper: side });
            }
            let (status, qp) = solve_and_check(&case, &format!("Hilbert {n}"));
            assert_eq!(status, Status::Optimal, "Hilbert {n}: all ones are feasible");
            if equalities && n <= 6 {
                assert!(qp.x().iter().all(|x| (x - 1.0).abs() < 1e-7), "Hilbert {n}: {:?}", qp.x());
            }
        }
    }
}

#[test]
fn extreme_magnitudes_end_with_a_true_answer() {
    let mut unsolved = [0, 0];
    for seed in 0..2000 {
        let mut rng = ChaCha8Rng::seed_from_u64(80_000 + seed);
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let mut case = Case::random(kind, rng.random_range(1..=6), rng.random_range(1..=6), &mut rng);
        case.dense = None;
        let extreme = if seed % 2 == 0 { 40.0 } else { 300.0 };
        for row in &mut case.rows {
            row.scale(10f64.powf(rng.random_range(-extreme..extreme)));
        }
        for j in 0..case.lower.len() {
            if rng.random::<f64>() < 0.3 {
                let unit = 10f64.powf(rng.random_range(-extreme..extreme));
                for value in [&mut case.lower[j], &mut case.upper[j], &mut case.target[j]] {
                    *value *= unit;
                }
                case.weights[j] = (case.weights[j] / unit / unit).clamp(1e-300, 1e300);
            }
        }
        let mut qp = case.to_qp();
        match qp.solve() {
            Ok(Status::Optimal) => {
                assert!(qp.violation() <= 1e-9 && qp.value().is_finite(), "seed {seed}");
                assert!(qp.x().iter().all(|x| x.is_finite()), "seed {seed}");
            }
            Ok(Status::Infeasible { proved }) => {
                assert_eq!(proved, qp.infeasibility_gap(qp.row_multipliers()) > 0.0, "seed {seed}");
            }
            Ok(_) => unsolved[(seed % 2) as usize] += 1,
            Err(error) => assert!(matches!(error, QpError::NotFinite { .. }), "seed {seed}: {error}"),
        }
    }
    println!("{unsolved:?} of 1000 each unsolved");
}

#[test]
fn right_sides_off_by_a_rounding_error_are_no_contradiction() {
    // x >= -1, -x + 2y >= 1 + 4e-16 (a sum that was rounded), y >= 0 and y <= 0 by a row without constant.
    let mut qp = Qp::new(2);
    qp.set_box(&[-1.0, -1.0], &[1.0, 1.0]);
    qp.set_target(&[-2.0, -1.0]);
    qp.push_ge(&[-1.0, 2.0], 1.0);
    qp.push_le(&[0.1 + 0.2, -3.0], -0.3);
    qp.push_le(&[0.0, 1.0], 0.0);
    assert_eq!(qp.solve(), Ok(Status::Optimal));
    assert!((qp.x()[0] + 1.0).abs() < 1e-12 && qp.x()[1].abs() < 1e-12, "{:?}", qp.x());
}
