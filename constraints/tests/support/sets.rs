//! The constraint sets of the LEAF-GP paper (appendix), each with its variables.

#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(unreachable_pub, reason = "shared by test binaries")]

use leafgp_constraints::Domain;
use leafgp_constraints::{Constraints, ConstraintsBuilder, Variable};

fn continuous(lower: f64, upper: f64) -> Domain {
    Domain::Continuous { lower, upper }
}

fn integer(lower: i32, upper: i32) -> Domain {
    Domain::Integer { lower: f64::from(lower), upper: f64::from(upper) }
}

fn numbered(domains: Vec<Domain>, constraints: &[&str]) -> Constraints {
    let variables = domains.into_iter().enumerate().map(|(i, domain)| Variable {
        name: format!("x{i}"),
        domain,
        level_names: Vec::new(),
    });
    let mut builder = ConstraintsBuilder::new(variables.collect()).unwrap();
    for text in constraints {
        builder.constrain(text, text).unwrap();
    }
    builder.build()
}

pub fn g1() -> Constraints {
    let mut domains = vec![continuous(0.0, 1.0); 13];
    domains[9..12].fill(continuous(0.0, 100.0));
    numbered(
        domains,
        &[
            "2*x0 + 2*x1 + x9 + x10 <= 10",
            "2*x0 + 2*x2 + x9 + x11 <= 10",
            "2*x1 + 2*x2 + x10 + x11 <= 10",
            "-8*x0 + x9 <= 0",
            "-8*x1 + x10 <= 0",
            "-8*x2 + x11 <= 0",
            "-2*x3 - x4 + x9 <= 0",
            "-2*x5 - x6 + x10 <= 0",
            "-2*x7 - x8 + x11 <= 0",
        ],
    )
}

pub fn g3() -> Constraints {
    numbered(vec![continuous(0.0, 1.0); 5], &["x0^2 + x1^2 + x2^2 + x3^2 + x4^2 == 1"])
}

pub fn g4() -> Constraints {
    let box5 = [(78.0, 102.0), (33.0, 45.0), (27.0, 45.0), (27.0, 45.0), (27.0, 45.0)];
    numbered(
        box5.iter().map(|&(l, u)| continuous(l, u)).collect(),
        &[
            "0 <= 85.334407 + 0.0056858*x1*x4 + 0.0006262*x0*x3 - 0.0022053*x2*x4 <= 92",
            "90 <= 80.51249 + 0.0071317*x1*x4 + 0.0029955*x0*x1 + 0.0021813*x2^2 <= 110",
            "20 <= 9.300961 + 0.0047026*x2*x4 + 0.0012547*x0*x2 + 0.0019085*x2*x3 <= 25",
        ],
    )
}

pub fn g6() -> Constraints {
    numbered(
        vec![continuous(13.0, 100.0), continuous(0.0, 100.0)],
        &["(x0 - 5)^2 + (x1 - 5)^2 >= 100", "(x0 - 6)^2 + (x1 - 5)^2 <= 82.81"],
    )
}

pub fn g7() -> Constraints {
    numbered(
        vec![continuous(-10.0, 10.0); 10],
        &[
            "4*x0 + 5*x1 - 3*x6 + 9*x7 <= 105",
            "10*x0 - 8*x1 - 17*x6 + 2*x7 <= 0",
            "-8*x0 + 2*x1 + 5*x8 - 2*x9 <= 12",
            "3*(x0 - 2)^2 + 4*(x1 - 3)^2 + 2*x2^2 - 7*x3 <= 120",
            "5*x0^2 + 8*x1 + (x2 - 6)^2 - 2*x3 <= 40",
            "0.5*(x0 - 8)^2 + 2*(x1 - 4)^2 + 3*x4^2 - x5 <= 30",
            "x0^2 + 2*(x1 - 2)^2 - 2*x0*x1 + 14*x4 - 6*x5 <= 0",
            "-3*x0 + 6*x1 + 12*(x8 - 8)^2 - 7*x9 <= 0",
        ],
    )
}

pub fn g10() -> Constraints {
    let mut domains =
        vec![continuous(100.0, 10_000.0), continuous(1000.0, 10_000.0), continuous(1000.0, 10_000.0)];
    domains.extend(vec![continuous(10.0, 1000.0); 5]);
    numbered(
        domains,
        &[
            "0.0025*(x3 + x5) <= 1",
            "0.0025*(x4 + x6 - x3) <= 1",
            "0.01*(x7 - x4) <= 1",
            "100*x0 - x0*x5 + 833.33252*x3 <= 83333.333",
            "x1*x3 - x1*x6 - 1250*x3 + 1250*x4 <= 0",
            "x2*x4 - x2*x7 - 2500*x4 + 1250000 <= 0",
        ],
    )
}

pub fn alkylation() -> Constraints {
    let ranges = [
        (1.0, 2000.0),
        (0.0, 16_000.0),
        (0.0, 120.0),
        (0.0, 5000.0),
        (90.0, 95.0),
        (0.01, 4.0),
        (145.0, 162.0),
    ];
    let variables = ranges.iter().enumerate().map(|(i, &(lower, upper))| Variable {
        name: format!("x{i}"),
        domain: continuous(lower, upper),
        level_names: Vec::new(),
    });
    let mut b = ConstraintsBuilder::new(variables.collect()).unwrap();
    b.define("isobutane", "1.22*x3 - x0", false).unwrap();
    b.define("ratio", "(x1 + 1.22*x3 - x0)/x0", false).unwrap();
    b.define("acid", "98000*x2/(x3*x5 + 1000*x2)", false).unwrap();
    b.define("yield", "x0*(1.12 + 0.13167*ratio - 0.00667*ratio^2)", false).unwrap();
    b.define("octane", "86.35 + 1.098*ratio - 0.038*ratio^2 + 0.325*(acid - 89)", false).unwrap();
    for text in [
        "0.99*x3 <= yield <= 100/99*x3",
        "0.99*x4 <= octane <= 100/99*x4",
        "0.9*x5 <= 35.82 - 0.222*x6 <= 10/9*x5",
        "0.99*x6 <= -133 + 3*x4 <= 100/99*x6",
        "0 <= isobutane <= 2000",
        "85 <= acid <= 93",
        "3 <= ratio <= 12",
    ] {
        b.constrain(text, text).unwrap();
    }
    b.build()
}

pub fn pressure_vessel() -> Constraints {
    numbered(
        vec![integer(1, 99), integer(1, 99), continuous(10.0, 200.0), continuous(10.0, 200.0)],
        &[
            "0.0193*x2 <= 0.0625*x0",
            "0.00954*x2 <= 0.0625*x1",
            "3.141592653589793*x3*x2^2 + 4/3*3.141592653589793*x2^3 >= 1296000",
        ],
    )
}

/// Variables with an optional activity condition; inactive ones take their first value.
struct Space {
    variables: Vec<Variable>,
    activity: Vec<(usize, String)>,
}

impl Space {
    fn push(&mut self, name: &str, domain: Domain, active_if: &str) {
        let names = domain.levels().map_or_else(Vec::new, |_| vec!["relu", "prelu", "leaky_relu"]);
        let level_names = names.into_iter().map(String::from).collect();
        if !active_if.is_empty() {
            self.activity.push((self.variables.len(), active_if.to_owned()));
        }
        self.variables.push(Variable { name: name.into(), domain, level_names });
    }

    fn build(self, defines: &[(&str, &str)], constraints: &[&str]) -> Constraints {
        let lowest: Vec<f64> = self.variables.iter().map(|v| v.domain.bounds().0).collect();
        let mut b = ConstraintsBuilder::new(self.variables).unwrap();
        for (v, condition) in &self.activity {
            b.active_if(*v, condition, lowest[*v]).unwrap();
        }
        for (name, text) in defines {
            b.define(name, text, true).unwrap();
        }
        for text in constraints {
            b.constrain(text, text).unwrap();
        }
        b.build()
    }
}

pub fn vae_nas() -> Constraints {
    let mut s = Space { variables: Vec::new(), activity: Vec::new() };
    let act = || Domain::Categorical { levels: 3 };
    let filter = || Domain::Discrete(vec![3.0, 5.0]);
    s.push("log10_lr", continuous(-4.0, -2.0), "");
    s.push("latent", integer(16, 64), "");
    for name in ["n_conv", "n_fc_enc", "n_deconv", "n_fc_dec"] {
        s.push(name, integer(0, 2), "");
    }
    for (k, channels) in [(1, (2, 5)), (2, (3, 6))] {
        let active = format!("n_conv >= {k}");
        s.push(&format!("enc_log2_channels{k}"), integer(channels.0, channels.1), &active);
        s.push(&format!("enc_stride{k}"), integer(1, 2), &active);
        s.push(&format!("enc_pad{k}"), integer(0, 3), &active);
        s.push(&format!("enc_filter{k}"), filter(), &active);
        s.push(&format!("enc_act{k}"), act(), &active);
    }
    s.push("fc1_nodes64", integer(0, 15), "n_fc_enc >= 1");
    s.push("fc_act1", act(), "n_fc_enc >= 1");
    s.push("fc_act2", act(), "n_fc_enc >= 2");
    s.push("fc_act3", act(), "n_fc_dec >= 1");
    s.push("fc_act4", act(), "n_fc_dec >= 2");
    s.push("dec_log2_channels1", integer(3, 6), "");
    for k in [1, 2] {
        let active = format!("n_deconv >= {k}");
        if k == 2 {
            s.push("dec_log2_channels2", integer(2, 5), &active);
        }
        s.push(&format!("dec_stride{k}"), integer(1, 2), &active);
        s.push(&format!("dec_pad{k}"), integer(0, 3), &active);
        s.push(&format!("dec_out_pad{k}"), integer(0, 1), &active);
        s.push(&format!("dec_filter{k}"), filter(), &active);
        if k == 1 {
            s.push("dec_act1", act(), &active);
        }
    }
    s.build(
        &[
            ("enc_w1", "(28 - enc_filter1 + 2*enc_pad1) / enc_stride1 + 1"),
            ("enc_size1", "if(n_conv >= 1, enc_w1, 28)"),
            ("enc_w2", "(enc_size1 - enc_filter2 + 2*enc_pad2) / enc_stride2 + 1"),
            ("enc_size2", "if(n_conv >= 2, enc_w2, enc_size1)"),
            ("dec_w1", "dec_stride1*(7 - 1) + dec_filter1 - 2*dec_pad1 + dec_out_pad1"),
            ("dec_size1", "if(n_deconv >= 1, dec_w1, 7)"),
            ("dec_w2", "dec_stride2*(dec_size1 - 1) + dec_filter2 - 2*dec_pad2 + dec_out_pad2"),
            ("dec_size2", "if(n_deconv >= 2, dec_w2, dec_size1)"),
        ],
        &[
            "enc_size1 >= 0 and enc_size2 >= 1",
            "dec_stride1 >= dec_out_pad1 + 1",
            "dec_stride2 >= dec_out_pad2 + 1",
            "n_deconv >= 1 implies dec_size2 == 28",
            "n_deconv == 0 implies dec_log2_channels1 == 4",
        ],
    )
}

pub fn cifar_nas() -> Constraints {
    let mut s = Space { variables: Vec::new(), activity: Vec::new() };
    let act = || Domain::Categorical { levels: 3 };
    s.push("log2_batch", integer(2, 4), "");
    s.push("log10_lr", continuous(-5.0, -1.0), "");
    for k in 1..=3 {
        let active = format!("conv{k} == 1");
        s.push(&format!("conv{k}"), integer(0, 1), "");
        s.push(&format!("log2_channels{k}"), integer(2, 4), &active);
        s.push(&format!("pool{k}"), integer(0, 1), &active);
        s.push(&format!("filter{k}"), integer(2, 5), &active);
        s.push(&format!("stride{k}"), integer(1, 3), &active);
        s.push(&format!("pad{k}"), integer(0, 3), &active);
        s.push(&format!("conv_act{k}"), act(), &active);
    }
    for k in 1..=2 {
        let active = format!("fc{k} == 1");
        s.push(&format!("fc{k}"), integer(0, 1), "");
        s.push(&format!("log2_nodes{k}"), integer(2, 7), &active);
        s.push(&format!("fc_act{k}"), act(), &active);
    }
    s.build(
        &[
            ("w1", "(32 - filter1 + 2*pad1) / stride1 + 1"),
            ("size1", "conv1*floor(w1*(1 - 0.5*pool1)) + (1 - conv1)*32"),
            ("w2", "(size1 - filter2 + 2*pad2) / stride2 + 1"),
            ("size2", "conv2*floor(w2*(1 - 0.5*pool2)) + (1 - conv2)*size1"),
            ("w3", "(size2 - filter3 + 2*pad3) / stride3 + 1"),
            ("size3", "conv3*floor(w3*(1 - 0.5*pool3)) + (1 - conv3)*size2"),
        ],
        &[
            "w1 >= 0 and w2 >= 0 and w3 >= 0",
            "size3 >= 1",
            "conv1 + conv2 + conv3 + fc1 + fc2 >= 1",
            "conv3 <= conv2 and conv2 <= conv1",
            "fc2 <= fc1",
        ],
    )
}

/// All of them.
pub fn all() -> Vec<(&'static str, Constraints)> {
    vec![
        ("G1", g1()),
        ("G3", g3()),
        ("G4", g4()),
        ("G6", g6()),
        ("G7", g7()),
        ("G10", g10()),
        ("Alkylation", alkylation()),
        ("Pressure vessel", pressure_vessel()),
        ("VAE-NAS", vae_nas()),
        ("CIFAR-NAS", cifar_nas()),
    ]
}
