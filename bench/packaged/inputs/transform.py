"""transform.py EDGE REPEATS: Fourier transforms of a cube, forward and back; MPI_Alltoallw exchanges its pencils."""

import sys
import time

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

edge, repeats = int(sys.argv[1]), int(sys.argv[2])
comm = MPI.COMM_WORLD
fft = PFFT(comm, [edge] * 3, axes=(0, 1, 2), dtype=numpy.float64)
values = newDistArray(fft, False)
values[:] = numpy.random.default_rng(comm.rank).random(values.shape)
before = values.copy()
comm.Barrier()
begin = time.perf_counter()
for _ in range(repeats):
    waves = fft.forward(values)
    values = fft.backward(waves, values)
seconds = comm.allreduce(time.perf_counter() - begin, op=MPI.MAX)
error = comm.allreduce(float(abs(values - before).max()), op=MPI.MAX)
energy = comm.allreduce(float((abs(waves) ** 2).sum()), op=MPI.SUM)
if comm.rank == 0:
    print(f"transforms {seconds:.6f} s, energy {energy:.12e}, error {'small' if error < 1e-12 else error}")
