//! The file: little-endian, a checksum at the end.

use crate::fnv::fnv;

use super::{Certificate, Claim, Evidence, ProofEnd, ProofNode, ProofRound, Refusal, Steps};

const MAGIC: &[u8; 8] = b"LEAFGPC4";
/// Of a problem over predictions: the same with multipliers.
const MAGIC_WITH_MULTIPLIERS: &[u8; 8] = b"LEAFGPC5";
/// Older kinds. The first named neither evidence about constraints nor a digest that outlives a change of names in this crate; in the second, equalities had a
/// tolerance that did not shrink with their terms.
const OLDER: [&[u8; 8]; 2] = [b"LEAFGPC2", b"LEAFGPC3"];

// Kinds of evidence, ends and claims.
const ROUND: u8 = 0;
const CONTRACTION: u8 = 1;
const CLOSED: u8 = 0;
const ENUMERATED: u8 = 1;
const SPLIT: u8 = 2;
const OPEN: u8 = 0;
const FAILS: u8 = 1;
const COMBINED: u8 = 2;
const LOWER_FIRST: u8 = 3;
const UPPER_FIRST: u8 = 4;

impl Certificate {
    /// The file's bytes: little-endian, with a checksum at the end.
    pub fn write(&self) -> Vec<u8> {
        let mut out = if self.multipliers.is_some() { MAGIC_WITH_MULTIPLIERS } else { MAGIC }.to_vec();
        out.extend(self.digest.to_le_bytes());
        out.extend(self.bound.to_le_bytes());
        match &self.incumbent {
            None => out.extend(u32::MAX.to_le_bytes()),
            Some((objective, x)) => {
                out.extend((x.len() as u32).to_le_bytes());
                out.extend(objective.to_le_bytes());
                x.iter().for_each(|v| out.extend(v.to_le_bytes()));
            }
        }
        if let Some(multipliers) = &self.multipliers {
            out.extend((multipliers.len() as u16).to_le_bytes());
            for (row, multiplier) in multipliers {
                out.extend(row.to_le_bytes());
                out.extend(multiplier.to_le_bytes());
            }
        }
        out.extend((self.nodes.len() as u64).to_le_bytes());
        for node in &self.nodes {
            out.extend((node.evidence.len() as u16).to_le_bytes());
            for evidence in &node.evidence {
                match evidence {
                    Evidence::Round(round) => {
                        out.push(ROUND);
                        out.push(round.sweeps);
                        out.extend((round.u.counts.len() as u32).to_le_bytes());
                        out.extend(round.u.size.to_le_bytes());
                        round.u.counts.iter().for_each(|count| out.extend(count.to_le_bytes()));
                    }
                    Evidence::Contraction(claims) => {
                        out.push(CONTRACTION);
                        write_claims(claims, &mut out);
                    }
                }
            }
            match &node.end {
                ProofEnd::Closed => out.push(CLOSED),
                ProofEnd::Enumerated(refuted) => {
                    out.push(ENUMERATED);
                    out.extend((refuted.len() as u32).to_le_bytes());
                    refuted.iter().for_each(|claims| write_claims(claims, &mut out));
                }
                ProofEnd::Split { feature, left } => {
                    out.push(SPLIT);
                    out.extend(feature.to_le_bytes());
                    out.extend((left.len() as u32).to_le_bytes());
                    left.iter().for_each(|w| out.extend(w.to_le_bytes()));
                }
            }
        }
        let checksum = fnv(&out);
        out.extend(checksum.to_le_bytes());
        out
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// Bytes that are no certificate, are cut short or were altered, or a file of an older version.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let (body, checksum) = bytes.split_last_chunk::<8>().ok_or_else(|| refuse("too short"))?;
        if fnv(body) != u64::from_le_bytes(*checksum) {
            return Err(refuse("the checksum does not fit"));
        }
        let mut input = Input { rest: body };
        let has_multipliers = match input.take::<8>()? {
            magic if magic == *MAGIC => false,
            magic if magic == *MAGIC_WITH_MULTIPLIERS => true,
            magic if OLDER.contains(&&magic) => {
                return Err(refuse(
                    "written by an older version: make the proof again with `leafgp solve --certificate`",
                ));
            }
            _ => return Err(refuse("not a certificate of this version")),
        };
        let digest = input.u64()?;
        let bound = input.f64()?;
        let n = input.u32()?;
        let incumbent = if n == u32::MAX {
            None
        } else {
            let objective = input.f64()?;
            let x = (0..n).map(|_| input.f64()).collect::<Result<_, _>>()?;
            Some((objective, x))
        };
        let multipliers = if has_multipliers {
            let n = input.u16()?;
            Some((0..n).map(|_| Ok((input.u16()?, input.f64()?))).collect::<Result<_, Refusal>>()?)
        } else {
            None
        };
        let n_nodes = input.u64()?;
        let mut nodes = Vec::new();
        for _ in 0..n_nodes {
            nodes.push(input.node()?);
        }
        if input.rest.is_empty() {
            Ok(Self { digest, bound, incumbent, multipliers, nodes })
        } else {
            Err(refuse("bytes after the last node"))
        }
    }
}

fn refuse(what: &str) -> Refusal {
    Refusal::Format(what.into())
}

fn write_claims(claims: &[Claim], out: &mut Vec<u8>) {
    out.extend((claims.len() as u32).to_le_bytes());
    for claim in claims {
        match claim {
            Claim::Open => out.push(OPEN),
            Claim::Fails(root) => {
                out.push(FAILS);
                out.extend(root.to_le_bytes());
            }
            Claim::Combined(multipliers) => {
                out.push(COMBINED);
                out.extend((multipliers.len() as u16).to_le_bytes());
                for (row, multiplier) in multipliers {
                    out.extend(row.to_le_bytes());
                    out.extend(multiplier.to_le_bytes());
                }
            }
            Claim::Split { variable, at, upper_first } => {
                out.push(if *upper_first { UPPER_FIRST } else { LOWER_FIRST });
                out.extend(variable.to_le_bytes());
                out.extend(at.to_le_bytes());
            }
        }
    }
}

/// Reads little-endian numbers.
struct Input<'a> {
    rest: &'a [u8],
}

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let (first, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| refuse("cut short"))?;
        self.rest = rest;
        Ok(*first)
    }

    fn u8(&mut self) -> Result<u8, Refusal> {
        Ok(self.take::<1>()?[0])
    }

    fn u16(&mut self) -> Result<u16, Refusal> {
        Ok(u16::from_le_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32, Refusal> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, Refusal> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn f64(&mut self) -> Result<f64, Refusal> {
        Ok(f64::from_le_bytes(self.take()?))
    }

    fn f32(&mut self) -> Result<f32, Refusal> {
        Ok(f32::from_le_bytes(self.take()?))
    }

    fn node(&mut self) -> Result<ProofNode, Refusal> {
        let mut evidence = Vec::new();
        for _ in 0..self.u16()? {
            evidence.push(match self.u8()? {
                ROUND => {
                    let sweeps = self.u8()?;
                    let n = self.u32()?;
                    let size = self.f32()?;
                    let counts = (0..n)
                        .map(|_| Ok(i16::from_le_bytes(self.take()?)))
                        .collect::<Result<_, Refusal>>()?;
                    Evidence::Round(ProofRound { u: Steps { size, counts }, sweeps })
                }
                CONTRACTION => Evidence::Contraction(self.claims()?),
                _ => return Err(refuse("an unknown kind of evidence")),
            });
        }
        let end = match self.u8()? {
            CLOSED => ProofEnd::Closed,
            ENUMERATED => {
                let n = self.u32()?;
                ProofEnd::Enumerated((0..n).map(|_| self.claims()).collect::<Result<_, _>>()?)
            }
            SPLIT => {
                let feature = self.u32()?;
                let n = self.u32()?;
                ProofEnd::Split { feature, left: (0..n).map(|_| self.u64()).collect::<Result<_, _>>()? }
            }
            _ => return Err(refuse("an unknown end of a node")),
        };
        Ok(ProofNode { evidence, end })
    }

    fn claims(&mut self) -> Result<Vec<Claim>, Refusal> {
        let n = self.u32()?;
        (0..n).map(|_| self.claim()).collect()
    }

    fn claim(&mut self) -> Result<Claim, Refusal> {
        Ok(match self.u8()? {
            OPEN => Claim::Open,
            FAILS => Claim::Fails(self.u16()?),
            COMBINED => {
                let n = self.u16()?;
                Claim::Combined(
                    (0..n).map(|_| Ok((self.u16()?, self.f32()?))).collect::<Result<_, Refusal>>()?,
                )
            }
            kind @ (LOWER_FIRST | UPPER_FIRST) => {
                let variable = self.u16()?;
                Claim::Split { variable, at: self.f64()?, upper_first: kind == UPPER_FIRST }
            }
            _ => return Err(refuse("an unknown claim")),
        })
    }
}
