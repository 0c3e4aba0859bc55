#!/bin/sh
# Loads what the collector wrote into FOLDER to PostgreSQL (PG* variables): load.sh FOLDER
# A rotated file is removed once it is there; of the one that is still written, whole lines are read. What is loaded twice
# counts once.
set -eu
cd "$1"
for file in ahp-*.json ahp.json; do
    [ -e "$file" ] || continue
    psql -q -1 -v ON_ERROR_STOP=1 \
        -c "\\copy ahp.arrived (line) FROM PROGRAM 'head -n \$(wc -l <$file) $file' WITH (FORMAT csv, QUOTE e'\\x01', DELIMITER e'\\x02')" \
        -c 'SELECT ahp.take()' >/dev/null
    [ "$file" = ahp.json ] || rm -- "$file"
done
