#!/bin/sh
# leafgp run coating.toml --iterations 40 --parallel 8 --evaluate 'sh evaluate.sh ./measure.sh'
# An evaluation as a batch job, which Slurm queues again when it was preempted or its node died; a plain `srun` has failed then. The rest of the arguments is the command.
set -eu
# In a folder that the nodes see, too.
folder=$(mktemp -d "$PWD/evaluation.XXXXXX")
end() {
    code=$?
    # Stopped before the job had ended (Ctrl-C, a time limit): nobody waits for it any more.
    [ -e "$folder/ended" ] || scancel "$(cat "$folder/job")" || true
    rm -rf "$folder"
    exit "$code"
}
trap end EXIT
trap 'exit 143' TERM
cat > "$folder/point"
sbatch --parsable --wait --requeue --ntasks=1 --job-name=evaluation \
    --input="$folder/point" --output="$folder/output" --error="$folder/errors" --wrap "$*" > "$folder/job" &
code=0
wait $! || code=$?
touch "$folder/ended"
cat "$folder/errors" >&2 || true
cat "$folder/output"
exit "$code"
