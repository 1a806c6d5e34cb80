"""damage_h5ad.py: loop FILE TO writes a copy that libhdf5 reads for ever; flips FILE imports all flips.

A collection of texts in an HDF5 file ("GCOL") is a header of 16 bytes, then objects: u16 number, u16
references, 4 bytes, u64 size, and the text. Number 0 is the space that is left. libhdf5 goes on by
the size of an object, and stays where number 0 has none.
"""
import os
import subprocess
import sys

what, path = sys.argv[1:3]
with open(path, "rb") as source:
    whole = source.read()
start = whole.index(b"GCOL")
if what == "loop":
    with open(sys.argv[3], "wb") as to:
        to.write(whole[:start + 16] + bytes(16) + whole[start + 32:])
    sys.exit()

for at in range(start, start + 32):
    for bit in range(8):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << bit
        with open("flipped.h5ad", "wb") as to:
            to.write(flipped)
        ended = subprocess.run(["nystream", "import", "flipped.nys", "flipped.h5ad", "-q"],
                               capture_output=True, text=True, timeout=60)
        if ended.returncode not in (0, 3, 8) or ended.stderr.count("\n") > 1:
            sys.exit(f"byte {at}, bit {bit}: {ended}")
        if ended.returncode:
            assert "flipped.h5ad" in ended.stderr and not os.path.exists("flipped.nys"), ended.stderr
        else:
            subprocess.run(["rm", "-r", "flipped.nys"], check=True)
