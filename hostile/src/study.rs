//! Records of studies.

use std::path::Path;

use leafgp_study::agreement::AgreementRecord;
use leafgp_study::{Record, RunRecord, StepRecord};

/// Records of both kinds of studies: what was read keeps its order, is written back as it was read, and a file cut after a complete line has the records until there.
pub fn study_records(bytes: &[u8]) {
    records::<StepRecord>(bytes);
    records::<AgreementRecord>(bytes);
}

fn records<R: Record>(bytes: &[u8]) {
    let path = Path::new("run.jsonl");
    let Ok(Some(run)) = RunRecord::<R>::from_bytes(path, bytes) else { return };
    assert!(run.complete_bytes <= bytes.len());
    for (i, record) in run.records.iter().enumerate() {
        assert!(record.check_after(&run.records[..i]).is_ok());
        assert!(!record.name().is_empty());
        let line = serde_json::to_string(record).unwrap();
        assert_eq!(&serde_json::from_str::<R>(&line).unwrap(), record, "{line}");
    }
    let complete = RunRecord::<R>::from_bytes(path, &bytes[..run.complete_bytes]).unwrap().unwrap();
    assert_eq!(complete, run);
}
