#!/bin/sh
# SPDX-License-Identifier: MIT
# Doxygen's complaints about the public headers, as errors. Functions and types need words; a field or an enumerator needs
# none where its name says it.
complaints=$("$1" 2>&1) || { echo "$complaints"; exit 1; }
complaints=$(echo "$complaints" | grep -E 'warning|error' | grep -vE '\((variable|enumvalue)\) of .* is not documented')
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
