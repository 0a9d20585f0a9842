#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a cell of the tables against MPI libraries says, on made-up rows. usage: cells.py SOURCE"""
import subprocess
import sys
import tempfile

source = sys.argv[1]
wrong = []


def lines_of(script, table, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(table)
        file.flush()
        done = subprocess.run([sys.executable, f"{source}/bench/node/{script}", "--read", file.name, *options], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")


def expect(what, lines, *wanted):
    for line in wanted:
        if line not in lines:
            wrong.append(f"{what}: not printed: {line}")


# Of mpich the first setting is faster natively; the least ratio of each run (0.9, 0.8 and 1.0) is not its own. Of openmpi6 the second is, in the mean only.
ROWS = """run,rival,setting,mode,collective,bytes,ranks,native,program,ratio,interface,interface_ratio
1,mpich,default,sync,reduce,8,16,100,80,1.20,50,2.0
2,mpich,default,sync,reduce,8,16,100,90,1.10,50,2.1
3,mpich,default,sync,reduce,8,16,100,99,1.00,50,2.2
1,mpich,composed,sync,reduce,8,16,110,99,0.90,99,0.5
2,mpich,composed,sync,reduce,8,16,110,99,0.80,99,0.5
3,mpich,composed,sync,reduce,8,16,110,99,1.30,99,0.5
1,openmpi6,default,sync,reduce,8,16,90,20,3.00,20,4.0
2,openmpi6,default,sync,reduce,8,16,500,20,3.00,20,4.0
1,openmpi6,xhc,sync,reduce,8,16,100,60,1.04,20,4.0
2,openmpi6,xhc,sync,reduce,8,16,100,60,0.96,20,5.0
1,openmpi6,default,skew=5,barrier,0,16,100,90,1.05,80,1.2
"""
printed = lines_of("rivals.py", ROWS)
expect("rivals.py", printed, "A common start (`sync`), 16 ranks, all rivals:", "| reduce | 1.00 |", "| `sync`, 16 ranks | reduce 8 B | openmpi6 | xhc | 1.00 | 0.96 | 1.04 |",
       "| mpich | `sync`, 16 ranks | 3 | 0 of 1 | 1.10 | reduce 8 B 1.10 (1.00–1.20) |",
       "Ranks up to 5 µs apart (`skew=5`), 16 ranks, openmpi6:", "| barrier | 1.05 |")
if any("mpich | default" in line for line in printed):
    wrong.append("rivals.py: no run of mpich is below 1 with its fastest setting")
expect("--below", lines_of("rivals.py", ROWS, "--below", "1.05"), "| `sync`, 16 ranks | reduce 8 B | mpich | default | 1.10 | 1.00 | 1.20 |")
expect("--each", lines_of("rivals.py", ROWS, "--each"), "| reduce | 1.10 (1.00–1.20) |")
expect("--interface", lines_of("rivals.py", ROWS, "--interface"), "| reduce | 2.1 |", "| openmpi6 | `sync`, 16 ranks | 2 | 0 of 1 | 4.50 | reduce 8 B 4.50 (4.00–5.00) |")

# A launch without its other side does not count, nor do sizes of 0.
TIMES = """launch,rival,setting,side,benchmark,bytes,us
1,mpich,default,native,Bcast,8,2.0
1,mpich,default,ours,Bcast,8,1.0
2,mpich,default,native,Bcast,8,2.0
2,mpich,default,ours,Bcast,8,4.0
3,mpich,default,native,Bcast,8,2.0
1,mpich,composed,native,Bcast,8,3.0
1,mpich,composed,ours,Bcast,8,6.0
1,mpich,default,native,Bcast,0,1.0
1,mpich,default,ours,Bcast,0,9.0
"""
expect("imb.py", lines_of("imb.py", TIMES), "| broadcast | 1.25 |", "| IMB | broadcast 8 B | mpich | default | 1.25 | 0.50 | 2.00 |")

print("\n".join(wrong) or "cells are what they should be")
sys.exit(1 if wrong else 0)
