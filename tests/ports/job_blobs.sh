#!/bin/sh
# The blobs of the jobs of a port (jobs.py).   job_blobs.sh COMMAND FOLDER
set -eu
command=$1 folder=$2
train=$(cd "$(dirname "$0")/../../tools/train" && pwd)
convert() { # MODEL BLOB [OPTIONS]
  model=$1 blob=$2
  shift 2
  "$command" convert "$train/$model" -o "$folder/$blob.fovea" --compare none "$@" >/dev/null
}
for model in package-section package-writer; do
  convert $model $model
  convert $model $model-encoder --task encoder
done
python3 "$(dirname "$0")/heads.py" "$folder/heads"
for model in question weights; do
  "$command" convert "$folder/heads/$model" -o "$folder/$model.fovea" --compare none >/dev/null
done
for model in package-section-hierarchical date-normaliser; do convert $model/graph.json $model; done
